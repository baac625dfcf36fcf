use std::{collections::VecDeque, ptr, rc::Rc, slice, time::Instant};

use kernels_core::{
    ClockSource, DType, Device, DeviceId, DeviceInfo, DeviceKind, ImplId, Inputs, KernelError, KernelSpec,
    POISON_BYTE, Prepared, Support, Ticket, Timing,
};
use objc2::{
    AllocAnyThread,
    rc::{Retained, autoreleasepool},
    runtime::ProtocolObject,
};
use objc2_foundation::NSRange;
use objc2_metal::{
    MTLBlitCommandEncoder, MTLBuffer, MTLCommandBuffer, MTLCommandBufferStatus, MTLCommandEncoder,
    MTLCommandQueue, MTLCreateSystemDefaultDevice, MTLDevice, MTLResourceOptions,
};
use objc2_metal_performance_shaders::{MPSDataType, MPSMatrix, MPSMatrixDescriptor, MPSMatrixMultiplication};

use crate::product::{MPS, Product};

type Gpu = Retained<ProtocolObject<dyn MTLDevice>>;
type Queue = Retained<ProtocolObject<dyn MTLCommandQueue>>;
type Commands = Retained<ProtocolObject<dyn MTLCommandBuffer>>;

fn failed(call: &str, reason: &str) -> KernelError {
    KernelError::Call { call: call.to_owned(), reason: reason.to_owned() }
}

fn none(reason: &str) -> KernelError {
    KernelError::NoDevice { backend: "metal".to_owned(), reason: reason.to_owned() }
}

/// The system's GPU.
pub struct MetalDevice {
    info: DeviceInfo,
    context: Rc<Context>,
}

struct Context {
    gpu: Gpu,
    queue: Queue,
}

impl MetalDevice {
    /// Opens the system's default GPU, where it shares the host's memory: buffers are the host's, and on another GPU its bus would
    /// be timed.
    ///
    /// # Errors
    /// `NoDevice`.
    pub fn open() -> Result<Self, KernelError> {
        let gpu = MTLCreateSystemDefaultDevice().ok_or_else(|| none("the system has no default GPU"))?;
        if !gpu.hasUnifiedMemory() {
            return Err(none("its memory is not the host's; wgpu reaches it"));
        }
        let queue = gpu.newCommandQueue().ok_or_else(|| none("it gives no command queue"))?;
        let info = DeviceInfo {
            id: DeviceId(format!("metal:{:x}", gpu.registryID())),
            backend: "metal".to_owned(),
            name: gpu.name().to_string(),
            kind: DeviceKind::IntegratedGpu,
            driver: None,
            hardware_id: None,
            memory_bytes: Some(gpu.recommendedMaxWorkingSetSize()).filter(|&bytes| bytes > 0),
            max_buffer_bytes: u64::try_from(gpu.maxBufferLength()).ok(),
            last_level_cache_bytes: None,
            compute_units: None,
            notes: vec!["untested on hardware: run the self-test first".to_owned()],
            environment: std::collections::BTreeMap::new(),
        };
        Ok(Self { info, context: Rc::new(Context { gpu, queue }) })
    }
}

impl Device for MetalDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        match Product::of(spec) {
            Ok(_) => Support::Yes { impls: vec![ImplId::new("metal", MPS)] },
            Err(reason) => Support::no(reason),
        }
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        let unsupported = |reason: String| KernelError::Unsupported {
            what: format!("{implementation} for {spec}"),
            reason,
        };
        if (implementation.backend.as_str(), implementation.name.as_str()) != ("metal", MPS) {
            return Err(unsupported("this backend has no such implementation".to_owned()));
        }
        let product = Product::of(spec).map_err(unsupported)?;
        let prepared = autoreleasepool(|_| {
            MetalPrepared::new(Rc::clone(&self.context), (spec, inputs, rotate.max(1)), product)
        })?;
        Ok(Box::new(prepared))
    }
}

/// Memory that the host and the GPU share.
struct Memory {
    buffer: Retained<ProtocolObject<dyn MTLBuffer>>,
    bytes: usize,
}

