//! The sampling thread on scripted sources.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use power_core::{
    Booking, Clock, CounterSpec, Domain, Event, Kind, Missing, MonotonicClock, Nanos, PowerError,
    PowerSource, Provenance, Reading, Sampler, Scope, Speed, State, Value,
};

/// Ten joules a reading, unless the script of a reading says otherwise.
struct Scripted {
    domains: Vec<(Domain, Booking)>,
    reads: Arc<AtomicU64>,
    script: fn(u64) -> Step,
    speed: Speed,
}

enum Step {
    Count(u64),
    Lost,
    Fails,
    Panics,
    Slow(Duration),
}

impl Scripted {
    fn new(script: fn(u64) -> Step) -> (Box<Self>, Arc<AtomicU64>) {
        let domain = |id: &str| Domain {
            id: id.to_owned(),
            scope: Scope::Package,
            kind: Kind::Counter,
            provenance: Provenance::Counter,
            in_total: true,
            update_period: Nanos(0),
            quantum: None,
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: "uJ",
            note: None,
        };
        let spec = CounterSpec { max_uj: None, cap_uw: u64::MAX / 4, update_period: Nanos(1_000_000_000) };
        let domains = vec![(domain("a"), Booking::Counter(spec)), (domain("b"), Booking::Counter(spec))];
        let reads = Arc::new(AtomicU64::new(0));
        (Box::new(Self { domains, reads: Arc::clone(&reads), script, speed: Speed::Fast }), reads)
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

    fn speed(&self) -> Speed {
        self.speed
    }

    #[expect(clippy::panic, reason = "a reader that panics is what is tested")]
    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        let read = self.reads.fetch_add(1, Ordering::SeqCst);
        let value = match (self.script)(read) {
            Step::Count(uj) => Value::Counter { raw: uj, uj },
            Step::Lost => Value::Missing(Missing::Io),
            Step::Fails => return Err(PowerError::UnknownSource { name: "gone".to_owned() }),
            Step::Panics => panic!("a bug in reading {read}"),
            Step::Slow(time) => {
                thread::sleep(time);
                Value::Counter { raw: 0, uj: 0 }
            }
        };
        for domain in [0, 1] {
            let at = clock.now();
            out.push(Reading { domain, before: at, after: at, value });
        }
        Ok(())
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::yield_now();
    }
}

const MS: Nanos = Nanos::from_millis(1);
const HOUR: Nanos = Nanos(3_600_000_000_000);

#[test]
fn reads_on_its_own_and_hands_everything_over_once() {
    let (source, reads) = Scripted::new(|i| Step::Count(i * 10_000_000));
    let sampler = Sampler::start(source, MonotonicClock, MS).unwrap();
    until("five readings", || reads.load(Ordering::SeqCst) >= 5);
    sampler.stop();
    let read = sampler.drain();
    assert_eq!(read.len() as u64, 2 * reads.load(Ordering::SeqCst));
    assert!(sampler.drain().is_empty());
    for domain in [0, 1] {
        let own: Vec<_> = read.iter().filter(|s| s.domain == domain).collect();
        assert_eq!(own[0].event, Event::First);
        assert!(own.windows(2).all(|w| w[0].at < w[1].at && w[0].booked < w[1].booked), "domain {domain}");
    }
    let domains: HashSet<_> = read.iter().map(|s| s.domain).collect();
    assert_eq!(domains, HashSet::from([0, 1]));
}

#[test]
fn the_first_reading_is_there_before_the_first_period_ends() {
    let (source, _) = Scripted::new(|_| Step::Count(1));
    let sampler = Sampler::start(source, MonotonicClock, HOUR).unwrap();
    assert_eq!(sampler.drain().len(), 2);
}

