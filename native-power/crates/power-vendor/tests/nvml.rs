//! The source over a stand-in for NVIDIA's library.
#![cfg(unix)]

mod stub;

use std::path::{Path, PathBuf};

use power_core::{
    Booking, Domain, Event, Joules, Kind, Missing, Nanos, PowerError, PowerSource, Provenance, Scope, Value,
    Watts,
};
use power_vendor::{Libraries, NVML, Nvml, probe_vendor_sources};
use stub::{Books, Stub, elsewhere, read};

/// One GPU as most are: a counter, and power now; 350 W at most.
const PLAIN: &str = "
0, 0, index, 0, 0, 0, 0
0, 0, uuid, 0, 0, 0, GPU-A
0, 0, name, 0, 0, 0, NVIDIA H100
0, 0, 83, 0, 0, 3, 5000
0, 0, 186, 0, 0, 1, 100000
0, 0, 188, 0, 0, 1, 350000
";

fn stub(script: &str) -> Stub {
    Stub::new("stub_nvml", script)
}

fn open(stub: &Stub) -> Nvml {
    match Nvml::open(&stub.library, Path::new("/")) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    }
}

fn refused(stub: &Stub) -> PowerError {
    match Nvml::open(&stub.library, Path::new("/")) {
        Ok(source) => unreachable!("{:?} can be read", source.domains()),
        Err(error) => error,
    }
}

fn ids(source: &Nvml) -> Vec<(&str, Scope, bool)> {
    source.domains().iter().map(|(domain, _)| (domain.id.as_str(), domain.scope, domain.in_total)).collect()
}

fn left_out(source: &Nvml) -> Vec<(&str, &str)> {
    source.excluded().iter().map(|left| (left.zone.as_str(), left.reason.as_str())).collect()
}

#[test]
fn a_counter_is_metered_and_the_power_is_shown_beside_it() {
    let stub = stub(PLAIN);
    let mut source = open(&stub);
    assert_eq!(source.name(), NVML);
    assert_eq!(source.provenance(), Provenance::Counter);
    let [(counter, Booking::Counter(spec)), (gauge, Booking::Gauge(_))] = source.domains() else {
        unreachable!("{:?}", source.domains());
    };
    assert_eq!(
        *counter,
        Domain {
            id: "nvml:GPU-A:energy".to_owned(),
            scope: Scope::Gpu,
            kind: Kind::Counter,
            provenance: Provenance::Counter,
            in_total: true,
            update_period: Nanos::from_millis(100),
            quantum: Some(0.001),
            scale_error_ratio: Some(0.05),
            sensing_share: Some(0.25),
            raw_unit: "mJ",
            note: Some("NVIDIA H100".to_owned()),
        }
    );
    assert_eq!(spec.max_uj, None, "a true 64-bit counter never wraps");
    assert_eq!(spec.cap_uw, 700_000_000, "twice the highest limit");
    assert_eq!((gauge.id.as_str(), gauge.kind, gauge.in_total), ("nvml:GPU-A:power", Kind::Gauge, false));
    assert_eq!(gauge.provenance, Provenance::Integrated);

    let values: Vec<_> = read(&mut source, 0.0).iter().map(|reading| reading.value).collect();
    assert_eq!(
        values,
        [
            Value::Counter { raw: 5_000, uj: 5_000_000 },
            Value::Power { raw: Some(100_000), power: Watts::new(100.0) },
        ]
    );
}

