//! Every kernel in every type against its f64 reference, on whatever device is here: on a machine without an accelerator, a
//! software driver such as lavapipe.

use std::{error::Error, time::SystemTime};

use kernels_core::{
    Backend, DType, Device, DeviceKind, ImplId, Inputs, KernelError, KernelSpec, Layout, PrefixMethod, Shape,
    Support, Tensor, check_output, counts,
};
use kernels_wgpu::WgpuBackend;

type Outcome = Result<(), Box<dyn Error>>;

#[expect(clippy::print_stderr, reason = "a skipped test says why, and a random one its seed")]
fn say(what: &str) {
    eprintln!("{what}");
}

/// A device to test on: the software driver where there is one, so that results are the same everywhere.
fn device() -> Option<Box<dyn Device>> {
    let found = WgpuBackend.probe().and_then(|found| {
        let software = found.iter().find(|info| info.kind == DeviceKind::Software).or(found.first());
        software.map_or_else(
            || Err(KernelError::NoDevice { backend: "wgpu".to_owned(), reason: "an empty list".to_owned() }),
            |info| WgpuBackend.open(&info.id),
        )
    });
    found.inspect_err(|error| say(&format!("skipped: {error}"))).ok()
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = u64::from(now.subsec_nanos()) ^ now.as_secs();
    say(&format!("seed {seed}"));
    seed
}

fn impls(device: &dyn Device, spec: &KernelSpec) -> Result<Vec<ImplId>, String> {
    match device.support(spec) {
        Support::Yes { impls } => Ok(impls),
        Support::No { reason } => Err(format!("{spec}: {reason}")),
    }
}

/// Three launches over two sets of buffers, so that the second set's output is what the last but one wrote.
fn run(device: &dyn Device, spec: &KernelSpec, inputs: &Inputs, id: &ImplId) -> Result<Vec<u8>, KernelError> {
    let mut prepared = device.prepare(spec, inputs, 2, id)?;
    let ticket = prepared.submit(3)?;
    let timing = prepared.wait(ticket)?;
    assert_eq!(timing.launches, 3);
    assert!(timing.host_ns > 0.0 && timing.device_ns.is_none_or(|ns| ns > 0.0), "{spec}: {timing:?}");
    prepared.read_output()
}

fn check(device: &dyn Device, spec: KernelSpec, seed: u64) -> Outcome {
    let spec = spec.with_seed(seed);
    let inputs = Inputs::generate(&spec)?;
    for id in impls(device, &spec)? {
        let output = run(device, &spec, &inputs, &id)?;
        let found = check_output(&spec, &inputs, &output)?;
        assert!(found.passed, "{id} for {spec}, seed {seed}: {found:?}");
    }
    Ok(())
}

/// Every shape in every type, and with f32 output where a 16-bit type has it.
fn check_all(shapes: &[Shape], types: &[DType], wide: bool) -> Outcome {
    let Some(device) = device() else { return Ok(()) };
    let seed = fresh_seed();
    for (&shape, &dtype) in shapes.iter().flat_map(|shape| types.iter().map(move |dtype| (shape, dtype))) {
        let spec = KernelSpec::new(shape, dtype)?;
        if wide && matches!(dtype, DType::F16 | DType::Bf16) {
            check(device.as_ref(), KernelSpec { output: DType::F32, ..spec.clone() }.checked()?, seed)?;
        }
        check(device.as_ref(), spec, seed)?;
    }
    Ok(())
}

const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

#[test]
fn streams() -> Outcome {
    check_all(
        &[Shape::Copy { n: 16 }, Shape::Copy { n: 70_000 }],
        &[DType::F32, DType::F16, DType::Bf16, DType::Int8],
        false,
    )?;
    check_all(&[Shape::Copy { n: 256 }], &[DType::Int32], false)?;
    check_all(&[Shape::Triad { n: 4 }, Shape::Triad { n: 70_000 }], &FLOATS, false)?;
    check_all(&[Shape::Fma { n: 4, k: 1 }, Shape::Fma { n: 70_000, k: 21 }], &FLOATS, false)
}

#[test]
fn matrix_products_in_both_layouts() -> Outcome {
    let Some(device) = device() else { return Ok(()) };
    let seed = fresh_seed();
    for (dtype, layout) in [DType::F32, DType::F16, DType::Bf16, DType::Int8]
        .into_iter()
        .flat_map(|dtype| [Layout::Nn, Layout::Nt].map(|layout| (dtype, layout)))
    {
        let spec = KernelSpec { layout, ..KernelSpec::new(Shape::Gemm { m: 70, n: 36, k: 44 }, dtype)? };
        if matches!(dtype, DType::F16 | DType::Bf16) {
            check(device.as_ref(), KernelSpec { output: DType::F32, ..spec.clone() }, seed)?;
        }
        check(device.as_ref(), spec, seed)?;
    }
    Ok(())
}

