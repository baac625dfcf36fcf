//! The source over a stand-in for Intel's Level Zero.
#![cfg(unix)]

mod stub;

use std::path::Path;

use power_core::{
    Booking, Domain, Event, Joules, Kind, Missing, Nanos, PowerError, PowerSource, Provenance, Scope, Value,
};
use power_vendor::{LEVEL_ZERO, LevelZero, Libraries, probe_vendor_sources};
use stub::{Books, Stub, elsewhere, read};

/// One card on bus 3 with its package inside it; 300 W at most.
const PLAIN: &str = "
0, 0, device, 0, 0, 0, 3
0, 0, model, 0, 0, 0, Arc A770
0, 0, domain, 0, 0, 1,
0, 0, domain, 1, 0, 2,
0, 0, limit, 0, 0, 0, 300000
0, 0, energy, 0, 0, 0, 1000000
0, 0, energy, 1, 0, 0, 800000
";

fn stub(script: &str) -> Stub {
    Stub::new("stub_levelzero", script)
}

fn open(stub: &Stub) -> LevelZero {
    match LevelZero::open(&stub.library) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    }
}

fn refused(stub: &Stub) -> PowerError {
    match LevelZero::open(&stub.library) {
        Ok(source) => unreachable!("{:?} can be read", source.domains()),
        Err(error) => error,
    }
}

/// What is counted, and what stands beside it, without the source's name.
fn ids(source: &LevelZero) -> (Vec<&str>, Vec<&str>) {
    let of = |in_total: bool| {
        let ids = source.domains().iter().filter(move |(domain, _)| domain.in_total == in_total);
        ids.filter_map(|(domain, _)| domain.id.strip_prefix("level-zero:0000:")).collect()
    };
    (of(true), of(false))
}

fn left_out(source: &LevelZero) -> Vec<(&str, &str)> {
    source.excluded().iter().map(|left| (left.zone.as_str(), left.reason.as_str())).collect()
}

#[test]
fn a_card_is_metered_and_what_lies_inside_it_is_shown_beside() {
    let stub = stub(PLAIN);
    let mut source = open(&stub);
    assert_eq!((source.name(), source.provenance()), (LEVEL_ZERO, Provenance::Counter));
    let [(card, Booking::Counter(spec)), (package, _)] = source.domains() else {
        unreachable!("{:?}", source.domains());
    };
    let expected = Domain {
        id: "level-zero:0000:03:00.0:card".to_owned(),
        scope: Scope::Gpu,
        kind: Kind::Counter,
        provenance: Provenance::Counter,
        in_total: true,
        update_period: Nanos::from_millis(1),
        quantum: None,
        scale_error_ratio: None,
        sensing_share: None,
        raw_unit: "uJ",
        note: Some("Arc A770".to_owned()),
    };
    assert_eq!(*card, expected);
    assert_eq!(spec.cap_uw, 600_000_000, "twice the highest limit");
    assert!(!package.in_total);
    let note = "Arc A770; lies inside level-zero:0000:03:00.0:card; never added to it";
    assert_eq!(package.note.as_deref(), Some(note));
    assert_eq!(source.slowest_period(), Some(Nanos::from_millis(60_000)), "the register laps unseen");
    let values: Vec<_> = read(&mut source, 0.0).iter().map(|reading| reading.value).collect();
    let count = |uj| Value::Counter { raw: uj, uj };
    assert_eq!(values, [count(1_000_000), count(800_000)]);
}

/// A device on bus 3 with these domains: what each covers, its part, and its energy or the refusal.
fn device(domains: &[(u32, &str, &str)]) -> String {
    let line = |(k, (covers, part, energy)): (usize, &(u32, &str, &str))| {
        format!("0, 0, domain, {k}, 0, {covers}, {part}\n0, 0, energy, {k}, {energy}\n")
    };
    let lines: String = domains.iter().enumerate().map(line).collect();
    format!("0, 0, device, 0, 0, 0, 3\n{lines}")
}

/// The same of the second device.
fn second(script: &str) -> String {
    script.replace("\n0, 0, ", "\n0, 1, ")
}

type Row<'a> = (&'a str, String, &'a [&'a str], &'a [&'a str]);

