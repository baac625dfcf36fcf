//! Every kernel and type by every implementation that this CPU has, against f64, on inputs that are new each time.

use kernels_core::{
    Backend, DType, Device, ImplId, KernelError, KernelRow, KernelSpec, Layout, PrefixMethod, RowStatus,
    RunOptions, Runner, Shape, Support, SystemHost,
};
use kernels_cpu::{CpuBackend, CpuOptions};

const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

fn fresh_seed() -> u64 {
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| u64::from(time.subsec_nanos()));
    say(&format!("seed {seed}"));
    seed
}

#[expect(clippy::print_stderr, reason = "says what a test could not do, and what repeats it")]
fn say(text: &str) {
    eprintln!("{text}");
}

fn device(options: CpuOptions) -> Result<Box<dyn Device>, KernelError> {
    let backend = CpuBackend::new(options);
    let infos = backend.probe()?;
    assert_eq!(infos.len(), 1);
    backend.open(&infos[0].id)
}

fn checked(device: &dyn Device, spec: &KernelSpec, implementation: &ImplId) -> KernelRow {
    let options = RunOptions { check_only: true, rotate: Some(2), ..RunOptions::default() };
    let mut runner = Runner {
        device,
        host: &SystemHost,
        options,
        counter: Err("only checked".to_owned()),
        progress: &mut |_| {},
    };
    runner.run(spec, Some(implementation))
}

/// Checks a kernel by all its implementations; how many there were.
fn check_all(device: &dyn Device, spec: &KernelSpec) -> Vec<String> {
    let Support::Yes { impls } = device.support(spec) else { return Vec::new() };
    for implementation in &impls {
        let row = checked(device, spec, implementation);
        let found = (row.error_message, row.check_before.map(|check| check.relative_error));
        assert_eq!(row.status, RowStatus::Ok, "{spec} by {implementation}: {found:?}");
    }
    impls.into_iter().map(|implementation| implementation.name).collect()
}

fn shapes() -> Vec<Shape> {
    let (heads, kv_heads) = (6, 2);
    let decode = |batch, head_dim, length| Shape::Decode { batch, heads, kv_heads, head_dim, length };
    let prefill = |length, causal| Shape::Prefill { batch: 2, heads, kv_heads, head_dim: 24, length, causal };
    let prefix = |method| Shape::SharedPrefix {
        batch: 3,
        heads,
        kv_heads,
        head_dim: 64,
        prefix: 130,
        suffix: 33,
        method,
    };
    vec![
        Shape::Copy { n: 100_003 },
        Shape::Triad { n: 300_007 },
        Shape::Triad { n: 1 },
        Shape::Fma { n: 200_003, k: 7 },
        Shape::Fma { n: 100, k: 300 },
        Shape::Gemv { m: 67, k: 130, batch: 1 },
        Shape::Gemv { m: 64, k: 256, batch: 5 },
        Shape::Gemv { m: 1, k: 1, batch: 1 },
        Shape::RmsNorm { rows: 7, width: 193 },
        Shape::RmsNorm { rows: 1, width: 1 },
        Shape::Softmax { rows: 5, width: 333 },
        Shape::Softmax { rows: 3, width: 1 },
        decode(2, 64, 300),
        decode(1, 20, 1),
        prefill(70, true),
        prefill(33, false),
        prefix(PrefixMethod::Shared),
        prefix(PrefixMethod::Naive),
    ]
}

#[test]
fn every_kernel_agrees_with_f64_in_every_type() -> Result<(), KernelError> {
    let (device, seed) = (device(CpuOptions::of_process())?, fresh_seed());
    for (index, shape) in shapes().into_iter().enumerate() {
        for dtype in FLOATS {
            let spec = KernelSpec::new(shape, dtype)?.with_seed(seed ^ index as u64);
            assert!(!check_all(device.as_ref(), &spec).is_empty(), "{spec}");
        }
    }
    Ok(())
}

