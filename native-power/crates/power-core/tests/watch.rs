//! What the sampler notices beside the numbers: its sensors' periods, and clocks that don't run on.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use power_core::{
    Booking, Clock, CounterSpec, Domain, Event, GaugeSpec, Joules, Kind, Ledger, Missing, Nanos, PowerError,
    PowerSource, Provenance, Reading, Sampler, Scope, Unobserved, Value, Watts,
};

const HOUR: Nanos = Nanos(3_600_000_000_000);
const DECLARED: Nanos = Nanos::from_millis(10);

fn domain(kind: Kind, what: &str) -> Domain {
    Domain {
        id: format!("gpu:{what}"),
        scope: Scope::Gpu,
        kind,
        provenance: Provenance::Counter,
        in_total: kind == Kind::Counter,
        update_period: DECLARED,
        quantum: Some(0.001),
        scale_error_ratio: None,
        sensing_share: None,
        raw_unit: "mJ",
        note: None,
    }
}

/// A counter of 100 W that is renewed every so many ms, and the power beside it.
struct Scripted {
    domains: Vec<(Domain, Booking)>,
    renewed_ms: i64,
    stands_from: Arc<AtomicI64>,
}

impl Scripted {
    fn new(renewed_ms: i64) -> Self {
        let spec = CounterSpec { max_uj: None, cap_uw: 400_000_000, update_period: DECLARED };
        let gauge = GaugeSpec::new(HOUR, Watts::new(400.0));
        Self {
            domains: vec![
                (domain(Kind::Counter, "energy"), Booking::Counter(spec)),
                (domain(Kind::Gauge, "power"), Booking::Gauge(gauge)),
            ],
            renewed_ms,
            stands_from: Arc::new(AtomicI64::new(i64::MAX)),
        }
    }
}

impl PowerSource for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn provenance(&self) -> Provenance {
        Provenance::Counter
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.domains
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        let at = clock.now();
        let ms = (at.0 / 1_000_000).min(self.stands_from.load(Ordering::SeqCst));
        let uj = u64::try_from(ms / self.renewed_ms * self.renewed_ms * 100_000).unwrap();
        out.push(Reading { domain: 0, before: at, after: at, value: Value::Counter { raw: uj, uj } });
        let value = Value::Power { raw: None, power: Watts::new(100.0) };
        out.push(Reading { domain: 1, before: at, after: at, value });
        Ok(())
    }
}

/// A clock that goes on by a step at each look, and tells of sleep and of the time of day.
#[derive(Clone, Default)]
struct Host {
    now: Arc<AtomicI64>,
    step: i64,
    slept: Arc<AtomicI64>,
    wall: Arc<AtomicI64>,
}

impl Clock for Host {
    fn now(&self) -> Nanos {
        Nanos(self.now.fetch_add(self.step, Ordering::SeqCst))
    }

    fn slept(&self) -> Option<Nanos> {
        Some(Nanos(self.slept.load(Ordering::SeqCst)))
    }

    fn wall_offset(&self) -> Option<Nanos> {
        Some(Nanos(self.wall.load(Ordering::SeqCst)))
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::yield_now();
    }
}

#[test]
fn a_burst_at_the_start_shows_how_often_a_sensor_is_renewed() {
    let host = Host { step: 1_000_000, ..Host::default() };
    let sampler = Sampler::start(Box::new(Scripted::new(40)), host, HOUR).unwrap();
    until("two renewals to be seen", || sampler.status().observed[0].update_period.is_ok());
    let status = sampler.status();
    let period = status.observed[0].update_period.unwrap();
    assert!(
        (30_000_000..=55_000_000).contains(&period.0),
        "{period:?} is what 40 ms look like, not {DECLARED:?}"
    );
    assert_eq!(status.observed[1].update_period, Err(Unobserved::NotChanged));
    assert_eq!(status.reads, 1, "a burst is no reading on schedule");
    assert_eq!(sampler.drain().len(), 2, "and is not recorded");
    sampler.stop();
    let last = sampler.drain();
    assert_eq!(last[0].event, Event::Ok, "what passed meanwhile is booked all the same");
}

#[test]
fn a_source_read_fast_needs_no_burst_to_be_seen_through() {
    let host = Host { step: 1_000_000, ..Host::default() };
    let sampler = Sampler::start(Box::new(Scripted::new(40)), host, Nanos::from_millis(1)).unwrap();
    until("two renewals to be seen", || sampler.status().observed[0].update_period.is_ok());
    let status = sampler.status();
    assert_eq!(status.observed[0].samples, status.reads);
}

