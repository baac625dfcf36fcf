use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Emi, EmiPort, FoundMeter};
use crate::{
    Clock, Event, Ledger, Missing, Nanos, PowerSource, Scope, Value,
    emi_layout::{code, tests::version_two},
};

/// A meter that counts what it is told, in pWh; what it refuses is a control code with an error.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    description: Vec<u8>,
    counts: Vec<u64>,
    /// Added to the counts after each look; to those beyond it nothing.
    steps: Vec<u64>,
    refuses: Option<(u32, io::ErrorKind)>,
    version: u16,
}

impl Fake {
    fn new(channels: &[(&str, u64)]) -> Self {
        let named: Vec<_> = channels.iter().map(|(name, _)| (0, *name)).collect();
        let counts = channels.iter().map(|(_, count)| *count).collect();
        let description = version_two(&named);
        Self(Arc::new(Mutex::new(Script { description, counts, version: 2, ..Script::default() })))
    }

    fn set(&self, change: impl FnOnce(&mut Script)) {
        match self.0.lock() {
            Ok(mut script) => change(&mut script),
            Err(_) => unreachable!("nobody panics while holding it"),
        }
    }

    fn found(&self) -> FoundMeter {
        ("meter".to_owned(), Ok(Box::new(self.clone())))
    }
}

impl EmiPort for Fake {
    fn ask(&self, asked: u32, answer: &mut [u8]) -> io::Result<usize> {
        let Ok(mut script) = self.0.lock() else { return Err(io::ErrorKind::Other.into()) };
        if let Some((_, kind)) = script.refuses.filter(|(code, _)| *code == asked) {
            return Err(kind.into());
        }
        let bytes = match asked {
            code::VERSION => script.version.to_le_bytes().to_vec(),
            code::METADATA_SIZE => {
                u32::try_from(script.description.len()).unwrap_or(0).to_le_bytes().to_vec()
            }
            code::METADATA => script.description.clone(),
            code::MEASUREMENT => {
                let steps = script.steps.clone();
                let now = script.counts.clone();
                script.counts.iter_mut().zip(steps).for_each(|(count, step)| *count += step);
                now.iter().flat_map(|count| [*count, 1]).flat_map(u64::to_le_bytes).collect()
            }
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        };
        let length = bytes.len().min(answer.len());
        answer[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }
}

fn open(meters: &[&Fake]) -> Emi {
    match Emi::open(meters.iter().map(|meter| meter.found()).collect(), || {}) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    }
}

fn told(source: &Emi) -> Vec<(&str, Scope, bool)> {
    source.domains().iter().map(|(d, _)| (d.id.as_str(), d.scope, d.in_total)).collect()
}

fn left_out(source: &Emi) -> Vec<(&str, &str)> {
    source.excluded().iter().map(|e| (e.zone.as_str(), e.reason.as_str())).collect()
}

#[derive(Default)]
struct At(AtomicU64);

impl Clock for At {
    fn now(&self) -> Nanos {
        Nanos(i64::try_from(self.0.load(Ordering::SeqCst)).unwrap_or(0) * 1_000_000_000)
    }
}

fn values(source: &mut Emi) -> Vec<Value> {
    let mut out = Vec::new();
    assert!(source.read(&At::default(), &mut out).is_ok());
    out.iter().map(|reading| reading.value).collect()
}

const CHANNELS: &[(&str, u64)] = &[
    ("RAPL_Package0_PKG", 1_000_000),
    ("RAPL_Package0_Core0_CORE", 1),
    ("RAPL_Package0_DRAM", 2_000_000),
    ("RAPL_Package0_PP0", 3_000_000),
    ("RAPL_Package0_PP1", 4_000_000),
    ("RAPL_Package1_PKG", 900_000_000),
    ("Display", 5),
    ("RAPL_Package_PKG", 6),
];

