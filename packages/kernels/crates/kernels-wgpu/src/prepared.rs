use std::{collections::VecDeque, rc::Rc, time::Instant};

use kernels_core::{
    ClockSource, ImplId, Inputs, KernelError, KernelSpec, POISON_BYTE, Prepared, Ticket, Timing,
};
use wgpu::{BufferUsages, ErrorFilter};

use crate::{
    device::{Context, Mapping},
    failure::{call, guarded},
    plan::{Part, Plan, Slot},
    shader::Shader,
    timer::Timer,
};

/// Bytes that go to or from the device at a time.
const SLICE: u64 = 64 << 20;

/// The buffers of one set.
struct Buffers {
    inputs: Vec<wgpu::Buffer>,
    output: wgpu::Buffer,
}

/// One dispatch, ready to be recorded.
struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

/// A batch on its way.
struct Flight {
    ticket: Ticket,
    launches: u32,
    started: Instant,
    submission: wgpu::SubmissionIndex,
    timer: Option<(Timer, Mapping)>,
}

/// A kernel with its buffers on a wgpu device.
pub struct WgpuPrepared {
    context: Rc<Context>,
    id: ImplId,
    outputs: Vec<wgpu::Buffer>,
    output_bytes: u64,
    /// The dispatches of a launch, for each set of buffers.
    launches: Vec<Vec<Dispatch>>,
    next_set: usize,
    last_set: usize,
    next_ticket: u64,
    flights: VecDeque<Flight>,
    timers: Vec<Timer>,
    last_done: Option<Instant>,
    /// What is written over the caches.
    flushing: Option<wgpu::Buffer>,
}

impl WgpuPrepared {
    /// Makes buffers and pipelines, sends the inputs and poisons the outputs.
    ///
    /// # Errors
    /// `OutOfMemory`, `Compile`, or what the driver says.
    pub fn new(
        context: Rc<Context>,
        (spec, inputs, rotate): (&KernelSpec, &Inputs, usize),
        (plan, parts): (&Plan, &[Vec<Part>]),
        id: ImplId,
    ) -> Result<Self, KernelError> {
        let pipelines: Vec<wgpu::ComputePipeline> =
            plan.steps.iter().map(|step| pipeline(&context, &step.shader)).collect::<Result<_, _>>()?;
        let sets = buffers(&context, (spec, inputs, rotate))?;
        let scratch: Vec<wgpu::Buffer> = plan
            .scratch
            .iter()
            .map(|&bytes| context.large_buffer("partial results", bytes, BufferUsages::STORAGE))
            .collect::<Result<_, _>>()?;
        let launches = sets
            .iter()
            .map(|set| {
                let steps = plan.steps.iter().zip(parts).zip(&pipelines);
                let dispatches = steps.flat_map(|((step, parts), pipeline)| {
                    let slots: Vec<Slot> = step.bindings.iter().map(|binding| binding.slot).collect();
                    let (context, scratch) = (&context, &scratch);
                    parts.iter().map(move |part| dispatch(context, pipeline, (set, scratch), (&slots, part)))
                });
                guarded(&context.device, &[ErrorFilter::Validation], || dispatches.collect())
                    .map_err(|error| call("createBindGroup", &error))
            })
            .collect::<Result<_, _>>()?;
        let mut prepared = Self {
            context,
            id,
            output_bytes: u64::try_from(spec.output_tensor().bytes()).unwrap_or(u64::MAX),
            outputs: sets.into_iter().map(|set| set.output).collect(),
            launches,
            next_set: 0,
            last_set: 0,
            next_ticket: 0,
            flights: VecDeque::new(),
            timers: Vec::new(),
            last_done: None,
            flushing: None,
        };
        prepared.poison()?;
        Ok(prepared)
    }

    fn record(&mut self, pass: &mut wgpu::ComputePass<'_>, launches: u32) {
        let mut bound = None;
        for _ in 0..launches {
            self.last_set = self.next_set;
            self.next_set = (self.next_set + 1) % self.launches.len();
            for dispatch in self.launches.get(self.last_set).into_iter().flatten() {
                if bound != Some(&dispatch.pipeline) {
                    pass.set_pipeline(&dispatch.pipeline);
                    bound = Some(&dispatch.pipeline);
                }
                pass.set_bind_group(0, &dispatch.bindings, &[]);
                let [x, y, z] = dispatch.groups;
                pass.dispatch_workgroups(x, y, z);
            }
        }
    }
}

