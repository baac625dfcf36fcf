use std::{collections::VecDeque, rc::Rc, time::Instant};

use cudarc::driver::{result, sys};
use kernels_core::{
    ClockSource, ImplId, Inputs, KernelError, KernelSpec, POISON_BYTE, Prepared, Ticket, Timing,
};

use crate::{
    cublaslt::{CublasLt, Matmul},
    driver::{Context, Event, Function, Graph, Memory, driver},
    library::{caught, failed},
    nvrtc::compile,
    plan::{Plan, Slot},
};

/// Launches that a graph holds at least, so that starting one costs little per launch.
const LEAST_IN_GRAPH: usize = 16;

/// What a launch does.
pub enum Work {
    /// The driver's own copy.
    Memcpy,
    /// A matrix product by cuBLASLt.
    Matmul(Box<Matmul>),
    /// Own kernels.
    Own(Vec<Launch>),
}

/// An own kernel, ready to be launched.
pub struct Launch {
    function: Function,
    arguments: Vec<Slot>,
    grid: [u32; 3],
    block: u32,
}

/// The buffers of one set.
struct Buffers {
    inputs: Vec<Memory>,
    output: Memory,
}

/// A batch on its way.
struct Flight {
    ticket: Ticket,
    launches: u32,
    started: Instant,
    begin: Event,
    end: Event,
}

/// A kernel with its buffers on a GPU.
pub struct CudaPrepared {
    // Dropped before the buffers that it uses.
    graph: Option<Graph>,
    work: Work,
    context: Rc<Context>,
    id: ImplId,
    sets: Vec<Buffers>,
    scratch: Vec<Memory>,
    output_bytes: usize,
    next_set: usize,
    last_set: usize,
    next_ticket: u64,
    flights: VecDeque<Flight>,
    last_done: Option<Instant>,
}

/// How a kernel is made ready.
pub enum Recipe {
    /// The driver's own copy.
    Memcpy,
    /// A matrix product by cuBLASLt.
    Matmul(Rc<CublasLt>),
    /// Own kernels, compiled for an architecture.
    Own(Plan, u32),
}

impl CudaPrepared {
    /// Makes buffers, compiles or tunes, and poisons the outputs.
    ///
    /// # Errors
    /// `OutOfMemory`, `Compile`, or what the driver says.
    pub fn new(
        context: Rc<Context>,
        (spec, inputs, rotate): (&KernelSpec, &Inputs, usize),
        recipe: Recipe,
        mut id: ImplId,
    ) -> Result<Self, KernelError> {
        let sets = buffers(&context, (spec, inputs, rotate.max(1)))?;
        let first = sets.first().ok_or_else(|| failed("prepare", "there are no buffers"))?;
        let mut scratch = Vec::new();
        let work = match recipe {
            Recipe::Memcpy => Work::Memcpy,
            Recipe::Matmul(library) => {
                let matmul = Matmul::tuned(&library, spec, &first.inputs, &first.output)?;
                id = matmul.details.iter().fold(id, |id, (key, value)| id.with(key, value));
                Work::Matmul(Box::new(matmul))
            }
            Recipe::Own(plan, architecture) => {
                for &bytes in &plan.scratch {
                    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                    scratch.push(Memory::new(&context, "partial results", bytes)?);
                }
                id = plan.details.iter().fold(id, |id, (key, value)| id.with(key, value));
                Work::Own(load(&context, plan, architecture)?)
            }
        };
        let mut prepared = Self {
            graph: None,
            work,
            context,
            id,
            sets,
            scratch,
            output_bytes: spec.output_tensor().bytes(),
            next_set: 0,
            last_set: 0,
            next_ticket: 0,
            flights: VecDeque::new(),
            last_done: None,
        };
        prepared.poison()?;
        Ok(prepared)
    }

    /// Launches in a graph: all sets, as many times as make enough.
    fn in_graph(&self) -> usize {
        self.sets.len() * LEAST_IN_GRAPH.div_ceil(self.sets.len())
    }

    fn launch(&self, set: usize) -> Result<(), KernelError> {
        let set = self.sets.get(set).ok_or_else(|| failed("submit", "there is no such set of buffers"))?;
        match &self.work {
            Work::Memcpy => {
                let input = set.inputs.first().ok_or_else(|| failed("submit", "there is no input"))?;
                // SAFETY: both buffers are of this length and live until the stream is done.
                unsafe {
                    result::memcpy_dtod_async(
                        set.output.address,
                        input.address,
                        self.output_bytes,
                        self.context.stream,
                    )
                }
                .map_err(driver("cuMemcpyDtoDAsync"))
            }
            Work::Matmul(matmul) => matmul.launch(&set.inputs, &set.output),
            Work::Own(launches) => launches.iter().try_for_each(|launch| {
                let addresses: Option<Vec<sys::CUdeviceptr>> =
                    launch.arguments.iter().map(|slot| self.address(set, *slot)).collect();
                let addresses = addresses.ok_or_else(|| failed("submit", "there is no such buffer"))?;
                launch.function.launch(launch.grid, launch.block, &addresses)
            }),
        }
    }