#[test]
fn packages_and_memory_are_metered_and_parts_are_shown_beside() {
    let meter = Fake::new(CHANNELS);
    let mut source = open(&[&meter]);
    #[rustfmt::skip]
    let expected = [
        ("emi:package-0",  Scope::Package, true),
        ("emi:dram-0",     Scope::Dram,    true),
        ("emi:cores-0",    Scope::Cpu,     false),
        ("emi:graphics-0", Scope::Cpu,     false),
        ("emi:package-1",  Scope::Package, true),
    ];
    assert_eq!(told(&source), expected);
    assert_eq!(left_out(&source), [("Display", "unknown name"), ("RAPL_Package_PKG", "unknown name")]);
    let count = |raw, uj| Value::Counter { raw, uj };
    let expected = [
        count(1_000_000, 3600),
        count(2_000_000, 7200),
        count(3_000_000, 10_800),
        count(4_000_000, 14_400),
        count(900_000_000, 3_240_000),
    ];
    assert_eq!(values(&mut source), expected);
}

#[test]
fn a_hundred_watts_for_ten_seconds_are_a_kilojoule() {
    let meter = Fake::new(&[("RAPL_Package0_PKG", u64::from(u32::MAX))]);
    let mut source = open(&[&meter]);
    let clock = At::default();
    let mut ledger = Ledger::every(Nanos::from_millis(1000), source.domains()[0].1);
    let mut booked = 0.0;
    for second in 0..=10 {
        clock.0.store(second, Ordering::SeqCst);
        meter.set(|script| script.counts = vec![u64::from(u32::MAX) + second * 100_000_000_000 / 36 * 10]);
        let mut out = Vec::new();
        assert!(source.read(&clock, &mut out).is_ok());
        let sample = ledger.enter(&out[0]);
        assert!(matches!(sample.event, Event::First | Event::Ok), "{:?}", sample.event);
        booked = sample.booked.get();
    }
    assert!((booked - 1000.0).abs() < 1e-3, "{booked}");
}

#[test]
fn a_die_that_shows_the_counter_of_another_is_counted_once() {
    let twins = Fake::new(&[("RAPL_Package0_PKG", 5_000_000), ("RAPL_Package1_PKG", 6_000_000)]);
    twins.set(|script| script.steps = vec![1_000_000; 2]);
    let source = open(&[&twins]);
    let expected = [("emi:package-0", Scope::Package, true), ("emi:package-1", Scope::Package, false)];
    assert_eq!(told(&source), expected);
    let left = [("emi:package-1", "duplicate die: counts what emi:package-0 counts")];
    assert_eq!(left_out(&source), left);
    let still = Fake::new(&[("RAPL_Package0_PKG", 5_000_000), ("RAPL_Package1_PKG", 6_000_000)]);
    assert!(
        told(&open(&[&still])).iter().all(|(_, _, counted)| *counted),
        "they never grew: nothing is known"
    );
    let unlike = Fake::new(&[("RAPL_Package0_PKG", 5_000_000), ("RAPL_Package1_PKG", 6_000_000)]);
    unlike.set(|script| script.steps = vec![1_000_000, 1_100_000]);
    assert!(told(&open(&[&unlike])).iter().all(|(_, _, counted)| *counted), "they grow apart");
    let apart = Fake::new(&[("RAPL_Package0_PKG", 5_000_000), ("RAPL_Package1_PKG", 600_000_000)]);
    apart.set(|script| script.steps = vec![1_000_000; 2]);
    assert!(told(&open(&[&apart])).iter().all(|(_, _, counted)| *counted), "2.1 J apart");
}

#[test]
fn one_channel_of_two_meters_is_counted_once() {
    let first = Fake::new(&[("RAPL_Package0_PKG", 5)]);
    let second = Fake::new(&[("RAPL_Package0_PKG", 6), ("RAPL_Package0_DRAM", 7)]);
    let mut source = open(&[&first, &second]);
    assert_eq!(told(&source).iter().map(|(id, ..)| *id).collect::<Vec<_>>(), ["emi:package-0", "emi:dram-0"]);
    assert_eq!(left_out(&source), [("RAPL_Package0_PKG", "another meter shows it already")]);
    second.set(|script| script.refuses = Some((code::MEASUREMENT, io::ErrorKind::NotConnected)));
    let found = values(&mut source);
    assert_eq!(found, [Value::Counter { raw: 5, uj: 0 }, Value::Missing(Missing::Io)], "the other goes on");
}

