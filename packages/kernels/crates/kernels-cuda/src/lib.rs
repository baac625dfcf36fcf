//! The kernels on NVIDIA GPUs: cuBLASLt's matrix products with a search of its algorithms, and own kernels in CUDA C that
//! NVRTC compiles on the spot.
//!
//! Everything of CUDA is opened when it is first needed, so that this builds and starts on any machine; where something is
//! missing, [`CudaBackend`] says what. The host code has not yet run on a GPU; the kernels have, as `OpenCL` C on a CPU,
//! against their f64 references.

mod backend;
mod cublaslt;
mod driver;
mod gpu;
mod library;
mod nvrtc;

pub use backend::CudaBackend;
pub use cublaslt::CUBLASLT;
pub use nvrtc::{Image, compile};