impl Prepared for WgpuPrepared {
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
        let timer = self.timers.pop().or_else(|| Timer::new(&self.context));
        let mut encoder =
            self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let timestamp_writes = timer.as_ref().map(Timer::writes);
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        self.record(&mut pass, launches);
        drop(pass);
        if let Some(timer) = &timer {
            timer.resolve(&mut encoder);
        }
        let commands = encoder.finish();
        let started = Instant::now();
        let submission = self.context.queue.submit([commands]);
        self.context.faults.check(&self.context.name, "submit")?;
        let timer = timer.map(|timer| {
            let mapping = timer.request();
            (timer, mapping)
        });
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.flights.push_back(Flight { ticket, launches, started, submission, timer });
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<Timing, KernelError> {
        let unknown = || call("wait", &format!("ticket {} is not the next one in flight", ticket.0));
        if self.flights.front().is_none_or(|flight| flight.ticket != ticket) {
            return Err(unknown());
        }
        let flight = self.flights.pop_front().ok_or_else(unknown)?;
        self.context.finish(flight.submission)?;
        let done = Instant::now();
        let began = self.last_done.map_or(flight.started, |last| last.max(flight.started));
        self.last_done = Some(done);
        let device_ns = match flight.timer {
            Some((timer, mapping)) => {
                let read = timer.read(&self.context, &mapping)?;
                self.timers.push(timer);
                read
            }
            None => None,
        };
        Ok(Timing {
            launches: flight.launches,
            device_ns,
            host_ns: done.duration_since(began).as_secs_f64() * 1e9,
            clock: if device_ns.is_some() { ClockSource::Timestamp } else { ClockSource::Host },
        })
    }

    fn flush(&mut self, bytes: u64) -> Result<bool, KernelError> {
        let bytes = bytes.min(self.context.device.limits().max_buffer_size) / 4 * 4;
        let flushing = match self.flushing.take() {
            Some(buffer) if buffer.size() >= bytes => buffer,
            _ => self.context.large_buffer("what empties the caches", bytes, BufferUsages::COPY_DST)?,
        };
        let mut encoder =
            self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.clear_buffer(&flushing, 0, None);
        self.flushing = Some(flushing);
        self.context.finish(self.context.queue.submit([encoder.finish()]))?;
        Ok(true)
    }

    fn poison(&mut self) -> Result<(), KernelError> {
        let size = self.outputs.iter().map(wgpu::Buffer::size).max().unwrap_or(0).min(SLICE);
        let poison =
            self.context.large_buffer("poison", size, BufferUsages::COPY_SRC | BufferUsages::COPY_DST)?;
        let bytes = usize::try_from(size).map_err(|error| call("poison", &error))?;
        self.context.queue.write_buffer(&poison, 0, &vec![POISON_BYTE; bytes]);
        let mut encoder =
            self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for output in &self.outputs {
            for (offset, length) in slices(output.size(), size) {
                encoder.copy_buffer_to_buffer(&poison, 0, output, offset, length);
            }
        }
        self.context.finish(self.context.queue.submit([encoder.finish()]))
    }

    fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
        let output =
            self.outputs.get(self.last_set).ok_or_else(|| call("readOutput", "there is no output"))?;
        let size = output.size().min(SLICE);
        let readable = self.context.large_buffer(
            "output on the host",
            size,
            BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        )?;
        let mut bytes = Vec::new();
        for (offset, length) in slices(output.size(), size) {
            let mut encoder =
                self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(output, offset, &readable, 0, length);
            let submission = self.context.queue.submit([encoder.finish()]);
            let mapping = Context::request(&readable);
            self.context.finish(submission)?;
            let read = self.context.collect(&readable, &mapping)?;
            bytes.extend(read.iter().take(usize::try_from(length).unwrap_or(usize::MAX)));
        }
        bytes.truncate(usize::try_from(self.output_bytes).unwrap_or(usize::MAX));
        Ok(bytes)
    }

    fn impl_id(&self) -> ImplId {
        self.id.clone()
    }
}

