//! The host's side over a stub of NVIDIA's libraries (`stub-gpu`): what it asks of them, in which order and with which sizes. Each
//! test runs in a child process whose library path holds the stub under all three names.
#![cfg(target_os = "linux")]

#[path = "../../stub-gpu/child.rs"]
mod child;

use std::error::Error;

use child::{Outcome, with_stub};

use kernels_core::{
    Backend, ClockSource, DType, Device, DeviceId, DeviceInfo, ImplId, Inputs, KernelError, KernelSpec,
    Layout, Shape, Support, check_output,
};
use kernels_cuda::{CudaBackend, compile};

const ALL: [&str; 3] = ["libcuda.so.1", "libcublasLt.so.13", "libnvrtc.so.13"];

fn gpu() -> Result<(DeviceInfo, Box<dyn Device>), Box<dyn Error>> {
    let info = CudaBackend.probe()?.into_iter().next().ok_or("no GPU")?;
    let device = CudaBackend.open(&info.id)?;
    Ok((info, device))
}

fn names(device: &dyn Device, spec: &KernelSpec) -> Vec<String> {
    match device.support(spec) {
        Support::Yes { impls } => impls.into_iter().map(|id| id.name).collect(),
        Support::No { reason } => vec![reason],
    }
}

/// Launches batches until every set was written, and checks the output of the last launch.
fn check(
    device: &dyn Device,
    spec: &KernelSpec,
    name: &str,
    batches: &[u32],
) -> Result<ImplId, Box<dyn Error>> {
    let inputs = Inputs::generate(spec)?;
    let mut prepared = device.prepare(spec, &inputs, 3, &ImplId::new("cuda", name))?;
    let untouched = check_output(spec, &inputs, &prepared.read_output()?)?;
    assert!(!untouched.passed, "{spec}: the output isn't poisoned");
    for &batch in batches {
        prepared.poison()?;
        assert!(prepared.flush(8192)?, "the caches can't be emptied");
        let ticket = prepared.submit(batch)?;
        let timing = prepared.wait(ticket)?;
        assert_eq!((timing.launches, timing.clock), (batch, ClockSource::Event));
        let found = check_output(spec, &inputs, &prepared.read_output()?)?;
        assert!(found.passed, "{name} for {spec} in a batch of {batch}: {found:?}");
    }
    Ok(prepared.impl_id())
}

#[test]
fn a_gpu_is_described_in_its_vendors_words() -> Outcome {
    with_stub(
        "a_gpu_is_described_in_its_vendors_words",
        (&ALL, &[("STUB_CUDA_GPUS", "2"), ("NVIDIA_TF32_OVERRIDE", "0")]),
        || {
            let found = CudaBackend.probe()?;
            let ids: Vec<&str> = found.iter().map(|info| info.id.0.as_str()).collect();
            let expected = |last| format!("cuda:GPU-abababab-abab-abab-abab-ababababab{last}");
            assert_eq!(ids, [expected("00"), expected("01")]);
            let info = found.first().ok_or("no GPU")?;
            assert_eq!(info.name, "Stub GPU");
            assert_eq!(info.driver.as_deref(), Some("CUDA 13.0"));
            assert_eq!((info.compute_units, info.last_level_cache_bytes), (Some(132), Some(62_914_560)));
            assert_eq!(info.environment.get("nvrtc").map(String::as_str), Some("13.0"));
            assert_eq!(info.environment.get("NVIDIA_TF32_OVERRIDE").map(String::as_str), Some("0"));
            assert!(matches!(
                CudaBackend.open(&DeviceId("cuda:GPU-0".to_owned())),
                Err(KernelError::NoDevice { .. })
            ));
            Ok(())
        },
    )
}

#[test]
fn copies_are_right_in_batches_with_and_without_a_graph() -> Outcome {
    with_stub("copies_are_right_in_batches_with_and_without_a_graph", (&ALL, &[]), || {
        let (_, device) = gpu()?;
        let spec = KernelSpec::new(Shape::Copy { n: 4096 }, DType::Bf16)?;
        assert_eq!(names(device.as_ref(), &spec), ["memcpy", "own-stream"]);
        // A graph has 18 launches of 3 sets; the second batch makes it, the others begin in the middle of a rotation.
        for name in ["memcpy", "own-stream"] {
            check(device.as_ref(), &spec, name, &[1, 40, 19, 2, 100])?;
        }
        Ok(())
    })
}