#[test]
fn a_sensor_slower_than_declared_widens_what_counts_as_a_gap() {
    let spec = GaugeSpec::new(DECLARED, Watts::new(400.0));
    let read = |ledger: &mut Ledger, ms: i64| {
        let at = Nanos::from_millis(ms);
        let value = Value::Power { raw: None, power: Watts::new(100.0) };
        ledger.enter(&Reading { domain: 0, before: at, after: at, value }).event
    };
    let mut ledger = Ledger::new(Booking::Gauge(spec));
    assert_eq!([read(&mut ledger, 0), read(&mut ledger, 31)], [Event::First, Event::Gap]);
    ledger.renewed_every(Nanos(1));
    assert_eq!(read(&mut ledger, 62), Event::Gap, "a shorter period than was declared changes nothing");
    ledger.renewed_every(Nanos::from_millis(11));
    assert_eq!(read(&mut ledger, 93), Event::Ok);
}

#[test]
fn across_a_sleep_nothing_is_booked_and_the_bounds_say_so() {
    let host = Host::default();
    let source = Scripted::new(1);
    let sampler = Sampler::start(Box::new(source), host.clone(), HOUR).unwrap();
    let mark = |ms: i64| {
        host.now.store(ms * 1_000_000, Ordering::SeqCst);
        sampler.mark();
        sampler.drain()
    };
    sampler.drain();
    assert_eq!(mark(1000).iter().map(|s| s.booked).collect::<Vec<_>>(), [Joules::new(100.0); 2]);
    assert_eq!(sampler.status().flags, [""; 0]);
    host.slept.store(30_000_000_000, Ordering::SeqCst);
    host.wall.store(30_000_000_000, Ordering::SeqCst);
    let woken = mark(1500);
    for sample in &woken {
        assert_eq!(sample.event, Event::Gap);
        assert_eq!((sample.booked, sample.lo), (Joules::new(100.0), Joules::new(100.0)));
        assert_eq!(sample.hi, Joules::new(300.0), "half a second at 400 W at most");
    }
    assert_eq!(sampler.status().flags, ["suspended"]);
    let after = mark(2500);
    assert_eq!(
        after.iter().map(|s| (s.event, s.booked)).collect::<Vec<_>>(),
        [(Event::Ok, Joules::new(200.0)); 2]
    );
    host.wall.store(90_000_000_000, Ordering::SeqCst);
    let stepped = mark(4000);
    assert_eq!(stepped[0].event, Event::Ok, "durations don't go by the wall clock");
    assert_eq!(sampler.status().flags, ["suspended", "clock_step"]);
}

#[test]
fn a_reading_without_a_number_after_a_sleep_leaves_the_next_one_to_start_anew() {
    let spec = CounterSpec { max_uj: None, cap_uw: 400_000_000, update_period: DECLARED };
    let mut ledger = Ledger::new(Booking::Counter(spec));
    let mut read = |ms: i64, value: Value| {
        let at = Nanos::from_millis(ms);
        if ms == 2000 {
            ledger.interrupt();
        }
        let sample = ledger.enter(&Reading { domain: 0, before: at, after: at, value });
        (sample.event, sample.booked.get(), sample.hi.get())
    };
    let count = |uj: u64| Value::Counter { raw: uj, uj };
    assert_eq!(read(0, count(0)), (Event::First, 0.0, 0.0));
    assert_eq!(read(1000, count(7_000_000)), (Event::Ok, 7.0, 7.0));
    assert_eq!(read(2000, Value::Missing(Missing::Io)), (Event::Missing, 7.0, 7.0));
    assert_eq!(read(3000, count(5)), (Event::Gap, 7.0, 807.0), "a counter that began anew is no suspect");
    assert_eq!(read(4000, count(1_000_005)), (Event::Ok, 8.0, 808.0));
}

#[test]
fn a_counter_that_stands_still_beside_its_power_is_flagged_for_its_power() {
    let host = Host::default();
    let source = Scripted::new(1);
    let stands_from = Arc::clone(&source.stands_from);
    let sampler = Sampler::start(Box::new(source), host.clone(), HOUR).unwrap();
    let mark = |ms: i64| {
        host.now.store(ms * 1_000_000, Ordering::SeqCst);
        sampler.mark();
    };
    for ms in (0..3000).step_by(100) {
        mark(ms + 1);
    }
    assert_eq!(sampler.status().flags, [""; 0]);
    stands_from.store(3000, Ordering::SeqCst);
    for ms in (3000..4200).step_by(100) {
        mark(ms);
    }
    assert_eq!(sampler.status().flags, ["stale->gauge:gpu:energy"]);
}