#[test]
fn what_gives_no_number_is_missing() {
    let meter = Fake::new(&[("RAPL_Package0_PKG", 5), ("RAPL_Package0_DRAM", 6)]);
    let mut source = open(&[&meter]);
    let missing = |why| Value::Missing(why);
    meter.set(|script| script.counts = vec![u64::MAX, 6]);
    assert_eq!(values(&mut source)[0], missing(Missing::Sentinel));
    meter.set(|script| script.counts = vec![5]);
    assert_eq!(
        values(&mut source),
        [Value::Counter { raw: 5, uj: 0 }, missing(Missing::Absent)],
        "a short answer"
    );
    #[rustfmt::skip]
    let cases = [
        (io::ErrorKind::PermissionDenied, Missing::Permission),
        (io::ErrorKind::NotFound,         Missing::Absent),
        (io::ErrorKind::BrokenPipe,       Missing::Io),
    ];
    for (kind, why) in cases {
        meter.set(|script| script.refuses = Some((code::MEASUREMENT, kind)));
        assert_eq!(values(&mut source), [missing(why); 2], "{kind}");
    }
}

#[test]
fn what_stands_in_the_way_is_named_with_its_fix() {
    let refusing = |code, kind| {
        let meter = Fake::new(&[("RAPL_Package0_PKG", 5)]);
        meter.set(|script| script.refuses = Some((code, kind)));
        meter.found()
    };
    let changed = |change: fn(&mut Script)| {
        let meter = Fake::new(&[("RAPL_Package0_PKG", 5)]);
        meter.set(change);
        meter.found()
    };
    let denied = || Err(io::ErrorKind::PermissionDenied.into());
    #[rustfmt::skip]
    let cases: Vec<(&str, Vec<FoundMeter>, &str, &str)> = vec![
        ("no meter",                vec![],                                                           "POWER_NO_SOURCE",  "emi: Windows shows no energy meter"),
        ("not allowed to open",     vec![("m".to_owned(), denied())],                                 "POWER_PERMISSION", "emi: no energy meter counts a CPU (m: permission denied)"),
        ("not allowed to ask",      vec![refusing(code::VERSION, io::ErrorKind::PermissionDenied)],   "POWER_PERMISSION", "emi: no energy meter counts a CPU (meter: permission denied)"),
        ("it can't count now",      vec![refusing(code::MEASUREMENT, io::ErrorKind::NotConnected)],   "POWER_NO_SOURCE",  "emi: no energy meter counts a CPU (meter: not connected)"),
        ("a version to come",       vec![changed(|script| script.version = 3)],                       "POWER_NO_SOURCE",  "emi: no energy meter counts a CPU (meter: no description of version 3 in its answer)"),
        ("half a description",      vec![changed(|script| script.description.truncate(80))],          "POWER_NO_SOURCE",  "emi: no energy meter counts a CPU (meter: no description of version 2 in its answer)"),
        ("no end of a description", vec![changed(|script| script.description.resize(2 << 20, 0))],    "POWER_NO_SOURCE",  "emi: no energy meter counts a CPU (meter: no length in its answer)"),
        ("parts alone",             vec![Fake::new(&[("RAPL_Package0_PP0", 1), ("x", 2)]).found()],   "POWER_NO_SOURCE",  "emi: no energy meter counts a CPU (x: unknown name)"),
        ("a unit that isn't known", vec![changed(|script| script.description[68] = 1)],               "POWER_NO_SOURCE",  "emi: RAPL_Package0_PKG counts in a unit that isn't known"),
    ];
    for (why, meters, code, said) in cases {
        let error = Emi::open(meters, || {}).err().map(|error| (error.code(), error.to_string()));
        assert_eq!(error, Some((code, said.to_owned())), "{why}");
    }
}
