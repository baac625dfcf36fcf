//! What a kernel should give, in f64, on the inputs as they were rounded.

use std::{cell::OnceCell, ops::Range};

use crate::{
    DType, FMA_ADDEND, FMA_FACTOR, Inputs, KernelError, KernelSpec, Layout, PrefixMethod, RMSNORM_EPSILON,
    Shape, TRIAD_SCALAR, Tensor, conventions::real,
};

/// Elements of a copy, triad or fma that make one unit.
const STREAM_UNIT: usize = 4096;

/// The right output of a kernel, computed by units: one element of a matrix product, one row of the others, 4096
/// elements of copy, triad and fma.
pub struct Reference<'a> {
    spec: &'a KernelSpec,
    operands: Vec<Operand<'a>>,
}

/// A tensor that is decoded as a whole, once, or element by element.
struct Operand<'a> {
    tensor: &'a Tensor,
    whole: OnceCell<Vec<f64>>,
}

impl Operand<'_> {
    fn get(&self, index: usize) -> f64 {
        self.whole.get().map_or_else(|| self.decode(index), |whole| whole[index])
    }

    fn decode(&self, index: usize) -> f64 {
        let (dtype, data) = (self.tensor.spec.dtype, &self.tensor.data);
        if dtype == DType::Int4 {
            return f64::from((data[index / 2] >> (4 * (index % 2))) & 15);
        }
        let size = dtype.bytes(1);
        dtype.decode(&data[index * size..(index + 1) * size]).first().copied().unwrap_or(f64::NAN)
    }

    fn slice(&self, range: Range<usize>) -> Vec<f64> {
        if let Some(whole) = self.whole.get() {
            return whole[range].to_vec();
        }
        let dtype = self.tensor.spec.dtype;
        dtype.decode(&self.tensor.data[dtype.bytes(range.start)..dtype.bytes(range.end)])
    }
}

/// Keys and values that one query sees, and where its row of the output is.
struct Sight<'a> {
    query: Vec<f64>,
    parts: Vec<(&'a Operand<'a>, &'a Operand<'a>, usize, usize)>,
}

impl<'a> Reference<'a> {
    /// For these inputs of this kernel.
    ///
    /// # Errors
    /// `BadSpec` where the inputs are those of another kernel.
    pub fn new(spec: &'a KernelSpec, inputs: &'a Inputs) -> Result<Self, KernelError> {
        if !spec.input_tensors().iter().eq(inputs.tensors.iter().map(|tensor| &tensor.spec)) {
            return Err(KernelError::BadSpec {
                what: spec.to_string(),
                reason: "inputs of another kernel".to_owned(),
            });
        }
        let operands = inputs.tensors.iter().map(|tensor| Operand { tensor, whole: OnceCell::new() });
        Ok(Self { spec, operands: operands.collect() })
    }

    /// Elements of one unit.
    pub const fn unit_len(&self) -> usize {
        match self.spec.shape {
            Shape::Copy { .. } | Shape::Triad { .. } | Shape::Fma { .. } => STREAM_UNIT,
            Shape::Gemm { .. } | Shape::Gemv { .. } | Shape::Int4Gemv { .. } => 1,
            Shape::Prefill { head_dim, .. }
            | Shape::Decode { head_dim, .. }
            | Shape::SharedPrefix { head_dim, .. } => head_dim,
            Shape::RmsNorm { width, .. } | Shape::Softmax { width, .. } => width,
        }
    }

    /// Units of the whole output.
    pub fn units(&self) -> usize {
        self.spec.output_tensor().len().div_ceil(self.unit_len())
    }

    /// The whole output.
    pub fn whole(&self) -> Vec<f64> {
        for operand in &self.operands {
            operand.whole.get_or_init(|| operand.tensor.values());
        }
        (0..self.units()).flat_map(|unit| self.unit(unit)).collect()
    }

    /// One unit: the elements of the output from `unit · unit_len` on.
    pub fn unit(&self, unit: usize) -> Vec<f64> {
        match self.spec.shape {
            Shape::Copy { n } => self.operands[0].slice(unit * STREAM_UNIT..n.min((unit + 1) * STREAM_UNIT)),
            Shape::Triad { n } => {
                let range = unit * STREAM_UNIT..n.min((unit + 1) * STREAM_UNIT);
                let (a, b) = (self.operands[0].slice(range.clone()), self.operands[1].slice(range));
                a.iter().zip(&b).map(|(a, b)| a + f64::from(TRIAD_SCALAR) * b).collect()
            }
            Shape::Fma { n, k } => {
                let a = self.operands[0].slice(unit * STREAM_UNIT..n.min((unit + 1) * STREAM_UNIT));
                let step = |x, _| f64::from(FMA_FACTOR) * x + f64::from(FMA_ADDEND);
                a.into_iter().map(|x| (0..k).fold(x, step)).collect()
            }
            Shape::Gemm { .. } | Shape::Gemv { .. } | Shape::Int4Gemv { .. } => {
                self.product().map_or_else(Vec::new, |product| vec![product.element(unit)])
            }
            Shape::RmsNorm { width, .. } => self.norm_row(unit, width),
            Shape::Softmax { width, .. } => {
                softmax(&self.operands[0].slice(unit * width..(unit + 1) * width))
            }
            Shape::Prefill { .. } | Shape::Decode { .. } | Shape::SharedPrefix { .. } => {
                self.attention_row(unit)
            }
        }
    }