#[test]
fn a_mark_reads_at_once_and_says_when() {
    let (source, _) = Scripted::new(|i| Step::Count(i * 10_000_000));
    let sampler = Sampler::start(source, MonotonicClock, HOUR).unwrap();
    sampler.drain();
    let before = MonotonicClock.now();
    let marked = sampler.mark();
    let after = MonotonicClock.now();
    assert!(before <= marked && marked <= after);
    let read = sampler.drain();
    assert_eq!(read.len(), 2);
    assert!(read.iter().all(|s| before <= s.at && s.at <= after && s.event == Event::Ok));
}

#[test]
fn a_stop_takes_a_last_reading_wakes_the_thread_and_may_be_repeated() {
    let (source, reads) = Scripted::new(Step::Count);
    let sampler = Sampler::start(source, MonotonicClock, HOUR).unwrap();
    sampler.stop();
    sampler.stop();
    assert_eq!(reads.load(Ordering::SeqCst), 2);
    assert_eq!(sampler.status().state, State::Stopped);
    sampler.mark();
    assert_eq!(reads.load(Ordering::SeqCst), 2, "a stopped sampler reads nothing");
    assert_eq!(sampler.drain().len(), 4);
}

#[test]
fn a_doubt_that_is_open_at_the_end_becomes_a_gap() {
    let (source, _) = Scripted::new(|i| Step::Count(if i == 0 { 1_000_000 } else { 0 }));
    let sampler = Sampler::start(source, MonotonicClock, HOUR).unwrap();
    sampler.stop();
    let events: Vec<_> = sampler.drain().iter().map(|s| s.event).collect();
    assert_eq!(events, [Event::First, Event::First, Event::Suspect, Event::Suspect, Event::Gap, Event::Gap]);
}

#[test]
fn a_lost_domain_is_missing_and_reading_goes_on() {
    let (source, _) = Scripted::new(|i| if i == 1 { Step::Lost } else { Step::Count(i * 1_000_000) });
    let sampler = Sampler::start(source, MonotonicClock, HOUR).unwrap();
    sampler.mark();
    sampler.mark();
    let read = sampler.drain();
    let events: Vec<_> = read.iter().filter(|s| s.domain == 0).map(|s| (s.event, s.raw)).collect();
    assert_eq!(events, [(Event::First, Some(0)), (Event::Missing, None), (Event::Ok, Some(2_000_000))]);
}

#[test]
fn a_source_that_ends_or_breaks_is_a_state_not_a_crash() {
    type Script = fn(u64) -> Step;
    let cases: [(&str, Script, &str); 2] = [
        ("ends", |i| if i == 2 { Step::Fails } else { Step::Count(i) }, "no power source is called \"gone\""),
        (
            "breaks",
            |i| if i == 2 { Step::Panics } else { Step::Count(i) },
            "the reader panicked: a bug in reading 2",
        ),
    ];
    for (name, script, reason) in cases {
        let (source, reads) = Scripted::new(script);
        let sampler = Sampler::start(source, MonotonicClock, MS).unwrap();
        until("the failure", || sampler.status().state != State::Running);
        assert_eq!(sampler.status().state, State::Failed(reason.to_owned()), "{name}");
        sampler.stop();
        assert_eq!(
            sampler.status().state,
            State::Failed(reason.to_owned()),
            "{name}: a stop hides no failure"
        );
        assert_eq!(reads.load(Ordering::SeqCst), 3, "{name}");
        assert_eq!(sampler.drain().len(), 4, "{name}: what was read before stays");
    }
}

#[test]
fn a_source_that_fails_at_once_never_starts() {
    let (source, _) = Scripted::new(|_| Step::Fails);
    assert!(Sampler::start(source, MonotonicClock, MS).is_err());
}

#[test]
fn deadlines_that_pass_during_a_reading_are_skipped_and_counted() {
    let (source, reads) =
        Scripted::new(|i| if i == 1 { Step::Slow(Duration::from_millis(40)) } else { Step::Count(0) });
    let began = Instant::now();
    let sampler = Sampler::start(source, MonotonicClock, Nanos::from_millis(4)).unwrap();
    until("the slow reading to end", || reads.load(Ordering::SeqCst) >= 5);
    let status = sampler.status();
    let periods = u64::try_from(began.elapsed().as_millis() / 4).unwrap();
    assert!(
        status.reads + status.missed_deadlines <= periods + 3,
        "none is made up for: {status:?} in {periods}"
    );
    assert!(status.missed_deadlines >= 9, "{status:?}");
    assert!(status.read_time >= Nanos::from_millis(40), "{status:?}");
}

