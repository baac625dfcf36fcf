use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    path::PathBuf,
    ptr,
    rc::Rc,
};

use kernels_c::{Product, failed};
use kernels_core::{DType, KernelError, KernelSpec};

use crate::{
    library::{PRODUCTS, Status, function, functions, open},
    runtime::{Context, Memory, Stream},
};

/// Its name among implementations.
pub const ROCBLAS: &str = "rocblas";

type Handle = *mut c_void;

functions! {
    /// rocBLAS, as far as it is called here.
    Calls {
        create = "rocblas_create_handle" (*mut Handle);
        destroy = "rocblas_destroy_handle" (Handle);
        set_stream = "rocblas_set_stream" (Handle, Stream);
        version = "rocblas_get_version_string" (*mut c_char, usize);
        multiply = "rocblas_gemm_ex" (
            Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_int, *const c_void, c_int, c_int,
            *const c_void, *const c_void, c_int, c_int, *mut c_void, c_int, c_int, c_int, c_int, c_int, c_uint
        );
    }
}

const AS_STORED: c_int = 111;
const TRANSPOSED: c_int = 112;
const F16: c_int = 150;
const F32: c_int = 151;
const I8: c_int = 160;
const I32: c_int = 162;
const BF16: c_int = 168;

/// The open library with a handle on a stream.
pub struct Rocblas {
    context: Rc<Context>,
    calls: Calls,
    describe: unsafe extern "C" fn(Status) -> *const c_char,
    handle: Handle,
}

impl Rocblas {
    /// Opens it.
    ///
    /// # Errors
    /// `NoLoader`, or what the library says.
    pub fn open(context: &Rc<Context>, folders: &[Option<PathBuf>]) -> Result<Rc<Self>, KernelError> {
        let library = open(&PRODUCTS, folders)?;
        let calls = Calls::of(library)?;
        // SAFETY: the type is that of the library's own header.
        let describe = unsafe { function(library, "rocblas_status_to_string") }?;
        let mut opened = Self { context: Rc::clone(context), calls, describe, handle: ptr::null_mut() };
        // SAFETY: the pointer is to a live handle.
        let said = unsafe { (calls.create)(&raw mut opened.handle) };
        opened.done("rocblas_create_handle", said)?;
        // SAFETY: handle and stream are alive and of one device.
        let said = unsafe { (calls.set_stream)(opened.handle, context.stream) };
        opened.done("rocblas_set_stream", said)?;
        Ok(Rc::new(opened))
    }

    /// Its version, such as `4.3.0.1234`.
    pub fn version(&self) -> String {
        let mut bytes = [0u8; 256];
        // SAFETY: the call is given as many bytes as there are.
        let said = unsafe { (self.calls.version)(bytes.as_mut_ptr().cast(), 255) };
        let text = CStr::from_bytes_until_nul(&bytes).map(CStr::to_string_lossy).unwrap_or_default();
        if said == 0 && !text.is_empty() { text.into_owned() } else { "unknown".to_owned() }
    }

    fn done(&self, call: &str, said: Status) -> Result<(), KernelError> {
        if said == 0 {
            return Ok(());
        }
        // SAFETY: the call takes any status and gives a static text, or nothing.
        let text = unsafe { (self.describe)(said) };
        if text.is_null() {
            return Err(failed(call, &format!("status {said}")));
        }
        // SAFETY: a text of the library's, which ends with a zero.
        Err(failed(call, &unsafe { CStr::from_ptr(text) }.to_string_lossy()))
    }
}

impl Drop for Rocblas {
    fn drop(&mut self) {
        if !self.handle.is_null() && self.context.enter().is_ok() {
            // SAFETY: the handle was made here and is destroyed once. A failure leaves nothing to do.
            let _ = unsafe { (self.calls.destroy)(self.handle) };
        }
    }
}

/// Types of a product: of the operands, of the result, of sums and scalars.
fn types(spec: &KernelSpec) -> Result<[c_int; 3], String> {
    let stored = |dtype: DType| match dtype {
        DType::F32 => Ok(F32),
        DType::F16 => Ok(F16),
        DType::Bf16 => Ok(BF16),
        DType::Int8 => Ok(I8),
        DType::Int32 => Ok(I32),
        DType::Tf32 | DType::Fp8E4m3 | DType::Int4 => {
            Err(format!("rocBLAS is not asked for {}", dtype.name()))
        }
    };
    let sum = if spec.dtype == DType::Int8 { I32 } else { F32 };
    Ok([stored(spec.dtype)?, stored(spec.output)?, sum])
}

