//! The library's calls, layouts and numbers, as its header declares them. All code of this source that is unsafe.
#![expect(unsafe_code, reason = "calls into a foreign library")]

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    path::Path,
    sync::Arc,
};

use power_core::{Missing, PowerError};

use super::{NVML, channels::Condition};
use crate::library::Loaded;

/// One field asked for, and what was answered.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FieldValue {
    /// What is asked for.
    pub field: c_uint,
    /// Of what part.
    pub scope: c_uint,
    timestamp: i64,
    latency: i64,
    /// Which of the types `value` has.
    pub kind: c_int,
    /// Whether there is a value at all.
    pub status: c_int,
    /// Its bytes; those beyond its type hold anything.
    pub value: [u8; 8],
}

const _: () = assert!(size_of::<FieldValue>() == 40);
const _: () = assert!(std::mem::offset_of!(FieldValue, timestamp) == 8);
const _: () = assert!(std::mem::offset_of!(FieldValue, latency) == 16);
const _: () = assert!(std::mem::offset_of!(FieldValue, kind) == 24);
const _: () = assert!(std::mem::offset_of!(FieldValue, status) == 28);
const _: () = assert!(std::mem::offset_of!(FieldValue, value) == 32);

impl FieldValue {
    /// A question; until the library answers it, nothing is known.
    pub const fn ask(field: c_uint, scope: c_uint) -> Self {
        Self { field, scope, timestamp: 0, latency: 0, kind: -1, status: status::UNKNOWN, value: [0; 8] }
    }
}

/// Fields.
pub mod field {
    /// Temperature of the memory, °C.
    pub const MEMORY_TEMP: u32 = 82;
    /// Energy since the driver was loaded, mJ.
    pub const TOTAL_ENERGY: u32 = 83;
    /// Mean power of the last second, mW.
    pub const POWER_AVERAGE: u32 = 185;
    /// Power now, mW.
    pub const POWER_INSTANT: u32 = 186;
    /// The highest limit that can be set, mW.
    pub const POWER_MAX_LIMIT: u32 = 188;
    /// The same as `TOTAL_ENERGY`, under another number.
    pub const ENERGY: u32 = 191;
}

/// What a field is about.
pub mod scope {
    /// The GPU with its memory.
    pub const GPU: u32 = 0;
    /// The module that the GPU shares with a CPU.
    pub const MODULE: u32 = 1;
}

/// What calls and fields return.
pub mod status {
    /// As it should be.
    pub const OK: i32 = 0;
    /// The device doesn't offer it.
    pub const NOT_SUPPORTED: i32 = 3;
    /// This user may not.
    pub const NO_PERMISSION: i32 = 4;
    /// The kernel's part isn't loaded.
    pub const DRIVER_NOT_LOADED: i32 = 9;
    /// The call is newer than the driver.
    pub const FUNCTION_NOT_FOUND: i32 = 13;
    /// The device fell off its bus.
    pub const GPU_IS_LOST: i32 = 15;
    /// The device must be reset.
    pub const RESET_REQUIRED: i32 = 16;
    /// The library and the kernel's part are of different versions.
    pub const LIB_RM_VERSION_MISMATCH: i32 = 18;
    /// Anything else.
    pub const UNKNOWN: i32 = 999;
}

/// What a status means for the number that was wanted.
pub const fn missing(said: i32) -> Missing {
    match said {
        status::NOT_SUPPORTED | status::FUNCTION_NOT_FOUND => Missing::NotSupported,
        status::NO_PERMISSION => Missing::Permission,
        status::GPU_IS_LOST | status::RESET_REQUIRED => Missing::Lost,
        _ => Missing::Io,
    }
}

