use kernels_core::{
    DType, FMA_ADDEND, FMA_FACTOR, KernelSpec, Layout, PrefixMethod, RMSNORM_EPSILON, Shape, TRIAD_SCALAR,
};

use crate::{
    plan_attention,
    source::{self, Defines, Source},
};

/// The device's own copy.
pub const MEMCPY: &str = "memcpy";
pub(crate) const STREAM: &str = "own-stream";
pub(crate) const CHAIN: &str = "own-chain";
pub(crate) const TILE_128: &str = "own-tile-128";
pub(crate) const TILE_64: &str = "own-tile-64";
pub(crate) const ROWS: &str = "own-four-rows";
pub(crate) const ROW: &str = "own-row";
pub(crate) const FLASH: &str = "own-flash";
pub(crate) const FLASH_MMA: &str = "own-flash-mma";
pub(crate) const SPLIT_KV: &str = "own-split-kv";
pub(crate) const SHARED_PREFIX: &str = "own-shared-prefix";
pub(crate) const SHARED_PREFIX_MMA: &str = "own-shared-prefix-mma";

/// Blocks that fill any device several times over, for kernels that stride.
const ENOUGH: u32 = 8192;
/// The most blocks along y and z.
pub(crate) const MOST_BLOCKS: u32 = 65_535;
/// Shared memory that every device gives a block without being asked, bytes.
pub(crate) const SHARED_BYTES: u32 = 48 << 10;

/// A buffer of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The input at this place.
    Input(usize),
    /// The output.
    Output,
    /// A buffer for intermediate results, by its place in [`Plan::scratch`].
    Scratch(usize),
}

/// A launch of one of the project's own kernels.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is compiled.
    pub source: Source,
    /// With what.
    pub defines: Defines,
    /// Its arguments, all buffers.
    pub arguments: Vec<Slot>,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: u32,
}

/// What one launch of a kernel does.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Its launches, in order.
    pub steps: Vec<Step>,
    /// Bytes of each intermediate buffer.
    pub scratch: Vec<u64>,
    /// What was chosen, for the implementation's id.
    pub details: Vec<(&'static str, String)>,
}

/// The implementations that a kernel could have on some GPU, best first; `product` is the name of the vendor's matrix product.
pub fn candidates(spec: &KernelSpec, product: &'static str) -> Vec<&'static str> {
    match (spec.shape, spec.dtype) {
        (Shape::Copy { .. }, _) => vec![MEMCPY, STREAM],
        (Shape::Triad { .. }, _) => vec![STREAM],
        (Shape::Fma { .. }, _) => vec![CHAIN],
        (Shape::Gemm { .. }, DType::Tf32 | DType::Fp8E4m3) => vec![product],
        (Shape::Gemm { .. }, _) => vec![product, TILE_128, TILE_64],
        (Shape::Gemv { .. }, _) => vec![ROWS, product],
        (Shape::Int4Gemv { .. }, _) => vec![ROWS],
        (Shape::Prefill { .. }, _) => vec![FLASH_MMA, FLASH],
        (Shape::SharedPrefix { method: PrefixMethod::Shared, .. }, _) => {
            vec![SHARED_PREFIX_MMA, SHARED_PREFIX]
        }
        (Shape::Decode { .. } | Shape::SharedPrefix { .. }, _) => vec![SPLIT_KV],
        (Shape::RmsNorm { .. } | Shape::Softmax { .. }, _) => vec![ROW],
    }
}

/// Whether an implementation multiplies on matrix units by `mma.sync`, which only CUDA has, from compute capability 8.0.
pub fn uses_mma(implementation: &str) -> bool {
    matches!(implementation, FLASH_MMA | SHARED_PREFIX_MMA)
}

/// How a kernel is done by one of the project's own implementations. `span` asks for so many keys per block where a kernel divides
/// them.
///
/// # Errors
/// Why it can't be, in words.
pub fn plan(spec: &KernelSpec, implementation: &str, span: Option<u32>) -> Result<Plan, String> {
    match spec.shape {
        Shape::Copy { n } | Shape::Triad { n } => stream(spec, n),
        Shape::Fma { n, k } => chain(spec, n, k),
        Shape::Gemm { m, n, k } => gemm(spec, [m, n, k], if implementation == TILE_128 { 8 } else { 4 }),
        Shape::Gemv { m, k, batch } => gemv(spec, [m, k, batch]),
        Shape::Int4Gemv { .. } => int4_gemv(spec),
        Shape::RmsNorm { rows, width } | Shape::Softmax { rows, width } => by_row(spec, rows, width),
        _ => plan_attention::plan(spec, uses_mma(implementation), span),
    }
}

/// A size as the kernels' type.
pub(crate) fn size(value: usize) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| format!("{value} is more than 32 bits hold"))
}

