//! The source over a stand-in for AMD SMI.
#![cfg(unix)]

mod stub;

use std::{path::Path, thread, time::Duration};

use power_core::{
    Booking, Domain, Event, Joules, Kind, Missing, Nanos, PowerError, PowerSource, Provenance, Scope, Value,
    Watts,
};
use power_vendor::{AMDSMI, AmdSmi, Libraries, probe_vendor_sources};
use stub::{Books, Stub, elsewhere, read};

/// One GPU on bus 0x29: a counter, and 100 W now; 750 W at most.
const PLAIN: &str = "
0, 0, version, 0, 0, 2, 26
0, 0, socket, 0, 0, 0, 0
0, 0, bdf, 0, 0, 0, 10496
0, 0, energy, 0, 0, 0, 65536
0, 0, power, 0, 0, 0, 100
0, 0, cap, 0, 0, 0, 750000000
";

fn stub(script: &str) -> Stub {
    Stub::new("stub_amdsmi", script)
}

fn open(stub: &Stub) -> AmdSmi {
    match AmdSmi::open(&stub.library, Path::new("/"), || Duration::ZERO) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    }
}

fn refused(stub: &Stub) -> PowerError {
    match AmdSmi::open(&stub.library, Path::new("/"), || Duration::ZERO) {
        Ok(source) => unreachable!("{:?} can be read", source.domains()),
        Err(error) => error,
    }
}

fn ids(source: &AmdSmi) -> Vec<(&str, bool)> {
    source.domains().iter().map(|(domain, _)| (domain.id.as_str(), domain.in_total)).collect()
}

fn left_out(source: &AmdSmi) -> Vec<(&str, &str)> {
    source.excluded().iter().map(|left| (left.zone.as_str(), left.reason.as_str())).collect()
}

/// Device `index` on the bus at `bdf`, with a counter at `energy` counts and `watts`.
fn device(index: u32, bdf: u64, energy: &str, watts: &str) -> String {
    let mut script = format!("0, {index}, socket, 0, 0, 0, 0\n0, {index}, bdf, 0, 0, 0, {bdf}\n");
    for (what, value) in [("energy", energy), ("power", watts)] {
        if !value.is_empty() {
            script = format!("{script}0, {index}, {what}, 0, 0, 0, {value}\n");
        }
    }
    script
}

#[test]
fn a_counter_is_metered_and_the_power_is_shown_beside_it() {
    let stub = stub(PLAIN);
    let mut source = open(&stub);
    assert_eq!((source.name(), source.provenance()), (AMDSMI, Provenance::Counter));
    let [(counter, Booking::Counter(spec)), (gauge, Booking::Gauge(_))] = source.domains() else {
        unreachable!("{:?}", source.domains());
    };
    assert_eq!(
        *counter,
        Domain {
            id: "amd-smi:0000:29:00.0:energy".to_owned(),
            scope: Scope::Gpu,
            kind: Kind::Counter,
            provenance: Provenance::Counter,
            in_total: true,
            update_period: Nanos::from_millis(1),
            quantum: Some(1.0 / 65_536.0),
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: "2^-16 J",
            note: None,
        }
    );
    assert_eq!(spec.cap_uw, 1_500_000_000, "twice the highest limit");
    assert_eq!((gauge.kind, gauge.in_total, gauge.provenance), (Kind::Gauge, false, Provenance::Integrated));
    let values: Vec<_> = read(&mut source, 0.0).iter().map(|reading| reading.value).collect();
    let power = Value::Power { raw: Some(100), power: Watts::new(100.0) };
    assert_eq!(values, [Value::Counter { raw: 65_536, uj: 1_000_000 }, power]);
}

#[test]
fn counts_become_joules_by_their_exact_resolution() {
    #[rustfmt::skip]
    let cases = [
        ("the library gives 2^-16 J",          "0, 0, energy, 0, 0, 0"),
        ("the library rounds it to 15.3 µJ",   "0, 0, energy, 0, 0, 15300000"),
    ];
    for (why, line) in cases {
        let at = |count: u64| PLAIN.replace("0, 0, energy, 0, 0, 0, 65536", &format!("{line}, {count}"));
        let stub = stub(&at(1 << 40));
        let mut source = open(&stub);
        let mut books = Books::of(&source);
        books.read(&mut source, 0.0);
        stub.say(&at((1 << 40) + 65_536));
        let sample = books.read(&mut source, 1.0)[0];
        assert_eq!((sample.event, sample.booked), (Event::Ok, Joules::new(1.0)), "{why}");
    }
}

