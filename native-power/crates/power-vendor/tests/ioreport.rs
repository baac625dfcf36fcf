//! The source over a stand-in for Apple's libraries.
#![cfg(unix)]

mod stub;

use libloading::Library;
use power_core::{Booking, Event, Kind, Missing, Nanos, PowerError, PowerSource, Provenance, Scope, Value};
use power_vendor::{IOREPORT, IoReport};
use stub::{Books, Stub, read};

/// Channels in order: name, label of the unit, count.
fn channels(channels: &[(&str, &str, i64)]) -> String {
    let line = |(at, (name, label, value)): (usize, &(&str, &str, i64))| {
        format!(
            "0, 0, channel, {at}, 0, 0, {name}\n0, 0, label, {at}, 0, 0, {label}\n0, 0, value, {at}, 0, 0, {value}\n"
        )
    };
    channels.iter().enumerate().map(line).collect()
}

/// One die as its channels are listed: parts among the totals, and a unit for each.
const PLAIN: &[(&str, &str, i64)] = &[
    ("EACC_CPU0", "mJ", 7),
    ("PACC0_CPU", "mJ", 9),
    ("CPU Energy", "mJ", 5000),
    ("GPU SRAM0", "nJ", 11),
    ("GPU Energy", "nJ", 3_000_000_000),
    ("ANE0", "mJ", 20),
    ("DRAM0", "uJ", 700),
    ("PCIe Port 0 Energy", "uJ", 13),
];

fn stub(script: &str) -> Stub {
    Stub::new("stub_ioreport", script)
}

fn open(stub: &Stub) -> Result<IoReport, PowerError> {
    IoReport::open(&stub.library, &stub.library)
}

fn opened(stub: &Stub) -> IoReport {
    match open(stub) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    }
}

#[test]
fn totals_are_metered_each_in_its_own_unit() {
    let stub = stub(&channels(PLAIN));
    let mut source = opened(&stub);
    assert_eq!((source.name(), source.provenance()), (IOREPORT, Provenance::Counter));
    let told: Vec<_> = source
        .domains()
        .iter()
        .map(|(d, _)| (d.id.as_str(), d.scope, d.raw_unit, d.update_period, d.quantum))
        .collect();
    let (batched, soon) = (Nanos::from_millis(2300), Nanos::from_millis(1));
    #[rustfmt::skip]
    let expected = [
        ("ioreport:cpu_energy", Scope::Cpu,  "mJ", batched, Some(1e-3)),
        ("ioreport:gpu_energy", Scope::Gpu,  "nJ", soon,    Some(1e-9)),
        ("ioreport:ane0",       Scope::Npu,  "mJ", batched, Some(1e-3)),
        ("ioreport:dram0",      Scope::Dram, "uJ", soon,    Some(1e-6)),
    ];
    assert_eq!(told, expected);
    for (domain, booking) in source.domains() {
        assert!(domain.in_total && domain.kind == Kind::Counter, "{}", domain.id);
        assert!(matches!(booking, Booking::Counter(spec) if spec.max_uj.is_none()), "{}", domain.id);
    }
    let values: Vec<_> = read(&mut source, 0.0).iter().map(|reading| reading.value).collect();
    let count = |raw, uj| Value::Counter { raw, uj };
    assert_eq!(
        values,
        [count(5000, 5_000_000), count(3_000_000_000, 3_000_000), count(20, 20_000), count(700, 700)]
    );
}

#[test]
fn dies_beside_their_sum_are_not_counted_again() {
    let script = [("DIE_0_CPU Energy", "mJ", 1), ("DIE_1_CPU Energy", "mJ", 2)];
    let ids = |source: &IoReport| source.domains().iter().map(|(d, _)| d.id.clone()).collect::<Vec<_>>();
    let of_dies = stub(&channels(&script));
    assert_eq!(ids(&opened(&of_dies)), ["ioreport:die_0_cpu_energy", "ioreport:die_1_cpu_energy"]);
    let with_sum = stub(&channels(&[&script[..], &[("CPU Energy", "mJ", 3)]].concat()));
    let source = opened(&with_sum);
    assert_eq!(ids(&source), ["ioreport:cpu_energy"]);
    let left: Vec<_> = source.excluded().iter().map(|e| (e.zone.as_str(), e.reason.as_str())).collect();
    let by = "covered-by CPU Energy";
    assert_eq!(left, [("ioreport:die_0_cpu_energy", by), ("ioreport:die_1_cpu_energy", by)]);
}

/// 40 W, of which batches of 80 J appear every two seconds: half of the polls see nothing, the others twice the power.
#[test]
fn batches_are_booked_as_energy_whatever_the_polls_see() {
    let stub = stub(&channels(&[("DIE_0_CPU Energy", "mJ", 0)]));
    let mut source = opened(&stub);
    let mut books = Books::of(&source);
    let mut events = Vec::new();
    let mut last = 0.0;
    for second in 0..=10_u32 {
        stub.say(&channels(&[("DIE_0_CPU Energy", "mJ", i64::from(second / 2) * 80_000)]));
        let sample = books.read(&mut source, f64::from(second))[0];
        events.push(sample.event);
        last = sample.booked.get();
    }
    assert!((last - 400.0).abs() < 1e-9, "{last}");
    assert_eq!(events.iter().filter(|event| **event == Event::Same).count(), 5);
    assert!(events.iter().all(|event| matches!(event, Event::First | Event::Ok | Event::Same)), "{events:?}");
}