#[test]
fn no_energy_of_a_device_is_counted_twice() {
    const FINE: &str = "0, 0, 5";
    const NONE: &str = "2013265923, 0, 0";
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("whatever the order they are listed in",
            device(&[(4, "", FINE), (2, "", FINE), (1, "", FINE)]),
            &["03:00.0:card"], &["03:00.0:package", "03:00.0:memory"]),
        ("a card that doesn't count",
            device(&[(1, "", NONE), (2, "", FINE), (3, "0", FINE)]),
            &["03:00.0:package"], &["03:00.0:stack-0"]),
        ("a driver that doesn't tell what they cover",
            device(&[(0, "", FINE)]),
            &["03:00.0:device"], &[]),
        ("two that it tells nothing of: which holds which isn't known, one is taken",
            device(&[(0, "", FINE), (0, "", FINE)]),
            &["03:00.0:device"], &["03:00.0:device-2"]),
        ("stacks alone: together they are the device",
            device(&[(3, "1", FINE), (3, "0", FINE)]),
            &["03:00.0:stack-0", "03:00.0:stack-1"], &[]),
        ("stacks inside a package",
            device(&[(3, "0", FINE), (3, "1", FINE), (2, "", FINE)]),
            &["03:00.0:package"], &["03:00.0:stack-0", "03:00.0:stack-1"]),
        ("several domains of each part",
            device(&[(3, "0", FINE), (2, "0", FINE), (4, "0", FINE), (2, "1", FINE)]),
            &["03:00.0:package-0", "03:00.0:package-1"], &["03:00.0:stack-0", "03:00.0:memory-0"]),
        ("the card by a call of its own",
            format!("{}0, 0, card, 0, 0, 0, 1\n", device(&[(2, "", FINE), (0, "", FINE)])),
            &["03:00.0:card"], &["03:00.0:package"]),
        ("a card that is not among the others",
            format!("{}0, 0, card, 0, 0, 0, 9\n0, 0, domain, 9, 0, 0,\n0, 0, energy, 9, 0, 0, 5\n", device(&[(2, "", FINE)])),
            &["03:00.0:card"], &["03:00.0:package"]),
    ];
    for (why, script, counted, beside) in cases {
        let stub = stub(script);
        let source = open(&stub);
        assert_eq!(ids(&source), (counted.to_vec(), beside.to_vec()), "{why}");
    }
}

#[test]
fn a_device_without_one_of_its_parts_is_not_metered_for_less() {
    let stub = stub(&device(&[(3, "0", "0, 0, 5"), (3, "1", "2013265923, 0, 0")]));
    let error = refused(&stub).to_string();
    assert!(error.contains("stack-0: another part of the card gives no number"), "{error}");
    assert!(error.contains("stack-1: not supported by this GPU or driver"), "{error}");
}

#[test]
fn two_cards_are_counted_and_one_shown_twice_once() {
    let other = second(PLAIN).replace("device, 0, 0, 0, 3", "device, 0, 0, 0, 4");
    let stub_of_two = stub(&format!("{PLAIN}{other}"));
    assert_eq!(ids(&open(&stub_of_two)).0, ["03:00.0:card", "04:00.0:card"]);
    let same = second(PLAIN);
    let stub_of_same = stub(&format!("{PLAIN}{same}"));
    assert_eq!(ids(&open(&stub_of_same)).0, ["03:00.0:card"]);
}

#[test]
fn graphics_of_a_cpu_are_never_added_to_its_package() {
    let integrated = format!("{}0, 0, integrated, 0, 0, 0, 1\n", device(&[(2, "", "0, 0, 5")]));
    let error = refused(&stub(&integrated)).to_string();
    assert!(error.contains("lies inside its package; never added to it"), "{error}");
    let with_card =
        format!("{integrated}{}", second(PLAIN).replace("device, 0, 0, 0, 3", "device, 0, 0, 0, 4"));
    let stub = stub(&with_card);
    assert_eq!(ids(&open(&stub)), (vec!["04:00.0:card"], vec!["03:00.0:package", "04:00.0:package"]));
}

