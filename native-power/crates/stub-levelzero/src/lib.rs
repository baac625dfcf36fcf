//! `libze_loader` as far as our sampler calls it, saying what a script says. Names in the script: `init`, `device` (its
//! value is the number of its bus), `integrated`, `model`, `card` (its value is the scope of a `domain`), `domain` (its
//! scope counts from 0, its type is the vendor's number of what it covers, its value the part of the device, or nothing),
//! `energy` and `limit` (µJ and mW, their scope is the domain's).
#![cfg(unix)]

#[path = "../../stub-nvml/src/script.rs"]
mod script;

use std::{
    ffi::{c_char, c_void},
    sync::atomic::{AtomicBool, Ordering},
};

use script::{answer, devices};

const UNINITIALIZED: u32 = 0x7800_0001;
const UNSUPPORTED: u32 = 0x7800_0003;
const INVALID: u32 = 0x7800_0004;
const PARTS: usize = 16;

static STARTED: AtomicBool = AtomicBool::new(false);

/// Handles of devices count from 1, those of a device's domains lie behind it.
fn handle(device: u32, domain: Option<u32>) -> *mut c_void {
    let domain = domain.map_or(0, |domain| domain as usize + 1);
    std::ptr::without_provenance_mut((device as usize + 1) * PARTS + domain)
}

fn device_of(handle: *mut c_void) -> u32 {
    u32::try_from((handle.addr() / PARTS).wrapping_sub(1)).unwrap_or(u32::MAX)
}

fn domain_of(handle: *mut c_void) -> u32 {
    u32::try_from((handle.addr() % PARTS).wrapping_sub(1)).unwrap_or(u32::MAX)
}

/// Starts the library.
#[unsafe(no_mangle)]
pub extern "C" fn zesInit(_flags: u32) -> u32 {
    let status = answer(0, "init", 0).map_or(0, |said| said.status);
    STARTED.store(status == 0, Ordering::SeqCst);
    status
}

/// The drivers: one.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesDriverGet(count: *mut u32, drivers: *mut *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { list(count, drivers, &[std::ptr::without_provenance_mut(1)]) }
}

/// The devices of a driver: one for each `device` line.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesDeviceGet(_driver: *mut c_void, count: *mut u32, into: *mut *mut c_void) -> u32 {
    let all: Vec<_> = (0..devices("device")).map(|device| handle(device, None)).collect();
    // SAFETY: the caller's promise.
    unsafe { list(count, into, &all) }
}

/// What a device is.
#[repr(C)]
pub struct CoreProperties {
    kind: u32,
    next: *mut c_void,
    device: [u32; 3],
    flags: u32,
    rest: [u64; 42],
}

/// What a device is, to those who manage it.
#[repr(C)]
pub struct DeviceProperties {
    kind: u32,
    next: *mut c_void,
    core: CoreProperties,
    parts: u32,
    texts: [[c_char; 64]; 6],
}

/// Says what a device is.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesDeviceGetProperties(device: *mut c_void, into: *mut DeviceProperties) -> u32 {
    let device = device_of(device);
    // SAFETY: the caller's promise.
    let into = unsafe { &mut *into };
    if into.kind != 1 {
        return INVALID;
    }
    into.core.flags = answer(device, "integrated", 0).map_or(0, |said| said.value.parse().unwrap_or(0));
    let model = answer(device, "model", 0).map_or_else(String::new, |said| said.value);
    for (at, byte) in into.texts[3].iter_mut().zip(model.bytes().chain([0])) {
        *at = c_char::from_ne_bytes([byte]);
    }
    0
}

/// Where a device is on the bus.
#[repr(C)]
pub struct PciProperties {
    kind: u32,
    next: *mut c_void,
    address: [u32; 4],
    rest: [u64; 4],
}

/// Says where a device is.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesDevicePciGetProperties(device: *mut c_void, into: *mut PciProperties) -> u32 {
    let Some(said) = answer(device_of(device), "device", 0) else { return INVALID };
    // SAFETY: the caller's promise.
    let into = unsafe { &mut *into };
    if into.kind != 2 {
        return INVALID;
    }
    into.address = [0, said.value.parse().unwrap_or(0), 0, 0];
    said.status
}

/// The power domains of a device.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesDeviceEnumPowerDomains(
    device: *mut c_void,
    count: *mut u32,
    into: *mut *mut c_void,
) -> u32 {
    let device = device_of(device);
    let there = (0..8).take_while(|domain| answer(device, "domain", *domain).is_some());
    let all: Vec<_> = there.map(|domain| handle(device, Some(domain))).collect();
    // SAFETY: the caller's promise.
    unsafe { list(count, into, &all) }
}

/// The domain of the whole card.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesDeviceGetCardPowerDomain(device: *mut c_void, into: *mut *mut c_void) -> u32 {
    let device = device_of(device);
    let Some(said) = answer(device, "card", 0) else { return UNSUPPORTED };
    // SAFETY: the caller's promise.
    unsafe { *into = handle(device, said.value.parse().ok()) };
    said.status
}

/// What a domain covers, in the extension.
#[repr(C)]
pub struct PowerExtension {
    kind: u32,
    next: *mut c_void,
    domain: u32,
    limit: *mut c_void,
}

/// What is known of a domain.
#[repr(C)]
pub struct PowerProperties {
    kind: u32,
    next: *mut PowerExtension,
    on_part: u8,
    part: u32,
    flags: [u8; 2],
    limits: [i32; 3],
}

/// Says what is known of a domain.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesPowerGetProperties(domain: *mut c_void, into: *mut PowerProperties) -> u32 {
    let (device, at) = (device_of(domain), domain_of(domain));
    let Some(said) = answer(device, "domain", at) else { return INVALID };
    // SAFETY: the caller's promise.
    let into = unsafe { &mut *into };
    if into.kind != 0xd {
        return INVALID;
    }
    let part: Option<u32> = said.value.parse().ok();
    into.on_part = u8::from(part.is_some());
    into.part = part.unwrap_or(0);
    into.limits = [-1, -1, answer(device, "limit", at).map_or(-1, |said| said.value.parse().unwrap_or(-1))];
    if !into.next.is_null() {
        // SAFETY: the caller's promise.
        let extension = unsafe { &mut *into.next };
        if extension.kind == 0x28 && extension.limit.is_null() {
            extension.domain = said.kind;
        }
    }
    said.status
}

/// The energy of a domain, µJ, and when, µs.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zesPowerGetEnergyCounter(domain: *mut c_void, into: *mut [u64; 2]) -> u32 {
    if !STARTED.load(Ordering::SeqCst) {
        return UNINITIALIZED;
    }
    let Some(said) = answer(device_of(domain), "energy", domain_of(domain)) else { return UNSUPPORTED };
    // SAFETY: the caller's promise.
    unsafe { *into = [said.value.parse().unwrap_or(0), 1] };
    said.status
}

/// How many there are, and as many as there is room for.
unsafe fn list(count: *mut u32, into: *mut *mut c_void, all: &[*mut c_void]) -> u32 {
    if !STARTED.load(Ordering::SeqCst) {
        return UNINITIALIZED;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if into.is_null() {
            *count = u32::try_from(all.len()).unwrap_or(0);
            return 0;
        }
        for (at, one) in all.iter().enumerate().take(*count as usize) {
            *into.add(at) = *one;
        }
    }
    0
}
