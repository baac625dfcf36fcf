use std::{cell::RefCell, collections::BTreeMap, io};

use super::{microjoules, open_rapl_perf, open_with};
use crate::{
    Missing, PowerError, PowerSource,
    file::{ReadAgain, open_file},
    sysfs::tree::{Tree, book, domains, excluded, missing, values},
};

const DEVICE: &str = "sys/bus/event_source/devices/power";
const SCALE: f64 = 2.328_306_436_538_696_3e-10;

thread_local! {
    /// What the kernel would count, by configuration and CPU.
    static COUNTS: RefCell<BTreeMap<(u64, u32), u64>> = const { RefCell::new(BTreeMap::new()) };
}

struct Scripted(u64, u32);

impl ReadAgain for Scripted {
    fn read_again(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = COUNTS.with_borrow(|counts| counts.get(&(self.0, self.1)).copied());
        let bytes = count.ok_or(io::ErrorKind::NotFound)?.to_ne_bytes();
        buffer[..8].copy_from_slice(&bytes);
        Ok(8)
    }
}

fn kernel(kind: u32, config: u64, cpu: u32) -> io::Result<Box<dyn ReadAgain>> {
    assert_eq!(kind, 9, "as the file says");
    if config == 3 && cpu == 28 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(Box::new(Scripted(config, cpu)))
}

fn refuses(_: u32, _: u64, _: u32) -> io::Result<Box<dyn ReadAgain>> {
    Err(io::Error::from_raw_os_error(13))
}

fn breaks(_: u32, _: u64, _: u32) -> io::Result<Box<dyn ReadAgain>> {
    Err(io::ErrorKind::InvalidInput.into())
}

fn tree(cpus: &str, events: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(&[("proc/sys/kernel/perf_event_paranoid", "2")]);
    tree.set(&format!("{DEVICE}/type"), "9");
    tree.set(&format!("{DEVICE}/cpumask"), cpus);
    for (name, config) in events {
        tree.set(&format!("{DEVICE}/events/energy-{name}"), config);
        tree.set(&format!("{DEVICE}/events/energy-{name}.scale"), "2.3283064365386962890625e-10");
        tree.set(&format!("{DEVICE}/events/energy-{name}.unit"), "Joules");
    }
    for (cpu, package) in [(0, 0), (28, 1)] {
        let id = format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        tree.set(&id, &format!("{package}"));
    }
    tree
}

const ALL: [(&str, &str); 4] =
    [("pkg", "event=0x02"), ("ram", "event=0x03"), ("cores", "event=0x01"), ("psys", "event=0x05")];

#[test]
fn packages_and_memory_are_summed_and_what_lies_inside_or_around_is_not() {
    let tree = tree("0", &ALL);
    let Ok(mut source) = open_with(&tree, open_file, kernel) else { unreachable!("events open") };
    assert_eq!(
        domains(&source),
        [
            ("rapl-perf:package-0:pkg", "package", true),
            ("rapl-perf:package-0:ram", "dram", true),
            ("rapl-perf:package-0:cores", "cpu", false),
            ("rapl-perf:package-0:psys", "system", false),
        ]
    );
    let joule = 1_u64 << 32;
    let last = book(&mut source, &[0, 1], |at| {
        let at = u64::try_from(at).unwrap_or(0);
        COUNTS.with_borrow_mut(|counts| {
            *counts = [(2, 50), (3, 8), (1, 30), (5, 70)].map(|(c, j)| ((c, 0), at * j * joule)).into();
        });
    });
    assert_eq!(last.iter().map(|s| s.booked.get()).collect::<Vec<_>>(), [50.0, 8.0, 30.0, 70.0]);
}

#[test]
fn every_package_is_read_on_its_cpu_and_a_named_event_that_isnt_there_is_left_out() {
    let tree = tree("0,28", &ALL[..2]);
    let Ok(source) = open_with(&tree, open_file, kernel) else { unreachable!("events open") };
    assert_eq!(
        domains(&source),
        [
            ("rapl-perf:package-0:pkg", "package", true),
            ("rapl-perf:package-1:pkg", "package", true),
            ("rapl-perf:package-0:ram", "dram", true),
        ]
    );
    let [left_out] = excluded(&source).try_into().unwrap_or_else(|_| [String::new()]);
    assert!(left_out.starts_with("rapl-perf:package-1:ram: named by the kernel, but "), "{left_out}");
}

#[test]
fn dies_of_one_package_have_names_of_their_own() {
    let tree = tree("0-1", &ALL[..1]);
    for (cpu, die) in [(0, 0), (1, 1)] {
        tree.set(&format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"), "0");
        tree.set(&format!("sys/devices/system/cpu/cpu{cpu}/topology/die_id"), &format!("{die}"));
    }
    let Ok(source) = open_with(&tree, open_file, kernel) else { unreachable!("events open") };
    let ids: Vec<_> = source.domains().iter().map(|(d, _)| d.id.as_str()).collect();
    assert_eq!(ids, ["rapl-perf:package-0-die-0:pkg", "rapl-perf:package-0-die-1:pkg"]);
}

#[test]
fn a_count_that_cannot_be_read_is_missing() {
    let tree = tree("0", &ALL[..1]);
    let Ok(mut source) = open_with(&tree, open_file, kernel) else { unreachable!("events open") };
    COUNTS.with_borrow_mut(BTreeMap::clear);
    assert_eq!(values(&mut source), [missing(Missing::Absent)]);
}

#[test]
fn says_why_it_cannot_be_read() {
    let reason = |error: Option<PowerError>| error.map(|error| (error.reason(), error.to_string()));
    let Some((why, said)) = reason(open_rapl_perf(&Tree::new(&[])).err()) else {
        unreachable!("opened nothing")
    };
    assert_eq!(why, "absent-module");
    assert!(said.contains("kernel module rapl is not loaded"), "{said}");

    let Some((why, said)) = reason(open_with(&tree("0", &ALL), open_file, refuses).err()) else {
        unreachable!("opened what may not be read")
    };
    assert_eq!(why, "permission");
    assert!(said.ends_with("kernel.perf_event_paranoid is 2"), "{said}");

    let error = open_with(&tree("0", &ALL), open_file, breaks).err();
    assert_eq!(reason(error).map(|(why, _)| why), Some("io"));
    let error = open_with(&tree("0", &ALL[1..]), open_file, kernel).err();
    assert_eq!(reason(error).map(|(why, _)| why), Some("absent"), "memory alone would be too small a total");

    for (file, text) in [
        ("type", "abc"),
        ("cpumask", "0-x"),
        ("cpumask", ""),
        ("cpumask", "0-4294967295"),
        ("events/energy-pkg", "2"),
        ("events/energy-pkg.scale", "0"),
        ("events/energy-pkg.scale", "nan"),
    ] {
        let tree = tree("0", &ALL);
        tree.set(&format!("{DEVICE}/{file}"), text);
        let error = open_with(&tree, open_file, kernel).err();
        assert_eq!(reason(error).map(|(why, _)| why), Some("parse"), "{file} {text:?}");
    }
}

#[test]
fn counts_become_microjoules() {
    for (counts, expected) in [(0, 0), (1 << 32, 1_000_000), (3 << 31, 1_500_000), (4295, 1), (4294, 0)] {
        assert_eq!(microjoules(counts, SCALE), expected, "{counts}");
    }
}
