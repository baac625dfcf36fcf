//! NVRTC: gives the source back as its cubin, unless it holds the word `mistake`. It knows `sm_80` and `sm_90`.

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
};

const COMPILATION: c_int = 6;

/// A program: its source with a final zero.
pub struct Program(Vec<u8>);

const LOG: &CStr = c"error: there is a mistake";

/// Its version.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { (*major, *minor) = (13, 0) };
    0
}

/// How many architectures it knows.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *count = 2 };
    0
}

/// Which.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetSupportedArchs(all: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *all.cast::<[c_int; 2]>() = [80, 90] };
    0
}

/// A program.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCreateProgram(
    program: *mut *mut Program,
    source: *const c_char,
    _name: *const c_char,
    _headers: c_int,
    _texts: *const *const c_char,
    _names: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let source = CStr::from_ptr(source).to_bytes_with_nul().to_vec();
        *program = Box::into_raw(Box::new(Program(source)));
    }
    0
}

/// Ends it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcDestroyProgram(program: *mut *mut Program) -> c_int {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(*program) });
    0
}

/// Compiles it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCompileProgram(
    program: *mut Program,
    _count: c_int,
    _options: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    if refuses(unsafe { &*program }) { COMPILATION } else { 0 }
}

/// Whether a program isn't compiled.
pub(crate) fn refuses(program: &Program) -> bool {
    String::from_utf8_lossy(&program.0).contains("mistake")
}

/// Bytes of what it said.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetProgramLogSize(_program: *mut Program, size: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *size = LOG.to_bytes_with_nul().len() };
    0
}

/// What it said.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetProgramLog(_program: *mut Program, log: *mut c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(LOG.as_ptr(), log, LOG.to_bytes_with_nul().len()) };
    0
}

/// Bytes of the cubin.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetCUBINSize(program: *mut Program, size: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    let source = unsafe { &(*program).0 };
    // SAFETY: the caller's promise.
    unsafe { *size = source.len() };
    0
}

/// The cubin.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetCUBIN(program: *mut Program, cubin: *mut c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let source = &(*program).0;
        ptr::copy_nonoverlapping(source.as_ptr(), cubin.cast(), source.len());
    }
    0
}
