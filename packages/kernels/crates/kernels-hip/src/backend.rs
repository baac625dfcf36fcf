use std::{collections::BTreeMap, env, ffi::OsStr, path::PathBuf};

use kernels_c::{GpuDevice, caught};
use kernels_core::{Backend, Device, DeviceId, DeviceInfo, DeviceKind, KernelError};

use crate::{
    gpu::HipGpu,
    library::search_folders,
    runtime::{Attribute, Runtime},
};

/// The lowest runtime whose attributes are counted as they are here.
const LEAST_RUNTIME: i32 = 50_000_000;

/// Variables that change what the runtime and its libraries do.
const VARIABLES: [&str; 9] = [
    "AMD_SERIALIZE_KERNEL",
    "CUDA_VISIBLE_DEVICES",
    "GPU_MAX_HW_QUEUES",
    "HIP_LAUNCH_BLOCKING",
    "HIP_VISIBLE_DEVICES",
    "HSA_OVERRIDE_GFX_VERSION",
    "ROCBLAS_LAYER",
    "ROCBLAS_USE_HIPBLASLT",
    "ROCR_VISIBLE_DEVICES",
];

/// AMD GPUs, by `ROCm`.
///
/// Ids are `hip:<place on the bus>`, such as `hip:0000:c1:00.0`; `#2` and so on mark further parts of one GPU.
#[derive(Clone, Debug, Default)]
pub struct HipBackend {
    folders: Vec<Option<PathBuf>>,
}

impl HipBackend {
    /// A backend that looks for `ROCm`'s libraries in these folders first, a list as that of `PATH`; then where the system looks,
    /// in `$ROCM_PATH/lib` and in `/opt/rocm/lib`.
    pub fn new(library_folders: Option<&OsStr>) -> Self {
        Self { folders: search_folders(library_folders) }
    }

    /// Every GPU that the runtime shows, in its order.
    fn devices(&self) -> Result<(Runtime, String, Vec<DeviceInfo>), KernelError> {
        let runtime = Runtime::open(&self.folders)?;
        let version = runtime.version()?;
        if version < LEAST_RUNTIME {
            return Err(KernelError::DriverTooOld {
                backend: "hip".to_owned(),
                found: version_name(version),
                needs: format!("ROCm {}", version_name(LEAST_RUNTIME)),
            });
        }
        let count = runtime.count().map_err(|error| none(&error.to_string()))?;
        if count == 0 {
            return Err(none("the runtime shows no GPU"));
        }
        let version = version_name(version);
        let mut infos: Vec<DeviceInfo> = Vec::new();
        for device in 0..count {
            let info = describe(&runtime, device, &version)?;
            let earlier = infos.iter().filter(|other| other.hardware_id == info.hardware_id).count();
            let id = if earlier == 0 { info.id } else { DeviceId(format!("{}#{}", info.id, earlier + 1)) };
            infos.push(DeviceInfo { id, ..info });
        }
        Ok((runtime, version, infos))
    }
}

impl Backend for HipBackend {
    fn id(&self) -> &'static str {
        "hip"
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError> {
        caught("hip", || self.devices()).map(|(_, _, infos)| infos)
    }

    fn open(&self, device: &DeviceId) -> Result<Box<dyn Device>, KernelError> {
        caught("hip", || {
            let (runtime, version, infos) = self.devices()?;
            let found = (0..).zip(infos).find(|(_, info)| info.id == *device);
            let (number, info) = found.ok_or_else(|| none(&format!("none is called {device}")))?;
            let gpu = HipGpu::open(runtime, number, version, self.folders.clone())?;
            Ok(Box::new(GpuDevice::new(info, gpu)) as Box<dyn Device>)
        })
    }
}

fn none(reason: &str) -> KernelError {
    KernelError::NoDevice { backend: "hip".to_owned(), reason: reason.to_owned() }
}

/// `5.2.21153` of 50221153.
fn version_name(version: i32) -> String {
    format!("{}.{}.{}", version / 10_000_000, version / 100_000 % 100, version % 100_000)
}

fn describe(runtime: &Runtime, device: i32, version: &str) -> Result<DeviceInfo, KernelError> {
    let bus = runtime.bus_id(device)?.to_ascii_lowercase();
    let architecture = runtime.architecture(device)?;
    let memory = u64::try_from(runtime.memory(device)?).ok();
    let set = VARIABLES.map(|name| (name, env::var(name).ok()));
    let known = [("hip", Some(version.to_owned())), ("architecture", Some(architecture))];
    let environment: BTreeMap<String, String> =
        known.into_iter().chain(set).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    Ok(DeviceInfo {
        id: DeviceId(format!("hip:{bus}")),
        backend: "hip".to_owned(),
        name: runtime.name(device)?,
        kind: match runtime.attribute(Attribute::Integrated, device) {
            Some(1) => DeviceKind::IntegratedGpu,
            _ => DeviceKind::DiscreteGpu,
        },
        driver: Some(format!("HIP {version}")),
        hardware_id: Some(bus),
        memory_bytes: memory,
        max_buffer_bytes: memory,
        // The runtime tells of the L2 only, and many of these GPUs have a larger cache behind it.
        last_level_cache_bytes: None,
        compute_units: runtime.attribute(Attribute::ComputeUnits, device),
        notes: vec!["untested on hardware: run the self-test first".to_owned()],
        environment,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_told_in_its_parts() {
        assert_eq!(version_name(50_221_153), "5.2.21153");
        assert_eq!(version_name(60_342_134), "6.3.42134");
    }
}
