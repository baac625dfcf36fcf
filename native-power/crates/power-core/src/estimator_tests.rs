use std::{fs, path::PathBuf};

use super::{Estimator, Ticks, parse_ticks};
use crate::{Clock, Event, Ledger, Nanos, PowerError, PowerSource, Sample};

/// Stands at a number of milliseconds.
struct At(i64);

impl Clock for At {
    fn now(&self) -> Nanos {
        Nanos::from_millis(self.0)
    }
}

/// A host of ten threads, 40 W by assumption, whose `/proc/stat` the test writes.
struct Host(PathBuf);

impl Host {
    fn new(test: &str) -> Self {
        let root = std::env::temp_dir().join(format!("power-core-{}-{test}", std::process::id()));
        fs::create_dir_all(root.join("proc")).unwrap_or_default();
        fs::write(root.join("proc/cpuinfo"), "processor\t: 0\n".repeat(10)).unwrap_or_default();
        let host = Self(root);
        host.spend(1000, 1000);
        host
    }

    fn spend(&self, busy: u64, idle: u64) {
        let text = format!("cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n");
        fs::write(self.0.join("proc/stat"), text).unwrap_or_default();
    }

    fn open(&self) -> Estimator {
        let Ok(estimator) = Estimator::open(&self.0) else { unreachable!("a plain host opens") };
        estimator
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(estimator: &mut Estimator, ledger: &mut Ledger, at_ms: i64) -> Sample {
    let mut out = Vec::new();
    assert!(estimator.read(&At(at_ms), &mut out).is_ok());
    ledger.enter(&out[0])
}

fn close_to(sample: &Sample, [lo, point, hi]: [f64; 3]) -> bool {
    [(sample.lo, lo), (sample.booked, point), (sample.hi, hi)].iter().all(|(a, b)| (a.get() - b).abs() < 1e-9)
}

#[test]
fn power_follows_load_between_its_bounds() {
    #[rustfmt::skip]
    let cases = [
        ("idle",       0,    [2.0,               8.0,  40.0]),
        ("half",       500,  [2.0 + 18.0 / 8.0,  24.0, 60.0]),
        ("full",       1000, [20.0,              40.0, 80.0]),
    ];
    for (why, busy, expected) in cases {
        let host = Host::new(&format!("load-{why}"));
        let mut estimator = host.open();
        let mut ledger = Ledger::new(estimator.domains()[0].1);
        let first = read(&mut estimator, &mut ledger, 0);
        assert_eq!((first.event, first.power), (Event::First, None), "{why}");
        host.spend(1000 + busy, 1000 + 1000 - busy);
        let sample = read(&mut estimator, &mut ledger, 1000);
        assert_eq!(sample.event, Event::Ok, "{why}");
        assert!(close_to(&sample, expected), "{why}: {sample:?}");
        assert!(sample.power.is_some_and(|p| (p.get() - expected[1]).abs() < 1e-9), "{why}: {sample:?}");
    }
}

#[test]
fn too_few_ticks_hold_the_last_power_until_more_are_known() {
    let host = Host::new("held");
    let mut estimator = host.open();
    let mut ledger = Ledger::new(estimator.domains()[0].1);
    read(&mut estimator, &mut ledger, 0);
    host.spend(2000, 1000);
    read(&mut estimator, &mut ledger, 1000);
    host.spend(2000, 1001);
    let held = read(&mut estimator, &mut ledger, 1010);
    assert!(close_to(&held, [20.02, 40.4, 80.8]), "full load goes on, idle isn't ruled out: {held:?}");
    host.spend(2000, 2000);
    let settled = read(&mut estimator, &mut ledger, 2000);
    assert!(close_to(&settled, [22.0, 48.0, 120.0]), "a second of idle in all: {settled:?}");
}

#[test]
fn a_host_that_starts_counting_anew_leaves_a_gap() {
    for (why, busy, idle) in [("all", 10, 10), ("work", 10, 9000), ("idling", 1500, 10)] {
        let host = Host::new(&format!("anew-{why}"));
        let mut estimator = host.open();
        let mut ledger = Ledger::new(estimator.domains()[0].1);
        read(&mut estimator, &mut ledger, 0);
        host.spend(busy, idle);
        let gap = read(&mut estimator, &mut ledger, 1000);
        assert_eq!((gap.event, gap.power), (Event::Gap, None), "{why}");
        assert!(close_to(&gap, [0.0, 0.0, 80.0]), "{why}: anything up to full load: {gap:?}");
    }
}

#[test]
fn a_reading_that_fails_loses_nothing() {
    let host = Host::new("fails");
    let mut estimator = host.open();
    let mut ledger = Ledger::new(estimator.domains()[0].1);
    read(&mut estimator, &mut ledger, 0);
    fs::write(host.0.join("proc/stat"), "nonsense\n").unwrap_or_default();
    assert_eq!(read(&mut estimator, &mut ledger, 500).event, Event::Missing);
    host.spend(2000, 1000);
    let sample = read(&mut estimator, &mut ledger, 1000);
    assert!(close_to(&sample, [20.0, 40.0, 80.0]), "{sample:?}");
}

#[test]
fn says_that_it_is_a_guess_and_of_what() {
    let host = Host::new("note");
    let estimator = host.open();
    let note = estimator.domains()[0].0.note.clone().unwrap_or_default();
    for part in ["estimated, not measured", "TDP*(0.2 + 0.8*u)", "TDP = 40.0 W = 4 W x 10 threads, assumed"] {
        assert!(note.contains(part), "{part:?} in {note}");
    }
    assert!(!note.contains("virtual machine"), "{note}");
}

#[test]
fn refuses_a_host_without_cpu_times() {
    let host = Host::new("refused");
    fs::write(host.0.join("proc/stat"), "intr 5\n").unwrap_or_default();
    let malformed = Estimator::open(&host.0).err();
    assert!(matches!(malformed, Some(PowerError::Malformed { .. })), "{malformed:?}");
    fs::remove_file(host.0.join("proc/stat")).unwrap_or_default();
    let absent = Estimator::open(&host.0).err();
    assert!(matches!(absent, Some(PowerError::Absent { .. })), "{absent:?}");
}

#[test]
fn waiting_and_stolen_time_are_not_work() {
    #[rustfmt::skip]
    let cases = [
        ("all fields",               "cpu  1 2 4 8 16 32 64 128 256 512\n", Some((103, 127))),
        ("an old kernel",            "cpu  1 2 4 8 16 32 64\n",             Some((103, 127))),
        ("too few fields",           "cpu  1 2 4 8 16 32\n",                None),
        ("one CPU is not the host",  "cpu0 1 2 4 8 16 32 64 128\n",         None),
        ("not numbers",              "cpu  a b c d e f g\n",                None),
        ("nothing",                  "",                                    None),
    ];
    for (why, text, expected) in cases {
        let expected = expected.map(|(busy, all)| Ticks { busy, all });
        assert_eq!(parse_ticks(text.as_bytes()), expected, "{why}");
    }
}
