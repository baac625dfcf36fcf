//! The kernels compiled by NVRTC for the architectures that matter, where one is at hand: on the library path, or in the folder
//! that `PERWATT_CUDA_LIB_DIR` names (that of the wheel `nvidia-cuda-nvrtc` will do).

use std::{env, error::Error};

use kernels_c::{MEMCPY, candidates, plan};
use kernels_core::{DType, KernelError, KernelSpec, Layout, PrefixMethod, Shape};
use kernels_cuda::{CUBLASLT, CudaBackend, compile};

/// Of each kernel in 16 bits and in int8; the other types differ in nothing that an architecture would see.
const ARCHITECTURES: [u32; 3] = [80, 90, 100];

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn compiler() -> bool {
    CudaBackend::new(env::var_os("PERWATT_CUDA_LIB_DIR").as_deref());
    match compile("nothing", "extern \"C\" __global__ void nothing() {}", 90) {
        Err(KernelError::NoLoader { library, reason }) => {
            eprintln!("skipped: no {library}: {reason}; set PERWATT_CUDA_LIB_DIR to a folder with one");
            false
        }
        _ => true,
    }
}

/// One kernel of each source, in the types that make a difference.
fn every_kernel() -> Result<Vec<KernelSpec>, KernelError> {
    let (batch, heads, kv_heads, head_dim) = (4, 32, 8, 128);
    let mut all = vec![KernelSpec::new(Shape::Copy { n: 1 << 20 }, DType::F32)?];
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        let shapes = [
            Shape::Triad { n: 1 << 20 },
            Shape::Fma { n: 1 << 20, k: 19 },
            Shape::Gemv { m: 4096, k: 4096, batch: 8 },
            Shape::Int4Gemv { m: 4096, k: 4096, batch: 1, group: 128, scales: dtype, zero_points: true },
            Shape::RmsNorm { rows: 64, width: 4096 },
            Shape::Softmax { rows: 64, width: 151_936 },
            Shape::Prefill { batch, heads, kv_heads, head_dim, length: 2048, causal: true },
            Shape::SharedPrefix {
                batch,
                heads,
                kv_heads,
                head_dim,
                prefix: 4096,
                suffix: 256,
                method: PrefixMethod::Shared,
            },
        ];
        for shape in shapes {
            all.push(KernelSpec::new(shape, dtype)?);
        }
    }
    for (dtype, layout) in [DType::Bf16, DType::Int8]
        .into_iter()
        .flat_map(|dtype| [Layout::Nn, Layout::Nt].map(|layout| (dtype, layout)))
    {
        all.push(KernelSpec { layout, ..KernelSpec::new(Shape::Gemm { m: 4096, n: 4096, k: 4096 }, dtype)? });
    }
    all.push(KernelSpec::new(Shape::Gemv { m: 4096, k: 4096, batch: 1 }, DType::Int8)?);
    Ok(all)
}

#[test]
fn every_kernel_becomes_a_cubin() -> Result<(), Box<dyn Error>> {
    if !compiler() {
        return Ok(());
    }
    for spec in every_kernel()? {
        for name in candidates(&spec, CUBLASLT).into_iter().filter(|name| ![CUBLASLT, MEMCPY].contains(name))
        {
            // Matrix units have no f32.
            let Ok(plan) = plan(&spec, name, None) else { continue };
            for step in plan.steps {
                let wide = matches!(spec.dtype, DType::F32 | DType::F16);
                for &architecture in if wide { &ARCHITECTURES[1..2] } else { &ARCHITECTURES[..] } {
                    let image = compile(step.source.entry, &step.source.text(&step.defines), architecture)?;
                    assert!(image.data.starts_with(b"\x7fELF"), "{name} for {spec}: {}", image.target);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_newer_gpu_than_the_compiler_knows_gets_ptx() -> Result<(), Box<dyn Error>> {
    if !compiler() {
        return Ok(());
    }
    let image = compile("nothing", "extern \"C\" __global__ void nothing() {}", 999)?;
    assert!(image.target.starts_with("compute_") && image.data.ends_with(b"\0"), "{}", image.target);
    Ok(())
}

#[test]
fn a_mistake_is_a_typed_reason_with_the_compilers_words() {
    if !compiler() {
        return;
    }
    let refused = compile("broken", "extern \"C\" __global__ void broken() { int x = y; }", 90);
    assert!(
        matches!(&refused, Err(KernelError::Compile { kernel, log }) if kernel == "broken" && log.contains("\"y\"")),
        "{refused:?}"
    );
}
