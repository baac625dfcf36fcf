use std::ops::Range;

use kernels_core::{DType, FMA_ADDEND, FMA_FACTOR, KernelSpec, Layout, RMSNORM_EPSILON, Shape, TRIAD_SCALAR};

use crate::{
    cooperative::{self, COOPERATIVE_8, COOPERATIVE_16, Cooperative},
    fit::{BindingLimits, Extent, units_at_once},
    plan_attention,
    shader::{Element, Shader},
    template::Values,
};

/// The names of all implementations, for tests and support tables.
pub const SHADERS: [&str; 13] = [
    STREAM,
    CHAIN,
    TILE_128,
    TILE_64,
    COOPERATIVE_16,
    COOPERATIVE_8,
    DOT4_128,
    DOT4_64,
    ROWS,
    ROW,
    "wgsl-flash",
    "wgsl-split-kv",
    "wgsl-shared-prefix",
];

pub(crate) const STREAM: &str = "wgsl-stream";
pub(crate) const CHAIN: &str = "wgsl-chain";
pub(crate) const TILE_128: &str = "wgsl-tile-128";
pub(crate) const TILE_64: &str = "wgsl-tile-64";
pub(crate) const DOT4_128: &str = "wgsl-dot4-128";
pub(crate) const DOT4_64: &str = "wgsl-dot4-64";
pub(crate) const ROWS: &str = "wgsl-four-rows";
pub(crate) const ROW: &str = "wgsl-row";

/// The most workgroups along one axis that every device takes.
pub(crate) const MOST_GROUPS: u32 = 65_535;

const REDUCE: &str = include_str!("../shaders/reduce.wgsl");

/// What of a device decides how a kernel is written for it.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether shaders may use f16.
    pub native_f16: bool,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// What a binding may be.
    pub binding: BindingLimits,
    /// Its cooperative matrices.
    pub cooperative: Option<Cooperative>,
}

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

/// A binding of a step.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The buffer.
    pub slot: Slot,
    /// Whether the step's outer axis divides it.
    pub divided: bool,
}

impl Binding {
    pub(crate) const fn whole(slot: Slot) -> Self {
        Self { slot, divided: false }
    }

    pub(crate) const fn part(slot: Slot) -> Self {
        Self { slot, divided: true }
    }
}

/// How many workgroups a part of a step takes.
#[derive(Clone, Copy, Debug)]
pub enum Grid {
    /// As given; the step has no outer axis.
    Fixed([u32; 3]),
    /// One invocation of 256 per unit, and no more workgroups than an axis holds: the shader strides.
    Strided,
    /// This many workgroups per unit, folded over x and y.
    Folded(u32),
    /// Columns of tiles in x, one row of tiles per this many units in y.
    Tiles {
        /// Workgroups in x.
        columns: u32,
        /// Units of a tile.
        rows: u32,
    },
    /// As given in x and y, one per unit in z.
    Layers(u32, u32),
}

impl Grid {
    /// Workgroups for `units` of the outer axis.
    pub fn groups(self, units: u32) -> [u32; 3] {
        match self {
            Self::Fixed(groups) => groups,
            Self::Strided => [units.div_ceil(256).min(MOST_GROUPS), 1, 1],
            Self::Folded(each) => {
                let [x, y] = fold(units.saturating_mul(each));
                [x, y, 1]
            }
            Self::Tiles { columns, rows } => [columns, units.div_ceil(rows), 1],
            Self::Layers(x, y) => [x, y, units],
        }
    }
}

/// A number of workgroups over two axes.
pub(crate) fn fold(groups: u32) -> [u32; 2] {
    let x = groups.min(MOST_GROUPS);
    [x, groups.div_ceil(x.max(1))]
}

/// One shader of a kernel, over an axis that may be divided.
#[derive(Clone, Debug)]
pub struct Step {
    /// The shader.
    pub shader: Shader,
    /// Its bindings, in order.
    pub bindings: Vec<Binding>,
    /// Units of the outer axis; 1 where there is none.
    pub outer: u32,
    /// Its workgroups.
    pub grid: Grid,
}

/// What one launch of a kernel does.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its shaders, in order.
    pub steps: Vec<Step>,
    /// Bytes of each intermediate buffer.
    pub scratch: Vec<u64>,
    /// What was chosen, for the implementation's id.
    pub details: Vec<(&'static str, String)>,
}

impl Plan {
    fn one(step: Step) -> Self {
        Self { steps: vec![step], scratch: Vec::new(), details: Vec::new() }
    }
}