#[test]
fn every_set_of_a_long_batch_is_written() -> Outcome {
    with_stub("every_set_of_a_long_batch_is_written", (&ALL, &[]), || {
        let (_, device) = gpu()?;
        let spec = KernelSpec::new(Shape::Copy { n: 64 }, DType::F32)?;
        let inputs = Inputs::generate(&spec)?;
        let mut prepared = device.prepare(&spec, &inputs, 5, &ImplId::new("cuda", "memcpy"))?;
        for launches in [41, 1, 1, 1, 1, 1] {
            let ticket = prepared.submit(launches)?;
            prepared.wait(ticket)?;
            assert!(check_output(&spec, &inputs, &prepared.read_output()?)?.passed, "after {launches}");
        }
        let (first, second) = (prepared.submit(7)?, prepared.submit(9)?);
        assert!(prepared.wait(second).is_err(), "out of turn");
        assert_eq!([prepared.wait(first)?.launches, prepared.wait(second)?.launches], [7, 9]);
        Ok(())
    })
}

#[test]
fn the_fastest_algorithm_that_works_is_kept_and_its_product_is_right() -> Outcome {
    with_stub("the_fastest_algorithm_that_works_is_kept_and_its_product_is_right", (&ALL, &[]), || {
        let (_, device) = gpu()?;
        let gemm = |dtype, layout| -> Result<KernelSpec, KernelError> {
            Ok(KernelSpec { layout, ..KernelSpec::new(Shape::Gemm { m: 12, n: 20, k: 8 }, dtype)? })
        };
        let products = [
            gemm(DType::F32, Layout::Nn)?,
            gemm(DType::F32, Layout::Nt)?,
            gemm(DType::Tf32, Layout::Nt)?,
            gemm(DType::Int8, Layout::Nt)?,
            KernelSpec::new(Shape::Gemv { m: 12, k: 8, batch: 3 }, DType::F32)?,
        ];
        for spec in products {
            let id = check(device.as_ref(), &spec, "cublaslt", &[1, 2])?;
            let detail = |name| id.details.get(name).map(String::as_str);
            assert_eq!((detail("algorithm"), detail("choice")), (Some("2"), Some("2 of 3")), "{id}");
            assert_eq!((detail("architecture"), detail("cublaslt")), (Some("sm_90"), Some("130000")));
        }
        let none = gemm(DType::Bf16, Layout::Nn)?;
        let refused =
            device.prepare(&none, &Inputs::generate(&none)?, 1, &ImplId::new("cuda", "cublaslt")).err();
        assert!(matches!(refused, Some(KernelError::Unsupported { .. })), "{refused:?}");
        Ok(())
    })
}

#[test]
fn own_kernels_are_compiled_loaded_and_launched() -> Outcome {
    with_stub("own_kernels_are_compiled_loaded_and_launched", (&ALL, &[]), || {
        let (_, device) = gpu()?;
        let shape = Shape::Decode { batch: 2, heads: 8, kv_heads: 2, head_dim: 64, length: 600 };
        let spec = KernelSpec::new(shape, DType::Bf16)?;
        let inputs = Inputs::generate(&spec)?;
        let mut prepared = device.prepare(&spec, &inputs, 2, &ImplId::new("cuda", "own-split-kv"))?;
        let ticket = prepared.submit(3)?;
        prepared.wait(ticket)?;
        let id = prepared.impl_id();
        assert_eq!(id.details.get("nvrtc").map(String::as_str), Some("13.0"), "{id}");
        // The stub's kernels do nothing, which the check sees.
        assert!(!check_output(&spec, &inputs, &prepared.read_output()?)?.passed);
        Ok(())
    })
}

#[test]
fn a_mistake_is_told_in_the_compilers_words() -> Outcome {
    with_stub("a_mistake_is_told_in_the_compilers_words", (&ALL, &[]), || {
        let Err(KernelError::Compile { kernel, log }) = compile("broken", "a mistake", 90) else {
            return Err("it compiled".into());
        };
        assert_eq!(kernel, "broken");
        assert!(log.ends_with("error: there is a mistake"), "{log}");
        Ok(())
    })
}

