//! `libnvidia-ml` as far as our sampler calls it, saying what a script says (see `script`). Names in the script:
//! `init`, `uuid`, `name`, `energy` and `power` (the calls), field numbers, `mig` (value 1: on), `instance` (its scope
//! counts from 0), `parent` (its value is a device's index), `pci`, `temperature`, `clock` (its scope is the clock's number),
//! `limit`, `reasons`, `utilization` (the GPU's; of the memory in scope 1).
#![cfg(unix)]

mod script;

use std::{
    ffi::{c_char, c_int, c_void},
    sync::atomic::{AtomicI32, Ordering},
};

use script::{Answer, answer, devices};

const UNINITIALISED: c_int = 1;
const NOT_SUPPORTED: c_int = 3;
const NOT_FOUND: c_int = 6;

/// Where a field's answer goes.
#[repr(C)]
pub struct FieldValue {
    field: u32,
    scope: u32,
    timestamp: i64,
    latency: i64,
    kind: c_int,
    status: c_int,
    value: [u8; 8],
}

/// Starts without an end; without any, nothing is answered.
static USERS: AtomicI32 = AtomicI32::new(0);

/// Handles are indices, counted from 1; those of MIG instances lie behind them.
fn handle(index: u32) -> *mut c_void {
    std::ptr::without_provenance_mut(index as usize + 1)
}

fn index(device: *mut c_void) -> u32 {
    u32::try_from(device.addr().wrapping_sub(1)).unwrap_or(u32::MAX)
}

fn status(said: &Answer) -> c_int {
    c_int::try_from(said.status).unwrap_or(999)
}

/// Starts the library.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_int {
    let status = answer(0, "init", 0).map_or(0, |said| status(&said));
    USERS.fetch_add(i32::from(status == 0), Ordering::SeqCst);
    status
}

/// Ends it.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> c_int {
    USERS.fetch_sub(1, Ordering::SeqCst);
    0
}

/// What a status means.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(status: c_int) -> *const c_char {
    let text = match status {
        0 => c"Success",
        3 => c"Not Supported",
        4 => c"Insufficient Permissions",
        15 => c"GPU is lost",
        18 => c"Driver/library version mismatch",
        _ => c"Unknown Error",
    };
    text.as_ptr()
}

/// The driver's version.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(buffer: *mut c_char, length: u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { text(Some("550.54.15"), buffer, length) }
}

/// How many devices there are.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *count = devices("index") };
    0
}

/// The device with this index.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: u32, device: *mut *mut c_void) -> c_int {
    let Some(said) = answer(index, "index", 0) else { return NOT_FOUND };
    // SAFETY: the caller's promise.
    unsafe { *device = handle(said.value.parse().unwrap_or(index)) };
    status(&said)
}

/// A device's identity.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(device: *mut c_void, buffer: *mut c_char, length: u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { named(device, "uuid", (buffer, length)) }
}

/// Where a device is on its bus.
#[repr(C)]
pub struct PciInfo {
    older_text: [c_char; 16],
    domain: u32,
    bus: u32,
    device: u32,
    device_id: u32,
    subsystem_id: u32,
    text: [c_char; 32],
}

/// A device's place on its bus: `0000:65:00` in the script.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(device: *mut c_void, info: *mut PciInfo) -> c_int {
    let Some(said) = answer(index(device), "pci", 0) else { return NOT_SUPPORTED };
    let mut parts = said.value.split(':').map(|part| u32::from_str_radix(part, 16).unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe {
        (*info).domain = next();
        (*info).bus = next();
        (*info).device = next();
    }
    status(&said)
}

/// A device's name.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(device: *mut c_void, buffer: *mut c_char, length: u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { named(device, "name", (buffer, length)) }
}

/// Energy since the driver was loaded, mJ.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEnergyConsumption(device: *mut c_void, energy: *mut u64) -> c_int {
    let Some(said) = answer(index(device), "energy", 0) else { return NOT_SUPPORTED };
    // SAFETY: the caller's promise.
    unsafe { *energy = said.value.parse().unwrap_or(0) };
    status(&said)
}

/// Power, mW.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerUsage(device: *mut c_void, power: *mut u32) -> c_int {
    let Some(said) = answer(index(device), "power", 0) else { return NOT_SUPPORTED };
    // SAFETY: the caller's promise.
    unsafe { *power = said.value.parse().unwrap_or(0) };
    status(&said)
}