/// The implementations that a kernel could have on any device, best first.
pub fn candidates(spec: &KernelSpec) -> &'static [&'static str] {
    match (spec.shape, spec.dtype) {
        (Shape::Copy { .. } | Shape::Triad { .. }, _) => &[STREAM],
        (Shape::Fma { .. }, _) => &[CHAIN],
        (Shape::Gemm { .. }, DType::Int8) => &[DOT4_128, DOT4_64],
        (Shape::Gemm { .. }, DType::F16) => &[COOPERATIVE_16, COOPERATIVE_8, TILE_128, TILE_64],
        (Shape::Gemm { .. }, _) => &[TILE_128, TILE_64],
        (Shape::Gemv { .. } | Shape::Int4Gemv { .. }, _) => &[ROWS],
        (Shape::Prefill { .. }, _) => &["wgsl-flash"],
        (Shape::Decode { .. }, _) => &["wgsl-split-kv"],
        (Shape::SharedPrefix { .. }, _) => plan_attention::prefix_candidates(spec),
        (Shape::RmsNorm { .. } | Shape::Softmax { .. }, _) => &[ROW],
    }
}

/// How a kernel is done by an implementation. `span` asks for so many keys per workgroup where a kernel divides them.
///
/// # Errors
/// Why it can't be, in words.
pub fn plan(
    spec: &KernelSpec,
    implementation: &str,
    facts: &Facts,
    span: Option<u32>,
) -> Result<Plan, String> {
    match spec.shape {
        Shape::Copy { n } | Shape::Triad { n } => stream(spec, n, facts),
        Shape::Fma { n, k } => chain(spec, n, k, facts),
        Shape::Gemm { m, n, k } if [COOPERATIVE_16, COOPERATIVE_8].contains(&implementation) => {
            cooperative::plan(spec, [m, n, k], implementation, facts)
        }
        Shape::Gemm { m, n, k } => {
            let wide = matches!(implementation, TILE_128 | DOT4_128);
            gemm(spec, [m, n, k], if wide { 8 } else { 4 }, facts)
        }
        Shape::Gemv { m, k, batch } => gemv(spec, [m, k, batch], facts),
        Shape::Int4Gemv { .. } => int4_gemv(spec, facts),
        Shape::RmsNorm { rows, width } | Shape::Softmax { rows, width } => by_row(spec, rows, width, facts),
        _ => plan_attention::plan(spec, facts, span),
    }
}

/// A size as the shader's type.
pub(crate) fn size(value: usize) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| format!("{value} is more than 32 bits hold"))
}

/// A size that must be a whole number of `of`.
pub(crate) fn whole(name: &str, value: usize, of: usize) -> Result<u32, String> {
    if value.is_multiple_of(of) { size(value) } else { Err(format!("{name} {value} is no multiple of {of}")) }
}

pub(crate) fn element(dtype: DType, facts: &Facts) -> Result<Element, String> {
    Element::of(dtype, facts.native_f16).ok_or_else(|| format!("shaders have no {}", dtype.name()))
}

/// Workgroup memory that a shader takes must be there.
pub(crate) fn memory(bytes: u32, facts: &Facts) -> Result<(), String> {
    if bytes <= facts.workgroup_bytes {
        return Ok(());
    }
    Err(format!("it needs {bytes} bytes of workgroup memory, and the device has {}", facts.workgroup_bytes))
}

fn stream(spec: &KernelSpec, n: usize, facts: &Facts) -> Result<Plan, String> {
    let triad = matches!(spec.shape, Shape::Triad { .. });
    let element = if triad { element(spec.dtype, facts)? } else { Element::Words };
    let per_unit = if triad { 4 } else { 128 / spec.dtype.bits() };
    let inputs = if triad { vec![0, 1] } else { vec![0] };
    let values = Values::default().number("GROUP", 256).flag("TRIAD", triad).real("SCALAR", TRIAD_SCALAR);
    Ok(Plan::one(Step {
        shader: Shader {
            name: spec.kind(),
            templates: &[include_str!("../shaders/stream.wgsl")],
            input: Some(element),
            output: Some(element),
            values,
        },
        bindings: inputs.into_iter().map(Slot::Input).chain([Slot::Output]).map(Binding::part).collect(),
        outer: whole("n", n, per_unit)? / size(per_unit)?,
        grid: Grid::Strided,
    }))
}

