use std::{ffi::c_void, mem::MaybeUninit, rc::Rc};

use cudarc::cublaslt::{result, sys};
use kernels_c::{Details, Product, failed};
use kernels_core::{DType, KernelError, KernelSpec};

use crate::{
    driver::{Context, Event, Memory},
    library::Library,
};

/// Its name among implementations.
pub const CUBLASLT: &str = "cublaslt";
/// Algorithms asked for.
const MOST_ALGORITHMS: usize = 8;
/// Memory that an algorithm may work in.
const WORKSPACE: usize = 32 << 20;
/// Launches by which an algorithm is timed, after one that isn't.
const TRIALS: u32 = 5;

/// An open cuBLASLt with its workspace.
pub struct CublasLt {
    context: Rc<Context>,
    handle: sys::cublasLtHandle_t,
    workspace: Memory,
    /// Its version, such as 130200.
    pub(crate) version: usize,
}

fn lt(call: &str) -> impl FnOnce(result::CublasError) -> KernelError {
    move |error| failed(call, &error)
}

impl CublasLt {
    /// Opens it.
    pub fn open(context: &Rc<Context>) -> Result<Rc<Self>, KernelError> {
        Library::CublasLt.required()?;
        context.enter()?;
        let workspace = Memory::new(context, "cuBLASLt's workspace", WORKSPACE)?;
        let handle = result::create_handle().map_err(lt("cublasLtCreate"))?;
        // SAFETY: the library is open.
        let version = unsafe { sys::cublasLtGetVersion() };
        Ok(Rc::new(Self { context: Rc::clone(context), handle, workspace, version }))
    }
}

impl Drop for CublasLt {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the handle was made here and is destroyed once. A failure leaves nothing to do.
            let _ = unsafe { result::destroy_handle(self.handle) };
        }
    }
}

/// Types of a product: of the operands, of the result, of sums, and of the scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Types {
    operand: sys::cudaDataType,
    result: sys::cudaDataType,
    sum: sys::cublasComputeType_t,
    scalar: sys::cudaDataType,
}

impl Types {
    fn of(spec: &KernelSpec) -> Result<Self, String> {
        use sys::{cublasComputeType_t as Sum, cudaDataType_t as Type};
        let stored = |dtype: DType| match dtype {
            DType::F32 | DType::Tf32 => Ok(Type::CUDA_R_32F),
            DType::F16 => Ok(Type::CUDA_R_16F),
            DType::Bf16 => Ok(Type::CUDA_R_16BF),
            DType::Int8 => Ok(Type::CUDA_R_8I),
            DType::Int32 => Ok(Type::CUDA_R_32I),
            DType::Fp8E4m3 => Ok(Type::CUDA_R_8F_E4M3),
            DType::Int4 => Err("cuBLASLt has no int4".to_owned()),
        };
        let (sum, scalar) = match spec.dtype {
            DType::Int8 => (Sum::CUBLAS_COMPUTE_32I, Type::CUDA_R_32I),
            DType::Tf32 => (Sum::CUBLAS_COMPUTE_32F_FAST_TF32, Type::CUDA_R_32F),
            _ => (Sum::CUBLAS_COMPUTE_32F, Type::CUDA_R_32F),
        };
        Ok(Self { operand: stored(spec.dtype)?, result: stored(spec.output)?, sum, scalar })
    }
}

/// Why cuBLASLt can't do a kernel on a device of this compute capability (such as 90); None where it may.
pub fn obstacle(spec: &KernelSpec, capability: u32) -> Option<String> {
    let product = match Product::of(spec).and_then(|product| Types::of(spec).map(|_| product)) {
        Ok(product) => product,
        Err(reason) => return Some(reason),
    };
    let aligned = [product.rows, product.columns, product.depth];
    match spec.dtype {
        DType::Fp8E4m3 if capability < 89 => {
            Some(format!("fp8 needs compute capability 8.9, not {capability}"))
        }
        DType::Tf32 if capability < 80 => {
            Some(format!("tf32 needs compute capability 8.0, not {capability}"))
        }
        DType::Fp8E4m3 | DType::Int8 if !product.transposed => {
            Some(format!("{} is there with b transposed only (layout nt)", spec.dtype.name()))
        }
        DType::Fp8E4m3 if aligned[0] % 16 != 0 || aligned[2] % 16 != 0 => {
            Some("fp8 needs multiples of 16".to_owned())
        }
        DType::Int8 if aligned[0] % 4 != 0 || aligned[2] % 4 != 0 => {
            Some("int8 needs multiples of 4".to_owned())
        }
        _ => None,
    }
}