#[test]
fn every_known_version_keeps_its_powers_where_it_does() {
    for (version, kind, note) in
        [(24, 0, ""), (24, 1, "mean"), (25, 0, ""), (25, 1, "mean"), (26, 0, ""), (26, 1, "mean")]
    {
        let script = PLAIN
            .replace("2, 26", &format!("2, {version}"))
            .replace("power, 0, 0, 0, 100", &format!("power, 0, 0, {kind}, 317"));
        let stub = stub(&script);
        let mut source = open(&stub);
        let value = read(&mut source, 0.0)[1].value;
        let expected = Value::Power { raw: Some(317), power: Watts::new(317.0) };
        assert_eq!(value, expected, "version {version}, {kind}");
        let said = source.domains()[1].0.note.clone().unwrap_or_default();
        assert!(said.contains(note), "version {version}: {said}");
    }
    for version in [23, 27] {
        let stub = stub(&PLAIN.replace("2, 26", &format!("2, {version}")));
        let said = refused(&stub).to_string();
        assert!(said.ends_with(&format!("is version {version}.2; 24 to 26 are understood")), "{said}");
    }
}

#[test]
fn a_number_that_says_there_is_none_is_missing() {
    let stub = stub(PLAIN);
    let mut source = open(&stub);
    #[rustfmt::skip]
    let cases: &[(&str, &str, &str, [Option<Missing>; 2])] = &[
        ("16 bits of ones",  "power, 0, 0, 0, 100",    "power, 0, 0, 0, 65535",                 [None, Some(Missing::Sentinel)]),
        ("64 bits of ones",  "energy, 0, 0, 0, 65536", "energy, 0, 0, 0, 18446744073709551615", [Some(Missing::Sentinel), None]),
        ("not supported",    "power, 0, 0, 0, 100",    "power, 0, 2, 0, 100",                   [None, Some(Missing::NotSupported)]),
        ("no permission",    "energy, 0, 0, 0, 65536", "energy, 0, 10, 0, 65536",               [Some(Missing::Permission), None]),
        ("gone",             "energy, 0, 0, 0, 65536", "energy, 0, 31, 0, 65536",               [Some(Missing::Lost), None]),
        ("anything else",    "energy, 0, 0, 0, 65536", "energy, 0, 43, 0, 65536",               [Some(Missing::Io), None]),
    ];
    for (why, from, to, expected) in cases {
        stub.say(&PLAIN.replace(from, to));
        let found: Vec<_> = read(&mut source, 0.0)
            .iter()
            .map(|reading| if let Value::Missing(why) = reading.value { Some(why) } else { None })
            .collect();
        assert_eq!(found, *expected, "{why}");
    }
}

#[test]
fn a_card_without_a_counter_is_integrated_from_its_power() {
    let stub = stub(&device(0, 0x2900, "", "100"));
    let mut source = open(&stub);
    assert_eq!(ids(&source), [("amd-smi:0000:29:00.0:power", true)]);
    assert_eq!(source.provenance(), Provenance::Integrated);
    let mut books = Books::of(&source);
    let last = (0..=100).map(|tenth| books.read(&mut source, f64::from(tenth) / 10.0)[0]).last();
    assert!(last.is_some_and(|sample| (sample.booked.get() - 1000.0).abs() < 1e-6));
}

type Row<'a> = (&'a str, Vec<String>, &'a [&'a str], &'a [(&'a str, &'a str)]);

