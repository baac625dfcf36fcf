//! The host's side over a stub of AMD's libraries (`stub-gpu`): what it asks of them, in which order and with which sizes.
#![cfg(target_os = "linux")]

#[path = "../../stub-gpu/child.rs"]
mod child;

use std::error::Error;

use child::{Outcome, with_stub};
use kernels_core::{
    Backend, ClockSource, DType, Device, DeviceId, DeviceInfo, DeviceKind, ImplId, Inputs, KernelError,
    KernelSpec, Layout, Shape, Support, check_output,
};
use kernels_hip::{Compiler, HipBackend, search_folders};

const ALL: [&str; 3] = ["libamdhip64.so.6", "libhiprtc.so.6", "librocblas.so.4"];

fn backend() -> HipBackend {
    HipBackend::new(None)
}

fn gpu() -> Result<(DeviceInfo, Box<dyn Device>), Box<dyn Error>> {
    let info = backend().probe()?.into_iter().next().ok_or("no GPU")?;
    let device = backend().open(&info.id)?;
    Ok((info, device))
}

fn names(device: &dyn Device, spec: &KernelSpec) -> Vec<String> {
    match device.support(spec) {
        Support::Yes { impls } => impls.into_iter().map(|id| id.name).collect(),
        Support::No { reason } => vec![reason],
    }
}

/// Launches batches, and checks the output of the last launch of each.
fn check(
    device: &dyn Device,
    spec: &KernelSpec,
    name: &str,
    batches: &[u32],
) -> Result<ImplId, Box<dyn Error>> {
    let inputs = Inputs::generate(spec)?;
    let mut prepared = device.prepare(spec, &inputs, 3, &ImplId::new("hip", name))?;
    let untouched = check_output(spec, &inputs, &prepared.read_output()?)?;
    assert!(!untouched.passed, "{spec}: the output isn't poisoned");
    for &batch in batches {
        prepared.poison()?;
        assert!(prepared.flush(8192)?, "the caches can't be emptied");
        let ticket = prepared.submit(batch)?;
        let timing = prepared.wait(ticket)?;
        assert_eq!((timing.launches, timing.clock), (batch, ClockSource::Event));
        assert!(timing.device_ns.is_some_and(|ns| ns >= 0.0), "{timing:?}");
        let found = check_output(spec, &inputs, &prepared.read_output()?)?;
        assert!(found.passed, "{name} for {spec} in a batch of {batch}: {found:?}");
    }
    Ok(prepared.impl_id())
}

#[test]
fn gpus_are_described_in_their_vendors_words_and_told_apart() -> Outcome {
    with_stub(
        "gpus_are_described_in_their_vendors_words_and_told_apart",
        (&ALL, &[("STUB_HIP_GPUS", "3"), ("HIP_LAUNCH_BLOCKING", "1")]),
        || {
            let found = backend().probe()?;
            let ids: Vec<&str> = found.iter().map(|info| info.id.0.as_str()).collect();
            assert_eq!(ids, ["hip:0000:c1:00.0", "hip:0000:c1:00.0#2", "hip:0000:c5:00.0"]);
            let info = found.first().ok_or("no GPU")?;
            assert_eq!((info.name.as_str(), info.kind), ("Stub Instinct", DeviceKind::DiscreteGpu));
            assert_eq!(info.driver.as_deref(), Some("HIP 6.3.42134"));
            assert_eq!(info.hardware_id.as_deref(), Some("0000:c1:00.0"));
            assert_eq!((info.compute_units, info.memory_bytes), (Some(104), Some(1 << 28)));
            assert_eq!(info.environment.get("architecture").map(String::as_str), Some("gfx90a"));
            assert_eq!(info.environment.get("HIP_LAUNCH_BLOCKING").map(String::as_str), Some("1"));
            assert!(info.notes.iter().any(|note| note.starts_with("untested on hardware")), "{info:?}");
            let last = backend().open(&found.last().ok_or("no GPU")?.id)?;
            assert_eq!(last.info().hardware_id.as_deref(), Some("0000:c5:00.0"));
            let stranger = DeviceId("hip:none".to_owned());
            assert!(matches!(backend().open(&stranger), Err(KernelError::NoDevice { .. })));
            Ok(())
        },
    )
}

#[test]
fn copies_are_right_in_batches() -> Outcome {
    with_stub("copies_are_right_in_batches", (&ALL, &[]), || {
        let (_, device) = gpu()?;
        let spec = KernelSpec::new(Shape::Copy { n: 4096 }, DType::Bf16)?;
        assert_eq!(names(device.as_ref(), &spec), ["memcpy", "own-stream"]);
        for name in ["memcpy", "own-stream"] {
            let id = check(device.as_ref(), &spec, name, &[1, 40, 2])?;
            let own = (name == "own-stream").then_some("6.3");
            assert_eq!(id.details.get("hiprtc").map(String::as_str), own, "{id}");
            assert_eq!(id.details.get("architecture").map(String::as_str), Some("gfx90a"), "{id}");
        }
        Ok(())
    })
}