type Row<'a> = (&'a str, &'a str, &'a [(&'a str, bool)], &'a str);

#[test]
fn what_a_gpu_offers_decides_what_is_metered() {
    let device = "0, 0, index, 0, 0, 0, 0\n0, 0, uuid, 0, 0, 0, GPU-A\n";
    let both = [("nvml:GPU-A:energy", true), ("nvml:GPU-A:power", false)];
    let [energy, power] = [[("nvml:GPU-A:energy", true)], [("nvml:GPU-A:power", true)]];
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("field 191 is the same counter",                "0, 0, 191, 0, 0, 3, 7\n0, 0, 186, 0, 0, 1, 7\n",       &both,   "power now"),
        ("an older driver's calls",                      "0, 0, energy, 0, 0, 0, 7\n0, 0, power, 0, 0, 0, 7\n",  &both,   "doesn't tell"),
        ("a driver that refuses to answer fields at all","0, 0, fields, 0, 13, 0, 0\n0, 0, energy, 0, 0, 0, 7\n0, 0, power, 0, 0, 0, 7\n", &both, "doesn't tell"),
        ("a counter alone",                              "0, 0, 83, 0, 0, 3, 7\n",                               &energy, ""),
        ("power alone is integrated into the total",     "0, 0, 83, 0, 3, 3, 7\n0, 0, 186, 0, 0, 1, 7\n",        &power,  "power now"),
        ("a mean of a second says so",                   "0, 0, 185, 0, 0, 1, 7\n",                              &power,  "averaged_1s"),
        ("now is better than a mean",                    "0, 0, 185, 0, 0, 1, 7\n0, 0, 186, 0, 0, 1, 7\n",       &power,  "power now"),
        ("a counter of all ones is none",                "0, 0, 83, 0, 0, 3, 18446744073709551615\n0, 0, 186, 0, 0, 1, 7\n", &power, "power now"),
        ("a field of a type that doesn't exist is none", "0, 0, 83, 0, 0, 9, 7\n0, 0, 186, 0, 0, 1, 7\n",        &power,  "power now"),
    ];
    for (why, offers, expected, note) in cases {
        let stub = stub(&format!("{device}{offers}"));
        let source = open(&stub);
        let found: Vec<_> = ids(&source).iter().map(|(id, _, in_total)| (*id, *in_total)).collect();
        assert_eq!(found, *expected, "{why}");
        let said: Vec<_> = source.domains().iter().filter_map(|(domain, _)| domain.note.as_deref()).collect();
        assert!(said.join(" ").contains(note), "{why}: {said:?}");
        let averaged = note.contains("averaged_1s").then(|| "averaged_1s:nvml:GPU-A:power".to_owned());
        assert_eq!(source.flags(), averaged.into_iter().collect::<Vec<_>>(), "{why}");
        let counted = expected.iter().any(|(id, _)| id.ends_with("energy"));
        assert_eq!(source.provenance() == Provenance::Counter, counted, "{why}");
    }
}

#[test]
fn a_field_is_read_by_its_own_status_and_type() {
    let script = |answer: &str| format!("{PLAIN}0, 0, 186, 0, {answer}\n");
    let stub = stub(&script("0, 1, 1"));
    let mut source = open(&stub);
    let power = |milliwatts: u64, watts| Value::Power { raw: Some(milliwatts), power: Watts::new(watts) };
    #[rustfmt::skip]
    let cases: &[(&str, &str, Value)] = &[
        ("not supported: what lies there is no number", "3, 0, 0xd7840000434f4445",  Value::Missing(Missing::NotSupported)),
        ("32 bits: the high half is stale",             "0, 1, 0xd7840000434f4445",  power(34_007, 34.007)),
        ("a double",                                    "0, 0, 0x00000000e09ae040",  power(34_007, 34.007)),
        ("no permission any more",                      "4, 1, 5",                   Value::Missing(Missing::Permission)),
        ("all ones",                                    "0, 1, 4294967295",          Value::Missing(Missing::Sentinel)),
        ("0 W is not believed",                         "0, 1, 0",                   Value::Missing(Missing::Implausible)),
        ("unless it is said twice",                     "0, 1, 0",                   power(0, 0.0)),
        ("a number again",                              "0, 1, 5000",                power(5_000, 5.0)),
        ("and another 0 starts anew",                   "0, 1, 0",                   Value::Missing(Missing::Implausible)),
    ];
    for (why, answer, expected) in cases {
        stub.say(&script(answer));
        let readings = read(&mut source, 0.0);
        assert_eq!(readings[1].value, *expected, "{why}");
        assert_eq!(
            readings[0].value,
            Value::Counter { raw: 5_000, uj: 5_000_000 },
            "{why}: the counter is still read"
        );
    }
}

