use std::{collections::VecDeque, sync::Arc};

use kernels_core::{
    Activations, ClockSource, Host, ImplId, Inputs, KernelError, KernelSpec, POISON_BYTE, Prepared,
    SystemHost, Ticket, Timing,
};
use rayon::{ThreadPool, prelude::*};

use crate::{
    buffer::Buffer,
    kernels::{Compute, INT8_ACTIVATIONS, Launch},
    nibbles::BLOCK,
};

/// Inputs and output of one launch.
struct Set {
    inputs: Vec<Buffer>,
    output: Buffer,
}

/// A kernel with its sets of buffers. A batch runs as it is submitted.
pub(crate) struct CpuKernel {
    launch: Launch,
    sets: Vec<Set>,
    next: usize,
    pool: Arc<ThreadPool>,
    implementation: ImplId,
    submitted: u64,
    done: VecDeque<(Ticket, Timing)>,
    /// What is written over the caches.
    flushing: Vec<u64>,
}

impl CpuKernel {
    pub fn new(
        (launch, implementation): (Launch, ImplId),
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        pool: Arc<ThreadPool>,
    ) -> Result<Self, KernelError> {
        let set = || {
            let copies = inputs.tensors.iter().map(|tensor| Buffer::of(&tensor.spec.name, &tensor.data));
            let output = Buffer::filled("out", spec.output_tensor().bytes(), POISON_BYTE)?;
            Ok::<_, KernelError>(Set { inputs: copies.collect::<Result<_, _>>()?, output })
        };
        let sets = (0..rotate.max(1)).map(|_| set()).collect::<Result<_, _>>()?;
        Ok(Self {
            launch,
            sets,
            next: 0,
            pool,
            implementation,
            submitted: 0,
            done: VecDeque::new(),
            flushing: Vec::new(),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ns, 104 days")]
const fn real(span: i64) -> f64 {
    span as f64
}

impl Prepared for CpuKernel {
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
        let (mut next, pool) = (self.next, Arc::clone(&self.pool));
        let began = SystemHost.now_ns();
        let sets = &mut self.sets;
        let mut each = |launch: &mut Compute<'_>| {
            for _ in 0..launches {
                let Set { inputs, output } = &mut sets[next];
                launch(inputs, output)?;
                next = (next + 1) % sets.len();
            }
            Ok(())
        };
        match &mut self.launch {
            Launch::Here(launch) => each(launch),
            Launch::Pooled(launch) => pool.install(|| each(launch)),
        }?;
        let host_ns = real(SystemHost.now_ns() - began);
        self.next = next;
        let ticket = Ticket(self.submitted);
        self.submitted += 1;
        self.done
            .push_back((ticket, Timing { launches, device_ns: None, host_ns, clock: ClockSource::Host }));
        Ok(ticket)
    }

    fn is_synchronous(&self) -> bool {
        true
    }

    fn wait(&mut self, ticket: Ticket) -> Result<Timing, KernelError> {
        match self.done.iter().position(|(done, _)| *done == ticket).and_then(|at| self.done.remove(at)) {
            Some((_, timing)) => Ok(timing),
            None => Err(KernelError::Call {
                call: "wait".to_owned(),
                reason: format!("no batch has ticket {}", ticket.0),
            }),
        }
    }

    /// Every thread writes its part, so that the caches of each core are emptied too.
    fn flush(&mut self, bytes: u64) -> Result<bool, KernelError> {
        let words = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        if self.flushing.len() < words {
            let more = words - self.flushing.len();
            self.flushing.try_reserve_exact(more).map_err(|_| KernelError::OutOfMemory {
                what: "what empties the caches".to_owned(),
                bytes,
            })?;
            self.flushing.resize(words, 0);
        }
        let (pool, flushing) = (Arc::clone(&self.pool), &mut self.flushing);
        pool.install(|| {
            flushing.par_chunks_mut(1 << 13).for_each(|part| part.iter_mut().for_each(|word| *word += 1));
        });
        Ok(true)
    }

    fn poison(&mut self) -> Result<(), KernelError> {
        self.sets.iter_mut().for_each(|set| set.output.bytes_mut().fill(POISON_BYTE));
        Ok(())
    }

    fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
        let last = (self.next + self.sets.len() - 1) % self.sets.len();
        Ok(self.sets[last].output.bytes().to_vec())
    }

    fn impl_id(&self) -> ImplId {
        self.implementation.clone()
    }

    fn activations(&self) -> Activations {
        if self.implementation.name == INT8_ACTIVATIONS {
            Activations::Int8 { block: BLOCK }
        } else {
            Activations::AsGiven
        }
    }
}
