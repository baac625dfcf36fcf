use super::{open_amd_energy, open_with};
use crate::{
    Missing, PowerError, Value,
    sysfs::tree::{Tree, book, domains, excluded, missing, refuses_numbers, values},
};

fn tree() -> Tree {
    let tree = Tree::new(&[]);
    tree.chip(
        "hwmon2",
        "amd_energy",
        "platform/amd_energy.0",
        &[
            ("energy1_label", "Ecore000"),
            ("energy1_input", "100"),
            ("energy2_label", "Ecore001"),
            ("energy2_input", "200"),
            ("energy3_label", "Esocket0"),
            ("energy3_input", "5000000"),
            ("energy4_label", "Esocket1"),
            ("energy4_input", "7000000"),
        ],
    );
    tree.chip("hwmon0", "k10temp", "pci0000:00/0000:00:18.3", &[("energy1_input", "9")]);
    tree
}

#[test]
fn sockets_are_summed_and_their_cores_are_not() {
    let tree = tree();
    let Ok(mut source) = open_amd_energy(&tree) else { unreachable!("a readable driver opens") };
    assert_eq!(
        domains(&source),
        [("amd-energy:socket-0", "package", true), ("amd-energy:socket-1", "package", true)]
    );
    assert_eq!(excluded(&source), ["2 cores: inside their sockets"]);
    let last = book(&mut source, &[0, 1], |at| {
        if at == 1 {
            tree.set("sys/class/hwmon/hwmon2/energy3_input", "65000000");
            tree.set("sys/class/hwmon/hwmon2/energy4_input", "47000000");
            tree.set("sys/class/hwmon/hwmon2/energy1_input", "30000000");
        }
    });
    let joules: Vec<_> = last.iter().map(|s| s.booked.get()).collect();
    assert_eq!(joules, [60.0, 40.0], "and not 130 J with the cores");
}

#[test]
fn a_number_that_goes_is_missing_and_never_zero() {
    let tree = tree();
    let Ok(mut source) = open_amd_energy(&tree) else { unreachable!("a readable driver opens") };
    let input = "sys/class/hwmon/hwmon2/energy3_input";
    for (text, expected) in [
        ("", missing(Missing::Parse)),
        ("abc", missing(Missing::Parse)),
        ("18446744073709551615", missing(Missing::Sentinel)),
        ("0", Value::Counter { raw: 0, uj: 0 }),
    ] {
        tree.set(input, text);
        assert_eq!(values(&mut source)[0], expected, "{text:?}");
    }
}

#[test]
fn says_why_it_cannot_be_read() {
    let reason = |error: Option<PowerError>| error.map(|error| error.reason());
    assert_eq!(reason(open_amd_energy(&Tree::new(&[])).err()), Some("absent"));
    let other = Tree::new(&[]);
    other.chip("hwmon0", "k10temp", "pci0000:00/0000:00:18.3", &[]);
    assert_eq!(reason(open_amd_energy(&other).err()), Some("absent"), "another chip");
    let masked = Tree::new(&[]);
    assert!(std::fs::create_dir_all(masked.join("sys/class/hwmon")).is_ok());
    assert!(std::os::unix::fs::symlink("../../devices/x", masked.join("sys/class/hwmon/hwmon0")).is_ok());
    assert_eq!(reason(open_amd_energy(&masked).err()), Some("masked"));
    let tree = tree();
    let Err(PowerError::Permission { paths }) = open_with(&tree, refuses_numbers) else {
        unreachable!("opened what may not be read")
    };
    assert_eq!(paths.len(), 2, "every file of the total, so that one command mends it: {paths:?}");
}
