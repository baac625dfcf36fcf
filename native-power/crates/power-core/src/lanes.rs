//! The threads that read on schedule. Samplers of one process with the same period and speed share one, so that a host
//! wakes once for all of them; what may wait for a device has one to itself and delays nobody.
//!
//! Deadlines are absolute and the same multiples of the period for everybody. One that has passed when a round of readings
//! ends is skipped.

use std::{
    io,
    sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::Speed;

/// Time between two readings of a burst, unless reading itself takes a fifth of it.
const PROBE_PAUSE: Duration = Duration::from_millis(1);
const PROBE_SHARE: u32 = 4;

/// What deadlines count from.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Threads that others may still join.
static SHARED: Mutex<Vec<Arc<Lane>>> = Mutex::new(Vec::new());

/// One deadline.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// Counts the periods since the epoch.
    pub number: u64,
    /// When it is.
    pub deadline: Instant,
}

/// What a thread reads.
pub trait Seat: Send + Sync {
    /// A deadline has come. Must not panic.
    fn tick(&self, tick: Tick);

    /// Reads once more to see how fast sensors are; whether that should go on.
    fn probe(&self) -> bool;
}

/// A place on a thread, until it is left.
pub struct Place {
    lane: Arc<Lane>,
    id: u64,
}

struct Lane {
    period: Duration,
    speed: Speed,
    state: Mutex<State>,
    wake: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    seats: Vec<(u64, Arc<dyn Seat>)>,
    next_id: u64,
    changes: u64,
    ended: bool,
}

enum Woken {
    Due,
    Changed(u64, Vec<Arc<dyn Seat>>),
    Ended,
}

/// The first deadline at `from` or later.
pub fn first_tick(period: Duration, from: Instant) -> u64 {
    let since = u64::try_from(from.saturating_duration_since(*EPOCH).as_nanos()).unwrap_or(u64::MAX);
    since.div_ceil(nanos(period))
}

/// Has `seat` read at every deadline from now on. `name` is the thread's where it has one to itself.
pub fn join(period: Duration, speed: Speed, name: &str, seat: Arc<dyn Seat>) -> io::Result<Place> {
    if speed == Speed::Waits {
        return start(period, speed, format!("power {name}"), seat);
    }
    let mut shared = lock(&SHARED);
    if let Some(lane) = shared.iter().find(|lane| lane.period == period && lane.speed == speed) {
        let id = lane.add(seat);
        return Ok(Place { lane: Arc::clone(lane), id });
    }
    let about = if speed == Speed::Bus { " bus" } else { "" };
    let place = start(period, speed, format!("power {period:?}{about}"), seat)?;
    shared.push(Arc::clone(&place.lane));
    Ok(place)
}

fn start(period: Duration, speed: Speed, name: String, seat: Arc<dyn Seat>) -> io::Result<Place> {
    let lane = Arc::new(Lane {
        period,
        speed,
        state: Mutex::default(),
        wake: Condvar::new(),
        thread: Mutex::new(None),
    });
    let id = lane.add(seat);
    let running = Arc::clone(&lane);
    let thread = thread::Builder::new().name(name).spawn(move || running.run())?;
    *lock(&lane.thread) = Some(thread);
    Ok(Place { lane, id })
}

impl Place {
    /// Leaves. The last to leave ends the thread and waits until it has; of the others, a reading may still be under way.
    pub fn leave(self) {
        let lane = &self.lane;
        let ended = {
            let mut shared = lock(&SHARED);
            let mut state = lock(&lane.state);
            state.seats.retain(|(id, _)| *id != self.id);
            state.changes += 1;
            state.ended = state.seats.is_empty();
            if state.ended {
                shared.retain(|other| !Arc::ptr_eq(other, lane));
            }
            state.ended
        };
        lane.wake.notify_all();
        let thread = lock(&lane.thread).take_if(|_| ended);
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Lane {
    fn add(&self, seat: Arc<dyn Seat>) -> u64 {
        let mut state = lock(&self.state);
        let id = state.next_id;
        state.next_id += 1;
        state.changes += 1;
        state.seats.push((id, seat));
        self.wake.notify_all();
        id
    }

    fn run(&self) {
        let (mut seats, mut probing, mut changes) = (Vec::new(), Vec::new(), 0);
        let mut next = first_tick(self.period, Instant::now());
        let mut probe_at = Instant::now();
        loop {
            let deadline = self.deadline(next);
            let probes = !probing.is_empty() && probe_at < deadline;
            match self.wait(if probes { probe_at } else { deadline }, changes) {
                Woken::Ended => return,
                Woken::Changed(now, present) => {
                    changes = now;
                    probing.clone_from(&present);
                    seats = present;
                    probe_at = Instant::now() + PROBE_PAUSE;
                }
                Woken::Due if probes => {
                    let before = Instant::now();
                    probing.retain(|seat: &Arc<dyn Seat>| seat.probe());
                    let after = Instant::now();
                    probe_at = after + PROBE_PAUSE.max((after - before) * PROBE_SHARE);
                }
                Woken::Due => {
                    for seat in &seats {
                        seat.tick(Tick { number: next, deadline });
                    }
                    next = first_tick(self.period, Instant::now()).max(next + 1);
                }
            }
        }
    }

    fn deadline(&self, number: u64) -> Instant {
        *EPOCH + Duration::from_nanos(nanos(self.period).saturating_mul(number))
    }

    fn wait(&self, until: Instant, changes: u64) -> Woken {
        let mut state = lock(&self.state);
        loop {
            if state.ended {
                return Woken::Ended;
            }
            if state.changes != changes {
                let seats = state.seats.iter().map(|(_, seat)| Arc::clone(seat)).collect();
                return Woken::Changed(state.changes, seats);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Woken::Due;
            }
            (state, _) = self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn nanos(period: Duration) -> u64 {
    u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
