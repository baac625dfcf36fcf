//! The library's calls, layouts and numbers, as its headers declare them. All code of this source that is unsafe.
#![expect(unsafe_code, reason = "calls into a foreign library")]

use std::{
    ffi::{c_char, c_void},
    path::Path,
    sync::Arc,
};

use power_core::{Missing, PowerError};

use super::LEVEL_ZERO;
use crate::library::Loaded;

/// What calls return.
mod status {
    pub const OK: u32 = 0;
    pub const DEVICE_LOST: u32 = 0x7000_0001;
    pub const INSUFFICIENT_PERMISSIONS: u32 = 0x7001_0000;
    pub const UNSUPPORTED_FEATURE: u32 = 0x7800_0003;
}

/// What a status means for the number that was wanted.
pub const fn missing(said: u32) -> Missing {
    match said {
        status::DEVICE_LOST => Missing::Lost,
        status::INSUFFICIENT_PERMISSIONS => Missing::Permission,
        status::UNSUPPORTED_FEATURE => Missing::NotSupported,
        _ => Missing::Io,
    }
}

/// Numbers by which structures tell what they are.
mod kind {
    pub const DEVICE_PROPERTIES: u32 = 0x1;
    pub const PCI_PROPERTIES: u32 = 0x2;
    pub const POWER_PROPERTIES: u32 = 0xd;
    pub const POWER_EXT_PROPERTIES: u32 = 0x28;
}

/// A flag of a device: it is part of a CPU.
const INTEGRATED: u32 = 1;

#[repr(C)]
struct CoreProperties {
    kind: u32,
    next: *mut c_void,
    device_type: u32,
    vendor: u32,
    device: u32,
    flags: u32,
    part: u32,
    clock: u32,
    most_memory: u64,
    shape: [u32; 7],
    timer_resolution: u64,
    timestamp_bits: [u32; 2],
    uuid: [u8; 16],
    name: [c_char; 256],
}
const _: () = assert!(size_of::<CoreProperties>() == 368);
const _: () = assert!(std::mem::offset_of!(CoreProperties, flags) == 28);

#[repr(C)]
struct DeviceProperties {
    kind: u32,
    next: *mut c_void,
    core: CoreProperties,
    parts: u32,
    serial_number: [c_char; 64],
    board_number: [c_char; 64],
    brand: [c_char; 64],
    model: [c_char; 64],
    vendor: [c_char; 64],
    driver: [c_char; 64],
}
const _: () = assert!(std::mem::offset_of!(DeviceProperties, model) == 16 + 368 + 4 + 3 * 64);

#[repr(C)]
struct PciProperties {
    kind: u32,
    next: *mut c_void,
    address: [u32; 4],
    speed: [u64; 2],
    counters: [u8; 3],
}
const _: () = assert!(std::mem::offset_of!(PciProperties, speed) == 32);

#[repr(C)]
struct PowerExtension {
    kind: u32,
    next: *mut c_void,
    domain: u32,
    default_limit: *mut c_void,
}
const _: () = assert!(size_of::<PowerExtension>() == 32);

#[repr(C)]
struct PowerProperties {
    kind: u32,
    next: *mut PowerExtension,
    on_part: u8,
    part: u32,
    can_control: u8,
    has_threshold: u8,
    default_limit: i32,
    min_limit: i32,
    max_limit: i32,
}
const _: () = assert!(size_of::<PowerProperties>() == 40);
const _: () = assert!(std::mem::offset_of!(PowerProperties, max_limit) == 36);

#[repr(C)]
struct EnergyCounter {
    energy_uj: u64,
    timestamp_us: u64,
}

type Handle = *mut c_void;
type ListOf = unsafe extern "C" fn(*mut u32, *mut Handle) -> u32;
type ListIn = unsafe extern "C" fn(Handle, *mut u32, *mut Handle) -> u32;

