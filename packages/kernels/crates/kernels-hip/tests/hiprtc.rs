//! The kernels compiled by hipRTC, where one is at hand (Debian: `libamdhip64-5` and `libhiprtc-builtins5`): in a child process, as
//! old versions abort instead of refusing.

use std::{env, error::Error, process::Command};

use kernels_c::{MEMCPY, candidates, plan, uses_mma};
use kernels_core::{DType, KernelError, KernelSpec, Layout, PrefixMethod, Shape};
use kernels_hip::{Compiler, ROCBLAS, search_folders};
use libloading::Library;

type Outcome = Result<(), Box<dyn Error>>;

const CHILD: &str = "PERWATT_HIPRTC_CHILD";
/// The newest architecture that the compiler of Debian 12 knows.
const ARCHITECTURE: &str = "gfx90a";

fn compiler() -> Result<Compiler, KernelError> {
    // SAFETY: opening runs the initialisers of AMD's runtime.
    let runtime = unsafe { Library::new("libamdhip64.so.5") }.ok();
    Compiler::open(&search_folders(None), runtime.map(|runtime| &*Box::leak(Box::new(runtime))))
}

/// Runs `test` again in a child, whose end is the test's; in that child, runs its body.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn apart(test: &str, body: impl FnOnce(&Compiler) -> Outcome) -> Outcome {
    if env::var_os(CHILD).is_some() {
        return body(&compiler()?);
    }
    if let Err(error) = compiler() {
        eprintln!("skipped: no hipRTC: {error}");
        return Ok(());
    }
    let child = Command::new(env::current_exe()?)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()?;
    let said = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{}: {said}", child.status);
    Ok(())
}

/// The same source as the smaller tile, and longer to compile.
const LARGER: &str = "own-tile-128";

/// One kernel of each source in bf16, and of each conversion: old compilers take seconds over each.
fn every_kernel() -> Result<Vec<KernelSpec>, KernelError> {
    let (batch, heads, kv_heads, head_dim) = (4, 32, 8, 128);
    let method = PrefixMethod::Shared;
    let scales = DType::F16;
    let shapes = [
        Shape::Triad { n: 1 << 20 },
        Shape::Gemm { m: 4096, n: 4096, k: 4096 },
        Shape::Int4Gemv { m: 4096, k: 4096, batch: 1, group: 128, scales, zero_points: true },
        Shape::RmsNorm { rows: 64, width: 4096 },
        Shape::Softmax { rows: 64, width: 151_936 },
        Shape::Prefill { batch, heads, kv_heads, head_dim, length: 2048, causal: true },
        Shape::SharedPrefix { batch, heads, kv_heads, head_dim, prefix: 4096, suffix: 256, method },
    ];
    let in_bf16 = shapes.into_iter().map(|shape| KernelSpec::new(shape, DType::Bf16));
    let gemv = Shape::Gemv { m: 4096, k: 4096, batch: 2 };
    let gemvs = [DType::F32, DType::F16, DType::Int8].map(|dtype| KernelSpec::new(gemv, dtype));
    let copy = KernelSpec::new(Shape::Copy { n: 1 << 20 }, DType::F32);
    let int8 = KernelSpec::new(Shape::Gemm { m: 4096, n: 4096, k: 4096 }, DType::Int8)?;
    let int8 = KernelSpec { layout: Layout::Nt, ..int8 };
    in_bf16.chain(gemvs).chain([copy, Ok(int8)]).collect()
}

#[test]
fn every_kernel_becomes_a_code_object() -> Outcome {
    apart("every_kernel_becomes_a_code_object", |compiler| {
        for spec in every_kernel()? {
            let own = candidates(&spec, ROCBLAS).into_iter();
            for name in own.filter(|name| ![ROCBLAS, MEMCPY, LARGER].contains(name) && !uses_mma(name)) {
                for step in plan(&spec, name, None)?.steps {
                    let text = step.source.text(&step.defines);
                    let code = compiler.compile(step.source.entry, &text, ARCHITECTURE)?;
                    let whole = code.starts_with(b"\x7fELF") || code.starts_with(b"__CLANG_OFFLOAD_BUNDLE__");
                    assert!(whole, "{name} for {spec}: {:?}", code.get(..24));
                }
            }
        }
        Ok(())
    })
}

#[test]
fn a_mistake_is_a_typed_reason_with_the_compilers_words() -> Outcome {
    apart("a_mistake_is_a_typed_reason_with_the_compilers_words", |compiler| {
        let source = "extern \"C\" __global__ void broken() { int x = y; }";
        let refused = compiler.compile("broken", source, ARCHITECTURE);
        let told = matches!(&refused, Err(KernelError::Compile { kernel, log }) if kernel == "broken" && log.contains("'y'"));
        assert!(told, "{refused:?}");
        Ok(())
    })
}
