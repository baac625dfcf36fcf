//! The backends of this build, those of the vendors' libraries first.

use kernels_core::Backend;

/// Every backend of this build. None of them opens anything yet.
pub fn backends() -> Vec<Box<dyn Backend>> {
    vec![
        #[cfg(feature = "wgpu")]
        Box::new(kernels_wgpu::WgpuBackend),
    ]
}
