use std::{collections::VecDeque, rc::Rc, time::Instant};

use kernels_core::{
    ClockSource, ImplId, Inputs, KernelError, KernelSpec, POISON_BYTE, Prepared, Ticket, Timing,
};

use crate::{
    gpu::{Gpu, caught, failed},
    plan::{Plan, Slot},
};

/// Launches that a graph holds at least, so that starting one costs little per launch.
const LEAST_IN_GRAPH: usize = 16;

/// How a kernel is made ready.
pub enum Recipe {
    /// The driver's own copy.
    Memcpy,
    /// The vendor's matrix product.
    Product,
    /// Own kernels.
    Own(Plan),
}

/// What a launch does.
enum Work<G: Gpu> {
    Memcpy,
    Product(G::Product),
    Own(Vec<Launch<G::Function>>),
}

/// An own kernel, ready to be launched.
struct Launch<F> {
    function: F,
    arguments: Vec<Slot>,
    grid: [u32; 3],
    block: u32,
}

/// The buffers of one set.
struct Buffers<M> {
    inputs: Vec<M>,
    output: M,
}

/// A batch on its way.
struct Flight<E> {
    ticket: Ticket,
    launches: u32,
    started: Instant,
    begin: E,
    end: E,
}

/// A kernel with its buffers on a GPU.
pub struct OnGpu<G: Gpu> {
    // Dropped in this order: what is on its way, then what it runs, then what that works on.
    flights: VecDeque<Flight<G::Event>>,
    graph: Option<G::Graph>,
    work: Work<G>,
    sets: Vec<Buffers<G::Memory>>,
    scratch: Vec<G::Memory>,
    /// What is written to empty the caches, and how long it is.
    flushing: Option<(u64, G::Memory)>,
    gpu: Rc<G>,
    id: ImplId,
    output_bytes: usize,
    next_set: usize,
    last_set: usize,
    next_ticket: u64,
    last_done: Option<Instant>,
}

impl<G: Gpu> OnGpu<G> {
    /// Makes buffers, compiles or tunes, and poisons the outputs.
    ///
    /// # Errors
    /// `OutOfMemory`, `Compile`, or what the driver says.
    pub fn new(
        gpu: Rc<G>,
        (spec, inputs, rotate): (&KernelSpec, &Inputs, usize),
        recipe: Recipe,
        id: ImplId,
    ) -> Result<Self, KernelError> {
        let sets = buffers(gpu.as_ref(), (spec, inputs, rotate.max(1)))?;
        let first = sets.first().ok_or_else(|| failed("prepare", "there are no buffers"))?;
        let mut scratch = Vec::new();
        let (work, chosen) = match recipe {
            Recipe::Memcpy => (Work::Memcpy, Vec::new()),
            Recipe::Product => {
                let (product, chosen) = gpu.product(spec, &first.inputs, &first.output)?;
                (Work::Product(product), chosen)
            }
            Recipe::Own(plan) => {
                for &bytes in &plan.scratch {
                    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                    scratch.push(gpu.allocate("partial results", bytes)?);
                }
                let launches = plan.steps.into_iter().map(|step| {
                    let function = gpu.function(&step)?;
                    Ok(Launch { function, arguments: step.arguments, grid: step.grid, block: step.block })
                });
                (Work::Own(launches.collect::<Result<_, KernelError>>()?), plan.details)
            }
        };
        let mut prepared = Self {
            flights: VecDeque::new(),
            graph: None,
            work,
            sets,
            scratch,
            flushing: None,
            gpu,
            id: chosen.iter().fold(id, |id, (key, value)| id.with(key, value)),
            output_bytes: spec.output_tensor().bytes(),
            next_set: 0,
            last_set: 0,
            next_ticket: 0,
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
                self.gpu.copy(input, &set.output, self.output_bytes)
            }
            Work::Product(product) => self.gpu.multiply(product, &set.inputs, &set.output),
            Work::Own(launches) => launches.iter().try_for_each(|launch| {
                let arguments: Option<Vec<&G::Memory>> =
                    launch.arguments.iter().map(|slot| self.memory(set, *slot)).collect();
                let arguments = arguments.ok_or_else(|| failed("submit", "there is no such buffer"))?;
                self.gpu.launch(&launch.function, launch.grid, launch.block, &arguments)
            }),
        }
    }

    fn memory<'a>(&'a self, set: &'a Buffers<G::Memory>, slot: Slot) -> Option<&'a G::Memory> {
        match slot {
            Slot::Input(at) => set.inputs.get(at),
            Slot::Output => Some(&set.output),
            Slot::Scratch(at) => self.scratch.get(at),
        }
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
        if self.graph.is_some() {
            self.single(&mut left, |this, left| this.next_set == 0 && left >= in_graph)?;
        }
        while left >= in_graph {
            let Some(graph) = &self.graph else { break };
            self.gpu.replay(graph)?;
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
            self.graph = self.gpu.capture(&start)?;
        }
        Ok(())
    }
}