#[test]
fn matrix_products_of_whole_tiles_parts_of_them_and_less_than_one() -> Outcome {
    let shapes = [[128, 128, 64], [1, 4, 4], [129, 132, 20]].map(|[m, n, k]| Shape::Gemm { m, n, k });
    check_all(&shapes, &[DType::Bf16, DType::Int8], false)
}

#[test]
fn matrix_by_vectors() -> Outcome {
    let shapes = [
        Shape::Gemv { m: 64, k: 256, batch: 1 },
        Shape::Gemv { m: 20, k: 100, batch: 3 },
        Shape::Gemv { m: 8, k: 32, batch: 19 },
    ];
    check_all(&shapes, &FLOATS, true)?;
    check_all(&shapes, &[DType::Int8], false)
}

#[test]
fn four_bit_weights() -> Outcome {
    let mut shapes = Vec::new();
    for scales in FLOATS {
        for zero_points in [false, true] {
            shapes.push(Shape::Int4Gemv { m: 36, k: 256, batch: 1, group: 32, scales, zero_points });
            shapes.push(Shape::Int4Gemv { m: 12, k: 72, batch: 5, group: 24, scales, zero_points });
        }
    }
    check_all(&shapes, &FLOATS, true)
}

#[test]
fn attention_of_whole_sequences() -> Outcome {
    let shape = |[batch, heads, kv_heads, head_dim, length]: [usize; 5], causal| Shape::Prefill {
        batch,
        heads,
        kv_heads,
        head_dim,
        length,
        causal,
    };
    let shapes = [
        shape([2, 4, 2, 64, 65], true),
        shape([1, 2, 2, 64, 40], false),
        shape([1, 2, 1, 128, 100], true),
        shape([1, 1, 1, 36, 17], true),
        shape([1, 1, 1, 256, 33], true),
    ];
    check_all(&shapes, &FLOATS, false)
}

#[test]
fn attention_of_one_token() -> Outcome {
    let shape = |[batch, heads, kv_heads, head_dim, length]: [usize; 5]| Shape::Decode {
        batch,
        heads,
        kv_heads,
        head_dim,
        length,
    };
    let shapes = [
        shape([2, 8, 2, 64, 256]),
        shape([1, 8, 1, 128, 77]),
        shape([3, 2, 2, 80, 1]),
        shape([1, 22, 2, 64, 40]),
        shape([1, 2, 1, 256, 33]),
    ];
    check_all(&shapes, &FLOATS, false)
}

fn shared(method: PrefixMethod) -> Shape {
    Shape::SharedPrefix { batch: 5, heads: 8, kv_heads: 2, head_dim: 64, prefix: 150, suffix: 41, method }
}

#[test]
fn a_shared_prefix_and_its_naive_twin() -> Outcome {
    check_all(&[shared(PrefixMethod::Shared), shared(PrefixMethod::Naive)], &FLOATS, false)
}

#[test]
fn any_division_of_the_keys_gives_the_same() -> Outcome {
    let Some(device) = device() else { return Ok(()) };
    let seed = fresh_seed();
    let spec = KernelSpec::new(shared(PrefixMethod::Shared), DType::F32)?.with_seed(seed);
    let inputs = Inputs::generate(&spec)?;
    for span in [1, 7, 32, 100, 1000] {
        let id = ImplId::new("wgpu", "wgsl-shared-prefix").with("span", span);
        let found = check_output(&spec, &inputs, &run(device.as_ref(), &spec, &inputs, &id)?)?;
        assert!(found.passed, "span {span}, seed {seed}: {found:?}");
    }
    Ok(())
}

#[test]
fn rows_short_and_long() -> Outcome {
    let widths = [4, 256, 1000, 4096, 20_000];
    let norms: Vec<Shape> = widths.iter().map(|&width| Shape::RmsNorm { rows: 3, width }).collect();
    let softmaxes: Vec<Shape> = widths.iter().map(|&width| Shape::Softmax { rows: 3, width }).collect();
    check_all(&norms, &FLOATS, false)?;
    check_all(&softmaxes, &FLOATS, false)
}

