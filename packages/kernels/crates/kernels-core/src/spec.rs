use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{DType, KernelError, counts};

/// q of triad: out = a + q·b.
pub const TRIAD_SCALAR: f32 = 0.4;

/// p of fma: each element becomes p·x + q, so often as its shape says. It stays between where it began and 1.
pub const FMA_FACTOR: f32 = 0.999;

/// q of fma.
pub const FMA_ADDEND: f32 = 0.001;

/// Added to the mean square of a row by `RMSNorm`.
pub const RMSNORM_EPSILON: f32 = 1e-6;

/// What is computed, and on how much. All tensors are row-major, in the order that
/// [`KernelSpec::input_tensors`](crate::KernelSpec::input_tensors) lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// out = a.
    Copy {
        /// Elements.
        n: usize,
    },
    /// out = a + [`TRIAD_SCALAR`]·b.
    Triad {
        /// Elements of each of the three vectors.
        n: usize,
    },
    /// out = a after `k` multiply-adds of each element, x ← [`FMA_FACTOR`]·x + [`FMA_ADDEND`], one after the other: work
    /// whose FLOP per byte are set by `k`. It is done in f32, whatever the type in memory.
    Fma {
        /// Elements.
        n: usize,
        /// Multiply-adds of each element.
        k: usize,
    },
    /// out (M×N) = a (M×K) · b (K×N).
    Gemm {
        /// Rows of a.
        m: usize,
        /// Columns of b.
        n: usize,
        /// Columns of a.
        k: usize,
    },
    /// out (batch×M) = x (batch×K) · wᵀ (w is M×K): the weights of a layer in decode.
    Gemv {
        /// Rows of w.
        m: usize,
        /// Columns of w.
        k: usize,
        /// Vectors at once.
        batch: usize,
    },
    /// The same with weights of 4 bits: w = (nibble − zero point)·scale, both per group of columns.
    Int4Gemv {
        /// Rows of w.
        m: usize,
        /// Columns of w, a multiple of `group`.
        k: usize,
        /// Vectors at once.
        batch: usize,
        /// Columns that share a scale, a multiple of 8.
        group: usize,
        /// The type of the scales.
        scales: DType,
        /// Whether each group has a zero point of 4 bits; else it is 8.
        zero_points: bool,
    },
    /// Attention over whole sequences. q is B×H×L×D, k and v are B×KV×L×D, out is as q.
    Prefill {
        /// Sequences.
        batch: usize,
        /// Query heads; head h reads key head h / (heads / `kv_heads`).
        heads: usize,
        /// Key and value heads, a divisor of `heads`.
        kv_heads: usize,
        /// Size of a head.
        head_dim: usize,
        /// Tokens of a sequence.
        length: usize,
        /// Whether a token sees only itself and what is before it.
        causal: bool,
    },
    /// Attention of one new token per sequence. q is B×H×D, k and v are B×KV×L×D, out is as q.
    Decode {
        /// Sequences.
        batch: usize,
        /// Query heads.
        heads: usize,
        /// Key and value heads, a divisor of `heads`.
        kv_heads: usize,
        /// Size of a head.
        head_dim: usize,
        /// Tokens in the cache.
        length: usize,
    },
    /// The same where all sequences begin with one prefix. q is B×H×D; shared: `k_prefix`, `v_prefix` are KV×P×D and
    /// `k_suffix`, `v_suffix` B×KV×S×D; naive: k, v are B×KV×(P+S)×D with the prefix written out for each sequence.
    SharedPrefix {
        /// Sequences.
        batch: usize,
        /// Query heads.
        heads: usize,
        /// Key and value heads, a divisor of `heads`.
        kv_heads: usize,
        /// Size of a head.
        head_dim: usize,
        /// Tokens of the prefix.
        prefix: usize,
        /// Tokens that each sequence has of its own.
        suffix: usize,
        /// How the prefix is read.
        method: PrefixMethod,
    },
    /// out = x / √(mean(x²) + [`RMSNORM_EPSILON`]) · w, by row; x is R×D, w is D.
    RmsNorm {
        /// R.
        rows: usize,
        /// D.
        width: usize,
    },
    /// Softmax by row; x is R×N.
    Softmax {
        /// R.
        rows: usize,
        /// N.
        width: usize,
    },
}

/// How the keys and values of a common prefix are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefixMethod {
    /// Once for all sequences, merged exactly by log-sum-exp (Hydragen, arXiv 2402.05099).
    Shared,
    /// Once for each sequence.
    Naive,
}

/// How a GEMM's second matrix is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// b as K×N.
    #[default]
    Nn,
    /// b transposed, N×K, as a layer's weights are; what cuBLAS calls TN.
    Nt,
}

/// How inputs are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Normal with mean 0 and deviation 1; of int8, deviation 32.
    #[default]
    Normal,
    /// Uniform on (−1, 1); of int8, on ±127.
    Uniform,
}

