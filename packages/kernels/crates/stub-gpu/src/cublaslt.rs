//! cuBLASLt: products of f32 and of int8, column-major, one element after the other. It offers three algorithms: the first is
//! refused when it is used, the second is quick, the third slow. Statuses are those of `cublasStatus_t`.

use std::{
    ffi::{c_int, c_void},
    thread::sleep,
    time::Duration,
};

use crate::stream::Stream;

const NOT_SUPPORTED: c_int = 15;
pub(crate) const R_32F: c_int = 0;
pub(crate) const R_8I: c_int = 3;
pub(crate) const R_32I: c_int = 10;

/// A matrix.
#[derive(Clone, Copy)]
pub struct Layout {
    pub(crate) kind: c_int,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) leading: usize,
}

/// An operation.
#[derive(Clone, Copy)]
pub struct Operation {
    transposed: c_int,
}

/// An algorithm: its number in the first word.
pub type Algorithm = [u64; 8];

/// An algorithm that is offered.
#[repr(C)]
pub struct Offer {
    algorithm: Algorithm,
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

/// Makes something of no content.
///
/// # Safety
/// `place` must be writable.
unsafe fn handle(place: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *place = std::ptr::without_provenance_mut(1) };
    0
}

/// The library.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtCreate(library: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { handle(library) }
}

/// Ends it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtDestroy(_library: *mut c_void) -> c_int {
    0
}

/// Its version.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetVersion() -> usize {
    130_000
}

/// A matrix.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatrixLayoutCreate(
    layout: *mut *mut Layout,
    kind: c_int,
    rows: u64,
    columns: u64,
    leading: i64,
) -> c_int {
    let size = |value: u64| usize::try_from(value).unwrap_or(0);
    let made = Layout {
        kind,
        rows: size(rows),
        columns: size(columns),
        leading: usize::try_from(leading).unwrap_or(0),
    };
    // SAFETY: the caller's promise.
    unsafe { *layout = Box::into_raw(Box::new(made)) };
    0
}

/// Ends it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatrixLayoutDestroy(layout: *mut Layout) -> c_int {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(layout) });
    0
}

/// An operation.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulDescCreate(
    operation: *mut *mut Operation,
    _sum: c_int,
    _scalar: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *operation = Box::into_raw(Box::new(Operation { transposed: 0 })) };
    0
}

/// Whether its left matrix is transposed (attribute 3); it takes no other.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulDescSetAttribute(
    operation: *mut Operation,
    attribute: c_int,
    value: *const c_int,
    size: usize,
) -> c_int {
    if attribute != 3 || size != 4 {
        return NOT_SUPPORTED;
    }
    // SAFETY: the caller's promise.
    unsafe { (*operation).transposed = *value };
    0
}

/// Ends it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulDescDestroy(operation: *mut Operation) -> c_int {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(operation) });
    0
}

/// A preference.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulPreferenceCreate(preference: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { handle(preference) }
}

/// The workspace (attribute 1); it takes no other.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtMatmulPreferenceSetAttribute(
    _preference: *mut c_void,
    attribute: c_int,
    _value: *const c_void,
    size: usize,
) -> c_int {
    if attribute == 1 && size == 8 { 0 } else { NOT_SUPPORTED }
}

/// Ends it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtMatmulPreferenceDestroy(_preference: *mut c_void) -> c_int {
    0
}

/// Three algorithms, or none for types that it hasn't.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    _library: *mut c_void,
    _operation: *mut Operation,
    left: *mut Layout,
    _right: *mut Layout,
    _c: *mut Layout,
    _result: *mut Layout,
    _preference: *mut c_void,
    asked: c_int,
    offers: *mut Offer,
    count: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let kind = unsafe { (*left).kind };
    let offered = if [R_32F, R_8I].contains(&kind) { asked.min(3) } else { 0 };
    for at in 0..offered {
        let number = u64::try_from(at + 1).unwrap_or(0);
        let algorithm = [number, 0, 0, 0, 0, 0, 0, 0];
        let offer = Offer { algorithm, workspace: 1024, state: 0, waves: 1.0, reserved: [0; 4] };
        // SAFETY: the caller's promise.
        unsafe { offers.add(usize::try_from(at).unwrap_or(0)).write(offer) };
    }
    // SAFETY: the caller's promise.
    unsafe { *count = offered };
    0
}

