use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    ChannelInfo, ChannelReading, Clock, Domain, Lateness, Nanos, Observed, PowerError, PowerSource, Sample,
    Speed,
    engine::{Engine, Outbox},
    lanes::{Place, Seat, Tick, first_tick, join},
};

/// How long sensors are read fast at the start, to see how often they renew their values, and how fast. A source that is
/// read about as fast on schedule needs none of it.
const PROBE: Duration = Duration::from_millis(350);
const PROBED_PERIOD: Duration = Duration::from_millis(5);

/// A source whose first reading took longer is read on a thread of its own.
const LONG_READING: Duration = Duration::from_millis(5);

const PERIODS: std::ops::RangeInclusive<i64> = 100_000..=3_600_000_000_000;

/// Reads one source at a fixed rate on a background thread, so that a busy event loop loses no samples. Samplers with the
/// same period share the thread, unless their source may have them wait.
pub struct Sampler {
    shared: Arc<Shared>,
    domains: Vec<Domain>,
    channels: Vec<ChannelInfo>,
    name: &'static str,
    period: Nanos,
    place: Mutex<Option<Place>>,
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
    /// How late readings on schedule began; None before the first.
    pub lateness: Option<Lateness>,
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
    out: Outbox,
    probing: AtomicBool,
    probed: Instant,
}

impl Sampler {
    /// Reads `source` once, then every `period`: at multiples of it, the first of them half a period from now or later.
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
        let domains = source.domains().iter().map(|(domain, _)| domain.clone()).collect();
        let channels = source.channels().to_vec();
        let speed = source.speed();
        let span = Duration::from_nanos(period.0.unsigned_abs());
        let began = Instant::now();
        let mut engine = Engine::new(source, Box::new(clock), period, first_tick(span, began + span / 2));
        let out = Outbox::new();
        engine.begin(&out)?;
        let speed = if began.elapsed() > LONG_READING { Speed::Waits } else { speed };
        let shared = Arc::new(Shared {
            probing: AtomicBool::new(span > PROBED_PERIOD && engine.wants_probe()),
            engine: Mutex::new(engine),
            out,
            probed: began + PROBE,
        });
        let seat: Arc<dyn Seat> = Arc::<Shared>::clone(&shared);
        let place = join(span, speed, name, seat).map_err(|source| PowerError::Thread { source })?;
        Ok(Self { shared, domains, channels, name, period, place: Mutex::new(Some(place)) })
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

    /// Everything read since the last call. Never waits for a reading.
    pub fn drain(&self) -> Vec<Sample> {
        self.drain_with(<[Sample]>::to_vec)
    }

    /// The same, handed to `take` without being copied.
    pub fn drain_with<R>(&self, take: impl FnOnce(&[Sample]) -> R) -> R {
        self.shared.out.samples.drain(take)
    }

    /// What is read beside power, in the order that [`ChannelReading::channel`] counts.
    pub fn channels(&self) -> &[ChannelInfo] {
        &self.channels
    }

    /// Every channel reading since the last call; there is one a second, or a period where that is longer.
    pub fn drain_channels(&self) -> Vec<ChannelReading> {
        self.shared.out.channels.drain(<[ChannelReading]>::to_vec)
    }

    /// Reads once now, out of schedule, and returns when. Reads nothing once the sampler has ended.
    pub fn mark(&self) -> Nanos {
        self.shared.engine().mark(&self.shared.out)
    }

    /// How it fares.
    pub fn status(&self) -> SamplerStatus {
        let engine = self.shared.engine();
        let (account, lateness) = engine.account();
        SamplerStatus {
            state: account.state,
            reads: account.reads,
            missed_deadlines: account.missed_deadlines,
            lateness,
            read_time: account.read_time,
            dropped: self.shared.out.samples.dropped(),
            flags: engine.flags(&self.domains),
            observed: engine.observed(),
        }
    }

    /// Leaves the thread, which ends with the last that does, and takes a last reading. What was read stays to be drained.
    /// Does nothing the second time.
    pub fn stop(&self) {
        let mut place = lock(&self.place);
        if let Some(place) = place.take() {
            place.leave();
        }
        self.shared.engine().finish(&self.shared.out);
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
}

impl Seat for Shared {
    fn tick(&self, tick: Tick) {
        self.engine().scheduled(tick, &self.out);
    }

    fn probe(&self) -> bool {
        let more =
            self.probing.load(Ordering::Relaxed) && Instant::now() < self.probed && self.engine().probe();
        self.probing.store(more, Ordering::Relaxed);
        more
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