/// Where a device is on its bus.
#[repr(C)]
struct PciInfo {
    older_text: [c_char; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    device_id: c_uint,
    subsystem_id: c_uint,
    text: [c_char; 32],
}

const _: () = assert!(size_of::<PciInfo>() == 68);
const _: () = assert!(std::mem::offset_of!(PciInfo, domain) == 16);

type Handle = *mut c_void;
type Text = unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> c_int;
type NumberOf = unsafe extern "C" fn(Handle, c_int, *mut c_uint) -> c_int;
type OneOf = unsafe extern "C" fn(Handle, *mut Handle) -> c_int;

/// The library, started; ended when the last device of it is dropped. The vendor counts starts and ends.
struct Api {
    shutdown: unsafe extern "C" fn() -> c_int,
    error_string: Option<unsafe extern "C" fn(c_int) -> *const c_char>,
    count: unsafe extern "C" fn(*mut c_uint) -> c_int,
    by_index: unsafe extern "C" fn(c_uint, *mut Handle) -> c_int,
    uuid: Text,
    name: Text,
    energy: Option<unsafe extern "C" fn(Handle, *mut c_ulonglong) -> c_int>,
    power: unsafe extern "C" fn(Handle, *mut c_uint) -> c_int,
    fields: Option<unsafe extern "C" fn(Handle, c_int, *mut FieldValue) -> c_int>,
    mig_mode: Option<unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint) -> c_int>,
    pci: Option<unsafe extern "C" fn(Handle, *mut PciInfo) -> c_int>,
    max_instances: Option<unsafe extern "C" fn(Handle, *mut c_uint) -> c_int>,
    instance: Option<unsafe extern "C" fn(Handle, c_uint, *mut Handle) -> c_int>,
    parent: Option<OneOf>,
    temperature: Option<NumberOf>,
    clock: Option<NumberOf>,
    limit: Option<unsafe extern "C" fn(Handle, *mut c_uint) -> c_int>,
    reasons: Option<unsafe extern "C" fn(Handle, *mut c_ulonglong) -> c_int>,
    utilization: Option<unsafe extern "C" fn(Handle, *mut [c_uint; 2]) -> c_int>,
}

impl Drop for Api {
    fn drop(&mut self) {
        // SAFETY: it was started when this was made, and no device is left.
        unsafe { (self.shutdown)() };
    }
}

/// What is asked of a GPU, of the library or of a recording. Errors are the library's statuses.
pub trait Gpu: Send + Sized {
    /// Its identity, `GPU-…` or `MIG-…`.
    fn uuid(&self) -> Result<String, i32>;
    /// Its place on the PCI bus, like `0000:65:00.0`. What is recorded has none.
    fn place(&self) -> Result<String, i32> {
        Err(status::NOT_SUPPORTED)
    }
    /// The name of its model.
    fn name(&self) -> Result<String, i32>;
    /// Energy since the driver was loaded, mJ.
    fn energy_mj(&self) -> Result<u64, i32>;
    /// Power, mW; what it is the power of, and over how long, differs by model.
    fn power_mw(&self) -> Result<u32, i32>;
    /// Answers every field by itself; an error is one of the whole call.
    fn ask(&self, fields: &mut [FieldValue]) -> Result<(), i32>;
    /// How it fares, in the unit that `Condition` states. What is recorded tells nothing of it.
    fn condition(&self, _what: Condition) -> Result<u64, i32> {
        Err(status::NOT_SUPPORTED)
    }
    /// Whether it is split into instances.
    fn is_split(&self) -> bool;
    /// The instances that it is split into.
    fn instances(&self) -> Vec<Self>;
    /// The device that it is an instance of.
    fn parent(&self) -> Result<Self, i32>;
}

/// One device, with the library that keeps it.
#[derive(Clone)]
pub struct Device {
    api: Arc<Api>,
    handle: Handle,
}

// SAFETY: a handle is a token that the library looks up; the library is documented to be thread-safe.
unsafe impl Send for Device {}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("handle", &self.handle).finish_non_exhaustive()
    }
}

/// Loads and starts the library; every device that it shows, with the refusal of those it can't hand out.
pub fn devices(path: &Path) -> Result<Vec<Result<Device, i32>>, PowerError> {
    let api = Arc::new(start(path)?);
    let mut count = 0;
    // SAFETY: the library is started, and writes one number.
    let said = unsafe { (api.count)(&raw mut count) };
    if said != status::OK {
        return Err(api.refusal("nvmlDeviceGetCount_v2", said));
    }
    let device = |index| {
        Device::taken(&api, |handle| {
            // SAFETY: the library is started, and writes one handle.
            unsafe { (api.by_index)(index, handle) }
        })
    };
    Ok((0..count).map(device).collect())
}

