use super::*;
use crate::TensorSpec;

/// Inputs of given numbers, in f32.
fn inputs_of(spec: &KernelSpec, values: &[&[f32]]) -> Inputs {
    let tensors = spec.input_tensors().into_iter().zip(values).map(|(spec, values): (TensorSpec, _)| {
        assert_eq!(spec.len(), values.len(), "{}", spec.name);
        Tensor { spec, data: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    });
    Inputs { tensors: tensors.collect() }
}

fn whole(shape: Shape, layout: Layout, values: &[&[f32]]) -> Result<Vec<f64>, KernelError> {
    let spec = KernelSpec { layout, ..KernelSpec::new(shape, DType::F32)? };
    let inputs = inputs_of(&spec, values);
    Ok(Reference::new(&spec, &inputs)?.whole())
}

fn assert_near(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-6), "{got:?}, not {want:?}");
}

#[test]
fn products_are_those_done_by_hand() -> Result<(), KernelError> {
    let square = Shape::Gemm { m: 2, n: 2, k: 3 };
    let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_near(
        &whole(square, Layout::Nn, &[&a, &[1.0, 0.0, 0.0, 1.0, 2.0, -1.0]])?,
        &[7.0, -1.0, 16.0, -1.0],
    );
    assert_near(
        &whole(square, Layout::Nt, &[&a, &[1.0, 0.0, 2.0, 0.0, 1.0, -1.0]])?,
        &[7.0, -1.0, 16.0, -1.0],
    );
    let gemv = Shape::Gemv { m: 2, k: 3, batch: 2 };
    let x = [1.0, 1.0, 1.0, 0.0, 0.0, 2.0];
    assert_near(&whole(gemv, Layout::Nn, &[&a, &x])?, &[6.0, 15.0, 6.0, 12.0]);
    Ok(())
}

#[test]
fn multiply_adds_go_from_each_element_towards_one() -> Result<(), KernelError> {
    let (p, q) = (f64::from(FMA_FACTOR), f64::from(FMA_ADDEND));
    let closed = |x: f64| x * p.powi(40) + q * (1.0 - p.powi(40)) / (1.0 - p);
    let shape = Shape::Fma { n: 3, k: 40 };
    assert_near(&whole(shape, Layout::Nn, &[&[2.0, -1.0, 0.5]])?, &[closed(2.0), closed(-1.0), closed(0.5)]);
    Ok(())
}

#[test]
fn four_bit_weights_are_nibble_less_zero_point_times_scale() -> Result<(), KernelError> {
    let shape = Shape::Int4Gemv { m: 1, k: 16, batch: 1, group: 8, scales: DType::F32, zero_points: true };
    let spec = KernelSpec::new(shape, DType::F32)?;
    let mut tensors = spec.input_tensors().into_iter();
    let mut next = |data: Vec<u8>| tensors.next().map(|spec| Tensor { spec, data });
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let parts = [
        next(vec![0x10, 0x32, 0x54, 0x76, 0xff, 0xff, 0xff, 0xff]),
        next(floats(&[1.0, 0.5])),
        next(vec![0x87, 0, 0, 0]),
        next(floats(&[1.0; 16])),
    ];
    let inputs = Inputs { tensors: parts.into_iter().flatten().collect() };
    // Sum of (0..7) − 7 each, and 8 × (15 − 8) / 2.
    assert_near(&Reference::new(&spec, &inputs)?.whole(), &[28.0 - 56.0 + 28.0]);
    Ok(())
}

#[test]
fn rows_are_normalised() -> Result<(), KernelError> {
    let x = [3.0, 4.0, 0.0, 0.0];
    let norm = whole(Shape::RmsNorm { rows: 2, width: 2 }, Layout::Nn, &[&x, &[1.0, 2.0]])?;
    assert_near(&norm[..2], &[3.0 / 12.5f64.sqrt(), 8.0 / 12.5f64.sqrt()]);
    assert_near(&norm[2..], &[0.0, 0.0]);
    let rows = whole(Shape::Softmax { rows: 1, width: 3 }, Layout::Nn, &[&[1000.0, 1000.0, -1000.0]])?;
    assert_near(&rows, &[0.5, 0.5, 0.0]);
    Ok(())
}

#[test]
fn attention_weighs_values_by_the_softmax_of_scaled_scores() -> Result<(), KernelError> {
    // One key head of size 1 for two query heads; scores 0 and ln 3, so weights 1/4 and 3/4.
    let ln3 = 3f32.ln();
    let shape = Shape::Decode { batch: 1, heads: 2, kv_heads: 1, head_dim: 1, length: 2 };
    let out = whole(shape, Layout::Nn, &[&[1.0, 0.0], &[0.0, ln3], &[4.0, 8.0]])?;
    assert_near(&out, &[7.0, 6.0]);
    let causal = |causal| Shape::Prefill { batch: 1, heads: 1, kv_heads: 1, head_dim: 1, length: 2, causal };
    let operands: [&[f32]; 3] = [&[1.0, 1.0], &[0.0, ln3], &[4.0, 8.0]];
    assert_near(&whole(causal(true), Layout::Nn, &operands)?, &[4.0, 7.0]);
    assert_near(&whole(causal(false), Layout::Nn, &operands)?, &[7.0, 7.0]);
    Ok(())
}

#[test]
fn a_shared_prefix_changes_nothing_but_the_layout() -> Result<(), KernelError> {
    let of = |method| {
        let shape = Shape::SharedPrefix {
            batch: 3,
            heads: 4,
            kv_heads: 2,
            head_dim: 8,
            prefix: 9,
            suffix: 5,
            method,
        };
        let spec = KernelSpec::new(shape, DType::F32)?.with_seed(11);
        let inputs = Inputs::generate(&spec)?;
        Ok::<_, KernelError>(Reference::new(&spec, &inputs)?.whole())
    };
    assert_near(&of(PrefixMethod::Shared)?, &of(PrefixMethod::Naive)?);
    Ok(())
}

#[test]
fn units_are_the_whole_in_parts() -> Result<(), KernelError> {
    let shapes = [
        Shape::Triad { n: 2 * STREAM_UNIT + 10 },
        Shape::Gemm { m: 5, n: 6, k: 7 },
        Shape::Prefill { batch: 2, heads: 4, kv_heads: 2, head_dim: 8, length: 5, causal: true },
        Shape::Int4Gemv { m: 6, k: 64, batch: 2, group: 16, scales: DType::F16, zero_points: true },
        Shape::RmsNorm { rows: 3, width: 17 },
    ];
    for shape in shapes {
        let spec = KernelSpec::new(shape, DType::Bf16)?;
        let inputs = Inputs::generate(&spec)?;
        let reference = Reference::new(&spec, &inputs)?;
        let parts: Vec<f64> = (0..reference.units()).flat_map(|unit| reference.unit(unit)).collect();
        assert_near(&parts, &reference.whole());
        assert_eq!(parts.len(), spec.output_tensor().len());
    }
    Ok(())
}

#[test]
fn inputs_of_another_kernel_are_refused() -> Result<(), KernelError> {
    let (copy, triad) = (
        KernelSpec::new(Shape::Copy { n: 4 }, DType::F32)?,
        KernelSpec::new(Shape::Triad { n: 4 }, DType::F32)?,
    );
    let inputs = Inputs::generate(&copy)?;
    assert_eq!(
        Reference::new(&triad, &inputs).map(|_| ()).map_err(|error| error.code()),
        Err("KERNEL_BAD_SPEC")
    );
    Ok(())
}