#[test]
fn too_little_memory_is_a_typed_reason() -> Outcome {
    with_stub("too_little_memory_is_a_typed_reason", (&ALL, &[("STUB_CUDA_MEMORY", "65536")]), || {
        let (_, device) = gpu()?;
        let spec = KernelSpec::new(Shape::Copy { n: 65_536 }, DType::F32)?;
        let refused =
            device.prepare(&spec, &Inputs::generate(&spec)?, 1, &ImplId::new("cuda", "memcpy")).err();
        let expected = KernelError::OutOfMemory { what: "a".to_owned(), bytes: 262_144 };
        assert_eq!(refused, Some(expected));
        Ok(())
    })
}

#[test]
fn half_of_cuda_does_what_it_can() -> Outcome {
    with_stub("half_of_cuda_does_what_it_can", (&ALL[..1], &[]), || {
        let (info, device) = gpu()?;
        assert_eq!(info.environment.get("nvrtc"), None);
        assert_eq!(names(device.as_ref(), &KernelSpec::new(Shape::Copy { n: 64 }, DType::F32)?), ["memcpy"]);
        let product = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::F32)?;
        let reasons = names(device.as_ref(), &product).concat();
        assert!(reasons.contains("libcublasLt") && reasons.contains("libnvrtc"), "{reasons}");
        Ok(())
    })
}

#[test]
fn too_old_a_driver_is_told_from_none_and_from_no_gpu() -> Outcome {
    let code = || CudaBackend.probe().err().map(|error| error.code());
    with_stub(
        "too_old_a_driver_is_told_from_none_and_from_no_gpu",
        (&ALL, &[("STUB_CUDA_VERSION", "12020")]),
        || {
            let Err(KernelError::DriverTooOld { found, needs, .. }) = CudaBackend.probe() else {
                return Err(format!("{:?}", code()).into());
            };
            assert_eq!((found.as_str(), needs.as_str()), ("12.2", "12.8 (R570)"));
            Ok(())
        },
    )
}

#[test]
fn a_driver_without_a_gpu_says_so() -> Outcome {
    with_stub("a_driver_without_a_gpu_says_so", (&ALL, &[("STUB_CUDA_GPUS", "0")]), || {
        let Err(KernelError::NoDevice { reason, .. }) = CudaBackend.probe() else {
            return Err("it found one".into());
        };
        assert!(reason.contains("NO_DEVICE"), "{reason}");
        Ok(())
    })
}

#[test]
fn libraries_newer_than_the_driver_are_refused_with_what_would_do() -> Outcome {
    with_stub(
        "libraries_newer_than_the_driver_are_refused_with_what_would_do",
        (&ALL, &[("STUB_CUDA_VERSION", "12080")]),
        || {
            let (_, device) = gpu()?;
            assert_eq!(
                names(device.as_ref(), &KernelSpec::new(Shape::Copy { n: 64 }, DType::F32)?),
                ["memcpy"]
            );
            let product = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::F32)?;
            let reasons = names(device.as_ref(), &product).concat();
            for part in ["driver CUDA 12.8 is too old", "libcublasLt", "libnvrtc", "CUDA 13"] {
                assert!(reasons.contains(part), "{reasons}");
            }
            Ok(())
        },
    )
}

#[test]
fn a_device_that_is_lost_says_so_even_while_algorithms_are_tried() -> Outcome {
    with_stub(
        "a_device_that_is_lost_says_so_even_while_algorithms_are_tried",
        (&ALL, &[("STUB_CUDA_LOST_AFTER", "3")]),
        || {
            let (_, device) = gpu()?;
            let spec = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::F32)?;
            let inputs = Inputs::generate(&spec)?;
            let said = device.prepare(&spec, &inputs, 1, &ImplId::new("cuda", "cublaslt")).err();
            let lost =
                matches!(&said, Some(KernelError::Lost { reason, .. }) if reason.contains("ILLEGAL_ADDRESS"));
            assert!(lost, "{said:?}");
            Ok(())
        },
    )
}
