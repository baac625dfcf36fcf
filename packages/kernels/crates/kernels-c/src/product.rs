use kernels_core::{KernelSpec, Layout, Shape};

/// A matrix product in a column-major library's own terms: result (rows×columns) = op(left)·right, left rows×depth or, stored
/// transposed, depth×rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Rows of the result.
    pub rows: u64,
    /// Columns of the result.
    pub columns: u64,
    /// What is summed over.
    pub depth: u64,
    /// Whether `left` is stored as depth×rows and transposed.
    pub transposed: bool,
    /// Which inputs `left` and `right` are.
    pub inputs: [usize; 2],
}

impl Product {
    /// A row-major product is, column-major, that of the operands exchanged.
    ///
    /// # Errors
    /// In words, for a kernel that is no matrix product.
    pub fn of(spec: &KernelSpec) -> Result<Self, String> {
        let wide = |size: usize| u64::try_from(size).map_err(|error| error.to_string());
        match spec.shape {
            Shape::Gemm { m, n, k } => Ok(Self {
                rows: wide(n)?,
                columns: wide(m)?,
                depth: wide(k)?,
                transposed: spec.layout == Layout::Nt,
                inputs: [1, 0],
            }),
            Shape::Gemv { m, k, batch } => {
                let [rows, columns, depth] = [wide(m)?, wide(batch)?, wide(k)?];
                Ok(Self { rows, columns, depth, transposed: true, inputs: [0, 1] })
            }
            _ => Err(format!("{} is no matrix product", spec.kind())),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernels_core::DType;

    use super::*;

    #[test]
    fn a_row_major_product_is_the_exchanged_one_column_major() -> Result<(), Box<dyn std::error::Error>> {
        let gemm = KernelSpec::new(Shape::Gemm { m: 2, n: 3, k: 4 }, DType::Bf16)?;
        let weights = KernelSpec { layout: Layout::Nt, ..gemm.clone() };
        let layer = KernelSpec::new(Shape::Gemv { m: 3, k: 4, batch: 2 }, DType::Bf16)?;
        let of = |transposed, inputs| Ok(Product { rows: 3, columns: 2, depth: 4, transposed, inputs });
        assert_eq!(Product::of(&gemm), of(false, [1, 0]));
        assert_eq!(Product::of(&weights), of(true, [1, 0]));
        assert_eq!(Product::of(&layer), of(true, [0, 1]));
        assert!(Product::of(&KernelSpec::new(Shape::Copy { n: 4 }, DType::F32)?).is_err());
        Ok(())
    }
}
