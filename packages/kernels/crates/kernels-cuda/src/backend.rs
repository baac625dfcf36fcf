use std::{cell::OnceCell, collections::BTreeMap, env, path::Path, rc::Rc};

use cudarc::driver::{result, sys};
use kernels_core::{
    Backend, Device, DeviceId, DeviceInfo, DeviceKind, ImplId, Inputs, KernelError, KernelSpec, Prepared,
    Support,
};

use crate::{
    cublaslt::{CublasLt, obstacle},
    driver::{Context, attribute_of, driver},
    library::{Library, caught, failed, preload},
    nvrtc,
    plan::{CUBLASLT, MEMCPY, candidates, least_capability, plan},
    prepared::{CudaPrepared, Recipe},
};

/// The lowest driver that has every call made here (`cuEventElapsedTime_v2`): CUDA 12.8, R570.
const LEAST_DRIVER: i32 = 12_080;

/// Variables that change what the driver and its libraries do.
const VARIABLES: [&str; 8] = [
    "CUBLASLT_LOG_LEVEL",
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
    /// A backend that looks for NVRTC and cuBLASLt in a folder first, or up to three folders deeper: a CUDA toolkit's `lib64`, or
    /// the `nvidia` folder of Python wheels. The driver's own library always comes from the system.
    pub fn new(library_folder: Option<&Path>) -> Self {
        if let Some(folder) = library_folder {
            preload(folder);
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
        caught(
            "cuDevicePrimaryCtxRetain",
            || Ok(Box::new(CudaDevice::open(info, handle)?) as Box<dyn Device>),
        )
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
    let instance = name.contains("MIG");
    let id = gpu_id(if instance { "MIG" } else { "GPU" }, uuid.bytes.map(std::ffi::c_char::cast_unsigned));
    // SAFETY: the device came from the driver.
    let memory = unsafe { result::device::total_mem(device) }.map_err(driver("cuDeviceTotalMem"))?;
    let memory = u64::try_from(memory).ok();
    let libraries = [("nvrtc", nvrtc::version()), ("driver_cuda", Some(cuda_version(version)))];
    let set = VARIABLES.map(|name| (name, env::var(name).ok()));
    let environment: BTreeMap<String, String> = libraries
        .into_iter()
        .chain(set)
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    let shared = instance || name.contains("GRID");
    Ok(DeviceInfo {
        id: DeviceId(format!("cuda:{id}")),
        backend: "cuda".to_owned(),
        kind: match attribute_of(device, Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED) {
            _ if shared => DeviceKind::VirtualGpu,
            Some(1) => DeviceKind::IntegratedGpu,
            _ => DeviceKind::DiscreteGpu,
        },
        name,
        driver: Some(format!("CUDA {}", cuda_version(version))),
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

/// A GPU's name as its vendor writes it.
fn gpu_id(sort: &str, uuid: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(uuid));
    let parts =
        [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range).unwrap_or_default().to_owned());
    format!("{sort}-{}", parts.join("-"))
}

/// An open GPU.
pub struct CudaDevice {
    info: DeviceInfo,
    context: Rc<Context>,
    /// Such as 90.
    capability: u32,
    /// Opened when a product first needs it.
    cublaslt: OnceCell<Rc<CublasLt>>,
}

impl CudaDevice {
    fn open(info: DeviceInfo, device: sys::CUdevice) -> Result<Self, KernelError> {
        use sys::CUdevice_attribute_enum as Attribute;
        let context = Context::open(device)?;
        let major = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let capability = major.zip(minor).map(|(major, minor)| 10 * major + minor);
        let capability =
            capability.ok_or_else(|| failed("cuDeviceGetAttribute", "the compute capability is unknown"))?;
        Ok(Self { info, context, capability, cublaslt: OnceCell::new() })
    }

    /// Why an implementation can't do a kernel here; None where it can.
    fn obstacle(&self, spec: &KernelSpec, implementation: &str) -> Option<String> {
        match implementation {
            MEMCPY => None,
            CUBLASLT => obstacle(spec, self.capability)
                .or_else(|| Library::CublasLt.required().err().map(|error| error.to_string())),
            own => {
                let least = least_capability(own);
                if self.capability < least {
                    return Some(format!("{own} needs compute capability {least}, not {}", self.capability));
                }
                let library = || Library::Nvrtc.required().map_err(|error| error.to_string());
                plan(spec, own, None).and_then(|_| library()).err()
            }
        }
    }

    fn cublaslt(&self) -> Result<Rc<CublasLt>, KernelError> {
        if let Some(library) = self.cublaslt.get() {
            return Ok(Rc::clone(library));
        }
        let library = CublasLt::open(&self.context)?;
        Ok(Rc::clone(self.cublaslt.get_or_init(|| library)))
    }

    fn recipe(&self, spec: &KernelSpec, implementation: &ImplId) -> Result<Recipe, KernelError> {
        let unsupported = |reason: String| KernelError::Unsupported {
            what: format!("{implementation} for {spec}"),
            reason,
        };
        let name = implementation.name.as_str();
        if implementation.backend != "cuda" || !candidates(spec).contains(&name) {
            return Err(unsupported("this backend has no such implementation".to_owned()));
        }
        if let Some(reason) = self.obstacle(spec, name) {
            return Err(unsupported(reason));
        }
        let span = implementation.details.get("span").and_then(|span| span.parse().ok());
        match name {
            MEMCPY => Ok(Recipe::Memcpy),
            CUBLASLT => self.cublaslt().map(Recipe::Matmul),
            own => plan(spec, own, span).map(|plan| Recipe::Own(plan, self.capability)).map_err(unsupported),
        }
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        let mut impls = Vec::new();
        let mut reasons = Vec::new();
        for name in candidates(spec) {
            match self.obstacle(spec, name) {
                None => impls.push(ImplId::new("cuda", name)),
                Some(reason) => reasons.push(reason),
            }
        }
        reasons.dedup();
        if impls.is_empty() { Support::no(reasons.join("; ")) } else { Support::Yes { impls } }
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        caught("prepare", || {
            self.context.enter()?;
            let recipe = self.recipe(spec, implementation)?;
            let mut id = ImplId::new("cuda", &implementation.name)
                .with("architecture", format!("sm_{}", self.capability));
            for (key, value) in
                [("driver", self.info.driver.as_ref()), ("nvrtc", self.info.environment.get("nvrtc"))]
            {
                let relevant = key == "driver" || matches!(recipe, Recipe::Own(..));
                if let Some(value) = value.filter(|_| relevant) {
                    id = id.with(key, value);
                }
            }
            let prepared = CudaPrepared::new(Rc::clone(&self.context), (spec, inputs, rotate), recipe, id)?;
            Ok(Box::new(prepared) as Box<dyn Prepared>)
        })
    }
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
}