/// One and zero, as the scalars that a product is told to use.
enum Scalars {
    Real([f32; 2]),
    Whole([i32; 2]),
}

impl Scalars {
    fn pointers(&self) -> [*const c_void; 2] {
        match self {
            Self::Real([one, zero]) => [std::ptr::from_ref(one).cast(), std::ptr::from_ref(zero).cast()],
            Self::Whole([one, zero]) => [std::ptr::from_ref(one).cast(), std::ptr::from_ref(zero).cast()],
        }
    }
}

/// What describes a matrix.
struct Matrix(sys::cublasLtMatrixLayout_t);

impl Matrix {
    fn new(of: sys::cudaDataType, rows: u64, columns: u64) -> Result<Self, KernelError> {
        let leading = i64::try_from(rows).map_err(|error| failed("cublasLtMatrixLayoutCreate", &error))?;
        result::create_matrix_layout(of, rows, columns, leading)
            .map(Self)
            .map_err(lt("cublasLtMatrixLayoutCreate"))
    }
}

impl Drop for Matrix {
    fn drop(&mut self) {
        // SAFETY: it was made here and is destroyed once. A failure leaves nothing to do.
        let _ = unsafe { result::destroy_matrix_layout(self.0) };
    }
}

/// What describes an operation.
struct Operation(sys::cublasLtMatmulDesc_t);

impl Operation {
    fn new(types: Types, transposed: bool) -> Result<Self, KernelError> {
        let operation = result::create_matmul_desc(types.sum, types.scalar)
            .map(Self)
            .map_err(lt("cublasLtMatmulDescCreate"))?;
        // CUBLAS_OP_N is 0 and CUBLAS_OP_T 1.
        let transpose = i32::from(transposed);
        // SAFETY: the description is alive, and the attribute is of the type given.
        unsafe {
            result::set_matmul_desc_attribute(
                operation.0,
                sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA,
                (&raw const transpose).cast(),
                size_of_val(&transpose),
            )
        }
        .map_err(lt("cublasLtMatmulDescSetAttribute"))?;
        Ok(operation)
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        // SAFETY: it was made here and is destroyed once. A failure leaves nothing to do.
        let _ = unsafe { result::destroy_matmul_desc(self.0) };
    }
}

/// What an algorithm may use.
struct Preference(sys::cublasLtMatmulPreference_t);

impl Preference {
    fn new() -> Result<Self, KernelError> {
        let preference =
            result::create_matmul_pref().map(Self).map_err(lt("cublasLtMatmulPreferenceCreate"))?;
        let bytes = WORKSPACE;
        // SAFETY: the preference is alive, and the attribute is of the type given.
        unsafe {
            result::set_matmul_pref_attribute(
                preference.0,
                sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const bytes).cast(),
                size_of_val(&bytes),
            )
        }
        .map_err(lt("cublasLtMatmulPreferenceSetAttribute"))?;
        Ok(preference)
    }
}

impl Drop for Preference {
    fn drop(&mut self) {
        // SAFETY: it was made here and is destroyed once. A failure leaves nothing to do.
        let _ = unsafe { result::destroy_matmul_pref(self.0) };
    }
}

/// A matrix product with its algorithm.
pub struct Matmul {
    library: Rc<CublasLt>,
    operation: Operation,
    left: Matrix,
    right: Matrix,
    result: Matrix,
    scalars: Scalars,
    inputs: [usize; 2],
    algorithm: sys::cublasLtMatmulAlgo_t,
}

