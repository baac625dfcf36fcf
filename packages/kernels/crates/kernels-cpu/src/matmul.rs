use kernels_core::{DType, KernelSpec, Layout, Shape};

/// A kernel as a product of matrices: left (rows×depth) times right, which is depth×columns or, transposed, the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatMul {
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    pub transposed: bool,
    /// Which input is the left matrix, and which the right one.
    pub left: usize,
    pub right: usize,
    pub dtype: DType,
    pub output: DType,
}

impl MatMul {
    /// None for a kernel that is no product of two stored matrices.
    pub fn of(spec: &KernelSpec) -> Option<Self> {
        let (dtype, output) = (spec.dtype, spec.output);
        match spec.shape {
            Shape::Gemm { m, n, k } => Some(Self {
                rows: m,
                columns: n,
                depth: k,
                transposed: spec.layout == Layout::Nt,
                left: 0,
                right: 1,
                dtype,
                output,
            }),
            Shape::Gemv { m, k, batch } => Some(Self {
                rows: batch,
                columns: m,
                depth: k,
                transposed: true,
                left: 1,
                right: 0,
                dtype,
                output,
            }),
            _ => None,
        }
    }

    /// Row and column strides of the right matrix as depth×columns.
    pub const fn right_strides(&self) -> (usize, usize) {
        if self.transposed { (1, self.depth) } else { (self.columns, 1) }
    }
}