fn start(path: &Path) -> Result<Api, PowerError> {
    let library = Loaded::open(NVML, path)?;
    // SAFETY: the types are those of the vendor's header.
    let (init, api) = unsafe {
        let init: unsafe extern "C" fn() -> c_int = library.call("nvmlInit_v2")?;
        let api = Api {
            shutdown: library.call("nvmlShutdown")?,
            error_string: library.find("nvmlErrorString"),
            count: library.call("nvmlDeviceGetCount_v2")?,
            by_index: library.call("nvmlDeviceGetHandleByIndex_v2")?,
            uuid: library.call("nvmlDeviceGetUUID")?,
            name: library.call("nvmlDeviceGetName")?,
            energy: library.find("nvmlDeviceGetTotalEnergyConsumption"),
            power: library.call("nvmlDeviceGetPowerUsage")?,
            fields: library.find("nvmlDeviceGetFieldValues"),
            mig_mode: library.find("nvmlDeviceGetMigMode"),
            pci: library.find("nvmlDeviceGetPciInfo_v3"),
            max_instances: library.find("nvmlDeviceGetMaxMigDeviceCount"),
            instance: library.find("nvmlDeviceGetMigDeviceHandleByIndex"),
            parent: library.find("nvmlDeviceGetDeviceHandleFromMigDeviceHandle"),
            temperature: library.find("nvmlDeviceGetTemperature"),
            clock: library.find("nvmlDeviceGetClockInfo"),
            limit: library.find("nvmlDeviceGetEnforcedPowerLimit"),
            reasons: library
                .find("nvmlDeviceGetCurrentClocksEventReasons")
                .or_else(|| library.find("nvmlDeviceGetCurrentClocksThrottleReasons")),
            utilization: library.find("nvmlDeviceGetUtilizationRates"),
        };
        (init, std::mem::ManuallyDrop::new(api))
    };
    // SAFETY: it may be called any number of times, from any thread.
    match unsafe { init() } {
        status::OK => Ok(std::mem::ManuallyDrop::into_inner(api)),
        said => Err(api.refusal("nvmlInit_v2", said)),
    }
}

impl Api {
    fn refusal(&self, call: &str, said: i32) -> PowerError {
        let fix = match said {
            status::NO_PERMISSION => Some("let this user read and write /dev/nvidiactl and /dev/nvidia*"),
            status::DRIVER_NOT_LOADED => Some("sudo modprobe nvidia"),
            status::LIB_RM_VERSION_MISMATCH => {
                Some("reboot, so that the kernel module is of the library's version")
            }
            _ => None,
        };
        PowerError::Vendor {
            source_name: NVML,
            said: format!("{call} returned {said} ({})", self.meaning(said)),
            fix: fix.map(str::to_owned),
            refused: said == status::NO_PERMISSION,
        }
    }

    fn meaning(&self, said: i32) -> String {
        let Some(call) = self.error_string else { return "no text".to_owned() };
        // SAFETY: it needs no started library, and returns a text that lives as long as the library, or nothing.
        let text = unsafe { call(said) };
        if text.is_null() {
            return "no text".to_owned();
        }
        // SAFETY: it isn't null, and ends with a zero.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

impl Device {
    fn taken(api: &Arc<Api>, take: impl FnOnce(*mut Handle) -> c_int) -> Result<Self, i32> {
        let mut handle = std::ptr::null_mut();
        match take(&raw mut handle) {
            status::OK if handle.is_null() => Err(status::UNKNOWN),
            status::OK => Ok(Self { api: Arc::clone(api), handle }),
            said => Err(said),
        }
    }

    fn text(&self, call: Text) -> Result<String, i32> {
        const LENGTH: usize = 96;
        let mut buffer = [0; LENGTH + 1];
        // SAFETY: the handle is the library's own, and the buffer is one longer than it is told.
        done(unsafe { call(self.handle, buffer.as_mut_ptr().cast::<c_char>(), 96) })?;
        Ok(CStr::from_bytes_until_nul(&buffer)
            .map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned()))
    }
}

impl Gpu for Device {
    fn uuid(&self) -> Result<String, i32> {
        self.text(self.api.uuid)
    }

    fn name(&self) -> Result<String, i32> {
        self.text(self.api.name)
    }

    fn place(&self) -> Result<String, i32> {
        let call = self.api.pci.ok_or(status::FUNCTION_NOT_FOUND)?;
        let mut info = std::mem::MaybeUninit::<PciInfo>::zeroed();
        // SAFETY: the handle is the library's own, and it writes one structure.
        done(unsafe { call(self.handle, info.as_mut_ptr()) })?;
        // SAFETY: it is all numbers, and was zeroed before it was written.
        let PciInfo { domain, bus, device, .. } = unsafe { info.assume_init() };
        Ok(format!("{domain:04x}:{bus:02x}:{device:02x}.0"))
    }