impl Matmul {
    /// Asks for algorithms, times each on these buffers and keeps the fastest; gives what was chosen along with it.
    ///
    /// # Errors
    /// `Unsupported` where none is offered; `Lost`, or what the last one said, where none of those offered works.
    pub fn tuned(
        library: &Rc<CublasLt>,
        spec: &KernelSpec,
        inputs: &[Memory],
        output: &Memory,
    ) -> Result<(Self, Details), KernelError> {
        let unsupported =
            |reason: String| KernelError::Unsupported { what: format!("cublaslt for {spec}"), reason };
        let product = Product::of(spec).map_err(unsupported)?;
        let types = Types::of(spec).map_err(unsupported)?;
        let Product { rows, columns, depth, transposed, .. } = product;
        let [stored_rows, stored_columns] = if transposed { [depth, rows] } else { [rows, depth] };
        let mut matmul = Self {
            library: Rc::clone(library),
            operation: Operation::new(types, transposed)?,
            left: Matrix::new(types.operand, stored_rows, stored_columns)?,
            right: Matrix::new(types.operand, depth, columns)?,
            result: Matrix::new(types.result, rows, columns)?,
            scalars: if spec.dtype == DType::Int8 {
                Scalars::Whole([1, 0])
            } else {
                Scalars::Real([1.0, 0.0])
            },
            inputs: product.inputs,
            algorithm: sys::cublasLtMatmulAlgo_t { data: [0; 8] },
        };
        let offered = matmul.offered()?;
        let mut best: Option<(f64, usize)> = None;
        let mut refusal = unsupported("cuBLASLt offers no algorithm".to_owned());
        for (at, algorithm) in offered.iter().enumerate() {
            matmul.algorithm = *algorithm;
            match matmul.time(inputs, output) {
                Ok(ns) if best.is_none_or(|(least, _)| ns < least) => best = Some((ns, at)),
                Ok(_) => {}
                Err(error @ KernelError::Lost { .. }) => return Err(error),
                // An algorithm that the library offers and then refuses is passed over.
                Err(error) => refusal = error,
            }
        }
        let chosen = best.and_then(|(_, at)| offered.get(at).map(|algorithm| (at, *algorithm)));
        let (at, algorithm) = chosen.ok_or(refusal)?;
        matmul.algorithm = algorithm;
        let chosen = matmul.describe(at, offered.len());
        Ok((matmul, chosen))
    }

    /// The library's proposals, the one it thinks fastest first.
    fn offered(&self) -> Result<Vec<sys::cublasLtMatmulAlgo_t>, KernelError> {
        let preference = Preference::new()?;
        let mut found =
            [const { MaybeUninit::<sys::cublasLtMatmulHeuristicResult_t>::uninit() }; MOST_ALGORITHMS];
        let mut count = 0;
        // SAFETY: all descriptions are alive; the array is as long as is said.
        let asked = unsafe {
            sys::cublasLtMatmulAlgoGetHeuristic(
                self.library.handle,
                self.operation.0,
                self.left.0,
                self.right.0,
                self.result.0,
                self.result.0,
                preference.0,
                i32::try_from(MOST_ALGORITHMS).unwrap_or(1),
                found.as_mut_ptr().cast(),
                &raw mut count,
            )
        };
        if asked == sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED {
            return Ok(Vec::new());
        }
        asked.result().map_err(lt("cublasLtMatmulAlgoGetHeuristic"))?;
        let written = found.into_iter().take(usize::try_from(count).unwrap_or(0));
        // SAFETY: the library wrote the first `count` of them.
        let written = written.map(|found| unsafe { found.assume_init() });
        let usable = written.filter(|found| {
            found.state == sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS && found.workspaceSize <= WORKSPACE
        });
        Ok(usable.map(|found| found.algo).collect())
    }

