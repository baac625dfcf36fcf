//! Our rows against the libraries called directly and a plain STREAM, in turn, as ratios.
//!
//! `cargo run --release -p kernels-cpu --example against_libraries [--json] [rounds]`. GEMM goes through the device's
//! protocol and through `cblas_sgemm` and `dnnl_sgemm` opened here; triad against a plain C loop with OpenMP, compiled
//! here with `cc` (without one: threads of the standard library). Each round measures both sides one after the other, in
//! alternating order. `best` is the fastest direct round over our fastest, as STREAM reports; `ratio` the median of direct
//! time over ours in each round, with its quartiles. 1 is parity, less is slower than direct.
#![expect(clippy::print_stdout, reason = "a program that prints its figures")]

use std::{env, fs, hint::black_box, process::Command, thread, time::Instant};

use kernels_core::{
    Backend, DType, Device, ImplId, Inputs, KernelError, KernelSpec, Prepared, Shape, Support, TRIAD_SCALAR,
    median, quantile,
};
use kernels_cpu::{CpuBackend, CpuOptions};
use libloading::Library;

type Failure = Box<dyn std::error::Error>;

const STREAM: &str = "
#include <stddef.h>
void triad(float *restrict out, const float *restrict a, const float *restrict b, float q, size_t n) {
  #pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; i++) out[i] = a[i] + q * b[i];
}
";

/// One comparison: what is measured, and seconds of ours and direct in each round.
struct Comparison {
    name: String,
    rounds: Vec<(f64, f64)>,
    ours: String,
}

/// The rounds' sides in alternating order, after one round that isn't kept.
fn in_turn(rounds: usize, mut ours: impl FnMut() -> f64, mut direct: impl FnMut() -> f64) -> Vec<(f64, f64)> {
    ours();
    direct();
    let pair = |round: usize| {
        if round.is_multiple_of(2) {
            let own = ours();
            (own, direct())
        } else {
            let other = direct();
            (ours(), other)
        }
    };
    (0..rounds).map(pair).collect()
}

/// A number below `below`, of at most 8 bits.
fn small(of: usize, below: usize) -> f32 {
    f32::from(u8::try_from(of % below).unwrap_or(0))
}