#[test]
fn a_lost_gpu_is_missing_in_every_domain_and_the_others_go_on() {
    let two =
        format!("{PLAIN}0, 1, index, 0, 0, 0, 1\n0, 1, uuid, 0, 0, 0, GPU-B\n0, 1, 83, 0, 0, 3, 9000\n");
    let stub = stub(&two);
    let mut source = open(&stub);
    assert_eq!(source.domains().len(), 3);
    for (status, why) in
        [(15, Missing::Lost), (16, Missing::Lost), (999, Missing::Io), (4, Missing::Permission)]
    {
        stub.say(&format!("{two}0, 0, fields, 0, {status}, 0, 0\n"));
        let values: Vec<_> = read(&mut source, 0.0).iter().map(|reading| reading.value).collect();
        let counted = Value::Counter { raw: 9_000, uj: 9_000_000 };
        assert_eq!(values, [Value::Missing(why), Value::Missing(why), counted]);
    }
}

#[test]
fn a_reset_counter_books_what_is_certain_and_never_a_lap_of_64_bits() {
    let at = |mj: u64| PLAIN.replace("3, 5000", &format!("3, {mj}"));
    let stub = stub(&at(900_000_000));
    let mut source = open(&stub);
    let mut books = Books::of(&source);
    let mut events = Vec::new();
    let mut booked = Joules::ZERO;
    for (step, mj) in [900_000_000, 900_070_000, 1_000, 71_000].into_iter().enumerate() {
        stub.say(&at(mj));
        let sample = books.read(&mut source, f64::from(u32::try_from(step).unwrap_or(0)) * 0.1)[0];
        events.push(sample.event);
        booked = sample.booked;
    }
    assert_eq!(events, [Event::First, Event::Ok, Event::Suspect, Event::Reset]);
    assert_eq!(booked, Joules::new(140.0));
}

#[test]
fn a_first_reading_that_fails_does_not_book_the_counters_life() {
    let at = |status: u32, mj: u64| {
        PLAIN.replace("0, 0, 83, 0, 0, 3, 5000", &format!("0, 0, 83, 0, {status}, 3, {mj}"))
    };
    let stub = stub(&at(0, 900_000_000));
    let mut source = open(&stub);
    let mut books = Books::of(&source);
    stub.say(&at(15, 0));
    assert_eq!(books.read(&mut source, 0.0)[0].event, Event::Missing);
    stub.say(&at(0, 900_000_000));
    assert_eq!(books.read(&mut source, 0.1)[0].event, Event::First);
    stub.say(&at(0, 900_070_000));
    assert_eq!(books.read(&mut source, 0.2)[0].booked, Joules::new(70.0));
}

#[test]
fn a_card_without_a_counter_is_integrated_from_its_power() {
    let stub = stub("0, 0, index, 0, 0, 0, 0\n0, 0, uuid, 0, 0, 0, GPU-A\n0, 0, 186, 0, 0, 1, 100000\n");
    let mut source = open(&stub);
    assert_eq!(ids(&source), [("nvml:GPU-A:power", Scope::Gpu, true)]);
    let mut books = Books::of(&source);
    let last = (0..=100).map(|tenth| books.read(&mut source, f64::from(tenth) / 10.0)[0]).last();
    let joules = last.map_or(0.0, |sample| sample.booked.get());
    assert!((joules - 1000.0).abs() < 1e-6, "{joules} J");
}

/// A counter and an integral that disagree are both kept, each under its own name.
#[test]
fn counter_and_integral_are_booked_side_by_side() {
    let at = |mj: u64| PLAIN.replace("3, 5000", &format!("3, {mj}")).replace("1, 100000", "1, 65400");
    let stub = stub(&at(5_000));
    let mut source = open(&stub);
    let mut books = Books::of(&source);
    let mut booked = Vec::new();
    for tenth in 0..=50_u32 {
        stub.say(&at(5_000 + u64::from(tenth) * 3_740));
        let samples = books.read(&mut source, f64::from(tenth) / 10.0);
        booked = samples.iter().map(|sample| sample.booked.get()).collect();
    }
    assert!((booked[0] - 187.0).abs() < 1e-6 && (booked[1] - 327.0).abs() < 1e-6, "{booked:?}");
    assert!((booked[1] / booked[0] - 1.749).abs() < 1e-3);
}