struct Api {
    drivers: ListOf,
    devices: ListIn,
    device_properties: unsafe extern "C" fn(Handle, *mut DeviceProperties) -> u32,
    pci_properties: unsafe extern "C" fn(Handle, *mut PciProperties) -> u32,
    power_domains: ListIn,
    card_domain: Option<unsafe extern "C" fn(Handle, *mut Handle) -> u32>,
    power_properties: unsafe extern "C" fn(Handle, *mut PowerProperties) -> u32,
    energy: unsafe extern "C" fn(Handle, *mut EnergyCounter) -> u32,
}

/// One device.
pub struct Device {
    api: Arc<Api>,
    handle: Handle,
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its place on the bus.
    pub place: String,
    /// Its model's name, perhaps empty.
    pub model: String,
    /// Whether it is part of a CPU.
    pub integrated: bool,
}

/// What a power domain covers, as the vendor numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Covers {
    /// The whole card.
    Card,
    /// The chips of a card in one housing.
    Package,
    /// The driver doesn't tell.
    Unknown,
    /// One of the parts that a chip is made of.
    Stack,
    /// The graphics processor without what is around it.
    Gpu,
    /// Memory.
    Memory,
}

/// One power domain of a device.
pub struct PowerDomain {
    api: Arc<Api>,
    handle: Handle,
    /// What it covers.
    pub covers: Covers,
    /// The part of the device that it is about; None for the device itself.
    pub part: Option<u32>,
    /// The highest power that it can be limited to, mW; None where that isn't told.
    pub max_limit_mw: Option<u64>,
}

// SAFETY: a handle is a token that the library looks up, and only one thread uses it at a time.
unsafe impl Send for PowerDomain {}

/// Loads and starts the library; every device that its drivers show.
pub fn devices(path: &Path) -> Result<Vec<Device>, PowerError> {
    let api = Arc::new(start(path)?);
    // SAFETY: the library is started; it counts, and writes at most as many handles as it is told there is room for.
    let drivers = list(|count, into| unsafe { (api.drivers)(count, into) })
        .map_err(|said| refusal("zesDriverGet", said))?;
    let mut devices = Vec::new();
    for driver in drivers {
        // SAFETY: as above, with a handle of the library's own.
        let found = list(|count, into| unsafe { (api.devices)(driver, count, into) })
            .map_err(|said| refusal("zesDeviceGet", said))?;
        devices.extend(found.into_iter().map(|handle| Device { api: Arc::clone(&api), handle }));
    }
    Ok(devices)
}

fn start(path: &Path) -> Result<Api, PowerError> {
    let library = Loaded::open(LEVEL_ZERO, path)?;
    // SAFETY: the types are those of the vendor's headers.
    let (init, api) = unsafe {
        let init: unsafe extern "C" fn(u32) -> u32 = library.call("zesInit")?;
        let api = Api {
            drivers: library.call("zesDriverGet")?,
            devices: library.call("zesDeviceGet")?,
            device_properties: library.call("zesDeviceGetProperties")?,
            pci_properties: library.call("zesDevicePciGetProperties")?,
            power_domains: library.call("zesDeviceEnumPowerDomains")?,
            card_domain: library.find("zesDeviceGetCardPowerDomain"),
            power_properties: library.call("zesPowerGetProperties")?,
            energy: library.call("zesPowerGetEnergyCounter")?,
        };
        (init, api)
    };
    // SAFETY: it may be called any number of times, from any thread.
    match unsafe { init(0) } {
        status::OK => Ok(api),
        said => Err(refusal("zesInit", said)),
    }
}

fn refusal(call: &str, said: u32) -> PowerError {
    let refused = said == status::INSUFFICIENT_PERMISSIONS;
    PowerError::Vendor {
        source_name: LEVEL_ZERO,
        said: format!("{call} returned {said:#x}"),
        fix: refused.then(|| super::GROUPS.to_owned()),
        refused,
    }
}

/// Asks how many there are, then for as many.
fn list(mut call: impl FnMut(*mut u32, *mut Handle) -> u32) -> Result<Vec<Handle>, u32> {
    let mut count = 0;
    done(call(&raw mut count, std::ptr::null_mut()))?;
    let room = count;
    let mut handles = vec![std::ptr::null_mut(); room as usize];
    done(call(&raw mut count, handles.as_mut_ptr()))?;
    handles.truncate(count.min(room) as usize);
    handles.retain(|handle| !handle.is_null());
    Ok(handles)
}