fn timed(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

fn prepared(
    device: &dyn Device,
    spec: &KernelSpec,
    name: &str,
    sets: usize,
) -> Result<Box<dyn Prepared>, KernelError> {
    let inputs = Inputs::generate(spec)?;
    device.prepare(spec, &inputs, sets, &ImplId::new("cpu", name))
}

fn launch(kernel: &mut dyn Prepared, launches: u32) -> f64 {
    timed(|| {
        let batch = kernel.submit(launches).and_then(|ticket| kernel.wait(ticket));
        black_box(batch.is_ok());
    })
}

type Sgemm = unsafe extern "C" fn(
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    f32,
    *const f32,
    i32,
    *const f32,
    i32,
    f32,
    *mut f32,
    i32,
);
type DnnlSgemm = unsafe extern "C" fn(
    u8,
    u8,
    i64,
    i64,
    i64,
    f32,
    *const f32,
    i64,
    *const f32,
    i64,
    f32,
    *mut f32,
    i64,
) -> i32;

/// A square product straight through a library, on matrices of its own.
fn direct_gemm(library: &'static str, size: usize) -> Result<Box<dyn FnMut()>, Failure> {
    let fill =
        |seed: usize| (0..size * size).map(|index| small(index * 7 + seed, 13) - 6.0).collect::<Vec<f32>>();
    let (a, b, mut c) = (fill(1), fill(2), vec![0f32; size * size]);
    let (narrow, wide) = (i32::try_from(size)?, i64::try_from(size)?);
    // SAFETY: OpenBLAS and oneDNN only start threads when they are opened, and the types are those of their headers; all
    // three matrices are size × size.
    unsafe {
        if library == "openblas" {
            let blas = Box::leak(Box::new(Library::new("libopenblas.so.0")?));
            let sgemm = blas.get::<Sgemm>("cblas_sgemm")?;
            return Ok(Box::new(move || {
                let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
                sgemm(101, 111, 111, narrow, narrow, narrow, 1.0, a, narrow, b, narrow, 0.0, c, narrow);
            }));
        }
        let dnnl =
            Box::leak(Box::new(Library::new("libdnnl.so.2").or_else(|_| Library::new("libdnnl.so.3"))?));
        let sgemm = dnnl.get::<DnnlSgemm>("dnnl_sgemm")?;
        Ok(Box::new(move || {
            let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
            black_box(sgemm(b'N', b'N', wide, wide, wide, 1.0, a, wide, b, wide, 0.0, c, wide));
        }))
    }
}

fn gemm(
    device: &dyn Device,
    rounds: usize,
    library: &'static str,
    size: usize,
) -> Result<Comparison, Failure> {
    let spec = KernelSpec::new(Shape::Gemm { m: size, n: size, k: size }, DType::F32)?;
    let mut kernel = prepared(device, &spec, library, 1)?;
    let mut direct = direct_gemm(library, size)?;
    let launches = u32::try_from((1usize << 31) / (size * size * size)).unwrap_or(1).max(1);
    let ours = || launch(kernel.as_mut(), launches);
    let rounds = in_turn(rounds, ours, || timed(|| (0..launches).for_each(|_| direct())));
    Ok(Comparison {
        name: format!("gemm f32 {size}³ by {library}"),
        rounds,
        ours: kernel.impl_id().to_string(),
    })
}

type PlainTriad = unsafe extern "C" fn(*mut f32, *const f32, *const f32, f32, usize);

type Triad = Box<dyn Fn(&mut [f32], &[f32], &[f32])>;

/// A plain STREAM triad: C with OpenMP, or threads of the standard library where there is no compiler.
fn plain_triad(threads: usize) -> Result<(String, Triad), Failure> {
    let folder = env::temp_dir().join(format!("perwatt-stream-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let (source, library) = (folder.join("stream.c"), folder.join("libstream.so"));
    fs::write(&source, STREAM)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    if compiler.status().is_ok_and(|status| status.success()) {
        // SAFETY: the library is the one compiled above.
        let opened = unsafe { Library::new(&library)? };
        fs::remove_dir_all(&folder)?;
        let opened: &'static Library = Box::leak(Box::new(opened));
        // SAFETY: the type is that of the source above.
        let triad = unsafe { opened.get::<PlainTriad>("triad")? };
        let call = move |out: &mut [f32], a: &[f32], b: &[f32]| {
            // SAFETY: all three are as long as `out`.
            unsafe { triad(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), TRIAD_SCALAR, out.len()) }
        };
        return Ok(("C with OpenMP".to_owned(), Box::new(call)));
    }
    fs::remove_dir_all(&folder)?;
    let call = move |out: &mut [f32], a: &[f32], b: &[f32]| {
        let share = out.len().div_ceil(threads);
        thread::scope(|scope| {
            for ((out, a), b) in out.chunks_mut(share).zip(a.chunks(share)).zip(b.chunks(share)) {
                scope.spawn(move || {
                    out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = a + TRIAD_SCALAR * b);
                });
            }
        });
    };
    Ok(("threads of the standard library, for want of cc".to_owned(), Box::new(call)))
}

fn triad(device: &dyn Device, rounds: usize, threads: usize) -> Result<Comparison, Failure> {
    const ELEMENTS: usize = 1 << 24;
    const LAUNCHES: u32 = 6;
    let spec = KernelSpec::new(Shape::Triad { n: ELEMENTS }, DType::F32)?;
    let mut kernel = prepared(device, &spec, "own-stream", 2)?;
    let (name, plain) = plain_triad(threads)?;
    let numbers = |from: f32| (0..ELEMENTS).map(|index| from + small(index, 17)).collect::<Vec<f32>>();
    let sets: Vec<_> = (0..2).map(|_| (numbers(1.0), numbers(2.0))).collect();
    let mut results = vec![vec![0f32; ELEMENTS]; 2];
    let direct = || {
        timed(|| {
            for at in 0..LAUNCHES as usize {
                let (a, b) = &sets[at % 2];
                plain(&mut results[at % 2], a, b);
            }
        })
    };
    let rounds = in_turn(rounds, || launch(kernel.as_mut(), LAUNCHES), direct);
    let name = format!("triad f32 2^24 against {name}");
    Ok(Comparison { name, rounds, ours: kernel.impl_id().to_string() })
}

fn report(comparison: &Comparison, json: bool) {
    let Comparison { name, rounds, ours } = comparison;
    let ratios: Vec<f64> = rounds.iter().map(|(own, direct)| direct / own).collect();
    let fastest = |side: fn(&(f64, f64)) -> f64| rounds.iter().map(side).fold(f64::INFINITY, f64::min);
    let best = fastest(|round| round.1) / fastest(|round| round.0);
    let at = |p: f64| quantile(&ratios, p).unwrap_or(f64::NAN);
    let (ratio, low, high) = (median(&ratios).unwrap_or(f64::NAN), at(0.25), at(0.75));
    let count = rounds.len();
    if json {
        println!(
            r#"{{"name":"{name}","ours":"{ours}","best":{best},"ratio":{ratio},"low":{low},"high":{high},"rounds":{count}}}"#
        );
    } else {
        println!("{name}: best {best:.3}, median {ratio:.3} ({low:.3} to {high:.3}, {count} rounds)");
    }
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    let json = words.iter().any(|word| word == "--json");
    let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(15);
    let options = CpuOptions::of_process();
    let threads = options.threads;
    let backend = CpuBackend::new(options);
    let device = backend.open(&backend.probe()?[0].id)?;
    report(&triad(device.as_ref(), rounds, threads)?, json);
    let spec = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::F32)?;
    let Support::Yes { impls } = device.support(&spec) else { return Ok(()) };
    for library in ["onednn", "openblas"] {
        if impls.iter().any(|known| known.name == library) {
            for size in [512, 1024] {
                report(&gemm(device.as_ref(), rounds, library, size)?, json);
            }
        }
    }
    for note in &device.info().notes {
        println!("not compared: {note}");
    }
    Ok(())
}