/// A frozen counter stays the same while the power beside it says otherwise, which is what shows that it is stale.
#[test]
fn a_frozen_counter_stays_visible_beside_the_power() {
    let stub = stub(PLAIN);
    let mut source = open(&stub);
    let mut books = Books::of(&source);
    books.read(&mut source, 0.0);
    let samples: Vec<_> =
        (1..=10).flat_map(|tenth| books.read(&mut source, f64::from(tenth) / 10.0)).collect();
    let of = |domain: u16| samples.iter().filter(move |sample| sample.domain == domain);
    assert!(of(0).all(|sample| sample.event == Event::Same && sample.booked == Joules::ZERO));
    assert!(of(1).next_back().is_some_and(|sample| (sample.booked.get() - 100.0).abs() < 1e-6));
}

#[test]
fn a_split_gpu_is_counted_once_and_its_instances_are_covered() {
    let instance = |i: u32| {
        let at = i + 1;
        [
            format!("0, 0, instance, {i}, 0, 0, {at}"),
            format!("0, {at}, uuid, 0, 0, 0, MIG-{i}"),
            format!("0, {at}, parent, 0, 0, 0, 0"),
            format!("0, {at}, 83, 0, 0, 3, 126272101025"),
        ]
    };
    let instances = (0..4).flat_map(instance).collect::<Vec<_>>().join("\n");
    let at = |mj: u64| {
        format!("{}0, 0, mig, 0, 0, 0, 1\n{instances}", PLAIN.replace("3, 5000", &format!("3, {mj}")))
    };
    let covered = ["MIG-0", "MIG-1", "MIG-2", "MIG-3"].map(|instance| (instance, "covered-by GPU-A"));

    let first = at(126_272_101_025);
    let split = stub(&first);
    let mut source = open(&split);
    assert_eq!(
        ids(&source),
        [("nvml:GPU-A:energy", Scope::Gpu, true), ("nvml:GPU-A:power", Scope::Gpu, false)]
    );
    assert_eq!(left_out(&source), covered);
    let note = source.domains()[0].0.note.clone().unwrap_or_default();
    assert!(note.contains("split into MIG-0, MIG-1, MIG-2, MIG-3, whose shares are not measured"), "{note}");
    let mut books = Books::of(&source);
    books.read(&mut source, 0.0);
    split.say(&at(126_275_101_025));
    assert_eq!(
        books.read(&mut source, 10.0)[0].booked,
        Joules::new(3000.0),
        "once, not once for each instance"
    );

    // A container may be shown the instances instead of the GPU that they are part of.
    let shown = first.replace(
        "0, 0, index, 0, 0, 0, 0",
        "0, 0, index, 0, 0, 0, 1\n0, 1, index, 0, 0, 0, 2\n0, 2, index, 0, 0, 0, 3\n0, 3, index, 0, 0, 0, 4",
    );
    let shown = stub(&shown);
    let source = open(&shown);
    assert_eq!(ids(&source).len(), 2);
    assert_eq!(left_out(&source), covered);

    let orphan = stub("0, 0, index, 0, 0, 0, 1\n0, 1, uuid, 0, 0, 0, MIG-0\n0, 1, 83, 0, 0, 3, 5\n");
    assert!(refused(&orphan).to_string().contains("MIG-0: an instance of a GPU that is not shown"));
}

#[test]
fn a_gpu_that_shares_a_module_with_its_cpu_is_the_modules() {
    let module = "
0, 0, index, 0, 0, 0, 0
0, 0, uuid, 0, 0, 0, GPU-A
0, 0, name, 0, 0, 0, NVIDIA GH200 480GB
0, 0, 83, 0, 0, 3, 5000
0, 0, 186, 0, 3, 1, 0
0, 0, 186, 1, 0, 1, 300000
0, 0, 188, 1, 0, 1, 1000000
";
    let only = stub(module);
    let mut source = open(&only);
    assert_eq!(
        ids(&source),
        [("nvml:GPU-A:energy", Scope::Module, true), ("nvml:GPU-A:power", Scope::Module, false)]
    );
    let Booking::Counter(spec) = source.domains()[0].1 else { unreachable!("a counter") };
    assert_eq!(spec.cap_uw, 2_000_000_000, "twice the module's limit");
    let power = Value::Power { raw: Some(300_000), power: Watts::new(300.0) };
    assert_eq!(read(&mut source, 0.0)[1].value, power);

    let both = stub(&module.replace("186, 0, 3, 1, 0", "186, 0, 0, 1, 90000"));
    let mut source = open(&both);
    assert_eq!(ids(&source)[0].1, Scope::Module, "the counter is the module's, whatever its scope is called");
    assert_eq!(read(&mut source, 0.0)[1].value, power, "and so is the power that it is compared with");
}