/// An algorithm's number (attribute 0); other attributes are 7.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulAlgoConfigGetAttribute(
    algorithm: *const Algorithm,
    attribute: c_int,
    value: *mut u32,
    size: usize,
    written: *mut usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        *value = if attribute == 0 { u32::try_from((*algorithm)[0]).unwrap_or(0) } else { 7 };
        *written = size;
    }
    0
}

/// A product.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmul(
    _library: *mut c_void,
    operation: *mut Operation,
    one: *const c_void,
    left: usize,
    left_layout: *mut Layout,
    right: usize,
    right_layout: *mut Layout,
    _zero: *const c_void,
    _c: *const c_void,
    _c_layout: *mut Layout,
    result: usize,
    result_layout: *mut Layout,
    algorithm: *const Algorithm,
    workspace: *mut c_void,
    _workspace_bytes: usize,
    stream: *mut Stream,
) -> c_int {
    // SAFETY: the caller's promise.
    let product = unsafe {
        Product {
            transposed: (*operation).transposed == 1,
            left: (left, *left_layout),
            right: (right, *right_layout),
            result: (result, *result_layout),
        }
    };
    // SAFETY: the caller's promise.
    let number = unsafe { (*algorithm)[0] };
    if number == 1 || workspace.is_null() || !product.fits() {
        return NOT_SUPPORTED;
    }
    // SAFETY: the caller's promise: a scalar of 32 bits.
    let one = unsafe { *one.cast::<u32>() };
    if one != if product.result.1.kind == R_32I { 1 } else { 1.0f32.to_bits() } {
        return NOT_SUPPORTED;
    }
    let work = Box::new(move || {
        if number == 3 {
            sleep(Duration::from_millis(5));
        }
        product.compute();
    });
    // SAFETY: the caller's promise.
    unsafe { &mut *stream }.take(work);
    0
}

/// A product that was asked for.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    pub(crate) transposed: bool,
    pub(crate) left: (usize, Layout),
    pub(crate) right: (usize, Layout),
    pub(crate) result: (usize, Layout),
}

impl Product {
    pub(crate) fn fits(&self) -> bool {
        let (left, right, result) = (self.left.1, self.right.1, self.result.1);
        let [rows, depth] =
            if self.transposed { [left.columns, left.rows] } else { [left.rows, left.columns] };
        [rows, depth, right.columns] == [result.rows, right.rows, result.columns]
            && [left, right, result].iter().all(|layout| layout.leading >= layout.rows)
    }

    pub(crate) fn compute(&self) {
        let result = self.result.1;
        let depth = self.right.1.rows;
        for (column, row) in
            (0..result.columns).flat_map(|column| (0..result.rows).map(move |row| (column, row)))
        {
            let at = |k: usize| if self.transposed { (k, row) } else { (row, k) };
            let place = self.result.0 + (column * result.leading + row) * 4;
            if result.kind == R_32I {
                let sum: i32 =
                    (0..depth).map(|k| byte(self.left, at(k)) * byte(self.right, (k, column))).sum();
                // SAFETY: the place lies in the result.
                unsafe { (place as *mut i32).write_unaligned(sum) };
            } else {
                let sum: f64 =
                    (0..depth).map(|k| real(self.left, at(k)) * real(self.right, (k, column))).sum();
                #[expect(clippy::cast_possible_truncation, reason = "the result is f32")]
                // SAFETY: the place lies in the result.
                unsafe {
                    (place as *mut f32).write_unaligned(sum as f32);
                }
            }
        }
    }
}

fn byte((matrix, layout): (usize, Layout), (row, column): (usize, usize)) -> i32 {
    // SAFETY: the element lies in the matrix.
    i32::from(unsafe { ((matrix + column * layout.leading + row) as *const i8).read() })
}

fn real((matrix, layout): (usize, Layout), (row, column): (usize, usize)) -> f64 {
    // SAFETY: the element lies in the matrix.
    f64::from(unsafe { ((matrix + (column * layout.leading + row) * 4) as *const f32).read_unaligned() })
}