type Row<'a> = (&'a str, Vec<(&'a str, &'a str, i64)>, Result<(u64, u64), Missing>);

#[test]
fn the_unit_is_read_every_time_and_a_channel_that_vanishes_is_missing() {
    let first = channels(&[("CPU Energy", "mJ", 5), ("GPU Energy", "nJ", 1)]);
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("as before",                  vec![("CPU Energy", "mJ", 6)],        Ok((6, 6000))),
        ("another unit, the same raw", vec![("CPU Energy", "nJ", 7_000_000)], Ok((7, 7000))),
        ("a unit that isn't one",      vec![("CPU Energy", "kJ", 6)],        Err(Missing::Parse)),
        ("no unit",                    vec![("CPU Energy", "", 6)],          Err(Missing::Parse)),
        ("a negative count",           vec![("CPU Energy", "mJ", -1)],       Err(Missing::Sentinel)),
        ("more than can be told",      vec![("CPU Energy", "mJ", i64::MAX)], Err(Missing::Implausible)),
        ("in another place",           vec![("DISP", "mJ", 1), ("CPU Energy", "mJ", 8)], Ok((8, 8000))),
        ("gone",                       vec![("DISP", "mJ", 1)],              Err(Missing::Absent)),
        ("a part of it isn't it",      vec![("PCPU0_CPU Energy", "mJ", 1)],  Err(Missing::Absent)),
    ];
    for (why, later, expected) in cases {
        let stub = stub(&first);
        let mut source = opened(&stub);
        stub.say(&channels(later));
        let found = match read(&mut source, 1.0)[0].value {
            Value::Counter { raw, uj } => Ok((raw, uj)),
            Value::Missing(why) => Err(why),
            other => unreachable!("{why}: {other:?}"),
        };
        assert_eq!(found, *expected, "{why}");
        assert_eq!(source.domains().len(), 2, "{why}: the domains are frozen");
    }
    let stub = stub(&first);
    let mut source = opened(&stub);
    stub.say("0, 0, samples, 0, 1, 0, 0");
    let values: Vec<_> = read(&mut source, 1.0).iter().map(|reading| reading.value).collect();
    assert_eq!(values, [Value::Missing(Missing::Io); 2], "no sample");
}

#[test]
fn what_stands_in_the_way_is_named() {
    #[rustfmt::skip]
    let cases = [
        ("no such group",      "0, 0, group, 0, 1, 0, 0".to_owned(),        "ioreport: there is no group \"Energy Model\""),
        ("no subscription",    "0, 0, subscription, 0, 1, 0, 0".to_owned(), "ioreport: the subscription was refused"),
        ("no sample",          "0, 0, samples, 0, 1, 0, 0".to_owned(),      "ioreport: it gives no sample"),
        ("no channels",        String::new(),                               "ioreport: none of 0 channels is a total"),
        ("parts alone",        channels(&[("EACC_CPU0", "mJ", 1)]),         "ioreport: none of 1 channels is a total"),
        ("a total in a unit that isn't known: the others would be too small",
            channels(&[("CPU Energy", "kJ", 1), ("GPU Energy", "nJ", 1)]),  "ioreport: channel \"CPU Energy\" counts in \"kJ\""),
    ];
    for (why, script, said) in cases {
        let stub = stub(&script);
        let error = open(&stub).err().map(|error| (error.code(), error.to_string()));
        assert_eq!(error, Some(("POWER_NO_SOURCE", said.to_owned())), "{why}");
    }
    let stub = stub("");
    let absent = IoReport::open(&stub.library, std::path::Path::new("/nowhere/CoreFoundation"));
    let said = absent.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.starts_with("ioreport: cannot load /nowhere/CoreFoundation: "), "{said}");
    let other = Stub::new("stub_nvml", "");
    let said = IoReport::open(&other.library, &stub.library).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(said.ends_with("has no IOReportCopyChannelsInGroup"), "{said}");
}

/// How many objects of the stand-in are held.
fn alive(stub: &Stub) -> i64 {
    // SAFETY: loading the stand-in runs nothing.
    let library = unsafe { Library::new(&stub.library) };
    let Ok(library) = library else { unreachable!("the stand-in loads") };
    // SAFETY: it is the type that the stand-in declares.
    let call = unsafe { library.get::<extern "C" fn() -> i64>("stub_ioreport_alive") };
    call.map_or(-1, |call| call())
}

#[test]
fn nothing_leaks_and_nothing_is_let_go_twice() {
    let stub = stub(&channels(PLAIN));
    let mut source = opened(&stub);
    let held = alive(&stub);
    assert_eq!(held, 3, "the subscription, its channels and one key");
    for second in 0..50 {
        read(&mut source, f64::from(second));
    }
    assert_eq!(alive(&stub), held);
    drop(source);
    assert_eq!(alive(&stub), 0);
    for script in ["0, 0, group, 0, 1, 0, 0", "0, 0, subscription, 0, 1, 0, 0", ""] {
        stub.say(script);
        assert!(open(&stub).is_err());
        assert_eq!(alive(&stub), 0, "{script}");
    }
}
