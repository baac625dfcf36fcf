//! The kernels that LLM inference is made of, without any knowledge of a device.
//!
//! What a kernel computes ([`KernelSpec`]), what it counts for (`flop/1`), the numbers it is run on ([`Inputs`]), what
//! would be right (f64 references), how it is timed and metered. Devices stand behind [`Backend`].
#![forbid(unsafe_code)]

mod check;
mod conventions;
mod device;
mod dtype;
mod error;
mod inputs;
mod reference;
mod spec;
mod tensors;

pub use check::{Check, CheckMethod, check_output, tolerance};
pub use conventions::{CONVENTION, Counts, counts, prefix_saving};
pub use device::{
    Backend, ClockSource, Device, DeviceId, DeviceInfo, DeviceKind, Health, ImplId, Prepared, Support, Ticket,
    Timing,
};
pub use dtype::DType;
pub use error::KernelError;
pub use inputs::{Inputs, POISON_BYTE, Tensor};
pub use reference::Reference;
pub use spec::{Distribution, KernelSpec, Layout, PrefixMethod, RMSNORM_EPSILON, Shape, TRIAD_SCALAR};
pub use tensors::TensorSpec;