/// A size that must be a whole number of `of`.
pub(crate) fn whole(name: &str, value: usize, of: usize) -> Result<u32, String> {
    if value.is_multiple_of(of) { size(value) } else { Err(format!("{name} {value} is no multiple of {of}")) }
}

/// Elements of 16 bytes.
pub(crate) fn vector(dtype: DType) -> usize {
    128 / dtype.bits()
}

/// What a type is called in definitions.
fn type_name(dtype: DType) -> Result<&'static str, String> {
    match dtype {
        DType::F32 => Ok("F32"),
        DType::F16 => Ok("F16"),
        DType::Bf16 => Ok("BF16"),
        DType::Int8 => Ok("I8"),
        DType::Int32 => Ok("I32"),
        other => Err(format!("own kernels have no {}", other.name())),
    }
}

/// Definitions of the types of input and output.
pub(crate) fn types(spec: &KernelSpec) -> Result<Defines, String> {
    let (input, output) = match (type_name(spec.dtype)?, type_name(spec.output)?) {
        ("F32", "F32") => ("IN_F32", "OUT_F32"),
        ("F16", "F32") => ("IN_F16", "OUT_F32"),
        ("F16", _) => ("IN_F16", "OUT_F16"),
        ("BF16", "F32") => ("IN_BF16", "OUT_F32"),
        ("BF16", _) => ("IN_BF16", "OUT_BF16"),
        (_, _) => ("IN_I8", "OUT_I32"),
    };
    Ok(Defines::default().set(input, 1).set(output, 1))
}

fn one(step: Step) -> Plan {
    Plan { steps: vec![step], ..Plan::default() }
}

fn stream(spec: &KernelSpec, n: usize) -> Result<Plan, String> {
    let triad = matches!(spec.shape, Shape::Triad { .. });
    let per_vector = vector(spec.dtype);
    let vectors = whole("n", n, per_vector)? / size(per_vector)?;
    let typed = if triad { types(spec)? } else { Defines::default() };
    Ok(one(Step {
        source: if triad { source::TRIAD } else { source::COPY },
        defines: typed.set("N", format_args!("{vectors}u")).flag("TRIAD", triad).real("SCALAR", TRIAD_SCALAR),
        arguments: if triad {
            vec![Slot::Input(0), Slot::Input(1), Slot::Output]
        } else {
            vec![Slot::Input(0), Slot::Output]
        },
        grid: [vectors.div_ceil(256).min(ENOUGH), 1, 1],
        block: 256,
    }))
}

fn chain(spec: &KernelSpec, n: usize, k: usize) -> Result<Plan, String> {
    let per_vector = vector(spec.dtype);
    let vectors = whole("n", n, per_vector)? / size(per_vector)?;
    let defines = types(spec)?.set("N", format_args!("{vectors}u")).set("K", format_args!("{}u", size(k)?));
    Ok(one(Step {
        source: source::FMA,
        defines: defines.flag("CHAIN", true).real("FACTOR", FMA_FACTOR).real("ADDEND", FMA_ADDEND),
        arguments: vec![Slot::Input(0), Slot::Output],
        grid: [vectors.div_ceil(256).min(ENOUGH), 1, 1],
        block: 256,
    }))
}