/// One kernel on one shape and type: what is measured.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct KernelSpec {
    /// What is computed.
    #[serde(flatten)]
    pub shape: Shape,
    /// The type of the inputs (of int4 GEMV: of the activations).
    pub dtype: DType,
    /// The type of the output.
    pub output: DType,
    /// Of GEMM; `Nn` elsewhere.
    pub layout: Layout,
    /// Where inputs come from.
    pub seed: u64,
    /// How they are distributed.
    pub distribution: Distribution,
}

/// As written in JSON, where everything but shape and type may be left out.
#[derive(Deserialize)]
struct Raw {
    #[serde(flatten)]
    shape: Shape,
    dtype: DType,
    output: Option<DType>,
    #[serde(default)]
    layout: Layout,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    distribution: Distribution,
}

impl TryFrom<Raw> for KernelSpec {
    type Error = KernelError;

    fn try_from(raw: Raw) -> Result<Self, KernelError> {
        let output = raw.output.unwrap_or(default_output(&raw.shape, raw.dtype));
        let Raw { shape, dtype, layout, seed, distribution, .. } = raw;
        Self { shape, dtype, output, layout, seed, distribution }.checked()
    }
}

const fn default_output(shape: &Shape, dtype: DType) -> DType {
    match (shape, dtype) {
        (Shape::Copy { .. }, dtype) => dtype,
        (_, DType::Int8) => DType::Int32,
        (_, DType::Tf32) => DType::F32,
        (_, DType::Fp8E4m3) => DType::Bf16,
        (_, other) => other,
    }
}

impl KernelSpec {
    /// A kernel with the usual output type, layout `Nn`, seed 0 and normal inputs.
    ///
    /// # Errors
    /// `BadSpec` for a shape or type that the kernel doesn't exist in.
    pub fn new(shape: Shape, dtype: DType) -> Result<Self, KernelError> {
        let output = default_output(&shape, dtype);
        let (layout, distribution) = (Layout::Nn, Distribution::Normal);
        Self { shape, dtype, output, layout, seed: 0, distribution }.checked()
    }

    /// The same with another seed.
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same if it is one that exists.
    ///
    /// # Errors
    /// `BadSpec` naming the first thing that is wrong.
    pub fn checked(self) -> Result<Self, KernelError> {
        match self.fault() {
            Some(reason) => Err(KernelError::BadSpec { what: self.to_string(), reason }),
            None => Ok(self),
        }
    }

    /// The kernel's name in files.
    pub const fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Copy { .. } => "copy",
            Shape::Triad { .. } => "triad",
            Shape::Fma { .. } => "fma",
            Shape::Gemm { .. } => "gemm",
            Shape::Gemv { .. } => "gemv",
            Shape::Int4Gemv { .. } => "int4_gemv",
            Shape::Prefill { .. } => "prefill",
            Shape::Decode { .. } => "decode",
            Shape::SharedPrefix { .. } => "shared_prefix",
            Shape::RmsNorm { .. } => "rms_norm",
            Shape::Softmax { .. } => "softmax",
        }
    }

    /// The sizes, by name, in a fixed order.
    pub fn dims(&self) -> Vec<(&'static str, usize)> {
        match self.shape {
            Shape::Copy { n } | Shape::Triad { n } => vec![("n", n)],
            Shape::Fma { n, k } => vec![("n", n), ("k", k)],
            Shape::Gemm { m, n, k } => vec![("m", m), ("n", n), ("k", k)],
            Shape::Gemv { m, k, batch } => vec![("m", m), ("k", k), ("batch", batch)],
            Shape::Int4Gemv { m, k, batch, group, .. } => {
                vec![("m", m), ("k", k), ("batch", batch), ("group", group)]
            }
            Shape::Prefill { batch, heads, kv_heads, head_dim, length, .. }
            | Shape::Decode { batch, heads, kv_heads, head_dim, length } => vec![
                ("batch", batch),
                ("heads", heads),
                ("kv_heads", kv_heads),
                ("head_dim", head_dim),
                ("length", length),
            ],
            Shape::SharedPrefix { batch, heads, kv_heads, head_dim, prefix, suffix, .. } => vec![
                ("batch", batch),
                ("heads", heads),
                ("kv_heads", kv_heads),
                ("head_dim", head_dim),
                ("prefix", prefix),
                ("suffix", suffix),
            ],
            Shape::RmsNorm { rows, width } | Shape::Softmax { rows, width } => {
                vec![("rows", rows), ("width", width)]
            }
        }
    }

    fn fault(&self) -> Option<String> {
        if let Some((name, _)) = self.dims().into_iter().find(|(_, size)| *size == 0) {
            return Some(format!("{name} is 0"));
        }
        self.type_fault().or_else(|| self.shape_fault()).or_else(|| self.size_fault())
    }

    fn type_fault(&self) -> Option<String> {
        use DType::{Bf16, F16, F32, Fp8E4m3, Int8, Int32, Tf32};
        let (types, outputs): (&[DType], &[DType]) = match (self.shape, self.dtype) {
            (Shape::Copy { .. }, dtype) => (&[F32, F16, Bf16, Int8, Int32], &[dtype]),
            (Shape::Gemm { .. }, F32 | Tf32) => (&[F32, Tf32], &[F32]),
            (Shape::Gemm { .. }, F16) => (&[F16], &[F16, F32]),
            (Shape::Gemm { .. }, Bf16) => (&[Bf16], &[Bf16, F32]),
            (Shape::Gemm { .. }, Fp8E4m3) => (&[Fp8E4m3], &[Bf16, F16, F32]),
            (Shape::Gemm { .. } | Shape::Gemv { .. }, Int8) => (&[Int8], &[Int32]),
            (Shape::Gemv { .. } | Shape::Int4Gemv { .. }, dtype) => (&[F32, F16, Bf16], &[dtype, F32]),
            (_, dtype) => (&[F32, F16, Bf16], &[dtype]),
        };
        if !types.contains(&self.dtype) {
            return Some(format!("there is no {} of {}", self.kind(), self.dtype.name()));
        }
        if !outputs.contains(&self.output) {
            return Some(format!("{} gives no {}", self.dtype.name(), self.output.name()));
        }
        match self.layout {
            Layout::Nt if !matches!(self.shape, Shape::Gemm { .. }) => {
                Some("only gemm has a layout".to_owned())
            }
            _ => None,
        }
    }

    fn shape_fault(&self) -> Option<String> {
        match self.shape {
            Shape::Int4Gemv { k, group, scales, .. } => {
                if group % 8 != 0 || k % group != 0 {
                    return Some(format!("k {k} must be a multiple of group {group}, and group one of 8"));
                }
                (!matches!(scales, DType::F32 | DType::F16 | DType::Bf16))
                    .then(|| format!("scales can't be {}", scales.name()))
            }
            Shape::Prefill { heads, kv_heads, .. }
            | Shape::Decode { heads, kv_heads, .. }
            | Shape::SharedPrefix { heads, kv_heads, .. } => (heads % kv_heads != 0)
                .then(|| format!("{heads} heads can't be shared out to {kv_heads} key heads")),
            _ => None,
        }
    }

    /// Sizes whose products a f64 can't hold are mistakes.
    fn size_fault(&self) -> Option<String> {
        const MOST: f64 = 9e15;
        let product: f64 = self.dims().iter().map(|(_, size)| crate::conventions::real(*size)).product();
        (product > MOST || counts(self).flop > MOST).then(|| "it is too large to count".to_owned())
    }
}