#[test]
fn matrix_products_agree_in_every_layout_and_output() -> Result<(), KernelError> {
    let (device, seed) = (device(CpuOptions::of_process())?, fresh_seed());
    let types = [
        (DType::F32, DType::F32),
        (DType::F16, DType::F16),
        (DType::F16, DType::F32),
        (DType::Bf16, DType::Bf16),
        (DType::Bf16, DType::F32),
        (DType::Int8, DType::Int32),
    ];
    for (m, n, k) in [(65, 33, 129), (128, 128, 256), (1, 7, 5)] {
        for (dtype, output) in types {
            for layout in [Layout::Nn, Layout::Nt] {
                let spec = KernelSpec::new(Shape::Gemm { m, n, k }, dtype)?;
                let spec = KernelSpec { output, layout, ..spec }.checked()?.with_seed(seed);
                let names = check_all(device.as_ref(), &spec);
                assert!(!names.is_empty(), "{spec}");
                if (m, dtype == output || dtype == DType::Int8, layout) == (128, true, Layout::Nn)
                    && let Support::Yes { impls } = device.support(&spec)
                {
                    let ids: Vec<String> = impls.iter().map(ToString::to_string).collect();
                    say(&format!("{spec}: {}", ids.join(", ")));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn whole_number_and_four_bit_weights_agree() -> Result<(), KernelError> {
    let (device, seed) = (device(CpuOptions::of_process())?, fresh_seed());
    for batch in [1, 3, 8] {
        let spec = KernelSpec::new(Shape::Gemv { m: 70, k: 131, batch }, DType::Int8)?.with_seed(seed);
        assert!(!check_all(device.as_ref(), &spec).is_empty());
        for (group, scales, zero_points) in
            [(32, DType::F16, false), (64, DType::Bf16, true), (8, DType::F32, true)]
        {
            for dtype in FLOATS {
                let shape = Shape::Int4Gemv { m: 37, k: 192, batch, group, scales, zero_points };
                let spec = KernelSpec::new(shape, dtype)?.with_seed(seed);
                let names = check_all(device.as_ref(), &spec);
                let rounded = (group % 32 == 0).then_some("own-int8-activations");
                assert!(
                    names.iter().map(String::as_str).eq(["own-rows"].into_iter().chain(rounded)),
                    "{spec}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn activations_rounded_to_8_bits_cost_what_they_say() -> Result<(), KernelError> {
    let (device, seed) = (device(CpuOptions::of_process())?, fresh_seed());
    let shape =
        Shape::Int4Gemv { m: 576, k: 576, batch: 1, group: 32, scales: DType::F16, zero_points: false };
    let spec = KernelSpec::new(shape, DType::F32)?.with_seed(seed);
    let error = |name: &str| {
        let row = checked(device.as_ref(), &spec, &ImplId::new("cpu", name));
        assert_eq!((row.status, row.error_message), (RowStatus::Ok, None), "{name}");
        row.check_before.and_then(|check| check.relative_error).map(|error| (error, row.implementation_id))
    };
    let (exact, rounded) = (error("own-rows"), error("own-int8-activations"));
    assert!(exact.is_some_and(|(error, _)| error < 1e-6));
    let (found, id) = rounded.unwrap_or_default();
    assert!((0.003..0.009).contains(&found), "normal numbers lose about 0.0057 of their norm: {found}");
    assert!(id.is_some_and(|id| id.starts_with("cpu/own-int8-activations{block=32,dot=")));
    for (m, k, group, offered) in [(32, 64, 32, true), (31, 64, 32, false), (64, 120, 24, false)] {
        let shape = Shape::Int4Gemv { m, k, batch: 1, group, scales: DType::F16, zero_points: false };
        let Support::Yes { impls } = device.support(&KernelSpec::new(shape, DType::F32)?) else { continue };
        let found = impls.iter().any(|known| known.name == "own-int8-activations");
        assert_eq!((found, impls[0].name.as_str()), (offered, "own-rows"), "{m} rows by {group}");
    }
    Ok(())
}

#[test]
fn results_follow_the_inputs() -> Result<(), KernelError> {
    let device = device(CpuOptions::of_process())?;
    let seed = fresh_seed();
    let spec = |seed| {
        KernelSpec::new(Shape::Gemm { m: 16, n: 16, k: 16 }, DType::F32).map(|spec| spec.with_seed(seed))
    };
    let output = |seed| {
        let spec = spec(seed)?;
        let inputs = kernels_core::Inputs::generate(&spec)?;
        let mut prepared = device.prepare(&spec, &inputs, 1, &ImplId::new("cpu", "gemm"))?;
        let ticket = prepared.submit(1)?;
        prepared.wait(ticket)?;
        prepared.read_output()
    };
    assert_ne!(output(seed)?, output(seed.wrapping_add(1))?);
    assert_eq!(output(seed)?, output(seed)?);
    Ok(())
}

#[test]
fn a_batch_writes_every_set_and_tickets_are_waited_for_once() -> Result<(), KernelError> {
    let device = device(CpuOptions::of_process())?;
    let spec = KernelSpec::new(Shape::Copy { n: 1000 }, DType::F32)?;
    let inputs = kernels_core::Inputs::generate(&spec)?;
    let mut prepared = device.prepare(&spec, &inputs, 3, &ImplId::new("cpu", "own-memcpy"))?;
    assert!(prepared.read_output()?.iter().all(|byte| *byte == kernels_core::POISON_BYTE));
    let tickets = (prepared.submit(2)?, prepared.submit(5)?);
    assert_eq!(prepared.wait(tickets.0)?.launches, 2);
    let timing = prepared.wait(tickets.1)?;
    assert!(timing.launches == 5 && timing.host_ns > 0.0 && timing.device_ns.is_none());
    assert_eq!(prepared.read_output()?, inputs.tensors[0].data);
    assert_eq!(prepared.wait(tickets.1).map_err(|error| error.code()), Err("KERNEL_CALL"));
    prepared.poison()?;
    assert!(prepared.read_output()?.iter().all(|byte| *byte == kernels_core::POISON_BYTE));
    Ok(())
}

#[test]
fn what_a_cpu_has_not_is_refused_with_its_reason() -> Result<(), KernelError> {
    let device = device(CpuOptions::of_process())?;
    let gemm = Shape::Gemm { m: 8, n: 8, k: 8 };
    for (dtype, reason) in [(DType::Tf32, "no TF32 units"), (DType::Fp8E4m3, "multiplies fp8")] {
        let support = device.support(&KernelSpec::new(gemm, dtype)?);
        assert!(matches!(&support, Support::No { reason: said } if said.contains(reason)), "{support:?}");
    }
    let spec = KernelSpec::new(gemm, DType::F32)?;
    let row = checked(device.as_ref(), &spec, &ImplId::new("cpu", "cublas"));
    assert_eq!((row.status, row.error_code.as_deref()), (RowStatus::Unsupported, Some("KERNEL_UNSUPPORTED")));
    let inputs = kernels_core::Inputs::generate(&spec)?;
    let prepared = device.prepare(&spec, &inputs, 1, &ImplId::new("cpu", "cublas"));
    assert_eq!(prepared.map(|_| ()).map_err(|error| error.code()), Err("KERNEL_UNSUPPORTED"));
    let other = CpuBackend::new(CpuOptions::of_process()).open(&kernels_core::DeviceId("cpu:1".to_owned()));
    assert_eq!(other.map(|_| ()).map_err(|error| error.code()), Err("KERNEL_NO_DEVICE"));
    Ok(())
}

#[test]
fn libraries_that_are_missing_are_said_and_something_still_multiplies() -> Result<(), KernelError> {
    let device = device(CpuOptions::of_process())?;
    for note in &device.info().notes {
        say(&format!("not tested with a library: {note}"));
    }
    let spec = KernelSpec::new(Shape::Gemm { m: 32, n: 32, k: 32 }, DType::F32)?;
    let names = check_all(device.as_ref(), &spec);
    assert!(names.contains(&"gemm".to_owned()));
    assert_eq!(
        names.len() + device.info().notes.len(),
        3,
        "{names:?}: each library is there or said to be missing"
    );
    Ok(())
}

#[test]
fn a_folder_without_a_usable_library_is_passed_over() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("perwatt-cpu-libraries-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    for name in ["libdnnl.so.3", "libopenblas.so.0"] {
        std::fs::write(folder.join(name), "no library")?;
    }
    let plain = device(CpuOptions::of_process())?;
    let mut options = CpuOptions::of_process();
    options.library_folders.insert(0, folder.clone());
    let other = device(options)?;
    std::fs::remove_dir_all(&folder)?;
    let spec = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::F32)?;
    assert_eq!(other.support(&spec), plain.support(&spec));
    Ok(())
}

#[test]
fn a_cell_is_timed_with_its_threads_and_variables() -> Result<(), KernelError> {
    let mut options = CpuOptions { threads: 1, ..CpuOptions::of_process() };
    options.environment.insert("OPENBLAS_CORETYPE".to_owned(), "Haswell".to_owned());
    let device = device(options)?;
    let spec = KernelSpec::new(Shape::Triad { n: 1 << 16 }, DType::F32)?;
    let options: RunOptions = RunOptions {
        batch_ns: 1e5,
        warm_up: kernels_core::WarmUpRule { least_ns: 0.0, most_ns: 2e7, ..Default::default() },
        stop: kernels_core::StopRule { least_ns: 0.0, most_ns: 2e7, ..Default::default() },
        rotate: Some(2),
        ..RunOptions::default()
    };
    let counter = Err("none".to_owned());
    let mut runner =
        Runner { device: device.as_ref(), host: &SystemHost, options, counter, progress: &mut |_| {} };
    let row = runner.run(&spec, None);
    assert_eq!((row.status, row.error_message), (RowStatus::Ok, None));
    assert_eq!(row.environment.get("OPENBLAS_CORETYPE").map(String::as_str), Some("Haswell"));
    assert!(
        row.implementation_id.is_some_and(|id| id.starts_with("cpu/own-stream{") && id.contains("threads=1"))
    );
    assert!(row.timing.is_some_and(|timing| timing.launch_ns > 0.0 && timing.bytes_per_s.is_finite()));
    Ok(())
}
