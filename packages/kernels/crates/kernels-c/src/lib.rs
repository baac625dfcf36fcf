//! The project's own kernels in C, one source for CUDA, HIP and `OpenCL`, with the launches that each kernel becomes, and what
//! all GPUs with a stream and events have in common: sets of buffers, batches, tickets.
//!
//! A vendor's backend implements [`Gpu`] over its libraries and wraps it in a [`GpuDevice`].

mod device;
mod gpu;
mod plan;
mod plan_attention;
mod prepared;
mod product;
mod source;

pub use device::GpuDevice;
pub use gpu::{Details, Gpu, caught, failed};
pub use plan::{MEMCPY, Plan, Slot, Step, candidates, plan, uses_mma};
pub use product::Product;
pub use source::{Defines, Source};