/// Several fields at once; `lost` answers for the whole call.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFieldValues(
    device: *mut c_void,
    count: c_int,
    values: *mut FieldValue,
) -> c_int {
    let device = index(device);
    if USERS.load(Ordering::SeqCst) < 1 {
        return UNINITIALISED;
    }
    if let Some(said) = answer(device, "fields", 0) {
        return status(&said);
    }
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller's promise.
    for value in unsafe { std::slice::from_raw_parts_mut(values, count) } {
        match answer(device, &value.field.to_string(), value.scope) {
            Some(said) => {
                value.status = status(&said);
                value.kind = c_int::try_from(said.kind).unwrap_or(-1);
                value.value = bytes(&said);
            }
            None => value.status = NOT_SUPPORTED,
        }
    }
    0
}

/// Whether a device is split.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigMode(device: *mut c_void, now: *mut u32, later: *mut u32) -> c_int {
    let Some(said) = answer(index(device), "mig", 0) else { return NOT_SUPPORTED };
    let mode = said.value.parse().unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe { (*now, *later) = (mode, mode) };
    status(&said)
}

/// How many instances a device can be split into.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxMigDeviceCount(_device: *mut c_void, count: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *count = 7 };
    0
}

/// One instance of a device.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(
    device: *mut c_void,
    at: u32,
    instance: *mut *mut c_void,
) -> c_int {
    let Some(said) = answer(index(device), "instance", at) else { return NOT_FOUND };
    // SAFETY: the caller's promise.
    unsafe { *instance = handle(said.value.parse().unwrap_or(0)) };
    status(&said)
}

/// The device that an instance is part of.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    instance: *mut c_void,
    device: *mut *mut c_void,
) -> c_int {
    let Some(said) = answer(index(instance), "parent", 0) else { return NOT_FOUND };
    // SAFETY: the caller's promise.
    unsafe { *device = handle(said.value.parse().unwrap_or(0)) };
    status(&said)
}

/// Temperature, °C.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(
    device: *mut c_void,
    sensor: c_int,
    celsius: *mut u32,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { numbered(device, ("temperature", sensor.unsigned_abs()), celsius) }
}

/// A clock, MHz.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockInfo(device: *mut c_void, which: c_int, mhz: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { numbered(device, ("clock", which.unsigned_abs()), mhz) }
}

/// The power limit that is enforced, mW.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEnforcedPowerLimit(device: *mut c_void, mw: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { numbered(device, ("limit", 0), mw) }
}

/// Why clocks are low, by the name that older libraries have.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(
    device: *mut c_void,
    bits: *mut u64,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { numbered(device, ("reasons", 0), bits) }
}

/// Shares of time, percent: of the GPU, of its memory.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(device: *mut c_void, rates: *mut [u32; 2]) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let of_memory = numbered(device, ("utilization", 1), &raw mut (*rates)[1]);
        let of_gpu = numbered(device, ("utilization", 0), &raw mut (*rates)[0]);
        if of_gpu == 0 { of_memory } else { of_gpu }
    }
}

unsafe fn numbered<T: std::str::FromStr + Default>(
    device: *mut c_void,
    (what, scope): (&str, u32),
    into: *mut T,
) -> c_int {
    let Some(said) = answer(index(device), what, scope) else { return NOT_SUPPORTED };
    // SAFETY: the caller's promise.
    unsafe { *into = said.value.parse().unwrap_or_default() };
    status(&said)
}

unsafe fn named(device: *mut c_void, what: &str, (buffer, length): (*mut c_char, u32)) -> c_int {
    match answer(index(device), what, 0) {
        Some(said) if said.status != 0 => status(&said),
        // SAFETY: the caller's promise.
        said => unsafe { text(said.as_ref().map(|said| said.value.as_str()), buffer, length) },
    }
}

unsafe fn text(text: Option<&str>, buffer: *mut c_char, length: u32) -> c_int {
    let Some(text) = text else { return NOT_SUPPORTED };
    if text.len() >= length as usize {
        return 7;
    }
    // SAFETY: the buffer is as long as the caller says, so that there is room for the text and its end.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len());
        *buffer.add(text.len()) = 0;
    }
    0
}

/// Only what the type holds is written; the bytes behind it keep something stale, as the vendor's do.
fn bytes(said: &Answer) -> [u8; 8] {
    let mut union = *b"\xde\xad\xbe\xefCODE";
    if let Some(hex) = said.value.strip_prefix("0x") {
        for (byte, at) in union.iter_mut().zip((0..hex.len()).step_by(2)) {
            *byte = hex.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0);
        }
        return union;
    }
    let number: f64 = said.value.parse().unwrap_or(0.0);
    let whole: i64 = said.value.parse().unwrap_or(0);
    let (value, length) = match said.kind {
        0 => (number.to_ne_bytes(), 8),
        1 | 5 => (whole.to_ne_bytes(), 4),
        6 => (whole.to_ne_bytes(), 2),
        _ => (said.value.parse::<u64>().map_or(whole.to_ne_bytes(), u64::to_ne_bytes), 8),
    };
    union[..length].copy_from_slice(&value[..length]);
    union
}