#[test]
fn a_one_off_jump_of_the_counter_is_dropped_and_a_vanished_domain_is_missing() {
    let script = |energies: [&str; 4]| {
        let line = |(k, energy): (usize, &&str)| format!("{}, 0, energy, 0, {energy}\n", k + 1);
        let later: String = energies.iter().enumerate().map(line).collect();
        format!("{}0, 0, limit, 0, 0, 0, 300000\n{later}", device(&[(1, "", "0, 0, 1000000")]))
    };
    let glitch =
        stub(&script(["0, 0, 1000000", "0, 0, 22543283000000", "0, 0, 201000000", "0, 0, 301000000"]));
    let mut source = open(&glitch);
    let mut books = Books::of(&source);
    let samples: Vec<_> = (0..4).map(|s| books.read(&mut source, f64::from(s))[0]).collect();
    assert_eq!(samples[1].event, Event::Suspect, "22.5 MJ in a second");
    assert_eq!((samples[2].event, samples[2].booked), (Event::Glitch, Joules::new(200.0)));
    assert_eq!(samples[3].booked, Joules::new(300.0));
    #[rustfmt::skip]
    let cases = [
        ("lost",           "1879048193, 0, 0",            Missing::Lost),
        ("no permission",  "1879113728, 0, 0",            Missing::Permission),
        ("64 bits of ones", "0, 0, 18446744073709551615", Missing::Sentinel),
        ("anything else",  "1, 0, 0",                     Missing::Io),
    ];
    for (why, said, expected) in cases {
        let stub = stub(&script([said; 4]));
        let mut source = open(&stub);
        assert_eq!(read(&mut source, 0.0)[0].value, Value::Missing(expected), "{why}");
        assert_eq!(source.domains().len(), 1, "{why}: the domains are frozen");
    }
}

#[test]
fn what_stands_in_the_way_is_named_with_its_fix() {
    #[rustfmt::skip]
    let cases: &[(&str, String, &str, &str, Option<&str>)] = &[
        ("no driver",   "0, 0, init, 0, 2013265921, 0, 0".to_owned(),  "POWER_NO_SOURCE",  "zesInit returned 0x78000001", None),
        ("not allowed", "0, 0, init, 0, 1879113728, 0, 0".to_owned(),  "POWER_PERMISSION", "zesInit returned 0x70010000", Some("usermod -aG render,video")),
        ("no GPU",      String::new(),                                 "POWER_NO_SOURCE",  "the driver shows no GPU",     None),
        ("no domains",  device(&[]),                                   "POWER_NO_SOURCE",  "no GPU tells its energy (level-zero:0000:03:00.0: shows no power domain)", None),
        ("no group",    device(&[(1, "", "1879113728, 0, 0")]),        "POWER_PERMISSION", "no GPU tells its energy (level-zero:0000:03:00.0:card: no permission)", Some("usermod")),
    ];
    for (why, script, code, said, fix) in cases {
        let stub = stub(script);
        assert_eq!(refused(&stub).code(), *code, "{why}");
        let libraries =
            elsewhere(Libraries { level_zero: Some(stub.library.clone()), ..Libraries::default() });
        let probes = probe_vendor_sources(Path::new("/"), &libraries);
        let Some(probe) = probes.iter().find(|probe| probe.name == LEVEL_ZERO) else {
            unreachable!("it is tried")
        };
        assert_eq!((probe.usable, probe.detail.as_str()), (false, *said), "{why}");
        assert_eq!(probe.fix.is_some(), fix.is_some(), "{why}");
        assert!(probe.fix.clone().unwrap_or_default().contains(fix.unwrap_or("")), "{why}");
    }
    let stub = stub(PLAIN);
    let libraries = elsewhere(Libraries { level_zero: Some(stub.library.clone()), ..Libraries::default() });
    let probes = probe_vendor_sources(Path::new("/"), &libraries);
    let usable = probes.iter().find(|probe| probe.name == LEVEL_ZERO).map(|probe| probe.detail.as_str());
    let expected = "level-zero:0000:03:00.0:card; beside the total: level-zero:0000:03:00.0:package";
    assert_eq!(usable, Some(expected));
    assert_eq!(left_out(&open(&stub)), []);
}

#[test]
fn a_missing_library_is_missed_where_a_card_is_shown() {
    let root = std::env::temp_dir().join(format!("perwatt-intel-root-{}", std::process::id()));
    let fix = |driver: &str| {
        assert!(std::fs::create_dir_all(root.join("sys/bus/pci/drivers").join(driver)).is_ok());
        let probes = probe_vendor_sources(&root, &elsewhere(Libraries::default()));
        probes.iter().find(|probe| probe.name == LEVEL_ZERO).and_then(|probe| probe.fix.clone())
    };
    assert_eq!(fix("i915/module"), None);
    assert_eq!(fix("i915/0000:00:02.0"), None, "graphics of the CPU are counted with it");
    assert!(fix("xe/0000:03:00.0").is_some_and(|fix| fix.contains("PERWATT_LEVEL_ZERO_LIB")));
    std::fs::remove_dir_all(&root).unwrap_or_default();
}
