//! `libcuda`, `libcublasLt` and `libnvrtc` as far as `kernels-cuda` calls them, `libamdhip64`, `libhiprtc` and `librocblas` as far
//! as `kernels-hip` does, in one library that tests copy under each name. Memory is the host's, with bounds; work is done when its
//! stream is waited for, so that a wait that is missing shows.
//!
//! Of own kernels only `copy` does anything. `STUB_CUDA_VERSION` is the driver's version (13000), `STUB_HIP_VERSION` the runtime's
//! (60342134), `STUB_CUDA_GPUS` and `STUB_HIP_GPUS` the number of GPUs (1), `STUB_CUDA_MEMORY` the largest allocation in bytes
//! (2^28), `STUB_CUDA_LOST_AFTER` how many waits succeed before all fail (all do).

mod cublaslt;
mod driver;
mod hip;
mod hiprtc;
mod memory;
mod nvrtc;
mod rocblas;
mod stream;
mod work;
