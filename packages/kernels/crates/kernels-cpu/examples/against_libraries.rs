//! Our rows against the libraries called directly and a plain STREAM, in turn, as ratios.
//!
//! `cargo run --release -p kernels-cpu --example against_libraries [--json] [rounds]`. GEMM goes through the device's
//! protocol and through `cblas_sgemm` and `dnnl_sgemm` opened here; triad against a plain C loop with OpenMP, compiled
//! here with `cc` (without one: threads of the standard library). Its speed depends by some per cent on which pages of memory
//! its vectors got, so that both sides get theirs the same way, and anew several times. Each round measures both sides one
//! after the other, in alternating order. `best` is the fastest direct round over our fastest, as STREAM reports; `ratio` the median of direct
//! time over ours in each round, with its quartiles. 1 is parity, less is slower than direct.
#![expect(clippy::print_stdout, reason = "a program that prints its figures")]

use std::{env, fs, hint::black_box, path::PathBuf, process::Command, thread, time::Instant};

use kernels_core::{
    Backend, DType, Device, ImplId, Inputs, KernelError, KernelSpec, Prepared, Shape, Support, TRIAD_SCALAR,
    median, quantile,
};
use kernels_cpu::{Buffer, CpuBackend, CpuOptions};
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

/// The library that the device uses: of the first folder that has it, else of the system.
fn opened(folders: &[PathBuf], names: &[&str]) -> Result<&'static Library, Failure> {
    let placed =
        folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name).into_os_string()));
    for path in placed.chain(names.iter().map(Into::into)) {
        // SAFETY: OpenBLAS and oneDNN only start threads when they are opened.
        if let Ok(library) = unsafe { Library::new(path) } {
            return Ok(Box::leak(Box::new(library)));
        }
    }
    Err(format!("no library is called {}", names.join(" or ")).into())
}

/// A square product straight through a library, on matrices of its own.
fn direct_gemm(folders: &[PathBuf], library: &'static str, size: usize) -> Result<Box<dyn FnMut()>, Failure> {
    let fill = |seed: usize| {
        let mut buffer = Buffer::filled("plain", 4 * size * size, 0)?;
        let all = buffer.as_mut_slice::<f32>().iter_mut().enumerate();
        all.for_each(|(index, number)| *number = small(index * 7 + seed, 13) - 6.0);
        Ok::<_, KernelError>(buffer)
    };
    let (a, b, mut c) = (fill(1)?, fill(2)?, fill(3)?);
    let (narrow, wide) = (i32::try_from(size)?, i64::try_from(size)?);
    // SAFETY: the types are those of the libraries' headers; all three matrices are size × size.
    unsafe {
        if library == "openblas" {
            let blas = opened(folders, &["libopenblas.so.0"])?;
            let sgemm = blas.get::<Sgemm>("cblas_sgemm")?;
            return Ok(Box::new(move || {
                let (a, b, c) = (a.as_slice().as_ptr(), b.as_slice().as_ptr(), c.as_mut_slice().as_mut_ptr());
                sgemm(101, 111, 111, narrow, narrow, narrow, 1.0, a, narrow, b, narrow, 0.0, c, narrow);
            }));
        }
        let dnnl = opened(folders, &["libdnnl.so.3", "libdnnl.so.2"])?;
        let sgemm = dnnl.get::<DnnlSgemm>("dnnl_sgemm")?;
        Ok(Box::new(move || {
            let (a, b, c) = (a.as_slice().as_ptr(), b.as_slice().as_ptr(), c.as_mut_slice().as_mut_ptr());
            black_box(sgemm(b'N', b'N', wide, wide, wide, 1.0, a, wide, b, wide, 0.0, c, wide));
        }))
    }
}

fn gemm(
    (device, folders): (&dyn Device, &[PathBuf]),
    rounds: usize,
    library: &'static str,
    size: usize,
) -> Result<Comparison, Failure> {
    let spec = KernelSpec::new(Shape::Gemm { m: size, n: size, k: size }, DType::F32)?;
    let mut kernel = prepared(device, &spec, library, 1)?;
    let mut direct = direct_gemm(folders, library, size)?;
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

/// How often both sides of a triad get new memory.
const PLACEMENTS: usize = 5;

fn triad(device: &dyn Device, rounds: usize, threads: usize) -> Result<Comparison, Failure> {
    const ELEMENTS: usize = 1 << 24;
    const LAUNCHES: u32 = 6;
    let spec = KernelSpec::new(Shape::Triad { n: ELEMENTS }, DType::F32)?;
    let (name, plain) = plain_triad(threads)?;
    let numbers = |from: f32| {
        let mut buffer = Buffer::filled("plain", 4 * ELEMENTS, 0)?;
        let all = buffer.as_mut_slice::<f32>().iter_mut().enumerate();
        all.for_each(|(index, number)| *number = from + small(index, 17));
        Ok::<_, KernelError>(buffer)
    };
    let (mut measured, mut ours) = (Vec::new(), String::new());
    for _ in 0..PLACEMENTS {
        let mut kernel = prepared(device, &spec, "own-stream", 2)?;
        let set = || Ok::<_, KernelError>((numbers(1.0)?, numbers(2.0)?, numbers(0.0)?));
        let mut sets = [set()?, set()?];
        let direct = || {
            timed(|| {
                for at in 0..LAUNCHES as usize {
                    let (a, b, out) = &mut sets[at % 2];
                    plain(out.as_mut_slice(), a.as_slice(), b.as_slice());
                }
            })
        };
        measured.extend(in_turn(rounds.div_ceil(PLACEMENTS), || launch(kernel.as_mut(), LAUNCHES), direct));
        ours = kernel.impl_id().to_string();
    }
    Ok(Comparison { name: format!("triad f32 2^24 against {name}"), rounds: measured, ours })
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
    let (threads, folders) = (options.threads, options.library_folders.clone());
    let backend = CpuBackend::new(options);
    let device = backend.open(&backend.probe()?[0].id)?;
    report(&triad(device.as_ref(), rounds, threads)?, json);
    let spec = KernelSpec::new(Shape::Gemm { m: 8, n: 8, k: 8 }, DType::F32)?;
    let Support::Yes { impls } = device.support(&spec) else { return Ok(()) };
    for library in ["onednn", "openblas"] {
        if impls.iter().any(|known| known.name == library) {
            for size in [512, 1024] {
                report(&gemm((device.as_ref(), &folders), rounds, library, size)?, json);
            }
        }
    }
    for note in &device.info().notes {
        println!("not compared: {note}");
    }
    Ok(())
}
