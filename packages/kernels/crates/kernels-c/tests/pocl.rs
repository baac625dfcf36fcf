//! The kernels of CUDA C as `OpenCL` C on the CPU, by `PoCL`, against their f64 references. What only CUDA has (shuffles, PTX)
//! is its twin here.

use std::{
    error::Error,
    ptr,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use kernels_c::{MEMCPY, Plan, Slot, candidates, plan};
use kernels_core::{DType, Inputs, KernelSpec, Layout, POISON_BYTE, PrefixMethod, Shape, check_output};
use opencl3::{
    command_queue::CommandQueue,
    context::Context,
    device::{CL_DEVICE_TYPE_ALL, Device},
    kernel::{ExecuteKernel, Kernel},
    memory::{Buffer, CL_MEM_READ_WRITE},
    platform::get_platforms,
    program::Program,
    types::{CL_BLOCKING, cl_uchar},
};

/// A product that `OpenCL` has none of.
const VENDOR: &str = "none";

type Outcome = Result<(), Box<dyn Error>>;

#[expect(clippy::print_stderr, reason = "a skipped test says why, and a random one its seed")]
fn say(what: &str) {
    eprintln!("{what}");
}

/// `PoCL` 3.1 isn't ready for a second thread before the first has opened its device.
static OPENING: Mutex<()> = Mutex::new(());

/// A device that `OpenCL` C runs on.
struct OpenCl {
    context: Context,
    queue: CommandQueue,
}

impl OpenCl {
    fn open() -> Option<Self> {
        let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let found = || -> Result<Self, String> {
            let platforms = get_platforms().map_err(|error| error.to_string())?;
            let device = platforms
                .iter()
                .find_map(|platform| platform.get_devices(CL_DEVICE_TYPE_ALL).ok()?.first().copied())
                .ok_or("no OpenCL device; Debian's pocl-opencl-icd has one")?;
            let context = Context::from_device(&Device::new(device)).map_err(|error| error.to_string())?;
            let queue = CommandQueue::create_default_with_properties(&context, 0, 0)
                .map_err(|error| error.to_string())?;
            Ok(Self { context, queue })
        };
        found().inspect_err(|reason| say(&format!("skipped: {reason}"))).ok()
    }

    fn buffer(&self, data: &[u8]) -> Result<Buffer<cl_uchar>, Box<dyn Error>> {
        // SAFETY: there is no host memory to outlive, and the queue writes all of the buffer before it is read.
        let mut buffer =
            unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, data.len(), ptr::null_mut())? };
        // SAFETY: the buffer is as long as the data, and the write has ended when this returns.
        unsafe { self.queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, data, &[])? };
        Ok(buffer)
    }

    /// What the plan makes of the inputs, out of poisoned memory.
    fn run(&self, spec: &KernelSpec, plan: &Plan, inputs: &Inputs) -> Result<Vec<u8>, Box<dyn Error>> {
        let given: Vec<_> =
            inputs.tensors.iter().map(|tensor| self.buffer(&tensor.data)).collect::<Result<_, _>>()?;
        let poisoned = |bytes: usize| self.buffer(&vec![POISON_BYTE; bytes]);
        let output = poisoned(spec.output_tensor().bytes())?;
        let scratch: Vec<_> = plan
            .scratch
            .iter()
            .map(|&bytes| poisoned(usize::try_from(bytes)?))
            .collect::<Result<_, Box<dyn Error>>>()?;
        for step in &plan.steps {
            let text = step.source.text(&step.defines);
            let program = Program::create_and_build_from_source(&self.context, &text, "-cl-std=CL1.2 -w")
                .map_err(|log| format!("{} for {spec}: {log}", step.source.entry))?;
            let kernel = Kernel::create(&program, step.source.entry)?;
            let mut launch = ExecuteKernel::new(&kernel);
            for argument in &step.arguments {
                let buffer = match argument {
                    Slot::Input(at) => &given[*at],
                    Slot::Output => &output,
                    Slot::Scratch(at) => &scratch[*at],
                };
                // SAFETY: every argument of the kernels is a pointer to a buffer.
                unsafe { launch.set_arg(buffer) };
            }
            let threads = step.grid.map(|blocks| usize::try_from(blocks).unwrap_or(0));
            let block = usize::try_from(step.block)?;
            launch.set_global_work_sizes(&[threads[0] * block, threads[1], threads[2]]);
            launch.set_local_work_sizes(&[block, 1, 1]);
            // SAFETY: the kernels keep within the buffers that the plan gives them, which is what is tested.
            unsafe { launch.enqueue_nd_range(&self.queue)? };
            self.queue.finish()?;
        }
        let mut read = vec![0; spec.output_tensor().bytes()];
        // SAFETY: the buffer is as long as the slice, and the read has ended when this returns.
        unsafe { self.queue.enqueue_read_buffer(&output, CL_BLOCKING, 0, &mut read, &[])? };
        Ok(read)
    }

    fn check(&self, spec: &KernelSpec, span: Option<u32>) -> Outcome {
        let inputs = Inputs::generate(spec)?;
        let own: Vec<(&str, Plan)> = candidates(spec, VENDOR)
            .into_iter()
            .filter(|name| ![VENDOR, MEMCPY].contains(name))
            .filter_map(|name| plan(spec, name, span).ok().map(|plan| (name, plan)))
            .collect();
        assert!(!own.is_empty(), "{spec} has no own kernel");
        for (name, plan) in own {
            let found = check_output(spec, &inputs, &self.run(spec, &plan, &inputs)?)?;
            assert!(found.passed, "{name} for {spec}, seed {}, span {span:?}: {found:?}", spec.seed);
        }
        Ok(())
    }
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = u64::from(now.subsec_nanos()) ^ now.as_secs();
    say(&format!("seed {seed}"));
    seed
}