#[test]
fn outputs_are_poisoned_and_inputs_matter() -> Outcome {
    let Some(device) = device() else { return Ok(()) };
    let seed = fresh_seed();
    let spec = KernelSpec::new(Shape::Gemv { m: 64, k: 64, batch: 1 }, DType::Bf16)?.with_seed(seed);
    let inputs = Inputs::generate(&spec)?;
    for id in impls(device.as_ref(), &spec)? {
        let mut prepared = device.prepare(&spec, &inputs, 1, &id)?;
        let untouched = check_output(&spec, &inputs, &prepared.read_output()?)?;
        assert_eq!((untouched.passed, untouched.not_numbers), (false, 64));
        let ticket = prepared.submit(1)?;
        prepared.wait(ticket)?;
        assert!(check_output(&spec, &inputs, &prepared.read_output()?)?.passed);
        prepared.poison()?;
        assert!(!check_output(&spec, &inputs, &prepared.read_output()?)?.passed);
        let other = Inputs::generate(&spec.clone().with_seed(seed ^ 1))?;
        let found = check_output(&spec, &inputs, &run(device.as_ref(), &spec, &other, &id)?)?;
        assert!(!found.passed, "the output doesn't depend on the inputs: {found:?}");
    }
    Ok(())
}

#[test]
fn a_nan_in_the_inputs_reaches_the_check() -> Outcome {
    let Some(device) = device() else { return Ok(()) };
    let shapes = [
        Shape::Triad { n: 64 },
        Shape::Gemm { m: 16, n: 16, k: 16 },
        Shape::Softmax { rows: 2, width: 64 },
        Shape::Decode { batch: 1, heads: 1, kv_heads: 1, head_dim: 64, length: 40 },
        Shape::Prefill { batch: 1, heads: 1, kv_heads: 1, head_dim: 64, length: 20, causal: true },
    ];
    for (shape, dtype) in shapes.iter().flat_map(|&shape| FLOATS.map(|dtype| (shape, dtype))) {
        let spec = KernelSpec::new(shape, dtype)?;
        let good = Inputs::generate(&spec)?;
        let mut bad = good.clone();
        if let Some(Tensor { data, .. }) = bad.tensors.last_mut() {
            data[..dtype.bytes(1)].fill(0xff);
        }
        for id in impls(device.as_ref(), &spec)? {
            let found = check_output(&spec, &good, &run(device.as_ref(), &spec, &bad, &id)?)?;
            assert!(!found.passed && found.not_numbers > 0, "{id} for {spec}: {found:?}");
        }
    }
    Ok(())
}

#[test]
fn batches_overlap_and_are_timed_each() -> Outcome {
    let Some(device) = device() else { return Ok(()) };
    let spec = KernelSpec::new(Shape::Triad { n: 4096 }, DType::F32)?;
    let inputs = Inputs::generate(&spec)?;
    for id in impls(device.as_ref(), &spec)? {
        let mut prepared = device.prepare(&spec, &inputs, 3, &id)?;
        let first = prepared.submit(10)?;
        let second = prepared.submit(20)?;
        assert!(prepared.wait(second).is_err(), "out of turn");
        let times = [prepared.wait(first)?, prepared.wait(second)?];
        assert_eq!(times.map(|timing| timing.launches), [10, 20]);
        assert!(prepared.wait(first).is_err(), "a ticket is good once");
        assert!(times.iter().all(|timing| timing.batch_ns() > 0.0), "{times:?}");
        assert!(counts(&spec).bytes > 0.0 && prepared.impl_id().name == id.name);
    }
    Ok(())
}

#[test]
fn what_shaders_cannot_do_has_a_reason() -> Outcome {
    let Some(device) = device() else { return Ok(()) };
    let gemm = Shape::Gemm { m: 8, n: 8, k: 8 };
    let cases = [
        (KernelSpec::new(gemm, DType::Tf32)?, "no tf32"),
        (KernelSpec::new(gemm, DType::Fp8E4m3)?, "no fp8"),
        (KernelSpec::new(Shape::Gemm { m: 8, n: 6, k: 8 }, DType::F32)?, "n 6 is no multiple of 4"),
        (KernelSpec::new(Shape::Copy { n: 3 }, DType::F32)?, "n 3 is no multiple of 4"),
        (
            KernelSpec::new(Shape::Gemv { m: 1 << 20, k: 1 << 20, batch: 1 }, DType::F32)?,
            "more than the device's",
        ),
    ];
    for (spec, reason) in cases {
        let Err(said) = impls(device.as_ref(), &spec) else {
            return Err(format!("{spec} is not refused").into());
        };
        assert!(said.contains(reason), "{said}");
    }
    let spec = KernelSpec::new(gemm, DType::F32)?;
    let unknown = ImplId::new("wgpu", "wgsl-magic");
    let refused = device.prepare(&spec, &Inputs::generate(&spec)?, 1, &unknown).err();
    assert!(matches!(refused, Some(KernelError::Unsupported { .. })), "{refused:?}");
    Ok(())
}