#[test]
fn two_chips_of_a_package_and_partitions_of_a_chip_are_counted_once() {
    let energy = |bus: &str| format!("amd-smi:0000:{bus}:energy");
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("the second chip shows 0 W",
            vec![device(0, 0x2900, "5", "300"), device(1, 0x2c00, "0", "0")],
            &["29:00.0"], &[("0000:2c:00.0", "covered-by 0000:29:00.0")]),
        ("the second chip shows nothing",
            vec![device(0, 0x2900, "5", "300"), device(1, 0x2c00, "", "65535")],
            &["29:00.0"], &[("0000:2c:00.0", "covered-by 0000:29:00.0")]),
        ("whatever the order they are listed in",
            vec![device(0, 0x2c00, "0", "0"), device(1, 0x2900, "5", "300")],
            &["29:00.0"], &[("0000:2c:00.0", "covered-by 0000:29:00.0")]),
        ("two packages",
            vec![device(0, 0x2900, "5", "300"), device(1, 0x2c00, "0", "0"), device(2, 0x4900, "5", "300"), device(3, 0x4c00, "0", "0")],
            &["29:00.0", "49:00.0"], &[("0000:2c:00.0", "covered-by 0000:29:00.0"), ("0000:4c:00.0", "covered-by 0000:49:00.0")]),
        ("two cards that both tell",
            vec![device(0, 0x2900, "5", "300"), device(1, 0x2c00, "5", "300")],
            &["29:00.0", "2c:00.0"], &[]),
        ("a mute one after a pair is of the next pair, and covered by none",
            vec![device(0, 0x2900, "5", "300"), device(1, 0x2c00, "5", "300"), device(2, 0x4900, "", "")],
            &["29:00.0", "2c:00.0"], &[("0000:49:00.0", "not supported by this GPU, or hidden from a guest")]),
        ("a second card that counts energy without a power",
            vec![device(0, 0x2900, "5", "300"), device(1, 0x2c00, "5", "65535")],
            &["29:00.0", "2c:00.0"], &[]),
        ("partitions of one chip",
            vec![device(0, 0x0c00, "5", "300"), device(1, 0x0c01, "5", "300"), device(2, 0x0c02, "5", "300")],
            &["0c:00.0"], &[("0000:0c:00.1", "covered-by 0000:0c:00.0"), ("0000:0c:00.2", "covered-by 0000:0c:00.0")]),
        ("a partition doesn't shift the pairs",
            vec![device(0, 0x0c00, "5", "300"), device(1, 0x0c01, "5", "300"), device(2, 0x2900, "0", "0")],
            &["0c:00.0"], &[("0000:0c:00.1", "covered-by 0000:0c:00.0"), ("0000:29:00.0", "covered-by 0000:0c:00.0")]),
    ];
    for (why, devices, counted, covered) in cases {
        let stub = stub(&devices.concat());
        let source = open(&stub);
        let found: Vec<_> =
            source.domains().iter().filter(|(d, _)| d.in_total).map(|(d, _)| d.id.clone()).collect();
        assert_eq!(found, counted.iter().map(|bus| energy(bus)).collect::<Vec<_>>(), "{why}");
        assert_eq!(left_out(&source), *covered, "{why}");
    }
}

/// The stand-in answers "busy" to whoever calls while another does.
#[test]
fn two_recorders_never_call_at_once() {
    let stub = stub(PLAIN);
    let mut sources = [open(&stub), open(&stub)];
    thread::scope(|scope| {
        for source in &mut sources {
            scope.spawn(move || {
                for _ in 0..500 {
                    let readings = read(source, 0.0);
                    assert!(readings.iter().all(|reading| !matches!(reading.value, Value::Missing(_))));
                }
            });
        }
    });
}

/// Ending the library ends it for everyone, so that it isn't ended.
#[test]
fn a_recorder_that_ends_leaves_the_others_reading() {
    let stub = stub(PLAIN);
    let mut first = open(&stub);
    drop(open(&stub));
    assert_eq!(read(&mut first, 0.0)[0].value, Value::Counter { raw: 65_536, uj: 1_000_000 });
}

#[test]
fn what_stands_in_the_way_is_named_with_its_fix() {
    #[rustfmt::skip]
    let cases: &[(&str, String, &str, &str, Option<&str>)] = &[
        ("no driver",    "0, 0, init, 0, 34, 0, 0".to_owned(),          "POWER_NO_SOURCE",  "amdsmi_init returned 34",     None),
        ("not allowed",  "0, 0, init, 0, 10, 0, 0".to_owned(),          "POWER_PERMISSION", "amdsmi_init returned 10",     Some("usermod -aG render,video")),
        ("no GPU",       String::new(),                                 "POWER_NO_SOURCE",  "the library shows no GPU",    None),
        ("a guest",      device(0, 0x2900, "", ""),                     "POWER_NO_SOURCE",  "no GPU tells its energy or power, as in a virtual machine (0000:29:00.0: not supported by this GPU, or hidden from a guest)", None),
        ("no group",     "0, 0, socket, 0, 0, 0, 0\n0, 0, bdf, 0, 0, 0, 10496\n0, 0, energy, 0, 10, 0, 5\n0, 0, power, 0, 10, 0, 5\n".to_owned(), "POWER_PERMISSION", "no GPU tells its energy or power, as in a virtual machine (0000:29:00.0: no permission)", Some("usermod")),
    ];
    for (why, script, code, said, fix) in cases {
        let stub = stub(script);
        assert_eq!(refused(&stub).code(), *code, "{why}");
        let libraries = elsewhere(Libraries { amdsmi: Some(stub.library.clone()), ..Libraries::default() });
        let [_, probe, ..] = &probe_vendor_sources(Path::new("/"), &libraries)[..] else {
            unreachable!("several sources")
        };
        assert_eq!((probe.usable, probe.detail.as_str()), (false, *said), "{why}");
        assert_eq!(probe.fix.is_some(), fix.is_some(), "{why}");
        assert!(probe.fix.clone().unwrap_or_default().contains(fix.unwrap_or("")), "{why}");
    }
    let other = Stub::new("stub_nvml", "");
    let said = refused(&other).to_string();
    assert!(said.ends_with("has no amdsmi_init"), "{said}");
}