#[test]
fn what_stands_in_the_way_is_named_with_its_fix() {
    let device = "0, 0, index, 0, 0, 0, 0\n0, 0, uuid, 0, 0, 0, GPU-A\n";
    #[rustfmt::skip]
    let cases: &[(&str, String, &str, &str, Option<&str>)] = &[
        ("other driver",    "0, 0, init, 0, 18, 0, 0".to_owned(),                    "POWER_NO_SOURCE",  "nvml: nvmlInit_v2 returned 18 (Driver/library version mismatch)", Some("reboot")),
        ("no driver",       "0, 0, init, 0, 9, 0, 0".to_owned(),                     "POWER_NO_SOURCE",  "nvml: nvmlInit_v2 returned 9",  Some("sudo modprobe nvidia")),
        ("not allowed",     "0, 0, init, 0, 4, 0, 0".to_owned(),                     "POWER_PERMISSION", "nvml: nvmlInit_v2 returned 4 (Insufficient Permissions)", Some("/dev/nvidiactl")),
        ("no GPU",          String::new(),                                           "POWER_NO_SOURCE",  "nvml: the driver shows no GPU", None),
        ("lost GPU",        "0, 0, index, 0, 15, 0, 0".to_owned(),                   "POWER_NO_SOURCE",  "nvml: no GPU tells its energy or power (GPU 0: the GPU is lost or must be reset)", None),
        ("nothing offered", device.to_owned(),                                       "POWER_NO_SOURCE",  "nvml: no GPU tells its energy or power (GPU-A: not supported by this GPU or driver)", None),
        ("nothing allowed", format!("{device}0, 0, 83, 0, 4, 3, 5\n0, 0, 186, 0, 4, 1, 5"), "POWER_PERMISSION", "nvml: no GPU tells its energy or power (GPU-A: no permission)", Some("/dev/nvidiactl")),
    ];
    for (why, script, code, said, fix) in cases {
        let stub = stub(script);
        let error = refused(&stub);
        assert_eq!(error.code(), *code, "{why}");
        assert!(error.to_string().starts_with(said), "{why}: {error}");
        let libraries = elsewhere(Libraries { nvml: Some(stub.library.clone()), ..Libraries::default() });
        let [probe, ..] = &probe_vendor_sources(Path::new("/"), &libraries)[..] else {
            unreachable!("several sources")
        };
        assert!(!probe.usable, "{why}");
        assert!(
            said.ends_with(&probe.detail) || format!("nvml: {}", probe.detail).starts_with(said),
            "{why}"
        );
        assert_eq!(probe.fix.is_some(), fix.is_some(), "{why}: {:?}", probe.fix);
        assert!(probe.fix.clone().unwrap_or_default().contains(fix.unwrap_or("")), "{why}: {:?}", probe.fix);
    }
}

