//! The driver: GPUs, memory and kernels. Statuses are those of `CUresult`.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    ptr, slice,
};

use crate::{
    memory::{allocate, free, holds, setting},
    stream::{Stream, Work},
};

pub(crate) const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
pub(crate) const NO_DEVICE: c_int = 100;
const NOT_FOUND: c_int = 500;
pub(crate) const ILLEGAL_ADDRESS: c_int = 700;

/// A loaded module: its source.
struct Module(String);

/// A kernel: its name and, of `copy`, its vectors.
struct Function {
    entry: String,
    vectors: usize,
}

fn gpus() -> usize {
    setting("STUB_CUDA_GPUS", 1)
}

fn address(of: c_ulonglong) -> usize {
    usize::try_from(of).unwrap_or(usize::MAX)
}

/// Which CUDA the driver is for.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    let said = c_int::try_from(setting("STUB_CUDA_VERSION", 13_000)).unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe { *version = said };
    0
}

/// Starts the driver.
#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: c_uint) -> c_int {
    if gpus() == 0 { NO_DEVICE } else { 0 }
}

/// What a status is called.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(status: c_int, text: *mut *const c_char) -> c_int {
    let said = if status == NO_DEVICE { c"no CUDA-capable device is detected" } else { c"something" };
    // SAFETY: the caller's promise.
    unsafe { *text = said.as_ptr() };
    0
}

/// How many GPUs there are.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *count = c_int::try_from(gpus()).unwrap_or(0) };
    0
}

/// One of them.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *device = ordinal };
    0
}

/// Its name.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, _device: c_int) -> c_int {
    let said = c"Stub GPU".to_bytes_with_nul();
    if usize::try_from(length).is_ok_and(|length| length < said.len()) {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(said.as_ptr(), name.cast(), said.len()) };
    0
}

/// Its identity: its ordinal in the last byte.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int) -> c_int {
    let mut said = [0xab; 16];
    said[15] = u8::try_from(device).unwrap_or(0xff);
    // SAFETY: the caller's promise.
    unsafe { *uuid = said };
    0
}

/// Its memory.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *bytes = setting("STUB_CUDA_MEMORY", 1 << 28) };
    0
}

/// What it has: 132 multiprocessors, 60 MB of L2, compute capability 9.0.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) -> c_int {
    let said = match attribute {
        16 => 132,
        18 | 76 => 0,
        38 => 62_914_560,
        75 => 9,
        _ => return INVALID_VALUE,
    };
    // SAFETY: the caller's promise.
    unsafe { *value = said };
    0
}

/// A device's context: its ordinal, counted from 1.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> c_int {
    let ordinal = usize::try_from(device).unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe { *context = ptr::without_provenance_mut(ordinal + 1) };
    0
}

/// Gives it back.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: c_int) -> c_int {
    0
}

/// Makes it the thread's.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(_context: *mut c_void) -> c_int {
    0
}

/// Makes something and gives its address.
///
/// # Safety
/// `place` must be writable.
pub(crate) unsafe fn make<T>(place: *mut *mut T, thing: T) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *place = Box::into_raw(Box::new(thing)) };
    0
}

/// Ends something that `make` made.
///
/// # Safety
/// It must be whole, and ended once.
pub(crate) unsafe fn end<T>(thing: *mut T) -> c_int {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(thing) });
    0
}

/// Memory.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(device: *mut c_ulonglong, bytes: usize) -> c_int {
    let Some(given) = allocate(bytes) else { return OUT_OF_MEMORY };
    // SAFETY: the caller's promise.
    unsafe { *device = given as c_ulonglong };
    0
}

/// Gives it back.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(device: c_ulonglong) -> c_int {
    if free(address(device)) { 0 } else { ILLEGAL_ADDRESS }
}

/// Copies on the device.
fn copy(to: usize, from: usize, bytes: usize) {
    // SAFETY: both ends were checked.
    unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes) };
}

/// Host to device, on a stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: c_ulonglong,
    from: *const c_void,
    bytes: usize,
    stream: *mut Stream,
) -> c_int {
    if !holds(address(to), bytes) {
        return ILLEGAL_ADDRESS;
    }
    let from = from as usize;
    // SAFETY: the caller's promise.
    unsafe { &mut *stream }.take(Box::new(move || copy(address(to), from, bytes)));
    0
}

/// Device to host.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: c_ulonglong, bytes: usize) -> c_int {
    if !holds(address(from), bytes) {
        return ILLEGAL_ADDRESS;
    }
    copy(to as usize, address(from), bytes);
    0
}

/// Device to device, on a stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(
    to: c_ulonglong,
    from: c_ulonglong,
    bytes: usize,
    stream: *mut Stream,
) -> c_int {
    if !holds(address(to), bytes) || !holds(address(from), bytes) {
        return ILLEGAL_ADDRESS;
    }
    let work: Work = Box::new(move || copy(address(to), address(from), bytes));
    // SAFETY: the caller's promise.
    unsafe { &mut *stream }.take(work);
    0
}

/// Fills memory, on a stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(
    device: c_ulonglong,
    byte: u8,
    bytes: usize,
    stream: *mut Stream,
) -> c_int {
    if !holds(address(device), bytes) {
        return ILLEGAL_ADDRESS;
    }
    // SAFETY: the memory was checked.
    let work: Work = Box::new(move || unsafe { ptr::write_bytes(address(device) as *mut u8, byte, bytes) });
    // SAFETY: the caller's promise.
    unsafe { &mut *stream }.take(work);
    0
}

/// A module, of the source that the stub of NVRTC gave back as its cubin.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    // SAFETY: the caller's promise, and that the stub's images end with a zero.
    let source = unsafe { CStr::from_ptr(image.cast()) }.to_string_lossy().into_owned();
    // SAFETY: the caller's promise.
    unsafe { make(module.cast(), Module(source)) }
}

/// A kernel of a module.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    let (source, entry) =
        unsafe { (&(*module.cast::<Module>()).0, CStr::from_ptr(name).to_string_lossy().into_owned()) };
    if !source.contains(&format!(") {entry}(")) {
        return NOT_FOUND;
    }
    let vectors =
        source.lines().find_map(|line| line.strip_prefix("#define N ")?.trim_end_matches('u').parse().ok());
    // SAFETY: the caller's promise.
    unsafe { make(function.cast(), Function { entry, vectors: vectors.unwrap_or(0) }) }
}

/// Ends a module; its kernels are left behind.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(module: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { end(module.cast::<Module>()) }
}

/// Starts a kernel.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    x: c_uint,
    y: c_uint,
    z: c_uint,
    block: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _shared: c_uint,
    stream: *mut Stream,
    parameters: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> c_int {
    if x == 0 || y == 0 || z == 0 || block == 0 || block > 1024 || y > 65_535 || z > 65_535 {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's promise.
    let function = unsafe { &*function.cast::<Function>() };
    if function.entry != "copy" {
        return 0;
    }
    // SAFETY: `copy` has two parameters, both addresses.
    let (from, to) = unsafe {
        let parameters = slice::from_raw_parts(parameters, 2);
        (address(*parameters[0].cast::<c_ulonglong>()), address(*parameters[1].cast::<c_ulonglong>()))
    };
    let bytes = function.vectors * 16;
    if !holds(to, bytes) || !holds(from, bytes) {
        return ILLEGAL_ADDRESS;
    }
    // SAFETY: the caller's promise.
    unsafe { &mut *stream }.take(Box::new(move || copy(to, from, bytes)));
    0
}

/// Loads a kernel ahead of its first launch.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncLoad(_function: *mut c_void) -> c_int {
    0
}
