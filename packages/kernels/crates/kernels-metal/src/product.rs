use kernels_core::{DType, KernelSpec, Layout, Shape};

/// Its name among implementations.
pub const MPS: &str = "mps";

/// A product as Metal Performance Shaders take it, all row-major: result (rows×columns) = left·op(right).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Rows of the result.
    pub rows: usize,
    /// Columns of the result.
    pub columns: usize,
    /// What is summed over.
    pub depth: usize,
    /// Whether `right` is stored as columns×depth.
    pub transposed: bool,
    /// Which inputs `left` and `right` are.
    pub inputs: [usize; 2],
}

impl Product {
    /// The product that a kernel is.
    ///
    /// # Errors
    /// In words: what is none, or is in a type that they have no product of.
    pub fn of(spec: &KernelSpec) -> Result<Self, String> {
        if !matches!(
            (spec.dtype, spec.output),
            (DType::F32 | DType::F16, DType::F32) | (DType::F16, DType::F16)
        ) {
            return Err(format!("Metal Performance Shaders multiply no {}", spec.dtype.name()));
        }
        match spec.shape {
            Shape::Gemm { m, n, k } => {
                let transposed = spec.layout == Layout::Nt;
                Ok(Self { rows: m, columns: n, depth: k, transposed, inputs: [0, 1] })
            }
            Shape::Gemv { m, k, batch } => {
                Ok(Self { rows: batch, columns: m, depth: k, transposed: true, inputs: [1, 0] })
            }
            _ => Err(format!("{} is no matrix product; wgpu has it on Metal", spec.kind())),
        }
    }

    /// Rows and columns of left, right and result as they are stored.
    pub const fn stored(self) -> [[usize; 2]; 3] {
        let Self { rows, columns, depth, transposed, .. } = self;
        let right = if transposed { [columns, depth] } else { [depth, columns] };
        [[rows, depth], right, [rows, columns]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_row_major_and_a_layer_multiplies_by_its_transposed_weights()
    -> Result<(), Box<dyn std::error::Error>> {
        let gemm = KernelSpec::new(Shape::Gemm { m: 2, n: 3, k: 4 }, DType::F16)?;
        let weights = KernelSpec { layout: Layout::Nt, ..gemm.clone() };
        let layer = KernelSpec::new(Shape::Gemv { m: 3, k: 4, batch: 2 }, DType::F32)?;
        let of = |transposed, inputs| Product { rows: 2, columns: 3, depth: 4, transposed, inputs };
        assert_eq!(Product::of(&gemm), Ok(of(false, [0, 1])));
        assert_eq!(Product::of(&weights), Ok(of(true, [0, 1])));
        assert_eq!(Product::of(&layer), Ok(of(true, [1, 0])));
        assert_eq!(of(false, [0, 1]).stored(), [[2, 4], [4, 3], [2, 3]]);
        assert_eq!(of(true, [0, 1]).stored(), [[2, 4], [3, 4], [2, 3]]);
        Ok(())
    }

    #[test]
    fn what_the_library_lacks_has_a_reason() -> Result<(), Box<dyn std::error::Error>> {
        let gemm = |dtype| KernelSpec::new(Shape::Gemm { m: 16, n: 16, k: 16 }, dtype);
        let cases = [
            (gemm(DType::F32)?, None),
            (KernelSpec { output: DType::F32, ..gemm(DType::F16)? }, None),
            (gemm(DType::Bf16)?, Some("no bf16")),
            (gemm(DType::Int8)?, Some("no int8")),
            (gemm(DType::Tf32)?, Some("no tf32")),
            (KernelSpec::new(Shape::Copy { n: 4 }, DType::F32)?, Some("no matrix product")),
        ];
        for (spec, expected) in cases {
            let said = Product::of(&spec).err();
            assert_eq!(said.is_some(), expected.is_some(), "{spec}: {said:?}");
            assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()), "{spec}");
        }
        Ok(())
    }
}
