//! One source with its books: reads, books, and hands over what became of it.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use crate::{
    ChannelReading, Clock, Domain, Ledger, Nanos, Observed, PowerError, PowerSource, Reading, Sample, chain,
    lanes::Tick,
    lateness::{Lateness, LatenessLog},
    observed::Pace,
    ring::Ring,
    sampler::State,
    watch::Watch,
};

/// Samples that wait to be drained: half an hour of ten domains at 10 Hz. Beyond it the oldest go; what they booked
/// stays in those that follow.
const CAPACITY: usize = 1 << 18;

/// Channel readings that wait to be drained: half a day of thirty channels.
const CHANNEL_CAPACITY: usize = 1 << 20;

/// What stands beside power changes slowly, and some of it costs a call each.
const CHANNEL_PERIOD: Nanos = Nanos::from_millis(1000);

/// What was read and waits to be drained.
pub struct Outbox {
    /// Of the domains.
    pub samples: Ring<Sample>,
    /// Of the channels.
    pub channels: Ring<ChannelReading>,
}

impl Outbox {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { samples: Ring::new(CAPACITY), channels: Ring::new(CHANNEL_CAPACITY) }
    }
}

/// Counts of readings and time.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Whether it reads.
    pub state: State,
    /// Readings of the whole source.
    pub reads: u64,
    /// Deadlines that had passed when the thread woke.
    pub missed_deadlines: u64,
    /// Time spent reading.
    pub read_time: Nanos,
}

pub struct Engine {
    source: Box<dyn PowerSource>,
    clock: Box<dyn Clock>,
    ledgers: Vec<Ledger>,
    readings: Vec<Reading>,
    samples: Vec<Sample>,
    channels: Vec<ChannelReading>,
    channels_at: Option<Nanos>,
    read_at: Nanos,
    watch: Watch,
    account: Account,
    lateness: LatenessLog,
    /// The deadline that is waited for.
    next: u64,
}

impl Engine {
    /// Over a source whose first deadline is `first_tick`. Nothing is read yet.
    pub fn new(source: Box<dyn PowerSource>, clock: Box<dyn Clock>, period: Nanos, first_tick: u64) -> Self {
        let (domains, bookings): (Vec<Domain>, Vec<_>) = source.domains().iter().cloned().unzip();
        Self {
            source,
            clock,
            ledgers: bookings.into_iter().map(|booking| Ledger::every(period, booking)).collect(),
            readings: Vec::with_capacity(domains.len()),
            samples: Vec::with_capacity(domains.len()),
            channels: Vec::new(),
            channels_at: None,
            read_at: Nanos::default(),
            watch: Watch::over(&domains),
            account: Account::default(),
            lateness: LatenessLog::default(),
            next: first_tick,
        }
    }

    /// The first reading, which must be possible.
    pub fn begin(&mut self, out: &Outbox) -> Result<(), PowerError> {
        self.read_source(out)?;
        self.read_channels(out);
        Ok(())
    }

    /// A reading on schedule; none before its first deadline.
    pub fn scheduled(&mut self, tick: Tick, out: &Outbox) {
        if tick.number < self.next || self.account.state != State::Running {
            return;
        }
        self.lateness.note(Instant::now().saturating_duration_since(tick.deadline));
        self.account.missed_deadlines += tick.number - self.next;
        self.next = tick.number + 1;
        self.step(out);
        self.step_channels(out);
    }

    /// A reading out of schedule; when it was.
    pub fn mark(&mut self, out: &Outbox) -> Nanos {
        let before = self.clock.now();
        self.step(out);
        before.midpoint(self.clock.now())
    }

    /// Reads without booking, to see how fast sensors are; whether that would show more.
    pub fn probe(&mut self) -> bool {
        let wanted = self.wants_probe();
        if wanted {
            self.guarded(Self::read_probe);
        }
        wanted
    }

    /// Whether a burst of readings would show more of the sensors.
    pub fn wants_probe(&self) -> bool {
        self.account.state == State::Running && self.watch.wants_probe()
    }

    /// Takes a last reading, unless it ended before.
    pub fn finish(&mut self, out: &Outbox) {
        if self.account.state != State::Running {
            return;
        }
        self.step(out);
        self.step_channels(out);
        self.samples.extend((0..).zip(&mut self.ledgers).filter_map(|(domain, ledger)| ledger.close(domain)));
        out.samples.push(&mut self.samples);
        if self.account.state == State::Running {
            self.account.state = State::Stopped;
        }
    }

    /// What was counted, and how late readings were.
    pub fn account(&self) -> (Account, Option<Lateness>) {
        (self.account.clone(), self.lateness.told())
    }

    /// What a reader of the samples should know.
    pub fn flags(&self, domains: &[Domain]) -> Vec<String> {
        let noticed = self.watch.flags(domains, &self.ledgers);
        self.source.flags().into_iter().chain(noticed).collect()
    }

    /// By domain: what readings showed of its sensor.
    pub fn observed(&self) -> Vec<Observed> {
        self.watch.observed()
    }

    fn step(&mut self, out: &Outbox) {
        self.guarded(|engine| engine.read_source(out));
    }

    /// Reads the channels when they are due. A mark doesn't: it stands for a window's edge.
    fn step_channels(&mut self, out: &Outbox) {
        if self.channels_at.is_none_or(|last| self.read_at - last >= CHANNEL_PERIOD) {
            self.guarded(|engine| {
                engine.read_channels(out);
                Ok(())
            });
        }
    }

    fn guarded(&mut self, read: impl FnOnce(&mut Self) -> Result<(), PowerError>) {
        if self.account.state != State::Running {
            return;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| read(self)));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.account.state = State::Failed(chain(&error)),
            Err(payload) => {
                self.account.state = State::Failed(format!("the reader panicked: {}", said(&*payload)));
            }
        }
    }

    fn read_source(&mut self, out: &Outbox) -> Result<(), PowerError> {
        let (before, outcome) = self.read_all();
        self.read_at = before;
        self.account.reads += 1;
        self.watch.look(&*self.clock, before, &mut self.ledgers);
        self.watch.learn(Pace::Scheduled, &self.readings, &mut self.ledgers);
        for reading in &self.readings {
            if let Some(ledger) = self.ledgers.get_mut(usize::from(reading.domain)) {
                self.samples.push(ledger.enter(reading));
            }
        }
        self.watch.check(before, &self.ledgers);
        out.samples.push(&mut self.samples);
        outcome
    }

    fn read_probe(&mut self) -> Result<(), PowerError> {
        let (_, outcome) = self.read_all();
        self.watch.learn(Pace::Probe, &self.readings, &mut self.ledgers);
        outcome
    }

    /// One reading of everything; when it began.
    fn read_all(&mut self) -> (Nanos, Result<(), PowerError>) {
        self.readings.clear();
        let before = self.clock.now();
        let outcome = self.source.read(&*self.clock, &mut self.readings);
        let after = self.readings.last().map_or(before, |reading| reading.after);
        self.account.read_time = self.account.read_time + (after - before);
        (before, outcome)
    }

    fn read_channels(&mut self, out: &Outbox) {
        if self.source.channels().is_empty() {
            return;
        }
        let before = self.clock.now();
        self.source.read_channels(&*self.clock, &mut self.channels);
        self.account.read_time = self.account.read_time + (self.clock.now() - before);
        self.channels_at = Some(before);
        out.channels.push(&mut self.channels);
    }
}

fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
