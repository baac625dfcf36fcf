use std::fmt;

/// A source of the project's own kernels, with what it is written on top of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The kernel's name in the source.
    pub entry: &'static str,
    parts: &'static [&'static str],
}

const PRELUDE: &str = include_str!("../kernels/prelude.cu");
const REDUCE: &str = include_str!("../kernels/reduce.cu");
const JOIN: &str = include_str!("../kernels/join.cu");

/// out = a.
pub const COPY: Source = Source { entry: "copy", parts: &[PRELUDE, include_str!("../kernels/stream.cu")] };
/// out = a + q·b.
pub const TRIAD: Source = Source { entry: "triad", parts: &[PRELUDE, include_str!("../kernels/stream.cu")] };
/// out = a after multiply-adds.
pub const FMA: Source =
    Source { entry: "fma_chain", parts: &[PRELUDE, include_str!("../kernels/stream.cu")] };
/// A matrix product in floating point.
pub const GEMM: Source = Source { entry: "gemm", parts: &[PRELUDE, include_str!("../kernels/gemm.cu")] };
/// A matrix product in int8.
pub const GEMM_INT8: Source =
    Source { entry: "gemm_int8", parts: &[PRELUDE, include_str!("../kernels/gemm_int8.cu")] };
/// A matrix by vectors.
pub const GEMV: Source =
    Source { entry: "gemv", parts: &[PRELUDE, JOIN, include_str!("../kernels/gemv.cu")] };
/// A matrix of 4-bit weights by vectors.
pub const GEMV_INT4: Source =
    Source { entry: "gemv_int4", parts: &[PRELUDE, JOIN, include_str!("../kernels/gemv_int4.cu")] };
/// Attention with many query rows.
pub const ATTENTION: Source =
    Source { entry: "attention", parts: &[PRELUDE, include_str!("../kernels/attention.cu")] };
/// The same on matrix units.
pub const ATTENTION_MMA: Source =
    Source { entry: "attention_mma", parts: &[PRELUDE, include_str!("../kernels/attention_mma.cu")] };
/// Attention with one query row per sequence and head.
pub const DECODE: Source =
    Source { entry: "decode", parts: &[PRELUDE, include_str!("../kernels/decode.cu")] };
/// The join of partial attention.
pub const MERGE: Source = Source { entry: "merge", parts: &[PRELUDE, include_str!("../kernels/merge.cu")] };
/// The norm of rows.
pub const RMSNORM: Source =
    Source { entry: "rmsnorm", parts: &[PRELUDE, REDUCE, include_str!("../kernels/rmsnorm.cu")] };
/// The softmax of rows.
pub const SOFTMAX: Source =
    Source { entry: "softmax", parts: &[PRELUDE, REDUCE, include_str!("../kernels/softmax.cu")] };

/// Definitions that a source is compiled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defines(Vec<(&'static str, String)>);

impl Defines {
    /// A name that stands for a value.
    #[must_use]
    pub fn set(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.0.push((name, value.to_string()));
        self
    }

    /// A name that stands for a real number in single precision.
    #[must_use]
    pub fn real(self, name: &'static str, value: f32) -> Self {
        self.set(name, format_args!("({value:e}f)"))
    }

    /// A name that is defined or not.
    #[must_use]
    pub fn flag(self, name: &'static str, holds: bool) -> Self {
        if holds { self.set(name, 1) } else { self }
    }
}

impl Source {
    /// The source with its definitions, as CUDA C, HIP or `OpenCL` C.
    pub fn text(self, defines: &Defines) -> String {
        let head = defines.0.iter().map(|(name, value)| format!("#define {name} {value}\n"));
        head.chain(self.parts.iter().map(|part| (*part).to_owned())).collect()
    }
}
