//! The library's calls, layouts and numbers, as the headers of its versions declare them. All code of this source that
//! is unsafe.
#![expect(unsafe_code, reason = "calls into a foreign library")]

use std::{
    collections::BTreeMap,
    ffi::{c_char, c_void},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use power_core::{Missing, PowerError};

use super::AMDSMI;
use crate::library::Loaded;

/// What calls return.
pub mod status {
    /// As it should be.
    pub const OK: u32 = 0;
    /// The device doesn't offer it.
    pub const NOT_SUPPORTED: u32 = 2;
    /// This user may not.
    pub const NO_PERMISSION: u32 = 10;
    /// There is no such device.
    pub const NOT_FOUND: u32 = 31;
}

/// What a status means for the number that was wanted.
pub const fn missing(said: u32) -> Missing {
    match said {
        status::NOT_SUPPORTED => Missing::NotSupported,
        status::NO_PERMISSION => Missing::Permission,
        status::NOT_FOUND => Missing::Lost,
        _ => Missing::Io,
    }
}

const GPUS: u64 = 2;

#[repr(C)]
struct Version {
    words: [u32; 4],
    build: *const c_char,
}
const _: () = assert!(size_of::<Version>() == 24);

#[repr(C)]
struct PowerCap {
    cap: u64,
    default: u64,
    dpm: u64,
    min: u64,
    max: u64,
    reserved: [u64; 3],
}
const _: () = assert!(size_of::<PowerCap>() == 64);

/// A clock, MHz, in any version; the rest of it differs.
#[repr(C)]
struct ClockInfo {
    mhz: u32,
    rest: [u32; 31],
}

/// Shares of the last moments in which parts were busy, percent: graphics, memory, media.
#[repr(C)]
struct EngineUsage {
    percent: [u32; 3],
    reserved: [u32; 13],
}
const _: () = assert!(size_of::<EngineUsage>() == 64);

#[repr(C)]
struct Power24 {
    current: u32,
    average: u32,
    rest: [u32; 15],
}
const _: () = assert!(size_of::<Power24>() == 68);

#[repr(C)]
struct Power25 {
    socket: u64,
    current: u32,
    average: u32,
    rest: [u64; 3],
}
const _: () = assert!(size_of::<Power25>() == 40);

#[repr(C)]
struct Power26 {
    socket: u64,
    current: u32,
    average: u32,
    rest: [u64; 22],
}
const _: () = assert!(size_of::<Power26>() == 192);

/// Room for the power of any version, set to what means "no number" before the library writes into it.
#[repr(C, align(8))]
struct PowerRoom([u8; 256]);
const _: () = assert!(size_of::<PowerRoom>() >= size_of::<Power26>());

/// Where the two powers lie, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    current: usize,
    average: usize,
}

impl Layout {
    const fn of(major: u32) -> Option<Self> {
        use std::mem::offset_of;
        match major {
            24 => Some(Self { current: offset_of!(Power24, current), average: offset_of!(Power24, average) }),
            25 => Some(Self { current: offset_of!(Power25, current), average: offset_of!(Power25, average) }),
            26 => Some(Self { current: offset_of!(Power26, current), average: offset_of!(Power26, average) }),
            _ => None,
        }
    }
}

/// A device's powers, W, each None where it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Power {
    /// Now.
    pub current: Option<u32>,
    /// A mean of the last moments.
    pub average: Option<u32>,
}

type Handle = *mut c_void;
type ListOf = unsafe extern "C" fn(*mut u32, *mut Handle) -> u32;
type ListIn = unsafe extern "C" fn(Handle, *mut u32, *mut Handle) -> u32;

struct Api {
    layout: Layout,
    sockets: ListOf,
    processors: ListIn,
    bdf: unsafe extern "C" fn(Handle, *mut u64) -> u32,
    energy: unsafe extern "C" fn(Handle, *mut u64, *mut f32, *mut u64) -> u32,
    power: unsafe extern "C" fn(Handle, *mut PowerRoom) -> u32,
    cap: Option<unsafe extern "C" fn(Handle, u32, *mut PowerCap) -> u32>,
    temperature: Option<unsafe extern "C" fn(Handle, u32, u32, *mut i64) -> u32>,
    clock: Option<unsafe extern "C" fn(Handle, u32, *mut ClockInfo) -> u32>,
    activity: Option<unsafe extern "C" fn(Handle, *mut EngineUsage) -> u32>,
}