/// Why rocBLAS can't do a kernel; None where it may.
pub fn obstacle(spec: &KernelSpec) -> Option<String> {
    Matmul::sizes(spec).and_then(|_| types(spec).map(|_| ())).err()
}

/// A matrix product as it is launched.
pub struct Matmul {
    library: Rc<Rocblas>,
    /// Rows, columns and depth.
    sizes: [c_int; 3],
    transposed: bool,
    inputs: [usize; 2],
    types: [c_int; 3],
}

impl Matmul {
    fn sizes(spec: &KernelSpec) -> Result<(Product, [c_int; 3]), String> {
        let product = Product::of(spec)?;
        let size = |size: u64| c_int::try_from(size).map_err(|_| format!("{size} is more than 31 bits hold"));
        Ok((product, [size(product.rows)?, size(product.columns)?, size(product.depth)?]))
    }

    /// A product of a kernel's operands.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn new(library: &Rc<Rocblas>, spec: &KernelSpec) -> Result<Self, KernelError> {
        let unsupported =
            |reason: String| KernelError::Unsupported { what: format!("{ROCBLAS} for {spec}"), reason };
        let (product, sizes) = Self::sizes(spec).map_err(unsupported)?;
        Ok(Self {
            library: Rc::clone(library),
            sizes,
            transposed: product.transposed,
            inputs: product.inputs,
            types: types(spec).map_err(unsupported)?,
        })
    }

    /// Starts it.
    ///
    /// # Errors
    /// What the library says.
    pub fn launch(&self, inputs: &[Memory], output: &Memory) -> Result<(), KernelError> {
        let [left, right] = self.inputs;
        let (Some(left), Some(right)) = (inputs.get(left), inputs.get(right)) else {
            return Err(failed("rocblas_gemm_ex", "an operand is missing"));
        };
        let [rows, columns, depth] = self.sizes;
        let [operand, result, sum] = self.types;
        let (whole, real) = ([1i32, 0], [1f32, 0.0]);
        let scalars: [*const c_void; 2] = if sum == I32 {
            [ptr::from_ref(&whole[0]).cast(), ptr::from_ref(&whole[1]).cast()]
        } else {
            [ptr::from_ref(&real[0]).cast(), ptr::from_ref(&real[1]).cast()]
        };
        let (operation, leading) = if self.transposed { (TRANSPOSED, depth) } else { (AS_STORED, rows) };
        // SAFETY: the handle is alive; the operands are column-major matrices of the sizes given, in memory that lives until the
        // stream is done; the scalars are read before this returns, as they are the host's.
        let said = unsafe {
            (self.library.calls.multiply)(
                self.library.handle,
                operation,
                AS_STORED,
                rows,
                columns,
                depth,
                scalars[0],
                left.address,
                operand,
                leading,
                right.address,
                operand,
                depth,
                scalars[1],
                output.address,
                result,
                rows,
                output.address,
                result,
                rows,
                sum,
                0,
                0,
                0,
            )
        };
        self.library.done("rocblas_gemm_ex", said)
    }
}

#[cfg(test)]
mod tests {
    use kernels_core::Shape;

    use super::*;

    #[test]
    fn what_the_library_lacks_has_a_reason() -> Result<(), Box<dyn std::error::Error>> {
        let gemm = |dtype, m| KernelSpec::new(Shape::Gemm { m, n: 8, k: 8 }, dtype);
        let cases = [
            (gemm(DType::Bf16, 8)?, None),
            (gemm(DType::Int8, 8)?, None),
            (gemm(DType::Tf32, 8)?, Some("tf32")),
            (gemm(DType::Fp8E4m3, 16)?, Some("fp8")),
            (gemm(DType::F32, 1 << 31)?, Some("31 bits")),
            (KernelSpec::new(Shape::Copy { n: 4 }, DType::F32)?, Some("no matrix product")),
        ];
        for (spec, expected) in cases {
            let said = obstacle(&spec);
            assert_eq!(said.is_some(), expected.is_some(), "{spec}: {said:?}");
            assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()), "{spec}");
        }
        Ok(())
    }
}
