use super::open_amdgpu;
use crate::{
    Event, Missing, PowerError, PowerSource, Value, Watts,
    sysfs::tree::{Tree, book, domains, missing, values},
};

const CARD: &str = "pci0000:00/0000:03:00.0";
const POWER: &str = "sys/class/hwmon/hwmon1/power1_average";

fn card(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(&[]);
    tree.chip("hwmon1", "amdgpu", CARD, files);
    tree
}

#[test]
fn either_power_file_will_do() {
    for (file, note) in [("power1_average", Some("averaged by the firmware")), ("power1_input", None)] {
        let tree = card(&[(file, "34000000")]);
        let Ok(mut source) = open_amdgpu(&tree) else { unreachable!("{file} opens") };
        assert_eq!(domains(&source), [("amdgpu-hwmon:0000:03:00.0", "gpu", true)]);
        assert_eq!(source.domains()[0].0.note.as_deref(), note);
        let power = Watts::new(34.0);
        assert_eq!(values(&mut source), [Value::Power { raw: Some(34_000_000), power }], "{file}");
    }
}

#[test]
fn a_card_that_shows_no_power_says_so() {
    let Err(PowerError::Unusable { reason, .. }) = open_amdgpu(&card(&[("temp1_input", "40000")])) else {
        unreachable!("opened a card without a sensor")
    };
    assert_eq!(reason, "amdgpu-hwmon:0000:03:00.0: shows no power");
}

#[test]
fn a_card_without_a_counter_is_integrated_and_not_booked_as_nothing() {
    let tree = card(&[("power1_average", "100000000")]);
    let Ok(mut source) = open_amdgpu(&tree) else { unreachable!("a readable card opens") };
    let seconds: Vec<_> = (0..=10).collect();
    let last = book(&mut source, &seconds, |_| {});
    assert_eq!((last[0].booked.get(), last[0].event), (1000.0, Event::Ok));
}

#[test]
fn blanks_and_words_are_no_power() {
    let tree = card(&[("power1_average", "34000000"), ("power1_cap_max", "300000000")]);
    let Ok(mut source) = open_amdgpu(&tree) else { unreachable!("a readable card opens") };
    for (text, expected) in [
        ("4294967295", missing(Missing::Sentinel)),
        ("18446744073709551615", missing(Missing::Sentinel)),
        ("", missing(Missing::Parse)),
        ("-1", missing(Missing::Parse)),
    ] {
        tree.set(POWER, text);
        assert_eq!(values(&mut source), [expected], "{text:?}");
    }
    // 65535 W is what 0xFFFF of the chip's metrics becomes; a card of 300 W can't draw it.
    let last = book(&mut source, &[0, 1, 2], |at| {
        tree.set(POWER, if at == 1 { "65535000000" } else { "50000000" });
    });
    assert_eq!((last[0].booked.get(), last[0].hi.get()), (100.0, 100.0));
}

#[test]
fn a_sleeping_card_is_not_woken() {
    let tree = card(&[("power1_average", "34000000")]);
    let state = "sys/devices/pci0000:00/0000:03:00.0/power/runtime_status";
    tree.set(state, "active");
    let Ok(mut source) = open_amdgpu(&tree) else { unreachable!("a readable card opens") };
    assert!(matches!(values(&mut source)[0], Value::Power { .. }));
    tree.set(state, "suspended");
    assert_eq!(values(&mut source), [missing(Missing::Inactive)]);
}

#[test]
fn a_chip_with_a_cpu_in_it_is_never_added_to_the_package() {
    let apu = || card(&[("power1_average", "34000000"), ("in1_label", "vddnb")]);
    let alone = apu();
    let Ok(source) = open_amdgpu(&alone) else { unreachable!("nothing else counts it") };
    assert_eq!(domains(&source), [("amdgpu-hwmon:0000:03:00.0", "soc", true)]);
    let counted = apu();
    counted.set("sys/class/powercap/intel-rapl:0/name", "package-0");
    assert!(matches!(open_amdgpu(&counted), Err(PowerError::Unusable { .. })));
    counted.chip("hwmon2", "amdgpu", "pci0000:00/0000:0a:00.0", &[("power1_average", "1000000")]);
    let Ok(source) = open_amdgpu(&counted) else { unreachable!("a card beside it opens") };
    assert_eq!(
        domains(&source),
        [("amdgpu-hwmon:0000:03:00.0", "soc", false), ("amdgpu-hwmon:0000:0a:00.0", "gpu", true)]
    );
}