fn chain(spec: &KernelSpec, n: usize, k: usize, facts: &Facts) -> Result<Plan, String> {
    let (element, steps) = (element(spec.dtype, facts)?, size(k)?);
    let values = Values::default()
        .number("GROUP", 256)
        .number("EIGHTS", steps / 8)
        .number("REST", steps % 8)
        .real("FACTOR", FMA_FACTOR)
        .real("ADDEND", FMA_ADDEND);
    Ok(Plan::one(Step {
        shader: Shader {
            name: spec.kind(),
            templates: &[include_str!("../shaders/fma.wgsl")],
            input: Some(element),
            output: Some(element),
            values,
        },
        bindings: [Slot::Input(0), Slot::Output].map(Binding::part).into(),
        outer: whole("n", n, 4)? / 4,
        grid: Grid::Strided,
    }))
}

fn gemm(spec: &KernelSpec, [m, n, k]: [usize; 3], tile: u32, facts: &Facts) -> Result<Plan, String> {
    let int8 = spec.dtype == DType::Int8;
    let (rows, columns, depth) = (size(m)?, whole("n", n, 4)?, whole("k", k, 4)?);
    let (side, deep) = (16 * tile, if int8 { 8 } else { 16 });
    memory(4 * deep * (side + 1) + 4 * deep * side, facts)?;
    let values = Values::default()
        .number("N", columns)
        .number("K", depth)
        .number("TM", tile)
        .number("TN", tile)
        .number("TNQ", tile / 4)
        .flag("NT", spec.layout == Layout::Nt);
    let shader = if int8 {
        let templates: &[&str] = &[include_str!("../shaders/gemm_int8.wgsl")];
        Shader { name: "gemm_int8", templates, input: None, output: None, values }
    } else {
        let (input, output) = (Some(element(spec.dtype, facts)?), Some(element(spec.output, facts)?));
        Shader { name: "gemm", templates: &[include_str!("../shaders/gemm.wgsl")], input, output, values }
    };
    tiled(shader, rows, [columns.div_ceil(side), side])
}

/// A GEMM whose rows may be divided over dispatches.
pub(crate) fn tiled(shader: Shader, rows: u32, [columns, tile]: [u32; 2]) -> Result<Plan, String> {
    if rows.div_ceil(tile) > MOST_GROUPS || columns > MOST_GROUPS {
        return Err(format!("more than {MOST_GROUPS} tiles along an axis"));
    }
    Ok(Plan::one(Step {
        shader,
        bindings: vec![
            Binding::part(Slot::Input(0)),
            Binding::whole(Slot::Input(1)),
            Binding::part(Slot::Output),
        ],
        outer: rows,
        grid: Grid::Tiles { columns, rows: tile },
    }))
}

/// Vectors that a workgroup of a GEMV takes at once, and its grid.
fn vectors(rows: u32, batch: u32, facts: &Facts) -> Result<(u32, Grid), String> {
    let at_once = batch.next_power_of_two().min(8);
    memory(at_once * 128 * 16, facts)?;
    let [x, z] = fold(rows / 4);
    let y = batch.div_ceil(at_once);
    if y > MOST_GROUPS {
        Err(format!("a batch of {batch} is too large"))
    } else {
        Ok((at_once, Grid::Fixed([x, y, z])))
    }
}

fn gemv(spec: &KernelSpec, [m, k, batch]: [usize; 3], facts: &Facts) -> Result<Plan, String> {
    let int8 = spec.dtype == DType::Int8;
    let (rows, depth, batch) = (whole("m", m, 4)?, whole("k", k, 4)?, size(batch)?);
    let (at_once, grid) = vectors(rows, batch, facts)?;
    let (input, output) = if int8 {
        (None, Some(Element::I32))
    } else {
        (Some(element(spec.dtype, facts)?), Some(element(spec.output, facts)?))
    };
    let values = Values::default()
        .number("M", rows)
        .number("K", depth)
        .number("BATCH", batch)
        .number("BT", at_once)
        .flag("INT8", int8);
    let templates: &[&str] =
        &[include_str!("../shaders/gemv.wgsl"), include_str!("../shaders/gemv_join.wgsl")];
    let bindings = [Slot::Input(0), Slot::Input(1), Slot::Output].map(Binding::whole).to_vec();
    Ok(Plan::one(Step {
        shader: Shader { name: "gemv", templates, input, output, values },
        bindings,
        outer: 1,
        grid,
    }))
}

