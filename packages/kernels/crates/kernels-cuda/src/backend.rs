use std::{collections::BTreeMap, env, ffi::OsStr, fs};

use cudarc::driver::{result, sys};
use kernels_c::{GpuDevice, caught, failed};
use kernels_core::{Backend, Device, DeviceId, DeviceInfo, DeviceKind, KernelError};

use crate::{
    driver::{attribute_of, driver},
    gpu::CudaGpu,
    library::{Library, preload},
    nvrtc,
};

/// The lowest driver that has every call made here (`cuEventElapsedTime_v2`): CUDA 12.8, R570.
const LEAST_DRIVER: i32 = 12_080;

/// Variables that change what the driver and its libraries do.
const VARIABLES: [&str; 10] = [
    "CUBLASLT_LOG_LEVEL",
    "CUBLAS_EMULATE_SINGLE_PRECISION",
    "CUBLAS_EMULATION_STRATEGY",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_TF32_OVERRIDE",
];

/// NVIDIA GPUs.
///
/// Ids are `cuda:GPU-<uuid>`, as `nvidia-smi -L` shows them; `cuda:MIG-<uuid>` of a share of a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct CudaBackend;

impl CudaBackend {
    /// A backend that looks for NVRTC and cuBLASLt in these folders first, a list as that of `PATH`, or up to three folders
    /// deeper: a CUDA toolkit's `lib64`, or the `nvidia` folder of Python wheels. The driver's own library always comes from the
    /// system.
    pub fn new(library_folders: Option<&OsStr>) -> Self {
        for folder in library_folders.into_iter().flat_map(env::split_paths) {
            if !folder.as_os_str().is_empty() {
                preload(&folder);
            }
        }
        Self
    }
}

impl Backend for CudaBackend {
    fn id(&self) -> &'static str {
        "cuda"
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError> {
        Ok(devices()?.into_iter().map(|(info, _)| info).collect())
    }

    fn open(&self, device: &DeviceId) -> Result<Box<dyn Device>, KernelError> {
        let (info, handle) = devices()?
            .into_iter()
            .find(|(info, _)| info.id == *device)
            .ok_or_else(|| none(&format!("none is called {device}")))?;
        caught("cuDevicePrimaryCtxRetain", || {
            let gpu = CudaGpu::open(handle, driver_version()?, info.driver.clone())?;
            Ok(Box::new(GpuDevice::new(info, gpu)) as Box<dyn Device>)
        })
    }
}

fn none(reason: &str) -> KernelError {
    KernelError::NoDevice { backend: "cuda".to_owned(), reason: reason.to_owned() }
}

/// Every GPU that the driver shows, in its order.
fn devices() -> Result<Vec<(DeviceInfo, sys::CUdevice)>, KernelError> {
    Library::Driver.required()?;
    caught("cuInit", || {
        let version = driver_version()?;
        if version < LEAST_DRIVER {
            return Err(KernelError::DriverTooOld {
                backend: "cuda".to_owned(),
                found: cuda_version(version),
                needs: format!("{} (R570)", cuda_version(LEAST_DRIVER)),
            });
        }
        result::init().map_err(|error| none(&error.to_string()))?;
        let count = result::device::get_count().map_err(driver("cuDeviceGetCount"))?;
        if count == 0 {
            return Err(none("the driver shows no GPU"));
        }
        (0..count)
            .map(|ordinal| {
                let device = result::device::get(ordinal).map_err(driver("cuDeviceGet"))?;
                Ok((describe(device, version)?, device))
            })
            .collect()
    })
}

fn driver_version() -> Result<i32, KernelError> {
    let mut version = 0;
    // SAFETY: the pointer is to a live integer; this call works before the driver is started.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(|error| failed("cuDriverGetVersion", &error))?;
    Ok(version)
}

