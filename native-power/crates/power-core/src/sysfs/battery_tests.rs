use super::{open_battery, open_with};
use crate::{
    Missing, PowerError, Value, Watts,
    sysfs::tree::{Tree, domains, missing, refuses_numbers, values},
};

const BAT: &str = "sys/class/power_supply/BAT0";
const MAINS: &str = "sys/class/power_supply/AC/online";

fn laptop(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(&[("sys/class/power_supply/AC/type", "Mains"), (MAINS, "0")]);
    tree.set(&format!("{BAT}/type"), "Battery");
    tree.set(&format!("{BAT}/status"), "Discharging");
    for (file, text) in files {
        tree.set(&format!("{BAT}/{file}"), text);
    }
    tree
}

const fn watts(uw: u64) -> Value {
    Value::Power { raw: Some(uw), power: Watts::from_micros(uw) }
}

type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], u64);

#[test]
fn power_is_told_or_worked_out_whatever_its_sign() {
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("told",                   &[("power_now", "8500000")],                                8_500_000),
        ("told as what flows out", &[("power_now", "-8500000")],                               8_500_000),
        ("worked out",             &[("current_now", "700000"), ("voltage_now", "12000000")],  8_400_000),
        ("worked out, negative",   &[("current_now", "-700000"), ("voltage_now", "12000000")], 8_400_000),
    ];
    for (why, files, expected) in cases {
        let tree = laptop(files);
        let Ok(mut source) = open_battery(&tree) else { unreachable!("{why}: opens") };
        assert_eq!(domains(&source), [("battery:BAT0", "system", true)], "{why}");
        assert_eq!(values(&mut source), [watts(*expected)], "{why}");
    }
}

#[test]
fn only_a_battery_that_feeds_the_machine_tells_its_power() {
    let tree = laptop(&[("power_now", "8500000")]);
    let Ok(mut source) = open_battery(&tree) else { unreachable!("a discharging battery opens") };
    #[rustfmt::skip]
    let cases = [
        ("on its battery",           "0", "Discharging",   "8500000", watts(8_500_000)),
        ("the charger is in",        "1", "Discharging",   "8500000", missing(Missing::Inactive)),
        ("charging",                 "0", "Charging",      "8500000", missing(Missing::Inactive)),
        ("what flows isn't known",   "0", "Unknown",       "8500000", missing(Missing::Inactive)),
        ("the second one rests",     "0", "Not charging",  "0",       watts(0)),
        ("not a number",             "0", "Discharging",   "abc",     missing(Missing::Parse)),
        ("nothing",                  "0", "Discharging",   "",        missing(Missing::Parse)),
    ];
    for (why, online, status, power, expected) in cases {
        tree.set(MAINS, online);
        tree.set(&format!("{BAT}/status"), status);
        tree.set(&format!("{BAT}/power_now"), power);
        assert_eq!(values(&mut source), [expected], "{why}");
    }
}

#[test]
fn says_why_it_cannot_be_used() {
    assert!(matches!(open_battery(&Tree::new(&[])), Err(PowerError::Absent { .. })));
    let empty = Tree::new(&[(MAINS, "1"), ("sys/class/power_supply/AC/type", "Mains")]);
    assert!(matches!(open_battery(&empty), Err(PowerError::Absent { .. })), "a charger is no battery");
    let mouse = Tree::new(&[]);
    for (file, text) in
        [("type", "Battery"), ("scope", "Device"), ("status", "Discharging"), ("power_now", "1")]
    {
        mouse.set(&format!("sys/class/power_supply/hidpp_battery_0/{file}"), text);
    }
    assert!(matches!(open_battery(&mouse), Err(PowerError::Absent { .. })), "the battery of a mouse");
    let plugged = laptop(&[("power_now", "8500000")]);
    plugged.set(MAINS, "1");
    assert!(matches!(open_battery(&plugged), Err(PowerError::Unusable { .. })));
    let refused = laptop(&[("power_now", "8500000")]);
    assert!(matches!(open_with(&refused, refuses_numbers), Err(PowerError::Permission { .. })));
}
