use crate::{DType, KernelError, KernelSpec, Layout, PrefixMethod, Shape, counts, prefix_saving};

const HEADS: (usize, usize, usize) = (32, 8, 128);

fn gemv(batch: usize) -> Shape {
    Shape::Gemv { m: 14336, k: 4096, batch }
}

fn int4(group: usize) -> Shape {
    Shape::Int4Gemv { m: 14336, k: 4096, batch: 1, group, scales: DType::F16, zero_points: false }
}

fn prefix(method: PrefixMethod) -> Shape {
    let (heads, kv_heads, head_dim) = HEADS;
    Shape::SharedPrefix { batch: 64, heads, kv_heads, head_dim, prefix: 8192, suffix: 256, method }
}

/// Kernel, type, FLOP, bytes, FLOP per byte, µs at 788 TFLOP/s and 4.3 TB/s.
type Row = (Shape, DType, f64, f64, f64, f64);

#[rustfmt::skip]
fn worked_values() -> Vec<Row> {
    let (heads, kv_heads, head_dim) = HEADS;
    vec![
        (Shape::Copy { n: 1 << 28 }, DType::F32, 0.0, 2_147_483_648.0, 0.0, 499.4),
        (Shape::Triad { n: 1 << 28 }, DType::F32, 536_870_912.0, 3_221_225_472.0, 0.1667, 749.1),
        (Shape::Fma { n: 1 << 28, k: 1000 }, DType::Bf16, 536_870_912_000.0, 1_073_741_824.0, 500.0, 681.3),
        (Shape::Gemm { m: 8192, n: 8192, k: 8192 }, DType::Bf16, 1_099_511_627_776.0, 402_653_184.0, 2731.0, 1395.0),
        (Shape::Gemm { m: 14336, n: 512, k: 4096 }, DType::Bf16, 60_129_542_144.0, 136_314_880.0, 441.1, 76.31),
        (gemv(1), DType::Bf16, 117_440_512.0, 117_477_376.0, 0.9997, 27.32),
        (gemv(16), DType::Bf16, 1_879_048_192.0, 118_030_336.0, 15.92, 27.45),
        (gemv(256), DType::Bf16, 30_064_771_072.0, 126_877_696.0, 237.0, 38.15),
        (int4(32), DType::F16, 117_440_512.0, 33_067_008.0, 3.552, 7.690),
        (int4(128), DType::F16, 117_440_512.0, 30_314_496.0, 3.874, 7.050),
        (gemv(1), DType::Int8, 117_440_512.0, 58_781_696.0, 1.998, 13.67),
        (Shape::Prefill { batch: 1, heads, kv_heads, head_dim, length: 4096, causal: true }, DType::F16, 137_438_953_472.0, 83_886_080.0, 1638.0, 174.4),
        (Shape::Decode { batch: 32, heads, kv_heads, head_dim, length: 4096 }, DType::F16, 2_147_483_648.0, 537_395_200.0, 3.996, 125.0),
        (prefix(PrefixMethod::Shared), DType::F16, 8_858_370_048.0, 100_663_296.0, 88.0, 23.41),
        (prefix(PrefixMethod::Naive), DType::F16, 8_858_370_048.0, 2_214_592_512.0, 4.0, 515.0),
        (Shape::RmsNorm { rows: 4096, width: 4096 }, DType::F16, 67_108_864.0, 67_117_056.0, 0.9999, 15.61),
        (Shape::Softmax { rows: 4096, width: 4096 }, DType::F16, 83_886_080.0, 67_108_864.0, 1.25, 15.61),
    ]
}

/// Four digits, as the table is printed.
fn near(got: f64, want: f64) -> bool {
    (got - want).abs() <= 5.01e-4 * want.abs()
}

#[test]
fn counts_are_those_of_the_worked_table() -> Result<(), KernelError> {
    for (shape, dtype, flop, bytes, intensity, micros) in worked_values() {
        let spec = KernelSpec::new(shape, dtype)?;
        let mut got = counts(&spec);
        if matches!(shape, Shape::SharedPrefix { .. }) {
            got.bytes -= 2.0 * 2.0 * 64.0 * 32.0 * 128.0;
        }
        assert!((got.flop - flop).abs() < 0.5, "{spec}: {} FLOP, not {flop}", got.flop);
        assert!((got.bytes - bytes).abs() < 0.5, "{spec}: {} bytes, not {bytes}", got.bytes);
        assert!(near(got.intensity(), intensity), "{spec}: {} FLOP/byte", got.intensity());
        let roof = (got.flop / 788e12).max(got.bytes / 4.3e12) * 1e6;
        assert!(near(roof, micros), "{spec}: {roof} µs");
    }
    Ok(())
}

#[test]
fn queries_and_results_of_a_shared_prefix_count_too() -> Result<(), KernelError> {
    let bytes = counts(&KernelSpec::new(prefix(PrefixMethod::Shared), DType::F16)?).bytes;
    assert!((bytes - (100_663_296.0 + 1_048_576.0)).abs() < 0.5);
    Ok(())
}

#[test]
fn zero_points_add_half_a_byte_per_group() -> Result<(), KernelError> {
    let with = |zero_points| {
        let shape = Shape::Int4Gemv { m: 64, k: 256, batch: 2, group: 32, scales: DType::F16, zero_points };
        KernelSpec::new(shape, DType::F16).map(|spec| counts(&spec).bytes)
    };
    assert!((with(true)? - with(false)? - 64.0 * 8.0 / 2.0).abs() < 0.5);
    Ok(())
}

#[test]
fn attention_that_is_not_causal_counts_twice() -> Result<(), KernelError> {
    let flop = |causal| {
        let shape = Shape::Prefill { batch: 1, heads: 2, kv_heads: 1, head_dim: 8, length: 16, causal };
        KernelSpec::new(shape, DType::F32).map(|spec| counts(&spec).flop)
    };
    assert!((flop(false)? - 2.0 * flop(true)?).abs() < 0.5);
    Ok(())
}

#[test]
fn the_output_type_counts_and_the_layout_does_not() -> Result<(), KernelError> {
    let nn = KernelSpec::new(Shape::Gemm { m: 4, n: 6, k: 2 }, DType::Bf16)?;
    let wide = KernelSpec { output: DType::F32, layout: Layout::Nt, ..nn.clone() }.checked()?;
    assert!((counts(&wide).bytes - counts(&nn).bytes - 48.0).abs() < 0.5);
    Ok(())
}

#[test]
fn the_saving_of_a_shared_prefix_grows_with_the_batch() -> Result<(), KernelError> {
    let saving = prefix_saving(&KernelSpec::new(prefix(PrefixMethod::Shared), DType::F16)?);
    assert!(
        saving.is_some_and(|saving| near(
            saving,
            (2_214_592_512.0 + 1_048_576.0) / (100_663_296.0 + 1_048_576.0)
        ))
    );
    assert_eq!(prefix_saving(&KernelSpec::new(gemv(1), DType::F16)?), None);
    Ok(())
}