impl Memory {
    fn new(context: &Context, what: &str, bytes: usize) -> Result<Self, KernelError> {
        let length = bytes.max(16);
        let made = context.gpu.newBufferWithLength_options(length, MTLResourceOptions::StorageModeShared);
        let buffer = made.ok_or_else(|| KernelError::OutOfMemory {
            what: what.to_owned(),
            bytes: u64::try_from(length).unwrap_or(u64::MAX),
        })?;
        Ok(Self { buffer, bytes })
    }

    fn with(context: &Context, what: &str, data: &[u8]) -> Result<Self, KernelError> {
        let memory = Self::new(context, what, data.len())?;
        // SAFETY: the memory is as long as the data, and nothing of the GPU's uses it yet.
        unsafe {
            ptr::copy_nonoverlapping(data.as_ptr(), memory.buffer.contents().as_ptr().cast(), data.len());
        }
        Ok(memory)
    }

    /// A row-major matrix in it.
    fn matrix(&self, [rows, columns]: [usize; 2], of: DType) -> Retained<MPSMatrix> {
        let kind = if of == DType::F16 { MPSDataType::Float16 } else { MPSDataType::Float32 };
        // SAFETY: the matrix lies in the buffer, whose rows stand one after the other.
        unsafe {
            let about = MPSMatrixDescriptor::matrixDescriptorWithRows_columns_rowBytes_dataType(
                rows,
                columns,
                of.bytes(columns),
                kind,
            );
            MPSMatrix::initWithBuffer_descriptor(MPSMatrix::alloc(), &self.buffer, &about)
        }
    }
}

/// The matrices of one set, and the result's memory.
struct Set {
    left: Retained<MPSMatrix>,
    right: Retained<MPSMatrix>,
    result: Retained<MPSMatrix>,
    output: Memory,
}

/// A batch on its way.
struct Flight {
    ticket: Ticket,
    launches: u32,
    started: Instant,
    commands: Commands,
}

/// A product with its buffers.
struct MetalPrepared {
    context: Rc<Context>,
    kernel: Retained<MPSMatrixMultiplication>,
    sets: Vec<Set>,
    flushing: Option<Memory>,
    next_set: usize,
    last_set: usize,
    next_ticket: u64,
    flights: VecDeque<Flight>,
    last_done: Option<Instant>,
}

impl MetalPrepared {
    fn new(
        context: Rc<Context>,
        (spec, inputs, rotate): (&KernelSpec, &Inputs, usize),
        product: Product,
    ) -> Result<Self, KernelError> {
        let [left, right] = product.inputs.map(|at| inputs.tensors.get(at));
        let (Some(left), Some(right)) = (left, right) else {
            return Err(failed("prepare", "an operand is missing"));
        };
        let [left_sides, right_sides, result_sides] = product.stored();
        let sets = (0..rotate).map(|_| {
            let output = Memory::new(&context, "output", spec.output_tensor().bytes())?;
            Ok(Set {
                left: Memory::with(&context, &left.spec.name, &left.data)?.matrix(left_sides, spec.dtype),
                right: Memory::with(&context, &right.spec.name, &right.data)?.matrix(right_sides, spec.dtype),
                result: output.matrix(result_sides, spec.output),
                output,
            })
        });
        let sets: Vec<Set> = sets.collect::<Result<_, KernelError>>()?;
        // SAFETY: sizes are those of the matrices that it is given.
        let kernel = unsafe {
            MPSMatrixMultiplication::initWithDevice_transposeLeft_transposeRight_resultRows_resultColumns_interiorColumns_alpha_beta(
                MPSMatrixMultiplication::alloc(),
                &context.gpu,
                false,
                product.transposed,
                product.rows,
                product.columns,
                product.depth,
                1.0,
                0.0,
            )
        };
        let mut prepared = Self {
            context,
            kernel,
            sets,
            flushing: None,
            next_set: 0,
            last_set: 0,
            next_ticket: 0,
            flights: VecDeque::new(),
            last_done: None,
        };
        prepared.poison()?;
        Ok(prepared)
    }

    fn commands(&self) -> Result<Commands, KernelError> {
        self.context.queue.commandBuffer().ok_or_else(|| failed("commandBuffer", "there is none"))
    }
}