impl Device {
    /// What it is, and where.
    pub fn about(&self) -> Result<About, u32> {
        // SAFETY: all of these are numbers, texts and pointers, for which zeroes are valid.
        let (mut device, mut pci): (DeviceProperties, PciProperties) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        device.kind = kind::DEVICE_PROPERTIES;
        pci.kind = kind::PCI_PROPERTIES;
        // SAFETY: the handle is the library's own, and it writes one structure of the kind that it is told.
        done(unsafe { (self.api.device_properties)(self.handle, &raw mut device) })?;
        // SAFETY: as above.
        done(unsafe { (self.api.pci_properties)(self.handle, &raw mut pci) })?;
        let [domain, bus, slot, function] = pci.address;
        Ok(About {
            place: format!("{domain:04x}:{bus:02x}:{slot:02x}.{function}"),
            model: text(&device.model),
            integrated: device.core.flags & INTEGRATED != 0,
        })
    }

    /// Its power domains, that of the card among them.
    pub fn power_domains(&self) -> Result<Vec<PowerDomain>, u32> {
        // SAFETY: the handle is the library's own; it counts, and writes at most as many handles as there is room for.
        let mut handles = list(|count, into| unsafe { (self.api.power_domains)(self.handle, count, into) })?;
        let card = self.card_domain();
        if let Some(card) = card.filter(|card| !handles.contains(card)) {
            handles.push(card);
        }
        handles.into_iter().map(|handle| self.power_domain(handle, card == Some(handle))).collect()
    }

    fn card_domain(&self) -> Option<Handle> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the handle is the library's own, and it writes one handle.
        let said = unsafe { (self.api.card_domain?)(self.handle, &raw mut handle) };
        (said == status::OK && !handle.is_null()).then_some(handle)
    }

    fn power_domain(&self, handle: Handle, card: bool) -> Result<PowerDomain, u32> {
        let mut extension = PowerExtension {
            kind: kind::POWER_EXT_PROPERTIES,
            next: std::ptr::null_mut(),
            domain: 0,
            default_limit: std::ptr::null_mut(),
        };
        let mut properties = PowerProperties {
            kind: kind::POWER_PROPERTIES,
            next: &raw mut extension,
            on_part: 0,
            part: 0,
            can_control: 0,
            has_threshold: 0,
            default_limit: -1,
            min_limit: -1,
            max_limit: -1,
        };
        // SAFETY: the handle is the library's own, and it writes the two structures of the kinds that it is told.
        done(unsafe { (self.api.power_properties)(handle, &raw mut properties) })?;
        let covers = match extension.domain {
            _ if card => Covers::Card,
            1 => Covers::Card,
            2 => Covers::Package,
            3 => Covers::Stack,
            4 => Covers::Memory,
            5 => Covers::Gpu,
            _ => Covers::Unknown,
        };
        Ok(PowerDomain {
            api: Arc::clone(&self.api),
            handle,
            covers,
            part: (properties.on_part != 0).then_some(properties.part),
            max_limit_mw: u64::try_from(properties.max_limit).ok().filter(|limit| *limit > 0),
        })
    }
}

impl PowerDomain {
    /// Energy since some time in the past, µJ.
    pub fn energy_uj(&self) -> Result<u64, u32> {
        let mut counter = EnergyCounter { energy_uj: u64::MAX, timestamp_us: 0 };
        // SAFETY: the handle is the library's own, and it writes one such structure.
        done(unsafe { (self.api.energy)(self.handle, &raw mut counter) })?;
        let EnergyCounter { energy_uj, timestamp_us: _ } = counter;
        Ok(energy_uj)
    }
}

fn text(buffer: &[c_char]) -> String {
    let bytes = buffer.iter().map(|c| c.to_ne_bytes()[0]).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

const fn done(said: u32) -> Result<(), u32> {
    if said == status::OK { Ok(()) } else { Err(said) }
}
