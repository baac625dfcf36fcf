use serde::{Deserialize, Serialize};

use crate::{
    DType, KernelSpec, Layout, PrefixMethod, Shape,
    conventions::{element_bytes, real},
};

/// A tensor by name, row-major.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorSpec {
    /// Its name: `a`, `w`, `k_prefix`, `out`.
    pub name: String,
    /// The type of its elements.
    pub dtype: DType,
    /// Its sizes, outermost first.
    pub dims: Vec<usize>,
}

impl TensorSpec {
    fn new(name: &str, dtype: DType, dims: &[usize]) -> Self {
        Self { name: name.to_owned(), dtype, dims: dims.to_vec() }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether it has no elements; no tensor of a checked specification has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes as stored.
    pub fn bytes(&self) -> usize {
        self.dtype.bytes(self.len())
    }

    pub(crate) fn bytes_real(&self) -> f64 {
        self.dims.iter().map(|&size| real(size)).product::<f64>() * element_bytes(self.dtype)
    }
}

impl KernelSpec {
    /// What the kernel reads, in the order in which a device gets them.
    pub fn input_tensors(&self) -> Vec<TensorSpec> {
        let dtype = self.dtype;
        let own = |name: &str, dims: &[usize]| TensorSpec::new(name, dtype, dims);
        match self.shape {
            Shape::Copy { n } | Shape::Fma { n, .. } => vec![own("a", &[n])],
            Shape::Triad { n } => vec![own("a", &[n]), own("b", &[n])],
            Shape::Gemm { m, n, k } => {
                let b = if self.layout == Layout::Nn { [k, n] } else { [n, k] };
                vec![own("a", &[m, k]), own("b", &b)]
            }
            Shape::Gemv { m, k, batch } => vec![own("w", &[m, k]), own("x", &[batch, k])],
            Shape::Int4Gemv { m, k, batch, group, scales, zero_points } => {
                let mut tensors = vec![
                    TensorSpec::new("w", DType::Int4, &[m, k]),
                    TensorSpec::new("scales", scales, &[m, k / group]),
                ];
                if zero_points {
                    tensors.push(TensorSpec::new("zeros", DType::Int4, &[m, k / group]));
                }
                tensors.push(own("x", &[batch, k]));
                tensors
            }
            Shape::Prefill { batch, heads, kv_heads, head_dim, length, .. } => {
                let cache = [batch, kv_heads, length, head_dim];
                vec![own("q", &[batch, heads, length, head_dim]), own("k", &cache), own("v", &cache)]
            }
            Shape::Decode { batch, heads, kv_heads, head_dim, length } => {
                let cache = [batch, kv_heads, length, head_dim];
                vec![own("q", &[batch, heads, head_dim]), own("k", &cache), own("v", &cache)]
            }
            Shape::SharedPrefix { batch, heads, kv_heads, head_dim, prefix, suffix, method } => {
                let q = own("q", &[batch, heads, head_dim]);
                let (common, single) = ([kv_heads, prefix, head_dim], [batch, kv_heads, suffix, head_dim]);
                let whole = [batch, kv_heads, prefix + suffix, head_dim];
                match method {
                    PrefixMethod::Naive => vec![q, own("k", &whole), own("v", &whole)],
                    PrefixMethod::Shared => vec![
                        q,
                        own("k_prefix", &common),
                        own("v_prefix", &common),
                        own("k_suffix", &single),
                        own("v_suffix", &single),
                    ],
                }
            }
            Shape::RmsNorm { rows, width } => vec![own("x", &[rows, width]), own("w", &[width])],
            Shape::Softmax { rows, width } => vec![own("x", &[rows, width])],
        }
    }

    /// What the kernel writes; named `out`.
    pub fn output_tensor(&self) -> TensorSpec {
        let dims: Vec<usize> = match self.shape {
            Shape::Copy { n } | Shape::Triad { n } | Shape::Fma { n, .. } => vec![n],
            Shape::Gemm { m, n, .. } => vec![m, n],
            Shape::Gemv { m, batch, .. } | Shape::Int4Gemv { m, batch, .. } => vec![batch, m],
            Shape::Prefill { batch, heads, head_dim, length, .. } => vec![batch, heads, length, head_dim],
            Shape::Decode { batch, heads, head_dim, .. }
            | Shape::SharedPrefix { batch, heads, head_dim, .. } => {
                vec![batch, heads, head_dim]
            }
            Shape::RmsNorm { rows, width } | Shape::Softmax { rows, width } => vec![rows, width],
        };
        TensorSpec { name: "out".to_owned(), dtype: self.output, dims }
    }
}