/// The first shape in every floating type, the others in bf16: compiling for a CPU takes longer than running.
fn check_some(shapes: &[Shape]) -> Outcome {
    let (first, others) = shapes.split_at(1);
    check_all(first, &FLOATS, false)?;
    check_all(others, &[DType::Bf16], false)
}

/// Every shape in every type, and with f32 output where a 16-bit type has it.
fn check_all(shapes: &[Shape], types: &[DType], wide: bool) -> Outcome {
    let Some(device) = OpenCl::open() else { return Ok(()) };
    let seed = fresh_seed();
    for (&shape, &dtype) in shapes.iter().flat_map(|shape| types.iter().map(move |dtype| (shape, dtype))) {
        let spec = KernelSpec::new(shape, dtype)?.with_seed(seed);
        device.check(&spec, None)?;
        if wide && matches!(dtype, DType::F16 | DType::Bf16) {
            device.check(&KernelSpec { output: DType::F32, ..spec }.checked()?, None)?;
        }
    }
    Ok(())
}

const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

#[test]
fn streams() -> Outcome {
    check_all(&[Shape::Copy { n: 20_000 }], &[DType::F32, DType::Bf16, DType::Int8], false)?;
    check_all(&[Shape::Triad { n: 20_000 }, Shape::Fma { n: 20_000, k: 19 }], &FLOATS, false)
}

#[test]
fn matrix_products_in_both_layouts() -> Outcome {
    let Some(device) = OpenCl::open() else { return Ok(()) };
    let seed = fresh_seed();
    for (dtype, layout) in [DType::F32, DType::F16, DType::Bf16, DType::Int8]
        .into_iter()
        .flat_map(|dtype| [Layout::Nn, Layout::Nt].map(|layout| (dtype, layout)))
    {
        let spec = KernelSpec { layout, ..KernelSpec::new(Shape::Gemm { m: 70, n: 136, k: 40 }, dtype)? }
            .with_seed(seed);
        device.check(&spec, None)?;
        if (dtype, layout) == (DType::Bf16, Layout::Nn) {
            device.check(&KernelSpec { output: DType::F32, ..spec }, None)?;
        }
    }
    Ok(())
}

#[test]
fn matrix_by_vectors() -> Outcome {
    let shapes = [
        Shape::Gemv { m: 64, k: 256, batch: 1 },
        Shape::Gemv { m: 21, k: 112, batch: 3 },
        Shape::Gemv { m: 7, k: 32, batch: 19 },
    ];
    check_some(&shapes)?;
    check_all(&shapes[..1], &[DType::Bf16], true)?;
    check_all(&shapes[1..], &[DType::Int8], false)
}

#[test]
fn four_bit_weights() -> Outcome {
    let shape = |batch, scales, zero_points| {
        let [m, k, group] = if batch == 1 { [34, 256, 32] } else { [12, 72, 24] };
        Shape::Int4Gemv { m, k, batch, group, scales, zero_points }
    };
    let shapes = [shape(1, DType::F32, false), shape(5, DType::F16, true), shape(1, DType::Bf16, true)];
    check_all(&shapes, &FLOATS, false)
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
        shape([1, 1, 1, 40, 17], true),
        shape([1, 1, 1, 256, 33], true),
    ];
    check_some(&shapes)
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
    check_some(&shapes)
}

#[test]
fn a_shared_prefix_and_its_naive_twin_however_keys_are_divided() -> Outcome {
    let shared = |method| Shape::SharedPrefix {
        batch: 5,
        heads: 8,
        kv_heads: 2,
        head_dim: 64,
        prefix: 150,
        suffix: 41,
        method,
    };
    check_all(&[shared(PrefixMethod::Shared)], &FLOATS, false)?;
    check_all(&[shared(PrefixMethod::Naive)], &[DType::Bf16], false)?;
    let Some(device) = OpenCl::open() else { return Ok(()) };
    let spec = KernelSpec::new(shared(PrefixMethod::Shared), DType::F32)?.with_seed(fresh_seed());
    [7, 32].into_iter().try_for_each(|span| device.check(&spec, Some(span)))
}

#[test]
fn rows_short_and_long() -> Outcome {
    let widths = [8, 1000, 4096, 20_000];
    let norms: Vec<Shape> = widths.iter().map(|&width| Shape::RmsNorm { rows: 3, width }).collect();
    let softmaxes: Vec<Shape> = widths.iter().map(|&width| Shape::Softmax { rows: 3, width }).collect();
    check_some(&norms)?;
    check_some(&softmaxes)
}