fn gemm(spec: &KernelSpec, [m, n, k]: [usize; 3], tile: u32) -> Result<Plan, String> {
    let int8 = spec.dtype == DType::Int8;
    let per = if int8 { 4 } else { vector(spec.dtype) };
    let nt = spec.layout == Layout::Nt;
    let (rows, depth) = (size(m)?, whole("k", k, per)?);
    let columns = if nt { size(n)? } else { whole("n", n, per)? };
    let grid = [columns.div_ceil(16 * tile), rows.div_ceil(16 * tile), 1];
    if grid[1] > MOST_BLOCKS {
        return Err(format!("more than {MOST_BLOCKS} rows of tiles"));
    }
    let defines =
        types(spec)?.set("M", rows).set("N", columns).set("K", depth).set("TILE", tile).flag("NT", nt);
    Ok(one(Step {
        source: if int8 { source::GEMM_INT8 } else { source::GEMM },
        defines,
        arguments: vec![Slot::Input(0), Slot::Input(1), Slot::Output],
        grid,
        block: 256,
    }))
}

/// What GEMVs have in common: definitions and grid.
fn by_vectors(spec: &KernelSpec, [rows, depth, batch]: [u32; 3]) -> Result<(Defines, [u32; 3]), String> {
    let at_once = batch.next_power_of_two().min(8);
    let grid = [rows.div_ceil(4), batch.div_ceil(at_once), 1];
    if grid[1] > MOST_BLOCKS {
        return Err(format!("a batch of {batch} is too large"));
    }
    let sum = if spec.dtype == DType::Int8 { "int" } else { "float" };
    let defines =
        types(spec)?.set("M", rows).set("K", depth).set("BATCH", batch).set("BT", at_once).set("SUM", sum);
    Ok((defines, grid))
}

fn gemv(spec: &KernelSpec, [m, k, batch]: [usize; 3]) -> Result<Plan, String> {
    let (defines, grid) = by_vectors(spec, [size(m)?, whole("k", k, vector(spec.dtype))?, size(batch)?])?;
    let arguments = vec![Slot::Input(0), Slot::Input(1), Slot::Output];
    Ok(one(Step { source: source::GEMV, defines, arguments, grid, block: 128 }))
}

fn int4_gemv(spec: &KernelSpec) -> Result<Plan, String> {
    let Shape::Int4Gemv { m, k, batch, group, scales, zero_points } = spec.shape else {
        return Err(format!("{} is no int4 gemv", spec.kind()));
    };
    let (defines, grid) = by_vectors(spec, [size(m)?, whole("k", k, 8)?, size(batch)?])?;
    let scales = match scales {
        DType::F32 => "SCALES_F32",
        DType::F16 => "SCALES_F16",
        _ => "SCALES_BF16",
    };
    let inputs = if zero_points { 4 } else { 3 };
    Ok(one(Step {
        source: source::GEMV_INT4,
        defines: defines.set("PER", size(group)?).set(scales, 1).flag("ZEROS", zero_points),
        arguments: (0..inputs).map(Slot::Input).chain([Slot::Output]).collect(),
        grid,
        block: 128,
    }))
}

fn by_row(spec: &KernelSpec, rows: usize, width: usize) -> Result<Plan, String> {
    const GROUP: u32 = 256;
    /// Elements of a row that a thread keeps in registers; a longer row is read twice.
    const MOST_HELD: u32 = 64;
    let norm = matches!(spec.shape, Shape::RmsNorm { .. });
    let per = vector(spec.dtype);
    let (wide, per) = (whole("width", width, per)?, size(per)?);
    let held = (wide / per).div_ceil(GROUP);
    let defines = types(spec)?
        .set("GROUP", GROUP)
        .set(if norm { "D" } else { "N" }, wide)
        .set("HELD", if held * per > MOST_HELD { 0 } else { held })
        .real("EPSILON", RMSNORM_EPSILON);
    Ok(one(Step {
        source: if norm { source::RMSNORM } else { source::SOFTMAX },
        defines,
        arguments: if norm {
            vec![Slot::Input(0), Slot::Input(1), Slot::Output]
        } else {
            vec![Slot::Input(0), Slot::Output]
        },
        grid: [size(rows)?, 1, 1],
        block: GROUP,
    }))
}
