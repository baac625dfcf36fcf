//! The backends of this build.

use kernels_core::Backend;

/// Every backend of this build. None of them opens anything yet.
///
/// `threads` is how many the processor's kernels use; None for all that this process may.
pub fn backends(threads: Option<usize>) -> Vec<Box<dyn Backend>> {
    vec![
        #[cfg(feature = "cpu")]
        Box::new(cpu(threads)),
        #[cfg(feature = "cuda")]
        Box::new(cuda()),
        #[cfg(feature = "hip")]
        Box::new(hip()),
        #[cfg(feature = "metal")]
        Box::new(kernels_metal::MetalBackend),
        #[cfg(feature = "wgpu")]
        Box::new(kernels_wgpu::WgpuBackend),
    ]
}

#[cfg(feature = "cpu")]
fn cpu(threads: Option<usize>) -> kernels_cpu::CpuBackend {
    let own = kernels_cpu::CpuOptions::of_process();
    let threads = threads.unwrap_or(own.threads).clamp(1, own.threads);
    kernels_cpu::CpuBackend::new(kernels_cpu::CpuOptions { threads, ..own })
}

/// Folders that CUDA's libraries are looked for in first: `lib64` of a toolkit, or the `nvidia` folder of Python wheels.
#[cfg(feature = "cuda")]
const CUDA_FOLDERS: &str = "PERWATT_CUDA_LIB_DIR";

#[cfg(feature = "cuda")]
fn cuda() -> kernels_cuda::CudaBackend {
    kernels_cuda::CudaBackend::new(std::env::var_os(CUDA_FOLDERS).as_deref())
}

/// Folders that `ROCm`'s libraries are looked for in first.
#[cfg(feature = "hip")]
const HIP_FOLDERS: &str = "PERWATT_HIP_LIB_DIR";

#[cfg(feature = "hip")]
fn hip() -> kernels_hip::HipBackend {
    kernels_hip::HipBackend::new(std::env::var_os(HIP_FOLDERS).as_deref())
}
