//! Runs the real code on small powercap trees that each test builds.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
};

use power_core::{Clock, Event, Ledger, Nanos, PowerSource, Rapl, Sample, Scope, probe_sources};

/// A clock that moves by one millisecond per look.
struct Ticks(Cell<i64>);

impl Clock for Ticks {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1_000_000);
        Nanos(self.0.get())
    }
}

const DEVICES: &str = "sys/devices/virtual/powercap";
const CLASS: &str = "sys/class/powercap";

/// A folder that goes with the test.
struct Tree(PathBuf);

impl std::ops::Deref for Tree {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn temp(name: &str) -> Tree {
    let dir = std::env::temp_dir().join(format!("power-rapl-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join(CLASS)).unwrap();
    Tree(dir)
}

/// A zone as the kernel shows it: files in a nested device folder, a flat relative link in the class folder.
fn zone(root: &Path, folder: &str, name: &str, energy_uj: &str) {
    let (control, number) = folder.split_once(':').unwrap();
    let mut device = PathBuf::from(DEVICES).join(control);
    let mut path = control.to_owned();
    for part in number.split(':') {
        path = format!("{path}:{part}");
        device = device.join(&path);
    }
    fs::create_dir_all(root.join(&device)).unwrap();
    fs::write(root.join(&device).join("name"), format!("{name}\n")).unwrap();
    fs::write(root.join(&device).join("max_energy_range_uj"), "262143328850\n").unwrap();
    fs::write(root.join(&device).join("energy_uj"), format!("{energy_uj}\n")).unwrap();
    let relative = Path::new("../../..").join(&device);
    std::os::unix::fs::symlink(relative, root.join(CLASS).join(folder)).unwrap();
}

fn set(root: &Path, folder: &str, energy_uj: &str) {
    fs::write(root.join(CLASS).join(folder).join("energy_uj"), format!("{energy_uj}\n")).unwrap();
}

fn ids(rapl: &Rapl) -> Vec<(&str, Scope, bool)> {
    rapl.domains().iter().map(|(d, _)| (d.id.as_str(), d.scope, d.in_total)).collect()
}

/// Energy in J of every domain between two readings.
fn between(rapl: &mut Rapl, change: impl FnOnce()) -> Vec<Sample> {
    let clock = Ticks(Cell::new(0));
    let mut ledgers: Vec<_> = rapl.domains().iter().map(|(_, booking)| Ledger::new(*booking)).collect();
    let mut out = Vec::new();
    rapl.read(&clock, &mut out).unwrap();
    change();
    clock.0.set(1_000_000_000);
    rapl.read(&clock, &mut out).unwrap();
    let samples: Vec<_> = out.iter().map(|r| ledgers[usize::from(r.domain)].enter(r)).collect();
    samples[samples.len() / 2..].to_vec()
}

#[test]
fn what_lies_inside_or_around_a_package_is_beside_the_total() {
    let root = temp("overlap");
    let zones = [
        ("intel-rapl:0", "package-0", "5000000", "8780000"),
        ("intel-rapl:0:0", "core", "5000000", "5840000"),
        ("intel-rapl:0:1", "uncore", "5000000", "5210000"),
        ("intel-rapl:0:2", "dram", "5000000", "6000000"),
        ("intel-rapl:1", "psys", "5000000", "14610000"),
    ];
    for (folder, name, start, _) in zones {
        zone(&root, folder, name, start);
    }
    let mut rapl = Rapl::open(&root).unwrap();
    assert_eq!(
        ids(&rapl),
        [
            ("rapl:0:package-0", Scope::Package, true),
            ("rapl:0:0:core", Scope::Cpu, false),
            ("rapl:0:1:uncore", Scope::Cpu, false),
            ("rapl:0:2:dram", Scope::Dram, true),
            ("rapl:1:psys", Scope::System, false),
        ]
    );
    let samples = between(&mut rapl, || zones.iter().for_each(|(folder, _, _, end)| set(&root, folder, end)));
    let drawn: Vec<_> = samples.iter().map(|s| format!("{:.2}", s.booked.get())).collect();
    assert_eq!(drawn, ["3.78", "0.84", "0.21", "1.00", "9.61"]);
}

#[test]
fn the_second_interface_to_a_package_is_dropped_by_name() {
    let root = temp("mmio");
    zone(&root, "intel-rapl:0", "package-0", "16574328968");
    zone(&root, "intel-rapl-mmio:0", "package-0", "16574000000");
    let rapl = Rapl::open(&root).unwrap();
    assert_eq!(ids(&rapl), [("rapl:0:package-0", Scope::Package, true)]);
    let [left_out] = rapl.excluded() else { unreachable!("one interface is left out") };
    assert_eq!(left_out.zone, "intel-rapl-mmio:0");
    assert!(left_out.reason.starts_with("duplicate interface"), "{}", left_out.reason);

    let alone = temp("mmio-alone");
    zone(&alone, "intel-rapl-mmio:0", "package-0", "1");
    assert_eq!(ids(&Rapl::open(&alone).unwrap()), [("rapl-mmio:0:package-0", Scope::Package, true)]);
}

#[test]
fn packages_are_told_by_name_and_both_sockets_have_their_memory() {
    let root = temp("names");
    zone(&root, "intel-rapl:0", "package-1", "0");
    zone(&root, "intel-rapl:0:0", "dram", "0");
    zone(&root, "intel-rapl:a", "package-15-die-1", "0");
    zone(&root, "intel-rapl:a:0", "dram", "0");
    zone(&root, "intel-rapl:b", "something-new", "0");
    let rapl = Rapl::open(&root).unwrap();
    assert_eq!(
        ids(&rapl),
        [
            ("rapl:0:package-1", Scope::Package, true),
            ("rapl:0:0:dram", Scope::Dram, true),
            ("rapl:a:package-15-die-1", Scope::Package, true),
            ("rapl:a:0:dram", Scope::Dram, true),
        ]
    );
    assert_eq!(rapl.excluded()[0].reason, "unknown name \"something-new\"");
}

#[test]
fn a_kept_descriptor_sees_the_counter_move_and_wrap() {
    let root = temp("wrap");
    zone(&root, "intel-rapl:0", "package-0", "262143000000");
    let mut rapl = Rapl::open(&root).unwrap();
    let samples = between(&mut rapl, || set(&root, "intel-rapl:0", "1000000"));
    assert_eq!((samples[0].event, samples[0].raw), (Event::Wrap, Some(1_000_000)));
    assert_eq!(format!("{:.6}", samples[0].booked.get()), "1.328911");
    assert!(samples[0].took > Nanos(0), "the read is timed");
}

#[test]
fn the_power_limit_of_the_zone_bounds_what_is_believed() {
    let root = temp("limit");
    zone(&root, "intel-rapl:0", "package-0", "0");
    let limit = root.join(CLASS).join("intel-rapl:0/constraint_0_max_power_uw");
    fs::write(&limit, "1500000000\n").unwrap();
    let mut high = Rapl::open(&root).unwrap();
    assert_eq!(between(&mut high, || set(&root, "intel-rapl:0", "2900000000"))[0].event, Event::Ok);

    fs::write(&limit, "100000000\n").unwrap();
    set(&root, "intel-rapl:0", "0");
    let mut low = Rapl::open(&root).unwrap();
    assert_eq!(between(&mut low, || set(&root, "intel-rapl:0", "501500000"))[0].event, Event::Suspect);
    set(&root, "intel-rapl:0", "0");
    let mut least = Rapl::open(&root).unwrap();
    assert_eq!(between(&mut least, || set(&root, "intel-rapl:0", "499000000"))[0].event, Event::Ok);
}

#[test]
fn a_whole_platform_may_draw_more_than_a_package() {
    let root = temp("platform");
    zone(&root, "intel-rapl:0", "package-0", "0");
    zone(&root, "intel-rapl:1", "psys", "0");
    let mut rapl = Rapl::open(&root).unwrap();
    let samples = between(&mut rapl, || {
        set(&root, "intel-rapl:0", "9000000000");
        set(&root, "intel-rapl:1", "9000000000");
    });
    assert_eq!(samples.iter().map(|s| s.event).collect::<Vec<_>>(), [Event::Suspect, Event::Ok]);
}

#[test]
fn two_links_to_one_zone_are_one_zone() {
    let root = temp("links");
    zone(&root, "intel-rapl:0", "package-0", "1");
    let device = Path::new("../../..").join(DEVICES).join("intel-rapl/intel-rapl:0");
    std::os::unix::fs::symlink(device, root.join(CLASS).join("intel-rapl:1")).unwrap();
    assert_eq!(ids(&Rapl::open(&root).unwrap()), [("rapl:0:package-0", Scope::Package, true)]);
}

#[test]
fn says_why_it_cannot_be_read_and_what_would_help() {
    type Build = fn(&Path);
    #[rustfmt::skip]
    let cases: &[(&str, Build, &str, Option<&str>)] = &[
        ("absent",     |root| fs::remove_dir_all(root.join(CLASS)).unwrap(),                   "nothing to read under",  Some("sudo modprobe intel_rapl_msr")),
        ("other",      |root| fs::create_dir(root.join(CLASS).join("dtpm")).unwrap(),          "nothing to read under",  Some("sudo modprobe intel_rapl_msr")),
        ("empty",      |_| {},                                                                 "is there but hidden",    Some("-v /sys:/host/sys:ro")),
        ("masked",     |root| { zone(root, "intel-rapl:0", "package-0", "1"); fs::remove_dir_all(root.join(DEVICES)).unwrap(); },
                                                                                               "is there but hidden",    Some("-v /sys:/host/sys:ro")),
        ("words",      |root| zone(root, "intel-rapl:0", "package-0", "abc"),                  "holds \"abc\"",          None),
        ("nothing",    |root| zone(root, "intel-rapl:0", "package-0", ""),                     "holds \"\"",             None),
        ("no-file",    |root| { zone(root, "intel-rapl:0", "package-0", "1"); fs::remove_file(root.join(CLASS).join("intel-rapl:0/energy_uj")).unwrap(); },
                                                                                               "cannot read",            None),
        ("folder",     |root| { zone(root, "intel-rapl:0", "package-0", "1"); let file = root.join(CLASS).join("intel-rapl:0/energy_uj");
                                fs::remove_file(&file).unwrap(); fs::create_dir(file).unwrap(); }, "cannot read",        None),
    ];
    for (name, build, detail, fix) in cases {
        let root = temp(name);
        build(&root);
        let probe = probe_sources(&root).into_iter().find(|probe| probe.name == "rapl-powercap").unwrap();
        assert!(!probe.usable, "{name}");
        assert!(probe.detail.contains(detail), "{name}: {}", probe.detail);
        match (fix, &probe.fix) {
            (Some(part), Some(text)) => assert!(text.contains(part), "{name}: {text}"),
            (None, None) => {}
            (wanted, got) => unreachable!("{name}: wanted {wanted:?}, got {got:?}"),
        }
    }
}

#[test]
fn in_a_virtual_machine_nothing_would_help() {
    let root = temp("guest");
    fs::remove_dir_all(root.join(CLASS)).unwrap();
    fs::create_dir_all(root.join("proc")).unwrap();
    fs::write(root.join("proc/cpuinfo"), "processor : 0\nflags : fpu hypervisor\n").unwrap();
    let probe = probe_sources(&root).into_iter().find(|probe| probe.name == "rapl-powercap").unwrap();
    assert_eq!((probe.usable, probe.fix), (false, None));
    assert!(probe.detail.starts_with("nothing to read under"), "{}", probe.detail);
    assert!(
        probe.detail.ends_with("a virtual machine's hypervisor keeps the counters to itself"),
        "{}",
        probe.detail
    );
}

#[test]
fn a_file_that_only_root_may_read_gets_the_command_that_opens_it() {
    use std::os::unix::fs::PermissionsExt;
    let root = temp("mode");
    zone(&root, "intel-rapl:0", "package-0", "1");
    let energy = root.join(CLASS).join("intel-rapl:0/energy_uj");
    fs::set_permissions(&energy, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&energy).is_ok() {
        skipped("this user may read every file, whatever its mode");
        return;
    }
    let probe = probe_sources(&root).into_iter().find(|probe| probe.name == "rapl-powercap").unwrap();
    assert_eq!(probe.fix.unwrap(), format!("sudo chmod a+r {}", energy.display()));
}

#[test]
fn a_usable_host_is_described_on_one_line() {
    let root = temp("usable");
    zone(&root, "intel-rapl:0", "package-0", "1");
    zone(&root, "intel-rapl:0:0", "core", "1");
    zone(&root, "intel-rapl-mmio:0", "package-0", "1");
    let probe = probe_sources(&root).into_iter().find(|probe| probe.name == "rapl-powercap").unwrap();
    assert!(probe.usable && probe.fix.is_none());
    assert_eq!(
        probe.detail,
        "rapl:0:package-0; beside the total: rapl:0:0:core; left out: intel-rapl-mmio:0 \
         (duplicate interface: intel-rapl has package-0 already)"
    );
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}