fn int4_gemv(spec: &KernelSpec, facts: &Facts) -> Result<Plan, String> {
    let Shape::Int4Gemv { m, k, batch, group, scales, zero_points } = spec.shape else {
        return Err(format!("{} is no int4 gemv", spec.kind()));
    };
    let (rows, depth, batch) = (whole("m", m, 4)?, whole("k", k, 8)?, size(batch)?);
    let (at_once, grid) = vectors(rows, batch, facts)?;
    let values = Values::default()
        .number("M", rows)
        .number("K", depth)
        .number("PER", size(group)?)
        .number("BATCH", batch)
        .number("BT", at_once)
        .flag("ZEROS", zero_points)
        .flag("SCALES_F32", scales == DType::F32)
        .flag("SCALES_F16", scales == DType::F16)
        .flag("SCALES_BF16", scales == DType::Bf16);
    let (input, output) = (Some(element(spec.dtype, facts)?), Some(element(spec.output, facts)?));
    let templates: &[&str] =
        &[include_str!("../shaders/gemv_int4.wgsl"), include_str!("../shaders/gemv_join.wgsl")];
    let inputs = if zero_points { 4 } else { 3 };
    let bindings = (0..inputs).map(Slot::Input).chain([Slot::Output]).map(Binding::whole).collect();
    Ok(Plan::one(Step {
        shader: Shader { name: "gemv_int4", templates, input, output, values },
        bindings,
        outer: 1,
        grid,
    }))
}

fn by_row(spec: &KernelSpec, rows: usize, width: usize, facts: &Facts) -> Result<Plan, String> {
    const GROUP: u32 = 256;
    /// Quads of a row that an invocation keeps in registers; a longer row is read twice.
    const MOST_HELD: u32 = 16;
    let norm = matches!(spec.shape, Shape::RmsNorm { .. });
    let wide = whole("width", width, 4)?;
    let held = (wide / 4).div_ceil(GROUP);
    let values = Values::default()
        .number("GROUP", GROUP)
        .number(if norm { "D" } else { "N" }, wide)
        .number("HELD", if held > MOST_HELD { 0 } else { held })
        .real("EPSILON", RMSNORM_EPSILON);
    let templates: &[&str] = if norm {
        &[REDUCE, include_str!("../shaders/rmsnorm.wgsl")]
    } else {
        &[REDUCE, include_str!("../shaders/softmax.wgsl")]
    };
    let mut bindings = vec![Binding::part(Slot::Input(0))];
    bindings.extend(norm.then_some(Binding::whole(Slot::Input(1))));
    bindings.push(Binding::part(Slot::Output));
    let (input, output) = (Some(element(spec.dtype, facts)?), Some(element(spec.output, facts)?));
    let shader = Shader { name: spec.kind(), templates, input, output, values };
    Ok(Plan::one(Step { shader, bindings, outer: size(rows)?, grid: Grid::Folded(1) }))
}

/// A dispatch of a step: the bytes of each binding and the workgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// In the order of the step's bindings.
    pub ranges: Vec<Range<u64>>,
    /// In x, y and z.
    pub groups: [u32; 3],
}

impl Plan {
    /// The dispatches of each step, divided so that no binding is larger than the device allows.
    ///
    /// # Errors
    /// Which binding is too large and can't be divided.
    pub fn parts(&self, spec: &KernelSpec, limits: BindingLimits) -> Result<Vec<Vec<Part>>, String> {
        let inputs = spec.input_tensors();
        let bytes = |slot: Slot| -> Result<u64, String> {
            let bytes = match slot {
                Slot::Input(at) => inputs.get(at).map(kernels_core::TensorSpec::bytes),
                Slot::Output => Some(spec.output_tensor().bytes()),
                Slot::Scratch(at) => {
                    return self.scratch.get(at).copied().ok_or_else(|| format!("no scratch {at}"));
                }
            };
            let bytes = bytes.ok_or_else(|| format!("{} has no such input", spec.kind()))?;
            u64::try_from(bytes)
                .map(|bytes| bytes.next_multiple_of(4))
                .map_err(|_| "a tensor is too large".to_owned())
        };
        self.steps
            .iter()
            .map(|step| {
                let extents: Vec<Extent> = step
                    .bindings
                    .iter()
                    .map(|binding| Ok(Extent { bytes: bytes(binding.slot)?, divided: binding.divided }))
                    .collect::<Result<_, String>>()?;
                let units = units_at_once(&extents, u64::from(step.outer), limits)?;
                Ok(step.parts(&extents, u32::try_from(units).unwrap_or(step.outer)))
            })
            .collect()
    }
}

impl Step {
    fn parts(&self, extents: &[Extent], units: u32) -> Vec<Part> {
        let part = |index: u32| {
            let first = index * units;
            let count = units.min(self.outer - first);
            let range = |extent: &Extent| {
                let each = extent.bytes / u64::from(self.outer);
                let start = u64::from(first) * each;
                if extent.divided { start..start + u64::from(count) * each } else { 0..extent.bytes }
            };
            Part { ranges: extents.iter().map(range).collect(), groups: self.grid.groups(count) }
        };
        (0..self.outer.div_ceil(units)).map(part).collect()
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
