use super::*;
use crate::{KernelError, Layout};

fn spec(shape: Shape, dtype: DType) -> Result<KernelSpec, KernelError> {
    KernelSpec::new(shape, dtype)
}

#[test]
fn a_seed_gives_the_same_numbers_and_another_seed_others() -> Result<(), KernelError> {
    let one = spec(Shape::Triad { n: 1000 }, DType::F32)?;
    let inputs = Inputs::generate(&one)?;
    assert_eq!(inputs, Inputs::generate(&one)?);
    assert_ne!(inputs, Inputs::generate(&one.clone().with_seed(1))?);
    assert_ne!(inputs.get("a")?.data, inputs.get("b")?.data);
    assert_eq!(inputs.bytes(), 8000);
    assert_eq!(inputs.get("c").map_err(|error| error.code()), Err("KERNEL_BAD_SPEC"));
    Ok(())
}

#[test]
fn a_longer_tensor_begins_like_a_shorter_one_across_chunks() -> Result<(), KernelError> {
    let long = Inputs::generate(&spec(Shape::Copy { n: 3 * CHUNK + 5 }, DType::F16)?)?;
    let short = Inputs::generate(&spec(Shape::Copy { n: CHUNK + 3 }, DType::F16)?)?;
    assert_eq!(long.tensors[0].data[..2 * (CHUNK + 3)], short.tensors[0].data);
    Ok(())
}

#[test]
fn normal_numbers_have_mean_0_and_deviation_1_and_are_never_0() -> Result<(), KernelError> {
    for (dtype, deviation) in [
        (DType::F32, 1.0),
        (DType::F16, 1.0),
        (DType::Bf16, 1.0),
        (DType::Int8, 32.0),
        (DType::Tf32, 1.0),
        (DType::Fp8E4m3, 1.0),
    ] {
        let shape = Shape::Gemm { m: 300, n: 1, k: 300 };
        let values = Inputs::generate(&spec(shape, dtype)?.with_seed(7))?.tensors[0].values();
        let count = real(values.len());
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        assert!(mean.abs() < 0.02 * deviation, "{dtype:?}: mean {mean}");
        assert!((variance.sqrt() / deviation - 1.0).abs() < 0.02, "{dtype:?}: deviation {}", variance.sqrt());
        assert!(values.iter().all(|value| *value != 0.0), "{dtype:?}");
    }
    Ok(())
}

#[test]
fn uniform_numbers_stay_within_their_range() -> Result<(), KernelError> {
    let shape = Shape::Gemm { m: 100, n: 1, k: 100 };
    for (dtype, limit) in [(DType::F32, 1.0), (DType::Int8, 127.0)] {
        let spec = KernelSpec { distribution: Distribution::Uniform, ..spec(shape, dtype)? };
        let values = Inputs::generate(&spec)?.tensors[0].values();
        let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        assert!(largest <= limit && largest > 0.98 * limit, "{dtype:?}: {largest}");
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 10_000.0;
        assert!((variance / (limit * limit / 3.0) - 1.0).abs() < 0.05, "{dtype:?}: {variance}");
    }
    Ok(())
}

#[test]
fn four_bit_weights_use_all_nibbles_and_small_scales() -> Result<(), KernelError> {
    let shape = Shape::Int4Gemv { m: 20, k: 96, batch: 1, group: 32, scales: DType::F16, zero_points: true };
    let inputs = Inputs::generate(&spec(shape, DType::F16)?)?;
    let nibbles = inputs.get("w")?.values();
    assert!((0..16u8).all(|nibble| nibbles.contains(&f64::from(nibble))));
    assert!(inputs.get("scales")?.values().iter().all(|scale| (0.0049..0.0151).contains(scale)));
    let zeros = inputs.get("zeros")?.values();
    assert_eq!(zeros.len(), 60);
    assert!(zeros.iter().all(|zero| (5.0..=11.0).contains(zero)));
    assert_eq!(inputs.get("zeros")?.data.len(), 32);
    Ok(())
}

#[test]
fn both_methods_of_a_shared_prefix_read_the_same_numbers() -> Result<(), KernelError> {
    let (batch, kv_heads, head_dim, prefix, suffix) = (3, 2, 4, 5, 2);
    let of = |method| {
        let shape = Shape::SharedPrefix { batch, heads: 4, kv_heads, head_dim, prefix, suffix, method };
        spec(shape, DType::Bf16).and_then(|spec| Inputs::generate(&spec))
    };
    let (shared, naive) = (of(PrefixMethod::Shared)?, of(PrefixMethod::Naive)?);
    assert_eq!(shared.get("q")?, naive.get("q")?);
    for name in ["k", "v"] {
        let common = shared.get(&format!("{name}_prefix"))?.values();
        let single = shared.get(&format!("{name}_suffix"))?.values();
        let whole = naive.get(name)?.values();
        for (index, value) in whole.iter().enumerate() {
            let (dim, token) = (index % head_dim, index / head_dim % (prefix + suffix));
            let row = index / head_dim / (prefix + suffix);
            let expected = if token < prefix {
                common[(row % kv_heads * prefix + token) * head_dim + dim]
            } else {
                single[(row * suffix + token - prefix) * head_dim + dim]
            };
            assert!((value - expected).abs() < f64::EPSILON, "{name}[{index}]");
        }
    }
    Ok(())
}

#[test]
fn quantiles_are_those_of_the_normal_distribution() {
    for (p, quantile) in [
        (0.5, 0.0),
        (0.975, 1.959_963_984_540_054),
        (0.001, -3.090_232_306_167_813),
        (0.9, 1.281_551_565_544_6),
    ] {
        assert!((normal_quantile(p) - quantile).abs() < 1e-8, "{p}");
    }
}

#[test]
fn a_transposed_matrix_is_another_shape_of_the_same_size() -> Result<(), KernelError> {
    let nn = spec(Shape::Gemm { m: 2, n: 3, k: 5 }, DType::F32)?;
    let nt = KernelSpec { layout: Layout::Nt, ..nn.clone() };
    assert_eq!(nn.input_tensors()[1].dims, [5, 3]);
    assert_eq!(nt.input_tensors()[1].dims, [3, 5]);
    Ok(())
}