/// Waits for commands, which are the last that were started.
fn finish(commands: &Commands) -> Result<(), KernelError> {
    commands.waitUntilCompleted();
    if commands.status() == MTLCommandBufferStatus::Completed {
        return Ok(());
    }
    let said = commands.error().map(|error| error.localizedDescription().to_string());
    Err(failed("waitUntilCompleted", said.as_deref().unwrap_or("it was not completed")))
}

impl Prepared for MetalPrepared {
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
        autoreleasepool(|_| {
            let commands = self.commands()?;
            let started = Instant::now();
            for _ in 0..launches {
                let set = self
                    .sets
                    .get(self.next_set)
                    .ok_or_else(|| failed("submit", "there is no such set of buffers"))?;
                // SAFETY: the matrices are of the kernel's sizes and types; the commands keep what they use.
                unsafe {
                    self.kernel.encodeToCommandBuffer_leftMatrix_rightMatrix_resultMatrix(
                        &commands,
                        &set.left,
                        &set.right,
                        &set.result,
                    );
                }
                self.last_set = self.next_set;
                self.next_set = (self.next_set + 1) % self.sets.len();
            }
            commands.commit();
            let ticket = Ticket(self.next_ticket);
            self.next_ticket += 1;
            self.flights.push_back(Flight { ticket, launches, started, commands });
            Ok(ticket)
        })
    }

    fn wait(&mut self, ticket: Ticket) -> Result<Timing, KernelError> {
        let unknown = || failed("wait", &format!("ticket {} is not the next one in flight", ticket.0));
        if self.flights.front().is_none_or(|flight| flight.ticket != ticket) {
            return Err(unknown());
        }
        let flight = self.flights.pop_front().ok_or_else(unknown)?;
        finish(&flight.commands)?;
        let done = Instant::now();
        let began = self.last_done.map_or(flight.started, |last| last.max(flight.started));
        self.last_done = Some(done);
        let seconds = flight.commands.GPUEndTime() - flight.commands.GPUStartTime();
        let device_ns = (seconds > 0.0).then_some(seconds * 1e9);
        Ok(Timing {
            launches: flight.launches,
            device_ns,
            host_ns: done.duration_since(began).as_secs_f64() * 1e9,
            clock: if device_ns.is_some() { ClockSource::Timestamp } else { ClockSource::Host },
        })
    }

    fn flush(&mut self, bytes: u64) -> Result<bool, KernelError> {
        autoreleasepool(|_| {
            let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
            let memory = match self.flushing.take().filter(|memory| memory.bytes == wanted) {
                Some(memory) => memory,
                None => Memory::new(&self.context, "what empties the caches", wanted)?,
            };
            let commands = self.commands()?;
            let blit =
                commands.blitCommandEncoder().ok_or_else(|| failed("blitCommandEncoder", "there is none"))?;
            blit.fillBuffer_range_value(&memory.buffer, NSRange::new(0, memory.bytes), 0);
            blit.endEncoding();
            commands.commit();
            self.flushing = Some(memory);
            finish(&commands).map(|()| true)
        })
    }

    fn poison(&mut self) -> Result<(), KernelError> {
        if let Some(flight) = self.flights.back() {
            finish(&flight.commands)?;
        }
        for Set { output, .. } in &self.sets {
            // SAFETY: the memory is as long, and nothing of the GPU's uses it now.
            unsafe {
                ptr::write_bytes(output.buffer.contents().as_ptr().cast::<u8>(), POISON_BYTE, output.bytes);
            }
        }
        Ok(())
    }

    fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
        if let Some(flight) = self.flights.back() {
            finish(&flight.commands)?;
        }
        let set = self.sets.get(self.last_set).ok_or_else(|| failed("readOutput", "there is no output"))?;
        let Memory { buffer, bytes } = &set.output;
        // SAFETY: the memory is as long, and nothing of the GPU's uses it now.
        Ok(unsafe { slice::from_raw_parts(buffer.contents().as_ptr().cast::<u8>(), *bytes) }.to_vec())
    }

    fn impl_id(&self) -> ImplId {
        ImplId::new("metal", MPS).with("device", self.context.gpu.name().to_string())
    }
}