#[test]
fn periods_out_of_range_are_refused() {
    for period in [0, -1, 99_999, HOUR.0 + 1] {
        let (source, _) = Scripted::new(|_| Step::Count(0));
        let error = Sampler::start(source, MonotonicClock, Nanos(period)).err();
        assert!(matches!(error, Some(PowerError::Period { period_ns }) if period_ns == period), "{error:?}");
    }
}

/// A clock that a test moves.
struct Moved(Arc<AtomicI64>);

impl Clock for Moved {
    fn now(&self) -> Nanos {
        Nanos(self.0.load(Ordering::SeqCst))
    }
}

#[test]
fn samples_are_stamped_by_the_clock_that_was_handed_in() {
    let now = Arc::new(AtomicI64::new(5));
    let (source, _) = Scripted::new(Step::Count);
    let sampler = Sampler::start(source, Moved(Arc::clone(&now)), HOUR).unwrap();
    now.store(17, Ordering::SeqCst);
    assert_eq!(sampler.mark(), Nanos(17));
    let stamps: Vec<_> = sampler.drain().iter().map(|s| s.at.0).collect();
    assert_eq!(stamps, [5, 5, 17, 17]);
}

#[test]
fn samples_nobody_drains_make_room_for_later_ones() {
    let (source, _) = Scripted::new(|i| Step::Count(i * 1_000_000));
    let sampler = Sampler::start(source, MonotonicClock, HOUR).unwrap();
    let room = 1 << 18;
    for _ in 0..room / 2 + 4 {
        sampler.mark();
    }
    let read = sampler.drain();
    assert_eq!(read.len(), room);
    assert_eq!(sampler.status().dropped, 10);
    assert!(read[0].booked.get() > 0.0, "what the lost ones booked is in the later ones");
}

#[test]
fn a_counter_that_stands_still_is_flagged_by_name() {
    let flags = |script| {
        let (source, _) = Scripted::new(script);
        let clock = Jumps(Arc::new(AtomicI64::new(0)));
        let sampler = Sampler::start(source, clock, Nanos::from_millis(3_600_000)).unwrap();
        for _ in 0..20 {
            sampler.mark();
        }
        sampler.status().flags
    };
    assert_eq!(flags(|_| Step::Count(7)), ["stale:a", "stale:b"]);
    assert!(flags(Step::Count).is_empty());
}

/// A clock that goes a second further at each look.
struct Jumps(Arc<AtomicI64>);

impl Clock for Jumps {
    fn now(&self) -> Nanos {
        Nanos(self.0.fetch_add(1_000_000_000, Ordering::SeqCst))
    }
}

/// Threads of this process that read, by their names.
#[cfg(target_os = "linux")]
fn threads(name: &str) -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        std::fs::read_to_string(task.ok()?.path().join("comm")).ok().map(|comm| comm.trim_end().to_owned())
    });
    names.filter(|comm| comm == name).count()
}