    fn address(&self, set: &Buffers, slot: Slot) -> Option<sys::CUdeviceptr> {
        match slot {
            Slot::Input(at) => set.inputs.get(at),
            Slot::Output => Some(&set.output),
            Slot::Scratch(at) => self.scratch.get(at),
        }
        .map(|memory| memory.address)
    }

    /// Starts launches one by one until `stop` says so.
    fn single(&mut self, left: &mut usize, stop: impl Fn(&Self, usize) -> bool) -> Result<(), KernelError> {
        while *left > 0 && !stop(self, *left) {
            self.launch(self.next_set)?;
            self.last_set = self.next_set;
            self.next_set = (self.next_set + 1) % self.sets.len();
            *left -= 1;
        }
        Ok(())
    }

    /// Starts a batch: by graphs from a first set to a last one, the rest one by one.
    fn start(&mut self, launches: u32) -> Result<(), KernelError> {
        let mut left = usize::try_from(launches).unwrap_or(usize::MAX);
        let in_graph = self.in_graph();
        self.single(&mut left, |this, left| this.next_set == 0 && left >= in_graph)?;
        while left >= in_graph {
            let Some(graph) = &self.graph else { break };
            graph.launch()?;
            self.last_set = self.sets.len() - 1;
            left -= in_graph;
        }
        self.single(&mut left, |_, _| false)
    }

    /// Makes the graph, where a batch is long enough to use it.
    fn make_graph(&mut self, launches: u32) -> Result<(), KernelError> {
        let in_graph = self.in_graph();
        let long = usize::try_from(launches).is_ok_and(|launches| launches >= 2 * in_graph);
        if long && self.graph.is_none() {
            let start = || (0..in_graph).try_for_each(|at| self.launch(at % self.sets.len()));
            self.graph = Some(Graph::capture(&self.context, start)?);
        }
        Ok(())
    }
}

impl Prepared for CudaPrepared {
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
        caught("submit", || {
            self.context.enter()?;
            self.make_graph(launches)?;
            let (begin, end) = (Event::new()?, Event::new()?);
            let started = Instant::now();
            begin.record(&self.context)?;
            self.start(launches)?;
            end.record(&self.context)?;
            let ticket = Ticket(self.next_ticket);
            self.next_ticket += 1;
            self.flights.push_back(Flight { ticket, launches, started, begin, end });
            Ok(ticket)
        })
    }

    fn wait(&mut self, ticket: Ticket) -> Result<Timing, KernelError> {
        let unknown = || failed("wait", &format!("ticket {} is not the next one in flight", ticket.0));
        if self.flights.front().is_none_or(|flight| flight.ticket != ticket) {
            return Err(unknown());
        }
        let flight = self.flights.pop_front().ok_or_else(unknown)?;
        caught("wait", || {
            self.context.enter()?;
            flight.end.wait()?;
            let done = Instant::now();
            let began = self.last_done.map_or(flight.started, |last| last.max(flight.started));
            self.last_done = Some(done);
            Ok(Timing {
                launches: flight.launches,
                device_ns: Some(flight.end.since(&flight.begin)?),
                host_ns: done.duration_since(began).as_secs_f64() * 1e9,
                clock: ClockSource::Event,
            })
        })
    }

    fn poison(&mut self) -> Result<(), KernelError> {
        caught("poison", || self.sets.iter().try_for_each(|set| set.output.fill(POISON_BYTE)))
    }

    fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
        let set = self.sets.get(self.last_set).ok_or_else(|| failed("readOutput", "there is no output"))?;
        caught("readOutput", || set.output.read(self.output_bytes))
    }

    fn impl_id(&self) -> ImplId {
        self.id.clone()
    }
}

/// Every set's buffers: the first is sent from the host, the others are copied from it on the device.
fn buffers(
    context: &Rc<Context>,
    (spec, inputs, rotate): (&KernelSpec, &Inputs, usize),
) -> Result<Vec<Buffers>, KernelError> {
    let mut sets: Vec<Buffers> = Vec::new();
    for _ in 0..rotate {
        let made: Vec<Memory> = match sets.first() {
            Some(first) => {
                let pairs = first.inputs.iter().zip(&inputs.tensors);
                pairs.map(|(memory, tensor)| memory.copy(&tensor.spec.name)).collect::<Result<_, _>>()?
            }
            None => inputs
                .tensors
                .iter()
                .map(|tensor| Memory::with(context, &tensor.spec.name, &tensor.data))
                .collect::<Result<_, _>>()?,
        };
        let output = Memory::new(context, "output", spec.output_tensor().bytes())?;
        sets.push(Buffers { inputs: made, output });
    }
    Ok(sets)
}

fn load(context: &Rc<Context>, plan: Plan, architecture: u32) -> Result<Vec<Launch>, KernelError> {
    let steps = plan.steps.into_iter().map(|step| {
        let image = compile(step.source.entry, &step.source.text(&step.defines), architecture)?;
        let function = Function::load(context, &image, step.source.entry)?;
        Ok(Launch { function, arguments: step.arguments, grid: step.grid, block: step.block })
    });
    steps.collect()
}
