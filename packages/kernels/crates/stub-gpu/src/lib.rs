//! `libcuda`, `libcublasLt` and `libnvrtc` as far as `kernels-cuda` calls them, in one library that tests copy under each
//! name. Memory is the host's, with bounds; work is done when its stream is waited for, so that a wait that is missing shows.
//!
//! Of own kernels only `copy` does anything. `STUB_CUDA_VERSION` is the driver's version (13000), `STUB_CUDA_GPUS` the number of
//! GPUs (1), `STUB_CUDA_MEMORY` the largest allocation in bytes (2^28).

mod cublaslt;
mod driver;
mod memory;
mod nvrtc;
mod stream;
mod work;