/// `12.8` of 12080.
fn cuda_version(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn describe(device: sys::CUdevice, version: i32) -> Result<DeviceInfo, KernelError> {
    use sys::CUdevice_attribute_enum as Attribute;
    let name = result::device::get_name(device).map_err(driver("cuDeviceGetName"))?;
    let uuid = result::device::get_uuid(device).map_err(driver("cuDeviceGetUuid"))?;
    let instance = name.contains("MIG ");
    let id = gpu_id(if instance { "MIG" } else { "GPU" }, uuid.bytes.map(std::ffi::c_char::cast_unsigned));
    // SAFETY: the device came from the driver.
    let memory = unsafe { result::device::total_mem(device) }.map_err(driver("cuDeviceTotalMem"))?;
    let memory = u64::try_from(memory).ok();
    let compiler = nvrtc::version().map(|(major, minor)| format!("{major}.{minor}"));
    let libraries = [("nvrtc", compiler), ("driver_cuda", Some(cuda_version(version)))];
    let set = VARIABLES.map(|name| (name, env::var(name).ok()));
    let environment: BTreeMap<String, String> = libraries
        .into_iter()
        .chain(set)
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    let shared = instance || is_virtual(&name);
    Ok(DeviceInfo {
        id: DeviceId(format!("cuda:{id}")),
        backend: "cuda".to_owned(),
        kind: match attribute_of(device, Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED) {
            _ if shared => DeviceKind::VirtualGpu,
            Some(1) => DeviceKind::IntegratedGpu,
            _ => DeviceKind::DiscreteGpu,
        },
        name,
        driver: Some(driver_name(fs::read_to_string(KERNEL_MODULE).ok().as_deref(), version)),
        hardware_id: Some(id),
        memory_bytes: memory,
        max_buffer_bytes: memory,
        last_level_cache_bytes: attribute_of(device, Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
            .map(u64::from)
            .filter(|&bytes| bytes > 0),
        compute_units: attribute_of(device, Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        notes: vec!["untested on hardware: run the self-test first".to_owned()],
        environment,
    })
}

/// Where the kernel's module tells its version.
const KERNEL_MODULE: &str = "/proc/driver/nvidia/version";

/// `580.159.04, CUDA 13.0`, of what the kernel's module says and the driver's CUDA.
fn driver_name(module: Option<&str>, version: i32) -> String {
    let is_version = |word: &&str| {
        word.contains('.')
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let module = module.and_then(|text| text.lines().next()?.split_whitespace().find(is_version));
    let cuda = format!("CUDA {}", cuda_version(version));
    module.map_or_else(|| cuda.clone(), |module| format!("{module}, {cuda}"))
}

/// Whether a name is that of a share of a GPU given to a virtual machine: `GRID A100-4C`, `NVIDIA L40S-48Q`.
fn is_virtual(name: &str) -> bool {
    let profile = name.rsplit_once('-').and_then(|(_, end)| {
        let (digits, sort) = end.split_at_checked(end.len().checked_sub(1)?)?;
        let sized = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        Some(sized && ["A", "B", "C", "Q"].contains(&sort))
    });
    name.contains("GRID") || profile == Some(true)
}

/// A GPU's name as its vendor writes it.
fn gpu_id(sort: &str, uuid: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(uuid));
    let parts =
        [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range).unwrap_or_default().to_owned());
    format!("{sort}-{}", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_vendors() {
        let uuid =
            [0x8f, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd];
        assert_eq!(gpu_id("GPU", uuid), "GPU-8f012345-6789-abcd-ef01-23456789abcd");
        assert_eq!((cuda_version(12_080).as_str(), cuda_version(13_000).as_str()), ("12.8", "13.0"));
    }

    #[test]
    fn the_driver_is_named_by_its_module_where_that_speaks() {
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (root@host)\nGCC version: 12.2.0\n";
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan  9 2025\n";
        assert_eq!(driver_name(Some(open), 13_000), "580.159.04, CUDA 13.0");
        assert_eq!(driver_name(Some(closed), 12_080), "570.86.15, CUDA 12.8");
        assert_eq!(driver_name(Some("something"), 13_000), "CUDA 13.0");
        assert_eq!(driver_name(None, 13_000), "CUDA 13.0");
    }

    #[test]
    fn a_share_of_a_gpu_is_known_by_its_name() {
        for whole in
            ["NVIDIA H200", "NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 4090", "Tesla V100-PCIE-16GB"]
        {
            assert!(!is_virtual(whole), "{whole}");
        }
        for part in ["GRID A100-4C", "NVIDIA L40S-48Q", "NVIDIA A16-2B", "NVIDIA H100-1-10C"] {
            assert!(is_virtual(part), "{part}");
        }
    }
}
