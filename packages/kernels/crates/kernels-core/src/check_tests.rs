use super::*;
use crate::POISON_BYTE;

/// The reference itself, rounded to the output's type.
fn right_output(spec: &KernelSpec, inputs: &Inputs) -> Result<Vec<u8>, KernelError> {
    let mut bytes = Vec::new();
    for value in Reference::new(spec, inputs)?.whole() {
        #[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what a device would give")]
        spec.output.push(value as f32, &mut bytes);
    }
    Ok(bytes)
}

fn small(dtype: DType) -> Result<(KernelSpec, Inputs, Vec<u8>), KernelError> {
    let spec = KernelSpec::new(Shape::Gemm { m: 17, n: 19, k: 23 }, dtype)?.with_seed(3);
    let inputs = Inputs::generate(&spec)?;
    let output = right_output(&spec, &inputs)?;
    Ok((spec, inputs, output))
}

#[test]
fn a_right_output_passes_in_every_type() -> Result<(), KernelError> {
    for dtype in [DType::F32, DType::Tf32, DType::F16, DType::Bf16, DType::Int8, DType::Fp8E4m3] {
        let (spec, inputs, output) = small(dtype)?;
        let check = check_output(&spec, &inputs, &output)?;
        assert!(check.passed, "{spec}: {check:?}");
        assert_eq!(check.method, CheckMethod::Whole);
        assert!(check.into_result(&spec).is_ok());
    }
    Ok(())
}

#[test]
fn poison_and_a_single_wrong_whole_number_fail() -> Result<(), KernelError> {
    let (spec, inputs, mut output) = small(DType::Bf16)?;
    output[..2].fill(POISON_BYTE);
    let check = check_output(&spec, &inputs, &output)?;
    assert_eq!((check.passed, check.not_numbers, check.relative_error), (false, 1, None));
    assert_eq!(check.into_result(&spec).map_err(|error| error.code()), Err("KERNEL_WRONG"));
    let (spec, inputs, mut output) = small(DType::Int8)?;
    output[4] ^= 1;
    assert!(!check_output(&spec, &inputs, &output)?.passed);
    Ok(())
}

#[test]
fn the_output_of_another_seed_fails() -> Result<(), KernelError> {
    let (spec, inputs, _) = small(DType::F16)?;
    let other = spec.clone().with_seed(4);
    let output = right_output(&other, &Inputs::generate(&other)?)?;
    assert!(!check_output(&spec, &inputs, &output)?.passed);
    Ok(())
}

#[test]
fn an_output_of_another_size_is_an_error() -> Result<(), KernelError> {
    let (spec, inputs, output) = small(DType::F32)?;
    let error =
        check_output(&spec, &inputs, &output[4..]).map_or_else(|error| error.to_string(), |_| String::new());
    assert!(error.contains("1288 bytes, not 1292"), "{error}");
    Ok(())
}

/// A product just too large to be compared as a whole.
fn large() -> Result<(KernelSpec, Inputs, Vec<u8>), KernelError> {
    let spec = KernelSpec::new(Shape::Gemm { m: 1024, n: 1024, k: 65 }, DType::Int8)?;
    let inputs = Inputs::generate(&spec)?;
    let output = right_output(&spec, &inputs)?;
    Ok((spec, inputs, output))
}

#[test]
fn a_large_product_is_checked_in_every_element_by_projection() -> Result<(), KernelError> {
    let (spec, inputs, mut output) = large()?;
    let check = check_output(&spec, &inputs, &output)?;
    assert_eq!((check.method, check.passed), (CheckMethod::Freivalds, true));
    output[4 * 1024 * 1000 + 4 * 77] ^= 1;
    assert!(!check_output(&spec, &inputs, &output)?.passed);
    Ok(())
}

#[test]
fn rows_of_a_large_attention_are_sampled_and_a_nan_is_found_anywhere() -> Result<(), KernelError> {
    let shape = Shape::Decode { batch: 64, heads: 8, kv_heads: 1, head_dim: 64, length: 1100 };
    let spec = KernelSpec::new(shape, DType::F32)?;
    let inputs = Inputs::generate(&spec)?;
    let reference = Reference::new(&spec, &inputs)?;
    let rows = (0..reference.units()).flat_map(|unit| reference.unit(unit));
    #[expect(clippy::cast_possible_truncation, reason = "the nearest f32")]
    let mut output: Vec<u8> = rows.flat_map(|value| (value as f32).to_le_bytes()).collect();
    let check = check_output(&spec, &inputs, &output)?;
    assert_eq!((check.method, check.passed), (CheckMethod::Sampled, true));
    output[4000..4004].fill(POISON_BYTE);
    assert!(!check_output(&spec, &inputs, &output)?.passed);
    Ok(())
}

#[test]
fn tolerances_follow_the_type() -> Result<(), KernelError> {
    let of = |dtype, output| {
        let spec = KernelSpec::new(Shape::Gemm { m: 1, n: 1, k: 1 }, dtype)?;
        Ok::<_, KernelError>(tolerance(&KernelSpec { output, ..spec }))
    };
    let cases = [
        (DType::F32, DType::F32, 1e-5),
        (DType::Tf32, DType::F32, 1e-3),
        (DType::Bf16, DType::Bf16, 5e-3),
        (DType::F16, DType::F32, 1e-5),
        (DType::Int8, DType::Int32, 0.0),
    ];
    for (dtype, output, limit) in cases {
        assert!((of(dtype, output)? - limit).abs() < 1e-12, "{dtype:?}");
    }
    Ok(())
}

#[test]
fn rounded_activations_have_a_limit_of_their_own() -> Result<(), KernelError> {
    let shape = Shape::Gemv { m: 64, k: 64, batch: 1 };
    let spec = KernelSpec::new(shape, DType::F32)?;
    let inputs = Inputs::generate(&spec)?;
    let (right, int8) = (right_output(&spec, &inputs)?, Activations::Int8 { block: 32 });
    assert!((int8.rounding() - 0.022_271).abs() < 1e-6 && Activations::AsGiven.rounding() == 0.0);
    for (factor, as_given, rounded) in
        [(1.0, true, true), (1.006, false, true), (1.022, false, true), (1.023, false, false)]
    {
        let mut output = Vec::new();
        let numbers = right.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        numbers.for_each(|x| DType::F32.push(x * factor, &mut output));
        let found = check_output(&spec, &inputs, &output)?;
        assert_eq!(found.passed, as_given, "{factor}");
        let found = check_rounded(&spec, &inputs, &output, int8)?;
        assert_eq!(found.passed, rounded, "{factor}");
        let off = f64::from(factor) - 1.0;
        assert!(found.relative_error.is_some_and(|error| (error - off).abs() < 1e-6));
        assert!((found.limit - 0.022_281).abs() < 1e-6);
    }
    Ok(())
}