#[cfg(target_os = "linux")]
#[test]
fn samplers_of_one_period_share_a_thread_that_ends_with_the_last_of_them() {
    let period = Nanos(7_000_000);
    let start = |speed| {
        let (mut source, reads) = Scripted::new(|i| Step::Count(i * 10_000_000));
        source.speed = speed;
        (Sampler::start(source, MonotonicClock, period).unwrap(), reads)
    };
    let (first, first_reads) = start(Speed::Fast);
    let (second, second_reads) = start(Speed::Fast);
    let (bus, _) = start(Speed::Bus);
    until("the threads to have their names", || threads("power 7ms") == 1 && threads("power 7ms bus") == 1);
    until("both to be read", || {
        [&first_reads, &second_reads].iter().all(|reads| reads.load(Ordering::SeqCst) > 3)
    });
    first.stop();
    assert_eq!(threads("power 7ms"), 1, "another is still read on it");
    let (at_stop, before) = (first_reads.load(Ordering::SeqCst), second_reads.load(Ordering::SeqCst));
    until("the other to go on", || second_reads.load(Ordering::SeqCst) > before + 3);
    assert_eq!(first_reads.load(Ordering::SeqCst), at_stop, "a stopped one is read no more");
    drop(second);
    assert_eq!(threads("power 7ms"), 0);
    assert_eq!(threads("power 7ms bus"), 1);
    drop(bus);
    assert_eq!(threads("power 7ms bus"), 0);
    let (again, reads) = start(Speed::Fast);
    until("a new one to be read", || reads.load(Ordering::SeqCst) > 3);
    again.stop();
}

#[test]
fn a_source_that_waits_delays_no_other() {
    let period = Nanos(2_000_000);
    let (mut waits, waiting) =
        Scripted::new(|i| if i == 1 { Step::Slow(Duration::from_secs(1)) } else { Step::Count(i) });
    waits.speed = Speed::Waits;
    let waits = Sampler::start(waits, MonotonicClock, period).unwrap();
    let others = [Speed::Fast, Speed::Bus, Speed::Waits].map(|speed| {
        let (mut source, reads) = Scripted::new(Step::Count);
        source.speed = speed;
        (Sampler::start(source, MonotonicClock, period).unwrap(), reads)
    });
    until("the slow reading to begin", || waiting.load(Ordering::SeqCst) == 2);
    let before = others.each_ref().map(|(_, reads)| reads.load(Ordering::SeqCst));
    until("the others to be read meanwhile", || {
        others.iter().zip(before).all(|((_, reads), before)| reads.load(Ordering::SeqCst) > before + 20)
    });
    assert_eq!(waiting.load(Ordering::SeqCst), 2, "it still waits");
    assert_eq!(waits.drain().len(), 2, "what was read before can be had at once");
    drop(others);
    assert_eq!(waiting.load(Ordering::SeqCst), 2, "nor does it delay the others' stop");
}

#[test]
fn a_source_whose_first_reading_was_slow_is_read_on_its_own() {
    let period = Nanos(3_000_000);
    let (slow, slow_reads) = Scripted::new(|i| {
        Step::Slow(Duration::from_millis(match i {
            0 => 20,
            1 => 1000,
            _ => 0,
        }))
    });
    let _slow = Sampler::start(slow, MonotonicClock, period).unwrap();
    let (source, reads) = Scripted::new(Step::Count);
    let _sampler = Sampler::start(source, MonotonicClock, period).unwrap();
    until("the slow reading to begin", || slow_reads.load(Ordering::SeqCst) == 2);
    let before = reads.load(Ordering::SeqCst);
    until("the other to be read meanwhile", || reads.load(Ordering::SeqCst) > before + 20);
    assert_eq!(slow_reads.load(Ordering::SeqCst), 2, "it still reads");
}

#[test]
fn lateness_counts_from_the_deadline_of_readings_on_schedule() {
    let (source, reads) =
        Scripted::new(|i| if i == 1 { Step::Slow(Duration::from_millis(40)) } else { Step::Count(0) });
    let sampler = Sampler::start(source, MonotonicClock, Nanos(4_500_000)).unwrap();
    sampler.mark();
    until("some readings", || reads.load(Ordering::SeqCst) >= 6);
    sampler.stop();
    let status = sampler.status();
    let late = status.lateness.unwrap();
    assert!(
        late.readings >= 3 && late.readings <= status.reads - 3,
        "neither first, mark nor last: {status:?}"
    );
    assert!(late.p50 <= late.p99 && late.p99 <= late.max, "{late:?}");
}
