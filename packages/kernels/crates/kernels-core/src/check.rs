use serde::{Deserialize, Serialize};

use crate::{
    DType, Inputs, KernelError, KernelSpec, Reference, Shape,
    conventions::{counts, real},
    inputs::mix,
};

/// Work, in FLOP and elements, up to which every element is compared.
const WHOLE_WORK: f64 = 134_217_728.0;

/// Elements of a matrix product, or rows of another kernel, that are compared of a larger output.
const SAMPLES: usize = 256;

/// How an output was compared with its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckMethod {
    /// Every element.
    Whole,
    /// A random sample of rows; of all elements only that they are numbers.
    Sampled,
    /// Every element through a product with a random vector of signs (Freivalds), and a sample of them one by one.
    Freivalds,
}

/// What a comparison with the f64 reference found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// How it was compared.
    pub method: CheckMethod,
    /// ‖out − reference‖ / ‖reference‖ over what was compared; None when an element is NaN or infinite.
    pub relative_error: Option<f64>,
    /// What it may be at most; 0 for whole numbers.
    pub limit: f64,
    /// Elements that are NaN or infinite, as poison is that was never overwritten.
    pub not_numbers: u64,
    /// Whether the output is right.
    pub passed: bool,
}

impl Check {
    /// The same as a result.
    ///
    /// # Errors
    /// `Wrong` where it didn't pass.
    pub fn into_result(self, spec: &KernelSpec) -> Result<Self, KernelError> {
        if self.passed {
            return Ok(self);
        }
        let error = self.relative_error.unwrap_or(f64::INFINITY);
        Err(KernelError::Wrong { what: spec.to_string(), error, limit: self.limit })
    }
}

/// What an implementation does to a kernel's vectors before it multiplies them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activations {
    /// Nothing that their type doesn't.
    #[default]
    AsGiven,
    /// Rounds them to whole numbers of 8 bits, as many as `block` sharing a scale, the largest of them becoming ±127.
    Int8 {
        /// Elements that share a scale.
        block: usize,
    },
}

impl Activations {
    /// The most by which a vector of norm 1 is moved: 0, or √block / 254.
    ///
    /// An element moves by half a step at most, a 254th of its block's largest, and so a block by √block / 254 times the
    /// largest in norm, which the block's own norm is no less than. Weights that don't follow the rounding pass the ratio
    /// on to their product: it is a limit for many rows, not for a single one. Half of a step is rare, and normal numbers
    /// are smaller than their block's largest: with 32 of them, a quarter of the limit is usual.
    pub fn rounding(self) -> f64 {
        match self {
            Self::AsGiven => 0.0,
            Self::Int8 { block } => real(block).sqrt() / 254.0,
        }
    }
}

/// The largest relative error that is right: by the output's type, and of TF32 by the units' 10 bits.
pub const fn tolerance(spec: &KernelSpec) -> f64 {
    match (spec.dtype, spec.output) {
        (_, output) if output.is_integer() => 0.0,
        (DType::Tf32, _) => 1e-3,
        (_, DType::F32) => 1e-5,
        _ => 5e-3,
    }
}

/// Compares an output with the f64 reference. Small outputs as a whole; large ones by 256 samples, matrix products also
/// by Freivalds' check in f64. NaN and infinity fail wherever they are.
///
/// # Errors
/// `BadSpec` for inputs of another kernel or an output of another size.
pub fn check_output(spec: &KernelSpec, inputs: &Inputs, output: &[u8]) -> Result<Check, KernelError> {
    check_rounded(spec, inputs, output, Activations::AsGiven)
}