#[test]
fn a_library_that_is_missing_or_another_one_is_named() {
    let root = std::env::temp_dir().join(format!("perwatt-vendor-root-{}", std::process::id()));
    let libraries =
        |nvml: &Path| elsewhere(Libraries { nvml: Some(nvml.to_owned()), ..Libraries::default() });
    let probe = |root: &Path, nvml: &Path| probe_vendor_sources(root, &libraries(nvml)).remove(0);

    let absent = probe(&root, Path::new("/nowhere/libnvidia-ml.so.1"));
    assert!(absent.detail.starts_with("cannot load /nowhere/libnvidia-ml.so.1: "), "{}", absent.detail);
    assert_eq!(absent.fix, None, "nothing shows a GPU whose library would be missed");

    let card = |class: &str| {
        let device = root.join("sys/bus/pci/devices/0000:01:00.0");
        assert!(std::fs::create_dir_all(&device).is_ok());
        for (file, text) in [("vendor", "0x10de\n"), ("class", class)] {
            assert!(std::fs::write(device.join(file), text).is_ok());
        }
        probe(&root, Path::new("/nowhere/libnvidia-ml.so.1")).fix
    };
    assert_eq!(card("0x040300\n"), None, "sound has no energy to tell");
    assert!(card("0x030200\n").is_some_and(|fix| fix.contains("apt install nvidia-driver")));

    assert!(std::fs::create_dir_all(root.join("dev/nvidiactl")).is_ok());
    let missed = probe(&root, Path::new("/nowhere/libnvidia-ml.so.1"));
    assert!(missed.fix.is_some_and(|fix| fix.contains("libnvidia-compute") && fix.contains("--gpus all")));
    std::fs::remove_dir_all(&root).unwrap_or_default();

    let other = Stub::new("stub_amdsmi", "");
    let other = probe(Path::new("/"), &other.library);
    assert!(other.detail.ends_with("has no nvmlInit_v2"), "{}", other.detail);
    assert!(other.fix.is_some_and(|fix| fix.starts_with("update the driver")));
}

#[test]
fn a_probe_says_what_is_metered_what_is_beside_it_and_what_is_left_out() {
    let script =
        format!("{PLAIN}0, 0, mig, 0, 0, 0, 1\n0, 0, instance, 0, 0, 0, 1\n0, 1, uuid, 0, 0, 0, MIG-0\n");
    let stub = stub(&script);
    let libraries = elsewhere(Libraries { nvml: Some(stub.library.clone()), ..Libraries::default() });
    let probes = probe_vendor_sources(Path::new("/"), &libraries);
    assert!(probes[0].usable && probes[0].fix.is_none());
    assert_eq!(
        probes[0].detail,
        "nvml:GPU-A:energy; beside the total: nvml:GPU-A:power; left out: MIG-0 (covered-by GPU-A)"
    );
    assert!(!probes[1].usable && probes[1].detail.starts_with("cannot load /nowhere.so: "));
}

/// Recorders come and go; the library is started and ended as often, and those that are left go on.
#[test]
fn sources_of_one_library_live_side_by_side() {
    let stub = stub(PLAIN);
    let mut first = open(&stub);
    drop(open(&stub));
    drop(open(&stub));
    assert_eq!(read(&mut first, 0.0)[0].value, Value::Counter { raw: 5_000, uj: 5_000_000 });
}

/// A root of this test's own, removed when the test ends.
struct Root(PathBuf);

impl Root {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("perwatt-nvml-{name}-{}", std::process::id())))
    }

    fn set(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        let written = path.parent().map(std::fs::create_dir_all).is_some_and(|made| made.is_ok());
        assert!(written && std::fs::write(&path, text).is_ok(), "{}", path.display());
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

/// To ask a GPU that sleeps would wake it: the kernel is asked first.
#[test]
fn a_gpu_that_sleeps_is_not_asked() {
    let root = Root::new("sleep");
    let state = "sys/bus/pci/devices/0000:65:00.0/power/runtime_status";
    let stub = stub(&format!("{PLAIN}0, 0, pci, 0, 0, 0, 0000:65:00\n"));
    root.set(state, "suspended\n");
    let error = Nvml::open(&stub.library, &root.0).err().map(|error| error.to_string());
    assert_eq!(
        error.as_deref(),
        Some("nvml: no GPU tells its energy or power (GPU-A: asleep, and not woken to be measured)")
    );
    root.set(state, "active\n");
    let Ok(mut source) = Nvml::open(&stub.library, &root.0) else { unreachable!("it is awake") };
    assert!(matches!(read(&mut source, 0.0)[0].value, Value::Counter { raw: 5_000, .. }));
    root.set(state, "suspended\n");
    stub.say("");
    let values: Vec<_> =
        read(&mut source, 1.0).iter().map(|reading| (reading.domain, reading.value)).collect();
    let asleep = Value::Missing(Missing::Inactive);
    assert_eq!(values, [(0, asleep), (1, asleep)]);
    let mut channels = Vec::new();
    source.read_channels(&stub::At(1.0), &mut channels);
    assert!(
        channels.iter().all(|channel| format!("{:?}", channel.value).contains("Inactive")),
        "{channels:?}"
    );
}