/// A counter that grows by so many counts (2^-16 J) while half a second passes at 100 W.
fn counted_meanwhile(counts: u64) -> (Stub, Result<AmdSmi, PowerError>) {
    let stub = stub(PLAIN);
    let half_a_second = || {
        stub.say(&format!("{PLAIN}0, 0, energy, 0, 0, 0, {}\n", 65_536 + counts));
        Duration::from_millis(500)
    };
    let opened = AmdSmi::open(&stub.library, Path::new("/"), half_a_second);
    (stub, opened)
}

type CountedRow<'a> = (&'a str, u64, &'a [(&'a str, bool)]);

#[test]
fn a_counter_that_does_not_count_what_is_drawn_is_not_used() {
    const JOULE: u64 = 65_536;
    let both = [("amd-smi:0000:29:00.0:energy", true), ("amd-smi:0000:29:00.0:power", false)];
    let power = [("amd-smi:0000:29:00.0:power", true)];
    #[rustfmt::skip]
    let cases: &[CountedRow] = &[
        ("it counts all of it",                  50 * JOULE,   &both),
        ("half of it: the load may have changed", 25 * JOULE,  &both),
        ("less",                                 24 * JOULE,   &power),
        ("twice of it",                          100 * JOULE,  &both),
        ("more",                                 101 * JOULE,  &power),
        ("it stands still",                      0,            &power),
    ];
    for (why, counts, expected) in cases {
        let (_stub, opened) = counted_meanwhile(*counts);
        let Ok(source) = opened else { unreachable!("{why}") };
        assert_eq!(ids(&source), *expected, "{why}: {:?}", source.excluded());
        assert_eq!(source.excluded().len(), 2 - expected.len(), "{why}");
    }
    let (_stub, opened) = counted_meanwhile(0);
    let reason = opened.ok().map(|source| source.excluded()[0].reason.clone());
    assert_eq!(reason.as_deref(), Some("counted 0.0 J while the power was 50.0 to 50.0 J"));
}

/// Graphics on a CPU's own chip, and what is known of the CPU: `counted`, whether its package has a counter.
fn on_a_chip_with_a_cpu(name: &str, counted: bool) -> Result<(Scope, bool, Option<String>), String> {
    let root = std::env::temp_dir().join(format!("perwatt-apu-{name}-{}", std::process::id()));
    let chip = root.join("sys/bus/pci/devices/0000:29:00.0/hwmon/hwmon3");
    let made =
        std::fs::create_dir_all(&chip).and_then(|()| std::fs::write(chip.join("in1_label"), "vddnb\n"));
    let zone = root.join("sys/class/powercap/intel-rapl:0");
    assert!(made.is_ok() && (!counted || std::fs::create_dir_all(zone).is_ok()));
    let stub = stub(PLAIN);
    let opened = AmdSmi::open(&stub.library, &root, || Duration::ZERO);
    std::fs::remove_dir_all(&root).unwrap_or_default();
    let source = opened.map_err(|error| error.to_string())?;
    let (domain, _) = &source.domains()[0];
    Ok((domain.scope, domain.in_total, domain.note.clone()))
}

#[test]
fn graphics_on_the_chip_of_a_cpu_are_never_added_to_its_package() {
    let note = "the CPU on the same chip is in it";
    assert_eq!(on_a_chip_with_a_cpu("alone", false), Ok((Scope::Soc, true, Some(note.to_owned()))));
    let refused = on_a_chip_with_a_cpu("counted", true);
    assert!(refused.is_err_and(|said| said.contains("never added to its package")));
}

#[test]
fn a_gpu_that_sleeps_is_not_asked() {
    let root = std::env::temp_dir().join(format!("perwatt-amd-sleep-{}", std::process::id()));
    let power = root.join("sys/bus/pci/devices/0000:29:00.0/power");
    let set = |state: &str| {
        std::fs::create_dir_all(&power).and_then(|()| std::fs::write(power.join("runtime_status"), state))
    };
    let stub = stub(PLAIN);
    let open = || AmdSmi::open(&stub.library, &root, || Duration::ZERO);
    assert!(set("suspended\n").is_ok());
    assert!(open().is_err_and(|error| error.to_string().contains("0000:29:00.0: asleep")));
    assert!(set("active\n").is_ok());
    let Ok(mut source) = open() else { unreachable!("it is awake") };
    assert!(set("suspended\n").is_ok());
    let values: Vec<_> = read(&mut source, 0.0).iter().map(|reading| reading.value).collect();
    assert_eq!(values, [Value::Missing(Missing::Inactive); 2]);
    std::fs::remove_dir_all(&root).unwrap_or_default();
}