/// One processor, with the library that keeps it.
#[derive(Clone)]
pub struct Device {
    api: Arc<Api>,
    handle: Handle,
}

// SAFETY: a handle is a token that the library looks up, and every call is made under the one lock.
unsafe impl Send for Device {}

/// Libraries that were started. They are never ended: that would end them for every other user in the process.
static STARTED: Mutex<BTreeMap<PathBuf, Arc<Api>>> = Mutex::new(BTreeMap::new());

/// Held around every call: versions before 26.2 return each other's values to concurrent callers.
static CALLING: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    CALLING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Loads and starts the library, once in a process; every processor that it shows.
pub fn devices(path: &Path) -> Result<Vec<Device>, PowerError> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = started.get(path).map(Arc::clone);
    let api = known.map_or_else(|| start(path).map(Arc::new), Ok)?;
    started.insert(path.to_owned(), Arc::clone(&api));
    drop(started);
    let _alone = alone();
    // SAFETY: the library is started; it counts, and writes at most as many handles as it is told there is room for.
    let sockets = list(|count, into| unsafe { (api.sockets)(count, into) })
        .map_err(|said| refusal("amdsmi_get_socket_handles", said))?;
    let mut devices = Vec::new();
    for socket in sockets {
        // SAFETY: as above, with a handle of the library's own.
        let processors = list(|count, into| unsafe { (api.processors)(socket, count, into) })
            .map_err(|said| refusal("amdsmi_get_processor_handles", said))?;
        devices.extend(processors.into_iter().map(|handle| Device { api: Arc::clone(&api), handle }));
    }
    Ok(devices)
}

fn start(path: &Path) -> Result<Api, PowerError> {
    let library = Loaded::open(AMDSMI, path)?;
    let _alone = alone();
    // SAFETY: the types are those of the vendor's headers.
    let (init, version) = unsafe {
        let init: unsafe extern "C" fn(u64) -> u32 = library.call("amdsmi_init")?;
        let version: unsafe extern "C" fn(*mut Version) -> u32 = library.call("amdsmi_get_lib_version")?;
        (init, version)
    };
    let mut found = Version { words: [0; 4], build: std::ptr::null() };
    // SAFETY: it needs no started library, and writes one version.
    let said = unsafe { version(&raw mut found) };
    if said != status::OK {
        return Err(refusal("amdsmi_get_lib_version", said));
    }
    let [major, minor, ..] = found.words;
    let Some(layout) = Layout::of(major) else {
        return Err(PowerError::Vendor {
            source_name: AMDSMI,
            said: format!("{} is version {major}.{minor}; 24 to 26 are understood", path.display()),
            fix: None,
            refused: false,
        });
    };
    // SAFETY: the types are those of the vendor's headers.
    let api = unsafe {
        Api {
            layout,
            sockets: library.call("amdsmi_get_socket_handles")?,
            processors: library.call("amdsmi_get_processor_handles")?,
            bdf: library.call("amdsmi_get_gpu_device_bdf")?,
            energy: library.call("amdsmi_get_energy_count")?,
            power: library.call("amdsmi_get_power_info")?,
            cap: library.find("amdsmi_get_power_cap_info"),
            temperature: library.find("amdsmi_get_temp_metric"),
            clock: library.find("amdsmi_get_clock_info"),
            activity: library.find("amdsmi_get_gpu_activity"),
        }
    };
    // SAFETY: it is started once.
    match unsafe { init(GPUS) } {
        status::OK => Ok(api),
        said => Err(refusal("amdsmi_init", said)),
    }
}

fn refusal(call: &str, said: u32) -> PowerError {
    let refused = said == status::NO_PERMISSION;
    PowerError::Vendor {
        source_name: AMDSMI,
        said: format!("{call} returned {said}"),
        fix: refused.then(|| super::GROUPS.to_owned()),
        refused,
    }
}

/// Asks how many there are, then for as many.
fn list(mut call: impl FnMut(*mut u32, *mut Handle) -> u32) -> Result<Vec<Handle>, u32> {
    let mut count = 0;
    match call(&raw mut count, std::ptr::null_mut()) {
        status::OK => {}
        said => return Err(said),
    }
    let room = count;
    let mut handles = vec![std::ptr::null_mut(); room as usize];
    match call(&raw mut count, handles.as_mut_ptr()) {
        status::OK => {}
        said => return Err(said),
    }
    handles.truncate(count.min(room) as usize);
    handles.retain(|handle| !handle.is_null());
    Ok(handles)
}

