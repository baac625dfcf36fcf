use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Rapl, zone_number};
use crate::{
    Clock, Missing, Nanos, PowerError, PowerSource, Value,
    file::{ReadAgain, open_file},
};

struct Still;

impl Clock for Still {
    fn now(&self) -> Nanos {
        Nanos(0)
    }
}

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

/// A tree in the kernel's shape: flat links in the class folder, the files behind them.
fn tree(test: &str, zones: &[(&str, &str, &str)]) -> Tree {
    let root = std::env::temp_dir().join(format!("power-core-{}-{test}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    let class = root.join("sys/class/powercap");
    fs::create_dir_all(&class).unwrap_or_default();
    for (folder, name, energy_uj) in zones {
        let zone = class.join(folder);
        fs::create_dir_all(&zone).unwrap_or_default();
        fs::write(zone.join("name"), format!("{name}\n")).unwrap_or_default();
        fs::write(zone.join("max_energy_range_uj"), "262143328850\n").unwrap_or_default();
        fs::write(zone.join("energy_uj"), format!("{energy_uj}\n")).unwrap_or_default();
    }
    Tree(root)
}

fn refuses_energy(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    if path.ends_with("energy_uj") { Err(io::ErrorKind::PermissionDenied.into()) } else { open_file(path) }
}

fn refuses_range(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    if path.ends_with("max_energy_range_uj") {
        Err(io::ErrorKind::PermissionDenied.into())
    } else {
        open_file(path)
    }
}

struct Broken;

impl ReadAgain for Broken {
    fn read_again(&self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(5))
    }
}

fn breaks_energy(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    if path.ends_with("energy_uj") { Ok(Box::new(Broken)) } else { open_file(path) }
}

#[test]
fn zones_are_numbered_in_hexadecimal() {
    #[rustfmt::skip]
    let cases = [
        ("intel-rapl:0",       Some((false, vec![0]))),
        ("intel-rapl:a",       Some((false, vec![10]))),
        ("intel-rapl:1f:2",    Some((false, vec![31, 2]))),
        ("intel-rapl-mmio:0",  Some((true, vec![0]))),
        ("intel-rapl",         None),
        ("intel-rapl:",        None),
        ("intel-rapl:g",       None),
        ("dtpm:0",             None),
    ];
    for (folder, expected) in cases {
        assert_eq!(zone_number(folder), expected, "{folder}");
    }
}

#[test]
fn a_refusal_names_every_file_so_that_one_command_mends_it() {
    let root = tree("refused", &[("intel-rapl:0", "package-0", "1"), ("intel-rapl:0:0", "dram", "1")]);
    let Err(PowerError::Permission { paths }) = Rapl::open_with(&root, refuses_energy) else {
        unreachable!("opened what may not be read")
    };
    let class = root.join("sys/class/powercap");
    assert_eq!(paths, [class.join("intel-rapl:0/energy_uj"), class.join("intel-rapl:0:0/energy_uj")]);
}

#[test]
fn what_fails_to_read_is_not_what_may_not_be_read() {
    let root = tree("broken", &[("intel-rapl:0", "package-0", "1")]);
    let error = Rapl::open_with(&root, breaks_energy).err();
    assert!(matches!(error, Some(PowerError::Io { .. })), "{error:?}");
}

#[test]
fn without_a_range_a_counter_never_wraps_but_still_counts() {
    let zero = tree("zero-range", &[("intel-rapl:0", "package-0", "1")]);
    fs::write(zero.join("sys/class/powercap/intel-rapl:0/max_energy_range_uj"), "0\n").unwrap_or_default();
    assert_eq!(first_spec(Rapl::open(&zero).ok().as_ref()), Some((None, None)));
    let root = tree("no-range", &[("intel-rapl:0", "package-0", "1")]);
    assert_eq!(first_spec(Rapl::open_with(&root, refuses_range).ok().as_ref()), Some((None, None)));
}

/// Quantum and range of the first domain.
fn first_spec(rapl: Option<&Rapl>) -> Option<(Option<f64>, Option<u64>)> {
    rapl.as_ref().and_then(|rapl| rapl.domains().first()).map(|(domain, booking)| {
        let crate::Booking::Counter(spec) = booking else { unreachable!("RAPL counts") };
        (domain.quantum, spec.max_uj)
    })
}

#[test]
fn a_count_that_fails_later_is_missing_with_its_reason() {
    let root = tree("later", &[("intel-rapl:0", "package-0", "7")]);
    let Ok(mut rapl) = Rapl::open(&root) else { unreachable!("a plain tree opens") };
    let energy = root.join("sys/class/powercap/intel-rapl:0/energy_uj");
    let mut value = || {
        let mut out = Vec::new();
        assert!(rapl.read(&Still, &mut out).is_ok(), "one lost domain doesn't end the recording");
        out.first().map(|reading| reading.value)
    };
    assert_eq!(value(), Some(Value::Counter { raw: 7, uj: 7 }));
    fs::write(&energy, "abc\n").unwrap_or_default();
    assert_eq!(value(), Some(Value::Missing(Missing::Parse)));
    fs::write(&energy, "").unwrap_or_default();
    assert_eq!(value(), Some(Value::Missing(Missing::Parse)));
    fs::write(&energy, "0\n").unwrap_or_default();
    assert_eq!(value(), Some(Value::Counter { raw: 0, uj: 0 }), "a true 0 is a number");
}

#[test]
fn a_count_whose_file_broke_is_opened_anew() {
    let root = tree("reopen", &[("intel-rapl:0", "package-0", "7")]);
    let Ok(mut rapl) = Rapl::open(&root) else { unreachable!("a plain tree opens") };
    rapl.counts[0].0.file = Some(Box::new(Broken));
    let mut out = Vec::new();
    assert!(rapl.read(&Still, &mut out).is_ok());
    assert_eq!(out[0].value, Value::Counter { raw: 7, uj: 7 });

    rapl.counts[0].0.open = breaks_energy;
    rapl.counts[0].0.file = Some(Box::new(Broken));
    assert!(rapl.read(&Still, &mut out).is_ok());
    assert_eq!(out[1].value, Value::Missing(Missing::Io));
}
