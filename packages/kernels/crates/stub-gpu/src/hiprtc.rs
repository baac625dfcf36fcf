//! hipRTC: gives the source back as its code, unless it holds the word `mistake` or is to be for another architecture than
//! `gfx90a`.

use std::{
    ffi::{CStr, c_char, c_int},
    ptr, slice,
};

use crate::nvrtc::{
    Program, nvrtcCreateProgram, nvrtcDestroyProgram, nvrtcGetCUBIN, nvrtcGetCUBINSize, nvrtcGetProgramLog,
    nvrtcGetProgramLogSize, refuses,
};

const COMPILATION: c_int = 6;
const INVALID_OPTION: c_int = 5;

/// Its version.
///
/// # Safety
/// As the vendor's; so for all below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { (*major, *minor) = (6, 3) };
    0
}

/// What a status is called.
#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetErrorString(status: c_int) -> *const c_char {
    match status {
        COMPILATION => c"HIPRTC_ERROR_COMPILATION".as_ptr(),
        INVALID_OPTION => c"HIPRTC_ERROR_INVALID_OPTION".as_ptr(),
        _ => ptr::null(),
    }
}

/// A program.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(
    program: *mut *mut Program,
    source: *const c_char,
    name: *const c_char,
    headers: c_int,
    texts: *const *const c_char,
    names: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { nvrtcCreateProgram(program, source, name, headers, texts, names) }
}

/// Compiles it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCompileProgram(
    program: *mut Program,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    let options = unsafe { slice::from_raw_parts(options, usize::try_from(count).unwrap_or(0)) };
    // SAFETY: the caller's promise.
    let known = options.iter().all(|&option| unsafe { CStr::from_ptr(option) } == c"--offload-arch=gfx90a");
    if !known || options.is_empty() {
        return INVALID_OPTION;
    }
    // SAFETY: the caller's promise.
    if refuses(unsafe { &*program }) { COMPILATION } else { 0 }
}

/// Bytes of what it said.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLogSize(program: *mut Program, size: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { nvrtcGetProgramLogSize(program, size) }
}

/// What it said.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLog(program: *mut Program, log: *mut c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { nvrtcGetProgramLog(program, log) }
}

/// Bytes of the code.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCodeSize(program: *mut Program, size: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { nvrtcGetCUBINSize(program, size) }
}

/// The code.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCode(program: *mut Program, code: *mut c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { nvrtcGetCUBIN(program, code) }
}

/// Ends a program.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcDestroyProgram(program: *mut *mut Program) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { nvrtcDestroyProgram(program) }
}