impl Device {
    /// Its place on the bus, packed.
    pub fn bdf(&self) -> Result<u64, u32> {
        let mut bdf = 0;
        let _alone = alone();
        // SAFETY: the handle is the library's own, and it writes one number.
        done(unsafe { (self.api.bdf)(self.handle, &raw mut bdf) }).map(|()| bdf)
    }

    /// A count of energy, and what one of it is, µJ.
    pub fn energy(&self) -> Result<(u64, f32), u32> {
        let (mut count, mut resolution, mut stamp) = (0, 0.0, 0);
        let _alone = alone();
        // SAFETY: the handle is the library's own, and it writes three numbers.
        done(unsafe { (self.api.energy)(self.handle, &raw mut count, &raw mut resolution, &raw mut stamp) })
            .map(|()| (count, resolution))
    }

    /// Its powers.
    pub fn power(&self) -> Result<Power, u32> {
        let mut room = PowerRoom([0xff; 256]);
        let alone = alone();
        // SAFETY: the handle is the library's own, and no version writes more than there is room for.
        done(unsafe { (self.api.power)(self.handle, &raw mut room) })?;
        drop(alone);
        let watts = |at: usize| {
            let bytes = room.0.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_ne_bytes(bytes)).filter(|watts| ![0xffff, u32::MAX].contains(watts))
        };
        let Layout { current, average } = self.api.layout;
        Ok(Power { current: watts(current), average: watts(average) })
    }

    /// The highest limit that can be set, µW.
    pub fn max_limit_uw(&self) -> Option<u64> {
        self.limits().ok().map(|cap| cap.max).filter(|max| *max > 0)
    }

    /// The limit that is set, µW.
    pub fn limit_uw(&self) -> Result<u64, u32> {
        self.limits().map(|cap| cap.cap)
    }

    fn limits(&self) -> Result<PowerCap, u32> {
        let call = self.api.cap.ok_or(status::NOT_SUPPORTED)?;
        let mut cap = PowerCap { cap: 0, default: 0, dpm: 0, min: 0, max: 0, reserved: [0; 3] };
        let _alone = alone();
        // SAFETY: the handle is the library's own, and it writes one such structure.
        done(unsafe { call(self.handle, 0, &raw mut cap) }).map(|()| cap)
    }

    /// A temperature now, by the number of its sensor; °C, or thousandths of it in some versions.
    pub fn temperature(&self, sensor: u32) -> Result<i64, u32> {
        const CURRENT: u32 = 0;
        let call = self.api.temperature.ok_or(status::NOT_SUPPORTED)?;
        let mut value = 0;
        let _alone = alone();
        // SAFETY: the handle is the library's own, and it writes one number.
        done(unsafe { call(self.handle, sensor, CURRENT, &raw mut value) }).map(|()| value)
    }

    /// A clock now, by its number, MHz.
    pub fn clock_mhz(&self, which: u32) -> Result<u32, u32> {
        let call = self.api.clock.ok_or(status::NOT_SUPPORTED)?;
        let mut info = ClockInfo { mhz: u32::MAX, rest: [0; 31] };
        let _alone = alone();
        // SAFETY: the handle is the library's own, and no version writes more than there is room for.
        done(unsafe { call(self.handle, which, &raw mut info) })?;
        let ClockInfo { mhz, rest: _ } = info;
        Ok(mhz)
    }

    /// How busy graphics, memory and media are, percent.
    pub fn activity(&self) -> Result<[u32; 3], u32> {
        let call = self.api.activity.ok_or(status::NOT_SUPPORTED)?;
        let mut usage = EngineUsage { percent: [u32::MAX; 3], reserved: [0; 13] };
        let _alone = alone();
        // SAFETY: the handle is the library's own, and it writes one such structure.
        done(unsafe { call(self.handle, &raw mut usage) })?;
        let EngineUsage { percent, reserved: _ } = usage;
        Ok(percent)
    }
}

const fn done(said: u32) -> Result<(), u32> {
    if said == status::OK { Ok(()) } else { Err(said) }
}
