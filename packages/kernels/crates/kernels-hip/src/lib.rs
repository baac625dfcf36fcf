//! The kernels on AMD GPUs: rocBLAS's matrix products, and the own kernels of `kernels-c`, which hipRTC compiles on the spot.
//!
//! Everything of `ROCm` is opened when it is first needed, so that this builds and starts on any machine; where something is
//! missing, [`HipBackend`] says what. **Untested on hardware**: the host code has run over a stand-in for the libraries, the
//! kernels have been compiled by hipRTC and run as `OpenCL` C on a processor.

mod backend;
mod gpu;
mod hiprtc;
mod library;
mod rocblas;
mod runtime;

pub use backend::HipBackend;
pub use hiprtc::Compiler;
pub use library::search_folders;
pub use rocblas::ROCBLAS;