#[test]
fn products_are_right_in_both_layouts() -> Outcome {
    with_stub("products_are_right_in_both_layouts", (&ALL, &[]), || {
        let (_, device) = gpu()?;
        let gemm = |dtype, layout| -> Result<KernelSpec, KernelError> {
            Ok(KernelSpec { layout, ..KernelSpec::new(Shape::Gemm { m: 12, n: 20, k: 8 }, dtype)? })
        };
        let products = [
            gemm(DType::F32, Layout::Nn)?,
            gemm(DType::F32, Layout::Nt)?,
            gemm(DType::Int8, Layout::Nn)?,
            gemm(DType::Int8, Layout::Nt)?,
            KernelSpec::new(Shape::Gemv { m: 12, k: 8, batch: 3 }, DType::F32)?,
        ];
        for spec in products {
            let id = check(device.as_ref(), &spec, "rocblas", &[1, 2])?;
            assert_eq!(id.details.get("rocblas").map(String::as_str), Some("4.3.0"), "{id}");
        }
        let refused = gemm(DType::Bf16, Layout::Nn)?;
        let said =
            device.prepare(&refused, &Inputs::generate(&refused)?, 1, &ImplId::new("hip", "rocblas")).err();
        let expected = KernelError::Call {
            call: "rocblas_gemm_ex".to_owned(),
            reason: "rocblas_status_not_implemented".to_owned(),
        };
        assert_eq!(said, Some(expected));
        Ok(())
    })
}

#[test]
fn own_kernels_are_compiled_and_launched_but_for_those_of_other_matrix_units() -> Outcome {
    with_stub(
        "own_kernels_are_compiled_and_launched_but_for_those_of_other_matrix_units",
        (&ALL, &[]),
        || {
            let (_, device) = gpu()?;
            let (batch, heads, kv_heads, head_dim) = (2, 8, 2, 64);
            let decode = Shape::Decode { batch, heads, kv_heads, head_dim, length: 600 };
            let spec = KernelSpec::new(decode, DType::Bf16)?;
            let inputs = Inputs::generate(&spec)?;
            let mut prepared = device.prepare(&spec, &inputs, 2, &ImplId::new("hip", "own-split-kv"))?;
            let ticket = prepared.submit(3)?;
            prepared.wait(ticket)?;
            // The stub's kernels do nothing, which the check sees.
            assert!(!check_output(&spec, &inputs, &prepared.read_output()?)?.passed);
            let prefill = Shape::Prefill { batch, heads, kv_heads, head_dim, length: 64, causal: true };
            let prefill = KernelSpec::new(prefill, DType::Bf16)?;
            assert_eq!(names(device.as_ref(), &prefill), ["own-flash"]);
            let mma = ImplId::new("hip", "own-flash-mma");
            let refused = device.prepare(&prefill, &Inputs::generate(&prefill)?, 1, &mma).err();
            assert!(matches!(refused, Some(KernelError::Unsupported { .. })), "{refused:?}");
            Ok(())
        },
    )
}

#[test]
fn a_mistake_is_told_in_the_compilers_words() -> Outcome {
    with_stub("a_mistake_is_told_in_the_compilers_words", (&ALL, &[]), || {
        let compiler = Compiler::open(&search_folders(None), None)?;
        let log = match compiler.compile("broken", "a mistake", "gfx90a") {
            Err(KernelError::Compile { kernel, log }) if kernel == "broken" => log,
            other => return Err(format!("{other:?}").into()),
        };
        assert_eq!(log, "HIPRTC_ERROR_COMPILATION: error: there is a mistake");
        let other = compiler.compile("right", "", "gfx1100");
        assert!(matches!(other, Err(KernelError::Compile { .. })), "{other:?}");
        Ok(())
    })
}

#[test]
fn too_little_memory_is_a_typed_reason() -> Outcome {
    with_stub("too_little_memory_is_a_typed_reason", (&ALL, &[("STUB_CUDA_MEMORY", "65536")]), || {
        let (_, device) = gpu()?;
        let spec = KernelSpec::new(Shape::Copy { n: 65_536 }, DType::F32)?;
        let refused =
            device.prepare(&spec, &Inputs::generate(&spec)?, 1, &ImplId::new("hip", "memcpy")).err();
        let expected = KernelError::OutOfMemory { what: "a".to_owned(), bytes: 262_144 };
        assert_eq!(refused, Some(expected));
        Ok(())
    })
}

#[test]
fn the_runtime_alone_compiles_by_itself_and_multiplies_by_own_kernels() -> Outcome {
    with_stub(
        "the_runtime_alone_compiles_by_itself_and_multiplies_by_own_kernels",
        (&["libamdhip64.so.5"], &[]),
        || {
            let (_, device) = gpu()?;
            let copy = KernelSpec::new(Shape::Copy { n: 64 }, DType::F32)?;
            check(device.as_ref(), &copy, "own-stream", &[3])?;
            let product = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::F32)?;
            assert_eq!(names(device.as_ref(), &product), ["own-tile-128", "own-tile-64"]);
            let only = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::Tf32)?;
            let reasons = names(device.as_ref(), &only).concat();
            assert!(reasons.contains("tf32"), "{reasons}");
            Ok(())
        },
    )
}

#[test]
fn an_old_runtime_is_told_from_one_without_a_gpu() -> Outcome {
    with_stub(
        "an_old_runtime_is_told_from_one_without_a_gpu",
        (&ALL, &[("STUB_HIP_VERSION", "40321300")]),
        || {
            let Err(KernelError::DriverTooOld { found, needs, .. }) = backend().probe() else {
                return Err("it is not too old".into());
            };
            assert_eq!((found.as_str(), needs.as_str()), ("4.3.21300", "ROCm 5.0.0"));
            Ok(())
        },
    )
}

#[test]
fn a_runtime_without_a_gpu_says_so() -> Outcome {
    with_stub("a_runtime_without_a_gpu_says_so", (&ALL, &[("STUB_HIP_GPUS", "0")]), || {
        let Err(KernelError::NoDevice { reason, .. }) = backend().probe() else {
            return Err("it found one".into());
        };
        assert!(reason.contains("hipErrorNoDevice"), "{reason}");
        Ok(())
    })
}
