use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    ChannelInfo, ChannelReading, Clock, Domain, Ledger, Nanos, Observed, PowerError, PowerSource, Reading,
    Sample, chain, observed::Pace, watch::Watch,
};

/// Samples that wait to be drained: half an hour of ten domains at 10 Hz. Beyond it the oldest go; what they booked
/// stays in those that follow.
const CAPACITY: usize = 1 << 18;

/// Channel readings that wait to be drained: half a day of thirty channels.
const CHANNEL_CAPACITY: usize = 1 << 20;

/// What stands beside power changes slowly, and some of it costs a call each.
const CHANNEL_PERIOD: Nanos = Nanos::from_millis(1000);

/// How long sensors are read fast at the start, to see how often they renew their values, and how fast: never so that
/// reading takes more than a fifth of the time. A source that is read about as fast on schedule needs none of it.
const PROBE: Duration = Duration::from_millis(350);
const PROBE_PAUSE: Duration = Duration::from_millis(1);
const PROBE_SHARE: u32 = 4;
const PROBED_PERIOD: Duration = Duration::from_millis(5);

const PERIODS: std::ops::RangeInclusive<i64> = 100_000..=3_600_000_000_000;

/// Reads one source at a fixed rate on a thread of its own, so that a busy event loop loses no samples.
pub struct Sampler {
    shared: Arc<Shared>,
    domains: Vec<Domain>,
    channels: Vec<ChannelInfo>,
    name: &'static str,
    period: Nanos,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How a sampler fares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplerStatus {
    /// Whether it reads, has been stopped, or broke down.
    pub state: State,
    /// Readings of the whole source.
    pub reads: u64,
    /// Deadlines that had passed when the thread woke.
    pub missed_deadlines: u64,
    /// Time spent reading.
    pub read_time: Nanos,
    /// Samples that were never drained and had to make room.
    pub dropped: u64,
    /// What a reader of the samples should know: the source's own flags; `stale:` before the id of every counter that
    /// stood still for so long that it can't have been counting, `stale->gauge:` where the power beside it says so;
    /// `cross-check:` before that of every counter that disagrees with the power beside it; `suspended` when the host
    /// slept, `clock_step` when its wall clock was set.
    pub flags: Vec<String>,
    /// By domain: what readings showed of its sensor.
    pub observed: Vec<Observed>,
}

/// What a sampler is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Reading.
    #[default]
    Running,
    /// Stopped on request, after a last reading.
    Stopped,
    /// Ended by itself, with the reason.
    Failed(String),
}

struct Shared {
    engine: Mutex<Engine>,
    stopping: Mutex<bool>,
    wake: Condvar,
}

struct Engine {
    source: Box<dyn PowerSource>,
    clock: Box<dyn Clock>,
    ledgers: Vec<Ledger>,
    readings: Vec<Reading>,
    samples: VecDeque<Sample>,
    watch: Watch,
    channels: Channels,
    status: SamplerStatus,
}

/// Readings beside power.
#[derive(Default)]
struct Channels {
    last: Option<Nanos>,
    buffer: Vec<ChannelReading>,
    readings: VecDeque<ChannelReading>,
}

impl Sampler {
    /// Reads `source` once, then every `period`.
    pub fn start(
        source: Box<dyn PowerSource>,
        clock: impl Clock + 'static,
        period: Nanos,
    ) -> Result<Self, PowerError> {
        if !PERIODS.contains(&period.0) {
            return Err(PowerError::Period { period_ns: period.0 });
        }
        let name = source.name();
        if let Some(most) = source.slowest_period().filter(|most| period > *most) {
            return Err(PowerError::TooRare { source_name: name, period_ns: period.0, most_ns: most.0 });
        }
        let (domains, bookings): (Vec<_>, Vec<_>) = source.domains().iter().cloned().unzip();
        let channels = source.channels().to_vec();
        let mut engine = Engine {
            source,
            clock: Box::new(clock),
            ledgers: bookings.into_iter().map(|booking| Ledger::every(period, booking)).collect(),
            readings: Vec::with_capacity(domains.len()),
            samples: VecDeque::new(),
            watch: Watch::over(&domains),
            channels: Channels::default(),
            status: SamplerStatus::default(),
        };
        engine.read_source()?;
        engine.read_channels();
        let shared = Arc::new(Shared {
            engine: Mutex::new(engine),
            stopping: Mutex::new(false),
            wake: Condvar::new(),
        });
        let thread = thread::Builder::new()
            .name(format!("power {name}"))
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.run(Duration::from_nanos(period.0.unsigned_abs()))
            })
            .map_err(|source| PowerError::Thread { source })?;
        Ok(Self { shared, domains, channels, name, period, thread: Mutex::new(Some(thread)) })
    }

    /// The source's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What is read, in the order that [`Sample::domain`] counts.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// Time between two readings.
    pub const fn period(&self) -> Nanos {
        self.period
    }

    /// Everything read since the last call. Never waits longer than one reading takes.
    pub fn drain(&self) -> Vec<Sample> {
        self.shared.engine().samples.drain(..).collect()
    }

    /// What is read beside power, in the order that [`ChannelReading::channel`] counts.
    pub fn channels(&self) -> &[ChannelInfo] {
        &self.channels
    }

    /// Every channel reading since the last call; there is one a second, or a period where that is longer.
    pub fn drain_channels(&self) -> Vec<ChannelReading> {
        self.shared.engine().channels.readings.drain(..).collect()
    }

    /// Reads once now, out of schedule, and returns when. Reads nothing once the sampler has ended.
    pub fn mark(&self) -> Nanos {
        let mut engine = self.shared.engine();
        let before = engine.clock.now();
        engine.step();
        before.midpoint(engine.clock.now())
    }

    /// How it fares.
    pub fn status(&self) -> SamplerStatus {
        let engine = self.shared.engine();
        let noticed = engine.watch.flags(&self.domains, &engine.ledgers);
        SamplerStatus {
            flags: engine.source.flags().into_iter().chain(noticed).collect(),
            observed: engine.watch.observed(),
            ..engine.status.clone()
        }
    }

    /// Ends the thread and takes a last reading. What was read stays to be drained. Does nothing the second time.
    pub fn stop(&self) {
        *lock(&self.shared.stopping) = true;
        self.shared.wake.notify_all();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
        self.shared.engine().finish();
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn engine(&self) -> MutexGuard<'_, Engine> {
        lock(&self.engine)
    }

    /// Deadlines are absolute, so that one late reading delays no other; those that passed meanwhile are skipped.
    fn run(&self, period: Duration) {
        let mut next = Instant::now() + period;
        let probed = Instant::now() + if period > PROBED_PERIOD { PROBE } else { Duration::ZERO };
        loop {
            self.probe(next.min(probed));
            if !self.wait_until(next) {
                return;
            }
            let mut engine = self.engine();
            engine.step();
            engine.step_channels();
            if engine.status.state != State::Running {
                return;
            }
            next += period;
            let late = Instant::now().saturating_duration_since(next);
            let missed = whole(late, period);
            next += period * missed;
            engine.status.missed_deadlines += u64::from(missed);
        }
    }

    /// Reads fast until `end`, or until that would show nothing more. What is read is watched, not booked.
    fn probe(&self, end: Instant) {
        let mut pause = PROBE_PAUSE;
        while Instant::now() + pause < end && self.wait_until(Instant::now() + pause) {
            let mut engine = self.engine();
            if !engine.watch.wants_probe() || engine.status.state != State::Running {
                return;
            }
            let before = Instant::now();
            engine.guarded(Engine::read_probe);
            pause = PROBE_PAUSE.max(before.elapsed() * PROBE_SHARE);
        }
    }

    /// Sleeps until `deadline`; false when it was woken to stop.
    fn wait_until(&self, deadline: Instant) -> bool {
        let mut stopping = lock(&self.stopping);
        while !*stopping {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            (stopping, _) = self.wake.wait_timeout(stopping, left).unwrap_or_else(PoisonError::into_inner);
        }
        false
    }
}

