//! The kernels in WGSL, on every device that wgpu reaches: Vulkan, Metal, Direct3D 12, and software drivers.
//!
//! Memory-bound kernels come near what a device can do; GEMM is a portable one under its own name and never a device's
//! peak. Shaders run without injected bounds checks: each guards its own tails.

mod adapter;
mod cooperative;
mod device;
mod failure;
mod fit;
mod plan;
mod plan_attention;
mod prepared;
mod shader;
mod template;
mod timer;
mod vulkan;

pub use adapter::WgpuBackend;
pub use plan::SHADERS;
