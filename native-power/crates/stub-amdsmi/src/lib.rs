//! `libamd_smi` as far as our sampler calls it, saying what a script says. Names in the script: `init`, `version` (its
//! type is the second number), `socket`, `bdf`, `energy` (its type, in millionths, is the resolution in µJ; 0: 2^-16 J),
//! `power` (type 0: current, 1: average; the other says that it isn't there), `cap` (µW; its type is the limit
//! that is set, W), `temperature` (its scope is the sensor), `clock` (its scope is the clock), `activity` (percent).
#![cfg(unix)]

#[path = "../../stub-nvml/src/script.rs"]
mod script;

use std::{
    ffi::c_void,
    sync::atomic::{AtomicBool, Ordering},
};

use script::{answer, devices};

const NOT_SUPPORTED: u32 = 2;
const BUSY: u32 = 30;
const NOT_INITIALISED: u32 = 32;
const EXACT_UJ: f64 = 15.258_789_062_5;

static STARTED: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicBool = AtomicBool::new(false);

/// Runs a call; two at a time get in each other's way, as in versions before 26.2.
fn alone(call: impl FnOnce() -> u32) -> u32 {
    if !STARTED.load(Ordering::SeqCst) {
        return NOT_INITIALISED;
    }
    if INSIDE.swap(true, Ordering::SeqCst) {
        return BUSY;
    }
    let status = call();
    INSIDE.store(false, Ordering::SeqCst);
    status
}

fn handle(index: u32) -> *mut c_void {
    std::ptr::without_provenance_mut(index as usize + 1)
}

fn index(handle: *mut c_void) -> u32 {
    u32::try_from(handle.addr().wrapping_sub(1)).unwrap_or(u32::MAX)
}

fn major() -> u32 {
    answer(0, "version", 0).and_then(|said| said.value.parse().ok()).unwrap_or(26)
}

/// Starts the library.
#[unsafe(no_mangle)]
pub extern "C" fn amdsmi_init(_flags: u64) -> u32 {
    let status = answer(0, "init", 0).map_or(0, |said| said.status);
    STARTED.store(status == 0, Ordering::SeqCst);
    status
}

/// Ends it, for every user in the process.
#[unsafe(no_mangle)]
pub extern "C" fn amdsmi_shut_down() -> u32 {
    STARTED.store(false, Ordering::SeqCst);
    0
}

/// The library's version: four numbers, or three from 26 on, and a text.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_lib_version(version: *mut [u32; 6]) -> u32 {
    let minor = answer(0, "version", 0).map_or(2, |said| said.kind);
    // SAFETY: the caller's promise.
    unsafe { *version = [major(), minor, 1, 0, 0, 0] };
    0
}

/// The sockets: one for each device with a `socket` line.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_socket_handles(count: *mut u32, sockets: *mut *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    alone(|| unsafe { list(count, sockets, 0..devices("socket")) })
}

/// The processors of a socket.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_processor_handles(
    socket: *mut c_void,
    count: *mut u32,
    processors: *mut *mut c_void,
) -> u32 {
    let socket = index(socket);
    // SAFETY: the caller's promise.
    alone(|| unsafe { list(count, processors, socket..socket + 1) })
}

/// A processor's place on the bus.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_gpu_device_bdf(processor: *mut c_void, bdf: *mut u64) -> u32 {
    // SAFETY: the caller's promise.
    alone(|| unsafe { number(processor, "bdf", bdf) })
}

/// A processor's energy, and what one count of it is, µJ.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_energy_count(
    processor: *mut c_void,
    energy: *mut u64,
    resolution: *mut f32,
    stamp: *mut u64,
) -> u32 {
    alone(|| {
        let kind = answer(index(processor), "energy", 0).map_or(0, |said| said.kind);
        let uj = if kind == 0 { EXACT_UJ } else { f64::from(kind) / 1e6 };
        // SAFETY: the caller's promise.
        unsafe {
            #[expect(clippy::cast_possible_truncation, reason = "the vendor's type")]
            {
                *resolution = uj as f32;
            }
            *stamp = 0;
            number(processor, "energy", energy)
        }
    })
}

/// A processor's power, in the layout of the library's version.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_power_info(processor: *mut c_void, info: *mut u32) -> u32 {
    alone(|| {
        let Some(said) = answer(index(processor), "power", 0) else { return NOT_SUPPORTED };
        let watts: u32 = said.value.parse().unwrap_or(0);
        let (current, average) = if said.kind == 0 { (watts, 0xFFFF) } else { (0xFFFF, watts) };
        let at = if major() == 24 { 0 } else { 2 };
        // SAFETY: every layout is longer than this, and the caller's buffer holds any of them.
        unsafe {
            *info.add(at) = current;
            *info.add(at + 1) = average;
        }
        said.status
    })
}

/// A processor's power limits, µW; the greatest is the fifth.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_power_cap_info(
    processor: *mut c_void,
    _sensor: u32,
    info: *mut [u64; 8],
) -> u32 {
    alone(|| {
        let set = answer(index(processor), "cap", 0).map_or(0, |said| said.kind);
        // SAFETY: the caller's promise.
        unsafe {
            (*info)[0] = u64::from(set) * 1_000_000;
            number(processor, "cap", &raw mut (*info)[4])
        }
    })
}

/// A temperature now.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_temp_metric(
    processor: *mut c_void,
    sensor: u32,
    metric: u32,
    celsius: *mut i64,
) -> u32 {
    let Some(said) = answer(index(processor), "temperature", sensor).filter(|_| metric == 0) else {
        return NOT_SUPPORTED;
    };
    alone(|| {
        // SAFETY: the caller's promise.
        unsafe { *celsius = said.value.parse().unwrap_or(0) };
        said.status
    })
}

/// A clock now, MHz; the other clocks behind it stay as they are.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_clock_info(processor: *mut c_void, which: u32, info: *mut u32) -> u32 {
    let Some(said) = answer(index(processor), "clock", which) else { return NOT_SUPPORTED };
    alone(|| {
        // SAFETY: the caller's promise.
        unsafe { *info = said.value.parse().unwrap_or(0) };
        said.status
    })
}

/// How busy graphics and memory are, percent: the same.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdsmi_get_gpu_activity(processor: *mut c_void, usage: *mut [u32; 16]) -> u32 {
    let Some(said) = answer(index(processor), "activity", 0) else { return NOT_SUPPORTED };
    alone(|| {
        let percent = said.value.parse().unwrap_or(0);
        // SAFETY: the caller's promise.
        unsafe { ((*usage)[0], (*usage)[1], (*usage)[2]) = (percent, percent + said.kind, 0xFFFF) };
        said.status
    })
}

unsafe fn number(processor: *mut c_void, what: &str, into: *mut u64) -> u32 {
    let Some(said) = answer(index(processor), what, 0) else { return NOT_SUPPORTED };
    // SAFETY: the caller's promise.
    unsafe { *into = said.value.parse().unwrap_or(0) };
    said.status
}

/// How many there are, and as many as there is room for.
unsafe fn list(count: *mut u32, into: *mut *mut c_void, all: std::ops::Range<u32>) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        if into.is_null() {
            *count = all.end - all.start;
            return 0;
        }
        for (at, index) in all.enumerate().take(*count as usize) {
            *into.add(at) = handle(index);
        }
    }
    0
}