/// How many periods have wholly passed in `late`.
fn whole(late: Duration, period: Duration) -> u32 {
    let passed = late.as_nanos().checked_div(period.as_nanos()).unwrap_or(0);
    let missed = passed + u128::from(!late.is_zero());
    u32::try_from(missed).unwrap_or(u32::MAX)
}

impl Engine {
    fn step(&mut self) {
        self.guarded(Self::read_source);
    }

    /// Reads the channels when they are due. A mark doesn't: it stands for a window's edge.
    fn step_channels(&mut self) {
        let now = self.clock.now();
        if self.channels.last.is_none_or(|last| now - last >= CHANNEL_PERIOD) {
            self.guarded(|engine| {
                engine.read_channels();
                Ok(())
            });
        }
    }

    fn guarded(&mut self, read: impl FnOnce(&mut Self) -> Result<(), PowerError>) {
        if self.status.state != State::Running {
            return;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| read(self)));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.status.state = State::Failed(chain(&error)),
            Err(payload) => {
                self.status.state = State::Failed(format!("the reader panicked: {}", said(&*payload)));
            }
        }
    }

    fn read_source(&mut self) -> Result<(), PowerError> {
        self.readings.clear();
        let before = self.clock.now();
        let outcome = self.source.read(&*self.clock, &mut self.readings);
        self.status.reads += 1;
        self.status.read_time = self.status.read_time + (self.clock.now() - before);
        self.watch.look(&*self.clock, &mut self.ledgers);
        self.watch.learn(Pace::Scheduled, &self.readings, &mut self.ledgers);
        for reading in &self.readings {
            if let Some(ledger) = self.ledgers.get_mut(usize::from(reading.domain)) {
                self.samples.push_back(ledger.enter(reading));
            }
        }
        self.watch.check(before, &self.ledgers);
        while self.samples.len() > CAPACITY {
            self.samples.pop_front();
            self.status.dropped += 1;
        }
        outcome
    }

    fn read_probe(&mut self) -> Result<(), PowerError> {
        self.readings.clear();
        let before = self.clock.now();
        let outcome = self.source.read(&*self.clock, &mut self.readings);
        self.status.read_time = self.status.read_time + (self.clock.now() - before);
        self.watch.learn(Pace::Probe, &self.readings, &mut self.ledgers);
        outcome
    }

    fn read_channels(&mut self) {
        if self.source.channels().is_empty() {
            return;
        }
        let before = self.clock.now();
        self.source.read_channels(&*self.clock, &mut self.channels.buffer);
        self.status.read_time = self.status.read_time + (self.clock.now() - before);
        self.channels.last = Some(before);
        self.channels.readings.extend(self.channels.buffer.drain(..));
        let beyond = self.channels.readings.len().saturating_sub(CHANNEL_CAPACITY);
        self.channels.readings.drain(..beyond);
    }

    fn finish(&mut self) {
        if self.status.state != State::Running {
            return;
        }
        self.step();
        self.step_channels();
        for (domain, ledger) in (0..).zip(&mut self.ledgers) {
            self.samples.extend(ledger.close(domain));
        }
        if self.status.state == State::Running {
            self.status.state = State::Stopped;
        }
    }
}

fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
