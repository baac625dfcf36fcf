//! AMD's runtime. Statuses are those of `hipError_t`, which are CUDA's where both are used here.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    ptr,
};

use crate::{
    driver::{
        INVALID_VALUE, NO_DEVICE, cuLaunchKernel, cuMemAlloc_v2, cuMemFree_v2, cuMemcpyDtoDAsync_v2,
        cuMemcpyDtoH_v2, cuMemcpyHtoDAsync_v2, cuMemsetD8Async, cuModuleGetFunction, cuModuleLoadData,
        cuModuleUnload,
    },
    memory::setting,
    stream::{Event, Stream},
    work::{
        cuEventCreate, cuEventDestroy_v2, cuEventElapsedTime_v2, cuEventRecord, cuEventSynchronize,
        cuStreamCreate, cuStreamDestroy_v2, cuStreamSynchronize,
    },
};

/// Where the runtime of `ROCm` 6 writes the architecture.
const ARCHITECTURE_AT: usize = 1160;

fn gpus() -> usize {
    setting("STUB_HIP_GPUS", 1)
}

/// Writes a text with its final zero, where it fits.
unsafe fn write(text: &CStr, to: *mut c_char, length: c_int) -> c_int {
    let bytes = text.to_bytes_with_nul();
    if usize::try_from(length).is_ok_and(|length| length < bytes.len()) {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    0
}

/// Its version.
///
/// # Safety
/// As the vendor's; so for all below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *version = c_int::try_from(setting("STUB_HIP_VERSION", 60_342_134)).unwrap_or(0) };
    0
}

/// What a status is called.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(status: c_int) -> *const c_char {
    match status {
        NO_DEVICE => c"hipErrorNoDevice".as_ptr(),
        700 => c"hipErrorIllegalAddress".as_ptr(),
        _ => ptr::null(),
    }
}

/// How many GPUs there are.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *count = c_int::try_from(gpus()).unwrap_or(0) };
    if gpus() == 0 { NO_DEVICE } else { 0 }
}

/// A name.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, length: c_int, _device: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { write(c"Stub Instinct", name, length) }
}

/// A place on the bus: two devices share one.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(place: *mut c_char, length: c_int, device: c_int) -> c_int {
    let said = if device < 2 { c"0000:C1:00.0" } else { c"0000:C5:00.0" };
    // SAFETY: the caller's promise.
    unsafe { write(said, place, length) }
}

/// Memory.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, _device: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *bytes = setting("STUB_CUDA_MEMORY", 1 << 28) };
    0
}

/// 104 compute units, memory of its own.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) -> c_int {
    let said = match attribute {
        16 => 0,
        63 => 104,
        _ => return INVALID_VALUE,
    };
    // SAFETY: the caller's promise.
    unsafe { *value = said };
    0
}

/// A description: a name in front, the architecture far behind it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(about: *mut c_char, _device: c_int) -> c_int {
    // SAFETY: the caller's promise: a description is longer.
    unsafe {
        write(c"Stub gfx", about, 256);
        write(c"gfx90a:sramecc+:xnack-", about.add(ARCHITECTURE_AT), 256)
    }
}

/// Makes it the thread's.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> c_int {
    if usize::try_from(device).is_ok_and(|device| device < gpus()) { 0 } else { 101 }
}

/// Memory.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(address: *mut c_ulonglong, bytes: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuMemAlloc_v2(address, bytes) }
}

/// Gives it back.
#[unsafe(no_mangle)]
pub extern "C" fn hipFree(address: c_ulonglong) -> c_int {
    cuMemFree_v2(address)
}

/// Host to device, on a stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: c_ulonglong,
    from: *const c_void,
    bytes: usize,
    stream: *mut Stream,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuMemcpyHtoDAsync_v2(to, from, bytes, stream) }
}

/// Device to host.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoH(to: *mut c_void, from: c_ulonglong, bytes: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuMemcpyDtoH_v2(to, from, bytes) }
}

/// Device to device, on a stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoDAsync(
    to: c_ulonglong,
    from: c_ulonglong,
    bytes: usize,
    stream: *mut Stream,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuMemcpyDtoDAsync_v2(to, from, bytes, stream) }
}

/// Fills memory, on a stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD8Async(
    address: c_ulonglong,
    byte: u8,
    bytes: usize,
    stream: *mut Stream,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuMemsetD8Async(address, byte, bytes, stream) }
}

/// A stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut *mut Stream, flags: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuStreamCreate(stream, flags) }
}

/// Waits for it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamSynchronize(stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuStreamSynchronize(stream) }
}

/// Ends it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamDestroy(stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuStreamDestroy_v2(stream) }
}

/// A module, of the source that the stub of hipRTC gave back as its code.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuModuleLoadData(module, image) }
}

/// A kernel of a module.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuModuleGetFunction(function, module, name) }
}

/// Ends a module.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleUnload(module: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuModuleUnload(module) }
}

/// Starts a kernel.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: *mut c_void,
    x: c_uint,
    y: c_uint,
    z: c_uint,
    block: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: *mut Stream,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuLaunchKernel(function, x, y, z, block, block_y, block_z, shared, stream, parameters, extra) }
}

/// A moment.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreate(event: *mut *mut Event) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuEventCreate(event, 0) }
}

/// When the stream comes to it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord(event: *mut Event, stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuEventRecord(event, stream) }
}

/// Waits for it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventSynchronize(event: *mut Event) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuEventSynchronize(event) }
}

/// Milliseconds between two.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(ms: *mut f32, from: *mut Event, to: *mut Event) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuEventElapsedTime_v2(ms, from, to) }
}

/// Ends one.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventDestroy(event: *mut Event) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { cuEventDestroy_v2(event) }
}