    /// Nanoseconds of a launch.
    fn time(&self, inputs: &[Memory], output: &Memory) -> Result<f64, KernelError> {
        let context = &self.library.context;
        let (begin, end) = (Event::new(context)?, Event::new(context)?);
        self.launch(inputs, output)?;
        begin.record(context)?;
        for _ in 0..TRIALS {
            self.launch(inputs, output)?;
        }
        end.record(context)?;
        end.wait()?;
        Ok(end.since(&begin)? / f64::from(TRIALS))
    }

    /// Starts it.
    pub fn launch(&self, inputs: &[Memory], output: &Memory) -> Result<(), KernelError> {
        let [left, right] = self.inputs;
        let (Some(left), Some(right)) = (inputs.get(left), inputs.get(right)) else {
            return Err(failed("cublasLtMatmul", "an operand is missing"));
        };
        let [one, zero] = self.scalars.pointers();
        let device = |memory: &Memory| memory.address as *mut c_void;
        // SAFETY: all descriptions and buffers are alive and of the sizes described; the stream is of the same context.
        unsafe {
            result::matmul(
                self.library.handle,
                self.operation.0,
                one,
                zero,
                device(left),
                self.left.0,
                device(right),
                self.right.0,
                device(output),
                self.result.0,
                device(output),
                self.result.0,
                &raw const self.algorithm,
                device(&self.library.workspace),
                WORKSPACE,
                self.library.context.stream.cast(),
            )
        }
        .map_err(lt("cublasLtMatmul"))
    }

    fn describe(&self, at: usize, offered: usize) -> Details {
        use sys::cublasLtMatmulAlgoConfigAttributes_t as Attribute;
        let value = |attribute: Attribute| {
            let (mut value, mut written) = (0u32, 0usize);
            // SAFETY: the algorithm is alive; each of these attributes is of 32 bits.
            let asked = unsafe {
                sys::cublasLtMatmulAlgoConfigGetAttribute(
                    &raw const self.algorithm,
                    attribute,
                    (&raw mut value).cast(),
                    size_of::<u32>(),
                    &raw mut written,
                )
            };
            asked.result().map_or_else(|_| "unknown".to_owned(), |()| value.to_string())
        };
        vec![
            ("algorithm", value(Attribute::CUBLASLT_ALGO_CONFIG_ID)),
            ("tile", value(Attribute::CUBLASLT_ALGO_CONFIG_TILE_ID)),
            ("stages", value(Attribute::CUBLASLT_ALGO_CONFIG_STAGES_ID)),
            ("choice", format!("{} of {offered}", at + 1)),
            ("cublaslt", self.library.version.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use kernels_core::{Layout, Shape};

    use super::*;

    #[test]
    fn what_the_library_lacks_has_a_reason() -> Result<(), Box<dyn std::error::Error>> {
        let gemm = |dtype, layout, [m, n, k]: [usize; 3]| -> Result<KernelSpec, KernelError> {
            Ok(KernelSpec { layout, ..KernelSpec::new(Shape::Gemm { m, n, k }, dtype)? })
        };
        let cases = [
            (gemm(DType::Bf16, Layout::Nn, [5, 7, 3])?, 70, None),
            (gemm(DType::Tf32, Layout::Nn, [8, 8, 8])?, 75, Some("compute capability 8.0")),
            (gemm(DType::Fp8E4m3, Layout::Nt, [16, 16, 16])?, 90, None),
            (gemm(DType::Fp8E4m3, Layout::Nt, [16, 16, 16])?, 80, Some("compute capability 8.9")),
            (gemm(DType::Fp8E4m3, Layout::Nn, [16, 16, 16])?, 90, Some("transposed only")),
            (gemm(DType::Int8, Layout::Nn, [16, 16, 16])?, 90, Some("transposed only")),
            (gemm(DType::Int8, Layout::Nt, [16, 16, 6])?, 90, Some("multiples of 4")),
            (KernelSpec::new(Shape::Triad { n: 4 }, DType::F32)?, 90, Some("no matrix product")),
        ];
        for (spec, capability, expected) in cases {
            let said = obstacle(&spec, capability);
            assert_eq!(said.is_some(), expected.is_some(), "{spec}: {said:?}");
            assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()), "{spec}");
        }
        Ok(())
    }
}
