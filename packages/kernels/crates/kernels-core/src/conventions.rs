use serde::{Deserialize, Serialize};

use crate::{DType, KernelSpec, PrefixMethod, Shape};

/// The convention that [`counts`] follows; stored with every number made of them.
pub const CONVENTION: &str = "flop/1";

/// What one launch counts for by `flop/1`.
///
/// A multiply-add is 2 FLOP; exp, divide, square root, max and compare are 1 each; whole numbers count alike. Only what
/// the mathematics needs counts, not padding, recomputation, attention's scale and mask, dequantisation, or a merge.
/// Bytes are compulsory ones: each input read once, each output written once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Useful FLOP (integer kernels: operations).
    pub flop: f64,
    /// Compulsory bytes.
    pub bytes: f64,
}

impl Counts {
    /// FLOP per byte.
    pub fn intensity(&self) -> f64 {
        self.flop / self.bytes
    }
}

/// Work and traffic of one launch; exact whole numbers below 2^53.
pub fn counts(spec: &KernelSpec) -> Counts {
    let flop = flop(&spec.shape);
    let inputs: f64 = spec.input_tensors().iter().map(crate::TensorSpec::bytes_real).sum();
    Counts { flop, bytes: inputs + spec.output_tensor().bytes_real() }
}

fn flop(shape: &Shape) -> f64 {
    match *shape {
        Shape::Copy { .. } => 0.0,
        Shape::Triad { n } => 2.0 * real(n),
        Shape::Fma { n, k } => 2.0 * real(n) * real(k),
        Shape::Gemm { m, n, k } => 2.0 * real(m) * real(n) * real(k),
        Shape::Gemv { m, k, batch } | Shape::Int4Gemv { m, k, batch, .. } => {
            2.0 * real(batch) * real(m) * real(k)
        }
        Shape::Prefill { batch, heads, head_dim, length, causal, .. } => {
            let full = 4.0 * real(batch) * real(heads) * real(length) * real(length) * real(head_dim);
            if causal { full / 2.0 } else { full }
        }
        Shape::Decode { batch, heads, head_dim, length, .. } => {
            4.0 * real(batch) * real(heads) * real(length) * real(head_dim)
        }
        Shape::SharedPrefix { batch, heads, head_dim, prefix, suffix, .. } => {
            4.0 * real(batch) * real(heads) * (real(prefix) + real(suffix)) * real(head_dim)
        }
        Shape::RmsNorm { rows, width } => 4.0 * real(rows) * real(width),
        Shape::Softmax { rows, width } => 5.0 * real(rows) * real(width),
    }
}

/// The bytes that the naive twin of a shared-prefix decode reads for each byte of the shared one; None for any other
/// kernel.
pub fn prefix_saving(spec: &KernelSpec) -> Option<f64> {
    let Shape::SharedPrefix { batch, heads, kv_heads, head_dim, prefix, suffix, .. } = spec.shape else {
        return None;
    };
    let bytes = |method| {
        let shape = Shape::SharedPrefix { batch, heads, kv_heads, head_dim, prefix, suffix, method };
        counts(&KernelSpec { shape, ..spec.clone() }).bytes
    };
    Some(bytes(PrefixMethod::Naive) / bytes(PrefixMethod::Shared))
}

/// Bytes of one element, a fraction for types below a byte.
pub(crate) fn element_bytes(dtype: DType) -> f64 {
    real(dtype.bits()) / 8.0
}

/// A size as f64.
#[expect(clippy::cast_precision_loss, reason = "specifications beyond 2^53 are refused")]
pub(crate) const fn real(size: usize) -> f64 {
    size as f64
}

#[cfg(test)]
#[path = "conventions_tests.rs"]
mod tests;