impl<G: Gpu> Prepared for OnGpu<G> {
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
        caught("submit", || {
            self.gpu.enter()?;
            self.make_graph(launches)?;
            let started = Instant::now();
            let begin = self.gpu.mark()?;
            self.start(launches)?;
            let end = self.gpu.mark()?;
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
            self.gpu.enter()?;
            self.gpu.wait(&flight.end)?;
            let done = Instant::now();
            let began = self.last_done.map_or(flight.started, |last| last.max(flight.started));
            self.last_done = Some(done);
            Ok(Timing {
                launches: flight.launches,
                device_ns: Some(self.gpu.between(&flight.begin, &flight.end)?),
                host_ns: done.duration_since(began).as_secs_f64() * 1e9,
                clock: ClockSource::Event,
            })
        })
    }

    fn flush(&mut self, bytes: u64) -> Result<bool, KernelError> {
        caught("flush", || {
            self.gpu.enter()?;
            let kept = self.flushing.take().filter(|(written, _)| *written == bytes);
            let (_, memory) = if let Some(kept) = kept {
                self.flushing.insert(kept)
            } else {
                let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
                let made = self.gpu.allocate("what empties the caches", wanted)?;
                self.flushing.insert((bytes, made))
            };
            self.gpu.fill(memory, 0)?;
            Ok(true)
        })
    }

    fn poison(&mut self) -> Result<(), KernelError> {
        caught("poison", || {
            self.gpu.enter()?;
            self.sets.iter().try_for_each(|set| self.gpu.fill(&set.output, POISON_BYTE))
        })
    }

    fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
        let set = self.sets.get(self.last_set).ok_or_else(|| failed("readOutput", "there is no output"))?;
        caught("readOutput", || {
            self.gpu.enter()?;
            self.gpu.read(&set.output, self.output_bytes)
        })
    }

    fn impl_id(&self) -> ImplId {
        self.id.clone()
    }
}

/// Every set's buffers: the first is sent from the host, the others are copied from it on the device.
fn buffers<G: Gpu>(
    gpu: &G,
    (spec, inputs, rotate): (&KernelSpec, &Inputs, usize),
) -> Result<Vec<Buffers<G::Memory>>, KernelError> {
    let mut sets: Vec<Buffers<G::Memory>> = Vec::new();
    for _ in 0..rotate {
        let made: Vec<G::Memory> = match sets.first() {
            Some(first) => {
                let pairs = first.inputs.iter().zip(&inputs.tensors);
                pairs
                    .map(|(memory, tensor)| gpu.duplicate(&tensor.spec.name, memory))
                    .collect::<Result<_, _>>()?
            }
            None => inputs
                .tensors
                .iter()
                .map(|tensor| gpu.upload(&tensor.spec.name, &tensor.data))
                .collect::<Result<_, _>>()?,
        };
        let output = gpu.allocate("output", spec.output_tensor().bytes())?;
        sets.push(Buffers { inputs: made, output });
    }
    Ok(sets)
}
