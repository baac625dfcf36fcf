//! Apple's own matrix product, by Metal Performance Shaders: what `kernels-wgpu`, which reaches Metal for all kernels, can't come by.
//!
//! **Untested on hardware**: it is checked by the compiler alone.

mod product;
#[cfg(target_os = "macos")]
mod shaders;

use kernels_core::{Backend, Device, DeviceId, DeviceInfo, KernelError};
pub use product::{MPS, Product};

/// GPUs of Apple's systems that share the host's memory; elsewhere, a reason.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetalBackend;

impl Backend for MetalBackend {
    fn id(&self) -> &'static str {
        "metal"
    }

    #[cfg(target_os = "macos")]
    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError> {
        shaders::MetalDevice::open().map(|device| vec![device.info().clone()])
    }

    #[cfg(not(target_os = "macos"))]
    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError> {
        Err(elsewhere())
    }

    #[cfg(target_os = "macos")]
    fn open(&self, device: &DeviceId) -> Result<Box<dyn Device>, KernelError> {
        let opened = shaders::MetalDevice::open()?;
        if opened.info().id == *device {
            return Ok(Box::new(opened));
        }
        Err(KernelError::NoDevice { backend: "metal".to_owned(), reason: format!("none is called {device}") })
    }

    #[cfg(not(target_os = "macos"))]
    fn open(&self, _device: &DeviceId) -> Result<Box<dyn Device>, KernelError> {
        Err(elsewhere())
    }
}

#[cfg(not(target_os = "macos"))]
fn elsewhere() -> KernelError {
    KernelError::NoLoader {
        library: "Metal.framework".to_owned(),
        reason: "only Apple's systems have it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn other_systems_are_told_that_they_have_no_metal() {
        let refused = MetalBackend.probe().err();
        assert!(
            matches!(&refused, Some(KernelError::NoLoader { library, reason }) if library == "Metal.framework" && reason.contains("Apple")),
            "{refused:?}"
        );
        assert_eq!(MetalBackend.open(&DeviceId("metal:0".to_owned())).err(), refused);
    }
}