    fn energy_mj(&self) -> Result<u64, i32> {
        let call = self.api.energy.ok_or(status::FUNCTION_NOT_FOUND)?;
        let mut energy: c_ulonglong = 0;
        // SAFETY: the handle is the library's own, and it writes one number.
        done(unsafe { call(self.handle, &raw mut energy) }).map(|()| energy)
    }

    fn power_mw(&self) -> Result<u32, i32> {
        let mut power: c_uint = 0;
        // SAFETY: the handle is the library's own, and it writes one number.
        done(unsafe { (self.api.power)(self.handle, &raw mut power) }).map(|()| power)
    }

    fn ask(&self, fields: &mut [FieldValue]) -> Result<(), i32> {
        let call = self.api.fields.ok_or(status::FUNCTION_NOT_FOUND)?;
        let count = c_int::try_from(fields.len()).map_err(|_| status::UNKNOWN)?;
        // SAFETY: the handle is the library's own, and it writes as many fields as it is told there are.
        done(unsafe { call(self.handle, count, fields.as_mut_ptr()) })
    }

    fn condition(&self, what: Condition) -> Result<u64, i32> {
        const GPU_SENSOR: c_int = 0;
        const SM: c_int = 1;
        const MEMORY: c_int = 2;
        let number = |call: Option<NumberOf>, which| {
            let call = call.ok_or(status::FUNCTION_NOT_FOUND)?;
            let mut value: c_uint = 0;
            // SAFETY: the handle is the library's own, and it writes one number.
            done(unsafe { call(self.handle, which, &raw mut value) }).map(|()| u64::from(value))
        };
        match what {
            Condition::GpuTemperature => number(self.api.temperature, GPU_SENSOR),
            Condition::SmClock => number(self.api.clock, SM),
            Condition::MemoryClock => number(self.api.clock, MEMORY),
            Condition::PowerLimit => {
                let call = self.api.limit.ok_or(status::FUNCTION_NOT_FOUND)?;
                let mut mw: c_uint = 0;
                // SAFETY: the handle is the library's own, and it writes one number.
                done(unsafe { call(self.handle, &raw mut mw) }).map(|()| u64::from(mw))
            }
            Condition::ThrottleReasons => {
                let call = self.api.reasons.ok_or(status::FUNCTION_NOT_FOUND)?;
                let mut bits: c_ulonglong = 0;
                // SAFETY: the handle is the library's own, and it writes one number.
                done(unsafe { call(self.handle, &raw mut bits) }).map(|()| bits)
            }
            Condition::GpuUtilization | Condition::MemoryUtilization => {
                let call = self.api.utilization.ok_or(status::FUNCTION_NOT_FOUND)?;
                let mut percent: [c_uint; 2] = [0; 2];
                // SAFETY: the handle is the library's own, and it writes two numbers.
                done(unsafe { call(self.handle, &raw mut percent) })?;
                let [gpu, memory] = percent;
                Ok(u64::from(if what == Condition::GpuUtilization { gpu } else { memory }))
            }
            Condition::MemoryTemperature => Err(status::NOT_SUPPORTED),
        }
    }

    fn is_split(&self) -> bool {
        let (mut now, mut later) = (0, 0);
        let Some(call) = self.api.mig_mode else { return false };
        // SAFETY: the handle is the library's own, and it writes two numbers.
        unsafe { call(self.handle, &raw mut now, &raw mut later) == status::OK && now == 1 }
    }

    fn instances(&self) -> Vec<Self> {
        let Some((max, instance)) = self.api.max_instances.zip(self.api.instance) else { return Vec::new() };
        let mut count = 0;
        // SAFETY: the handle is the library's own, and it writes one number.
        if unsafe { max(self.handle, &raw mut count) } != status::OK {
            return Vec::new();
        }
        let one = |index| {
            Self::taken(&self.api, |handle| {
                // SAFETY: the handle is the library's own, and it writes one handle.
                unsafe { instance(self.handle, index, handle) }
            })
        };
        (0..count).filter_map(|index| one(index).ok()).collect()
    }

    fn parent(&self) -> Result<Self, i32> {
        let call = self.api.parent.ok_or(status::FUNCTION_NOT_FOUND)?;
        Self::taken(&self.api, |handle| {
            // SAFETY: the handle is the library's own, and it writes one handle.
            unsafe { call(self.handle, handle) }
        })
    }
}

const fn done(said: c_int) -> Result<(), i32> {
    if said == status::OK { Ok(()) } else { Err(said) }
}