/// The same for an implementation that rounds its vectors: against the reference on vectors as they were given, so that the
/// error found is that of its rounding too, with [`Activations::rounding`] more as the limit.
///
/// # Errors
/// As [`check_output`].
pub fn check_rounded(
    spec: &KernelSpec,
    inputs: &Inputs,
    output: &[u8],
    activations: Activations,
) -> Result<Check, KernelError> {
    let tensor = spec.output_tensor();
    if output.len() != tensor.bytes() {
        let reason = format!("the output has {} bytes, not {}", output.len(), tensor.bytes());
        return Err(KernelError::BadSpec { what: spec.to_string(), reason });
    }
    let reference = Reference::new(spec, inputs)?;
    let output = Output { dtype: tensor.dtype, bytes: output };
    let limit = tolerance(spec) + activations.rounding();
    let not_numbers = output.not_numbers();
    let work = counts(spec).flop + real(tensor.len());
    let streamed = matches!(spec.shape, Shape::Copy { .. } | Shape::Triad { .. });
    let (method, error) = if streamed {
        (CheckMethod::Whole, compare_units(&reference, &output, 0..reference.units()))
    } else if work <= WHOLE_WORK {
        (CheckMethod::Whole, relative(reference.whole().into_iter().zip(output.range(0, tensor.len()))))
    } else {
        let sampled = compare_units(&reference, &output, sample(reference.units(), spec.seed));
        match freivalds(&reference, &output, spec.seed) {
            Some(projected) => (CheckMethod::Freivalds, sampled.max(projected)),
            None => (CheckMethod::Sampled, sampled),
        }
    };
    let relative_error = (not_numbers == 0 && error.is_finite()).then_some(error);
    let passed = relative_error.is_some_and(|error| error <= limit);
    Ok(Check { method, relative_error, limit, not_numbers, passed })
}

struct Output<'a> {
    dtype: DType,
    bytes: &'a [u8],
}

impl Output<'_> {
    fn range(&self, first: usize, elements: usize) -> Vec<f64> {
        self.dtype.decode(&self.bytes[self.dtype.bytes(first)..self.dtype.bytes(first + elements)])
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.dtype.bytes(1)
    }

    fn not_numbers(&self) -> u64 {
        if self.dtype.is_integer() {
            return 0;
        }
        let chunks = self.bytes.chunks(1 << 16);
        chunks.map(|chunk| self.dtype.decode(chunk).iter().filter(|x| !x.is_finite()).count() as u64).sum()
    }
}

fn compare_units(reference: &Reference<'_>, output: &Output<'_>, units: impl Iterator<Item = usize>) -> f64 {
    let size = reference.unit_len();
    let mut sums = Sums::default();
    for unit in units {
        let got = output.range(unit * size, size.min(output.len() - unit * size));
        reference.unit(unit).into_iter().zip(got).for_each(|(want, got)| sums.add(want, got));
    }
    sums.relative()
}

fn relative(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut sums = Sums::default();
    pairs.for_each(|(want, got)| sums.add(want, got));
    sums.relative()
}

#[derive(Default)]
struct Sums {
    difference: f64,
    reference: f64,
}

impl Sums {
    fn add(&mut self, want: f64, got: f64) {
        self.difference += (got - want) * (got - want);
        self.reference += want * want;
    }

    /// Against a reference of zeros, any difference is infinite.
    fn relative(&self) -> f64 {
        if self.difference == 0.0 { 0.0 } else { (self.difference / self.reference).sqrt() }
    }
}

/// First, last and random units in between.
fn sample(units: usize, seed: u64) -> impl Iterator<Item = usize> {
    let random = move |draw: u64| usize::try_from(mix(mix(seed ^ 0x5a) ^ draw) >> 1).unwrap_or(0) % units;
    [0, units - 1].into_iter().chain((2..SAMPLES as u64).map(random))
}

/// The relative error of out·r against a·(b·r) for random signs r; None where the kernel isn't a matrix product.
fn freivalds(reference: &Reference<'_>, output: &Output<'_>, seed: u64) -> Option<f64> {
    let product = reference.product()?;
    let key = mix(seed ^ 0xf1);
    let signs: Vec<f64> =
        (0..product.columns as u64).map(|at| if mix(key ^ at) & 1 == 0 { 1.0 } else { -1.0 }).collect();
    let wanted = product.times(&signs);
    let got = (0..product.rows).map(|row| {
        let row = output.range(row * product.columns, product.columns);
        row.iter().zip(&signs).map(|(out, sign)| out * sign).sum::<f64>()
    });
    Some(relative(wanted.into_iter().zip(got)))
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