    /// The kernel as a product of two matrices; None where it isn't one.
    pub(crate) fn product(&self) -> Option<Product<'_>> {
        let (rows, columns, depth) = match self.spec.shape {
            Shape::Gemm { m, n, k } => (m, n, k),
            Shape::Gemv { m, k, batch } | Shape::Int4Gemv { m, k, batch, .. } => (batch, m, k),
            _ => return None,
        };
        Some(Product { reference: self, rows, columns, depth })
    }

    fn norm_row(&self, row: usize, width: usize) -> Vec<f64> {
        let (x, w) =
            (self.operands[0].slice(row * width..(row + 1) * width), self.operands[1].slice(0..width));
        let mean = x.iter().map(|x| x * x).sum::<f64>() / real(width);
        let scale = 1.0 / (mean + f64::from(RMSNORM_EPSILON)).sqrt();
        x.iter().zip(&w).map(|(x, w)| x * scale * w).collect()
    }

    fn attention_row(&self, row: usize) -> Vec<f64> {
        let size = self.unit_len();
        let sight = self.sight(row, size);
        let scale = 1.0 / real(size).sqrt();
        let mut scores = Vec::new();
        let mut values = Vec::new();
        for (keys, part, first, tokens) in sight.parts {
            let range = first * size..(first + tokens) * size;
            let keys = keys.slice(range.clone());
            scores.extend(keys.chunks_exact(size).map(|key| scale * dot(key, &sight.query)));
            values.extend(part.slice(range));
        }
        let weights = softmax(&scores);
        let mut out = vec![0.0; size];
        for (weight, value) in weights.iter().zip(values.chunks_exact(size)) {
            out.iter_mut().zip(value).for_each(|(out, value)| *out += weight * value);
        }
        out
    }

    fn sight(&self, row: usize, size: usize) -> Sight<'_> {
        let operand = |index: usize| &self.operands[index];
        let query = operand(0).slice(row * size..(row + 1) * size);
        let parts = match self.spec.shape {
            Shape::Prefill { heads, kv_heads, length, causal, .. } => {
                let (token, head, sequence) = (row % length, row / length % heads, row / length / heads);
                let first = (sequence * kv_heads + head / (heads / kv_heads)) * length;
                vec![(operand(1), operand(2), first, if causal { token + 1 } else { length })]
            }
            Shape::Decode { heads, kv_heads, length, .. } => {
                let first = (row / heads * kv_heads + row % heads / (heads / kv_heads)) * length;
                vec![(operand(1), operand(2), first, length)]
            }
            Shape::SharedPrefix { heads, kv_heads, prefix, suffix, method, .. } => {
                let head = row % heads / (heads / kv_heads);
                let cache = row / heads * kv_heads + head;
                match method {
                    PrefixMethod::Naive => {
                        vec![(operand(1), operand(2), cache * (prefix + suffix), prefix + suffix)]
                    }
                    PrefixMethod::Shared => vec![
                        (operand(1), operand(2), head * prefix, prefix),
                        (operand(3), operand(4), cache * suffix, suffix),
                    ],
                }
            }
            _ => Vec::new(),
        };
        Sight { query, parts }
    }
}

/// A product of two matrices: GEMM itself, or the vectors of a GEMV times the transposed weights.
pub(crate) struct Product<'a> {
    reference: &'a Reference<'a>,
    pub rows: usize,
    pub columns: usize,
    depth: usize,
}

impl Product<'_> {
    fn left(&self, row: usize, at: usize) -> f64 {
        let index = row * self.depth + at;
        match self.reference.spec.shape {
            Shape::Gemm { .. } => self.reference.operands[0].get(index),
            _ => self.reference.operands.last().map_or(f64::NAN, |x| x.get(index)),
        }
    }

    fn right(&self, at: usize, column: usize) -> f64 {
        let Reference { spec, operands } = self.reference;
        let transposed = column * self.depth + at;
        match spec.shape {
            Shape::Gemm { .. } if spec.layout == Layout::Nn => operands[1].get(at * self.columns + column),
            Shape::Gemm { .. } => operands[1].get(transposed),
            Shape::Int4Gemv { group, zero_points, .. } => {
                let shared = transposed / group;
                let zero = if zero_points { operands[2].get(shared) } else { 8.0 };
                (operands[0].get(transposed) - zero) * operands[1].get(shared)
            }
            _ => operands[0].get(transposed),
        }
    }

    fn element(&self, index: usize) -> f64 {
        let (row, column) = (index / self.columns, index % self.columns);
        (0..self.depth).map(|at| self.left(row, at) * self.right(at, column)).sum()
    }

    /// The product times a vector of `columns` elements, in O(n²).
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        for operand in &self.reference.operands {
            operand.whole.get_or_init(|| operand.tensor.values());
        }
        let mut inner = vec![0.0; self.depth];
        if self.reference.spec.layout == Layout::Nn && matches!(self.reference.spec.shape, Shape::Gemm { .. })
        {
            for (at, sum) in inner.iter_mut().enumerate() {
                *sum = vector.iter().enumerate().map(|(column, x)| self.right(at, column) * x).sum();
            }
        } else {
            for (column, x) in vector.iter().enumerate() {
                inner.iter_mut().enumerate().for_each(|(at, sum)| *sum += self.right(at, column) * x);
            }
        }
        (0..self.rows)
            .map(|row| inner.iter().enumerate().map(|(at, x)| self.left(row, at) * x).sum())
            .collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = row.iter().map(|x| (x - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

#[cfg(test)]
#[path = "reference_tests.rs"]
mod tests;