/// Offsets and lengths of at most `most` bytes that make up `size`.
fn slices(size: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..size.div_ceil(most.max(1))).map(move |index| (index * most, most.min(size - index * most)))
}

/// Every set's buffers: the first is sent from the host, the others are copied from it on the device.
fn buffers(
    context: &Context,
    (spec, inputs, rotate): (&KernelSpec, &Inputs, usize),
) -> Result<Vec<Buffers>, KernelError> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
    let allocate = |what: &str, bytes: usize| {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).next_multiple_of(4);
        context.large_buffer(what, bytes, usage)
    };
    let mut sets: Vec<Buffers> = Vec::new();
    for _ in 0..rotate {
        let made: Vec<wgpu::Buffer> = inputs
            .tensors
            .iter()
            .map(|tensor| allocate(&tensor.spec.name, tensor.data.len()))
            .collect::<Result<_, _>>()?;
        if let Some(first) = sets.first() {
            copy_all(context, &first.inputs, &made)?;
        } else {
            made.iter()
                .zip(&inputs.tensors)
                .try_for_each(|(buffer, tensor)| send(context, buffer, &tensor.data))?;
        }
        sets.push(Buffers { inputs: made, output: allocate("output", spec.output_tensor().bytes())? });
    }
    Ok(sets)
}

/// Sends bytes in slices, so that the staging memory stays small.
fn send(context: &Context, buffer: &wgpu::Buffer, data: &[u8]) -> Result<(), KernelError> {
    let mut offset = 0;
    for slice in data.chunks(usize::try_from(SLICE).unwrap_or(usize::MAX)) {
        let padded;
        let bytes = if slice.len().is_multiple_of(4) {
            slice
        } else {
            padded = [slice, &[0; 3]].concat();
            &padded[..slice.len().next_multiple_of(4)]
        };
        context.queue.write_buffer(buffer, offset, bytes);
        context.finish(context.queue.submit([]))?;
        offset += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    }
    Ok(())
}

fn copy_all(context: &Context, from: &[wgpu::Buffer], to: &[wgpu::Buffer]) -> Result<(), KernelError> {
    let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    for (from, to) in from.iter().zip(to) {
        encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
    }
    context.finish(context.queue.submit([encoder.finish()]))
}

pub fn pipeline(context: &Context, shader: &Shader) -> Result<wgpu::ComputePipeline, KernelError> {
    let refused = |log: String| KernelError::Compile { kernel: shader.name.to_owned(), log };
    let source = shader.wgsl().map_err(refused)?;
    let filters = [ErrorFilter::Validation, ErrorFilter::Internal, ErrorFilter::OutOfMemory];
    let made = guarded(&context.device, &filters, || {
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(shader.name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        };
        // SAFETY: every index in the shaders is below the length of its buffer by the sizes checked when they were planned, or
        // guarded in the shader; loops end at sizes that don't change.
        let module = unsafe {
            context.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        };
        context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(shader.name),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..wgpu::PipelineCompilationOptions::default()
            },
            cache: None,
        })
    });
    made.map_err(|error| refused(error.to_string()))
}

fn dispatch(
    context: &Context,
    pipeline: &wgpu::ComputePipeline,
    (set, scratch): (&Buffers, &[wgpu::Buffer]),
    (slots, part): (&[Slot], &Part),
) -> Dispatch {
    let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
        .zip(slots.iter().zip(&part.ranges))
        .filter_map(|(binding, (slot, range))| {
            let buffer = match slot {
                Slot::Input(at) => set.inputs.get(*at)?,
                Slot::Output => &set.output,
                Slot::Scratch(at) => scratch.get(*at)?,
            };
            let size = wgpu::BufferSize::new(range.end - range.start);
            let bound = wgpu::BufferBinding { buffer, offset: range.start, size };
            Some(wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(bound) })
        })
        .collect();
    let bindings = context.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    Dispatch { pipeline: pipeline.clone(), bindings, groups: part.groups }
}