/// `gemm bf16 m=8192 n=8192 k=8192`.
impl fmt::Display for KernelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.dtype.name())?;
        if self.output != self.dtype {
            write!(f, "→{}", self.output.name())?;
        }
        for (name, size) in self.dims() {
            write!(f, " {name}={size}")?;
        }
        match self.shape {
            Shape::SharedPrefix { method: PrefixMethod::Naive, .. } => f.write_str(" naive"),
            Shape::Prefill { causal: false, .. } => f.write_str(" not causal"),
            Shape::Int4Gemv { scales, zero_points, .. } => {
                write!(f, " scales={}", scales.name())?;
                f.write_str(if zero_points { " zero points" } else { "" })
            }
            Shape::Gemm { .. } if self.layout == Layout::Nt => f.write_str(" nt"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_in_json_may_leave_out_what_is_usual() -> Result<(), serde_json::Error> {
        let spec: KernelSpec = serde_json::from_str(r#"{"kind":"gemm","m":8,"n":4,"k":2,"dtype":"int8"}"#)?;
        assert_eq!(spec.output, DType::Int32);
        assert_eq!((spec.layout, spec.seed), (Layout::Nn, 0));
        let back: KernelSpec = serde_json::from_str(&serde_json::to_string(&spec)?)?;
        assert_eq!(back, spec);
        Ok(())
    }

    #[test]
    fn what_does_not_exist_is_refused_with_its_reason() {
        let cases = [
            (r#"{"kind":"copy","n":0,"dtype":"f32"}"#, "n is 0"),
            (r#"{"kind":"softmax","rows":2,"width":2,"dtype":"int8","output":"int8"}"#, "no softmax of int8"),
            (r#"{"kind":"gemm","m":1,"n":1,"k":1,"dtype":"f32","output":"f16"}"#, "f32 gives no f16"),
            (
                r#"{"kind":"decode","batch":1,"heads":3,"kv_heads":2,"head_dim":4,"length":4,"dtype":"f32"}"#,
                "3 heads can't be shared out to 2 key heads",
            ),
            (
                r#"{"kind":"int4_gemv","m":1,"k":48,"batch":1,"group":32,"scales":"f16","zero_points":false,"dtype":"f16"}"#,
                "k 48 must be a multiple of group 32",
            ),
            (r#"{"kind":"gemm","m":9000000000,"n":9000000000,"k":2,"dtype":"f32"}"#, "too large"),
            (r#"{"kind":"triad","n":4,"dtype":"f32","layout":"nt"}"#, "only gemm has a layout"),
        ];
        for (json, reason) in cases {
            let message = serde_json::from_str::<KernelSpec>(json)
                .map_or_else(|error| error.to_string(), |_| String::new());
            assert!(message.contains(reason), "{json}: {message}");
        }
    }
}
