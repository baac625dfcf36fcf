//! The kernels that LLM inference is made of, without any knowledge of a device.
//!
//! What a kernel computes ([`KernelSpec`]), what it counts for (`flop/1`), the numbers it is run on ([`Inputs`]), what
//! would be right (f64 references), how it is timed and metered. Devices stand behind [`Backend`].
#![forbid(unsafe_code)]

mod check;
mod cold;
mod conventions;
mod device;
mod dtype;
mod energy;
mod error;
mod host;
mod inputs;
mod meter;
mod metering;
mod power;
mod reference;
mod roofline;
mod row;
mod runner;
mod spec;
mod stats;
mod stop;
mod tensors;

pub use check::{Activations, Check, CheckMethod, check_output, check_rounded, tolerance};
pub use cold::ColdTiming;
pub use conventions::{CONVENTION, Counts, counts, prefix_saving};
pub use device::{
    Backend, ClockSource, Device, DeviceId, DeviceInfo, DeviceKind, Health, ImplId, Prepared, Support,
    Ticket, Timing,
};
pub use dtype::DType;
pub use energy::{
    BatchEnd, CounterInfo, CounterReading, EnergyCounter, EnergyRule, EnergyWindow, IdlePower, LaunchEnergy,
    Trace, energy_window, idle_power,
};
pub use error::KernelError;
pub use host::{Host, SystemHost};
pub use inputs::{Inputs, POISON_BYTE, Tensor};
pub use power::PowerCounter;
pub use reference::Reference;
pub use roofline::{Bound, Ceilings, Roof};
pub use row::{KernelRow, RowStatus, RowTiming};
pub use runner::{Phase, RunOptions, Runner, rotation};
pub use spec::{
    Distribution, FMA_ADDEND, FMA_FACTOR, KernelSpec, Layout, PrefixMethod, RMSNORM_EPSILON, Shape,
    TRIAD_SCALAR,
};
pub use stats::{Interval, deviation, mean, mean_interval, median, quantile, relative_deviation};
pub use stop::{StopRule, Stopped, Stopping, WarmUp, WarmUpRule, Warming};
pub use tensors::TensorSpec;
