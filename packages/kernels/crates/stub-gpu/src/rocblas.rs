//! rocBLAS: products of f32 and of int8. Statuses are those of `rocblas_status`.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

use crate::{
    cublaslt::{Layout, Product, R_8I, R_32F, R_32I},
    stream::Stream,
};

const NOT_IMPLEMENTED: c_int = 2;
const INVALID_SIZE: c_int = 4;

/// A handle: the stream that it works on.
pub struct Handle(*mut Stream);

/// A handle.
///
/// # Safety
/// As the vendor's; so for all below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_create_handle(handle: *mut *mut Handle) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *handle = Box::into_raw(Box::new(Handle(ptr::null_mut()))) };
    0
}

/// Ends it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_destroy_handle(handle: *mut Handle) -> c_int {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(handle) });
    0
}

/// Its stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_set_stream(handle: *mut Handle, stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { (*handle).0 = stream };
    0
}

/// Its version.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_get_version_string(text: *mut c_char, length: usize) -> c_int {
    let said = c"4.3.0";
    if length < said.to_bytes_with_nul().len() {
        return INVALID_SIZE;
    }
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(said.as_ptr(), text, said.to_bytes_with_nul().len()) };
    0
}

/// What a status is called.
#[unsafe(no_mangle)]
pub extern "C" fn rocblas_status_to_string(status: c_int) -> *const c_char {
    match status {
        NOT_IMPLEMENTED => c"rocblas_status_not_implemented".as_ptr(),
        INVALID_SIZE => c"rocblas_status_invalid_size".as_ptr(),
        _ => ptr::null(),
    }
}

fn kind(of: c_int) -> Option<c_int> {
    match of {
        151 => Some(R_32F),
        160 => Some(R_8I),
        162 => Some(R_32I),
        _ => None,
    }
}

/// A product.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_ex(
    handle: *mut Handle,
    left_operation: c_int,
    right_operation: c_int,
    rows: c_int,
    columns: c_int,
    depth: c_int,
    one: *const c_void,
    left: usize,
    left_type: c_int,
    left_leading: c_int,
    right: usize,
    right_type: c_int,
    right_leading: c_int,
    _zero: *const c_void,
    _c: *const c_void,
    _c_type: c_int,
    _c_leading: c_int,
    result: usize,
    result_type: c_int,
    result_leading: c_int,
    sum: c_int,
    algorithm: c_int,
    solution: c_int,
    flags: c_uint,
) -> c_int {
    let (Some(left_kind), Some(right_kind), Some(result_kind)) =
        (kind(left_type), kind(right_type), kind(result_type))
    else {
        return NOT_IMPLEMENTED;
    };
    let size = |value: c_int| usize::try_from(value).unwrap_or(0);
    let layout = |kind, rows, columns, leading| Layout {
        kind,
        rows: size(rows),
        columns: size(columns),
        leading: size(leading),
    };
    let transposed = left_operation == 112;
    let [left_rows, left_columns] = if transposed { [depth, rows] } else { [rows, depth] };
    let product = Product {
        transposed,
        left: (left, layout(left_kind, left_rows, left_columns, left_leading)),
        right: (right, layout(right_kind, depth, columns, right_leading)),
        result: (result, layout(result_kind, rows, columns, result_leading)),
    };
    // SAFETY: the caller's promise: a scalar of 32 bits.
    let one = unsafe { *one.cast::<u32>() };
    let scalar = if result_kind == R_32I { 1 } else { 1.0f32.to_bits() };
    let asked =
        right_operation == 111 && (algorithm, solution, flags) == (0, 0, 0) && kind(sum) == Some(result_kind);
    if !asked || one != scalar || !product.fits() {
        return INVALID_SIZE;
    }
    // SAFETY: the caller's promise: handle and stream are alive.
    unsafe { &mut *(*handle).0 }.take(Box::new(move || product.compute()));
    0
}
