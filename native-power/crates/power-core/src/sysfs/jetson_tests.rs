use super::open_jetson;
use crate::{
    Missing, Value, Watts,
    sysfs::tree::{Tree, book, domains, missing, values},
};

const CHIP: &str = "sys/class/hwmon/hwmon1";

fn board(name: &str, files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(&[]);
    tree.chip("hwmon1", name, "platform/i2c-1/1-0040", files);
    tree
}

const NANO: [(&str, &str); 12] = [
    ("in1_label", "VDD_IN"),
    ("in1_input", "5000"),
    ("curr1_input", "2000"),
    ("in2_label", "VDD_CPU"),
    ("in2_input", "5000"),
    ("curr2_input", "800"),
    ("in3_label", "VDD_SOC"),
    ("in3_input", "5000"),
    ("curr3_input", "600"),
    ("in4_label", "sum of shunt voltages"),
    ("in4_input", "40"),
    ("curr4_input", "40"),
];

#[test]
fn the_input_rail_is_the_board_and_the_others_lie_inside_it() {
    let tree = board("ina3221", &NANO);
    let Ok(mut source) = open_jetson(&tree) else { unreachable!("readable rails open") };
    assert_eq!(
        domains(&source),
        [
            ("jetson-rails:1-0040:VDD_IN", "module", true),
            ("jetson-rails:1-0040:VDD_CPU", "soc", false),
            ("jetson-rails:1-0040:VDD_SOC", "soc", false),
        ]
    );
    let last = book(&mut source, &[0, 1], |_| {});
    let watts: Vec<_> = last.iter().filter_map(|s| s.power.map(Watts::get)).collect();
    assert_eq!(watts, [10.0, 4.0, 3.0]);
    let total: f64 =
        last.iter().zip(domains(&source)).filter(|(_, d)| d.2).map(|(s, _)| s.booked.get()).sum();
    assert!((total - 10.0).abs() < 1e-9, "{total} J in a second, and not 17 J");
}

#[test]
fn without_an_input_rail_the_rails_are_summed() {
    let tree = board(
        "ina3221",
        &[
            ("in1_label", "GPU"),
            ("in1_input", "19000"),
            ("curr1_input", "100"),
            ("in2_label", "NC"),
            ("in2_input", "0"),
            ("curr2_input", "0"),
            ("in3_label", "SOC"),
            ("in3_input", "19000"),
            ("curr3_input", "200"),
            ("in3_enable", "1"),
        ],
    );
    let names = |tree: &Tree| -> Vec<_> {
        let Ok(source) = open_jetson(tree) else { unreachable!("readable rails open") };
        domains(&source).iter().map(|(id, _, in_total)| format!("{id} {in_total}")).collect()
    };
    assert_eq!(names(&tree), ["jetson-rails:1-0040:GPU true", "jetson-rails:1-0040:SOC true"]);
    tree.set(&format!("{CHIP}/in3_enable"), "0");
    assert_eq!(names(&tree), ["jetson-rails:1-0040:GPU true"], "a channel that is off");
}

#[test]
fn a_chip_that_multiplies_itself_is_taken_at_its_word() {
    let tree = board("ina238", &[("power1_input", "12500000"), ("in1_label", "VIN"), ("in1_input", "1")]);
    tree.chip(
        "hwmon2",
        "ucsi_source_psy_1",
        "platform/i2c-2/2-0008",
        &[("in1_input", "5000"), ("curr1_input", "3000")],
    );
    let Ok(mut source) = open_jetson(&tree) else { unreachable!("a readable chip opens") };
    assert_eq!(domains(&source), [("jetson-rails:1-0040:VIN", "module", true)], "no USB port");
    assert_eq!(values(&mut source), [Value::Power { raw: Some(12_500_000), power: Watts::new(12.5) }]);
}

#[test]
fn half_a_pair_is_no_power() {
    let tree = board("ina3221", &NANO);
    let Ok(mut source) = open_jetson(&tree) else { unreachable!("readable rails open") };
    tree.set(&format!("{CHIP}/curr1_input"), "-4");
    assert_eq!(values(&mut source)[0], missing(Missing::Parse));
    tree.set(&format!("{CHIP}/curr1_input"), "2000");
    tree.set(&format!("{CHIP}/in1_input"), "");
    assert_eq!(values(&mut source)[0], missing(Missing::Parse));
    tree.set(&format!("{CHIP}/in1_input"), "18446744073709551615");
    assert_eq!(values(&mut source)[0], missing(Missing::Implausible));
}

/// A board of an older system: chips of industrial I/O behind the links of their bus.
fn older_board(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(&[]);
    let real = "sys/devices/3160000.i2c/i2c-0/0-0041/iio:device1";
    tree.set(&format!("{real}/name"), "ina3221x");
    for (file, text) in files {
        tree.set(&format!("{real}/{file}"), text);
    }
    let class = tree.join("sys/bus/iio/devices");
    assert!(std::fs::create_dir_all(&class).is_ok());
    let target = std::path::Path::new("../../../..").join(real);
    assert!(std::os::unix::fs::symlink(target, class.join("iio:device1")).is_ok());
    tree
}

#[test]
fn rails_of_older_systems_tell_milliwatts() {
    let tree = older_board(&[
        ("rail_name_0", "VDD_IN"),
        ("in_power0_input", "5432"),
        ("rail_name_1", "VDD_CPU_GPU_CV"),
        ("in_power1_input", "2100"),
        ("rail_name_2", "NC"),
        ("in_power2_input", "0"),
    ]);
    let Ok(mut source) = open_jetson(&tree) else { unreachable!("readable rails open") };
    assert_eq!(
        domains(&source),
        [
            ("jetson-rails:0-0041:VDD_IN", "module", true),
            ("jetson-rails:0-0041:VDD_CPU_GPU_CV", "soc", false),
        ]
    );
    let power = |watts: f64, raw: u64| Value::Power { raw: Some(raw), power: Watts::new(watts) };
    assert_eq!(values(&mut source), [power(5.432, 5_432_000), power(2.1, 2_100_000)]);
    tree.set("sys/bus/iio/devices/iio:device1/in_power0_input", "18446744073709551615");
    assert_eq!(values(&mut source)[0], missing(Missing::Implausible));
}

#[test]
fn a_chip_that_hwmon_shows_is_not_read_a_second_time() {
    let tree = older_board(&[("rail_name_0", "VDD_IN"), ("in_power0_input", "5432")]);
    tree.chip("hwmon1", "ina3221", "platform/i2c-1/1-0040", &NANO);
    let Ok(source) = open_jetson(&tree) else { unreachable!("readable rails open") };
    assert!(domains(&source).iter().all(|(id, ..)| id.starts_with("jetson-rails:1-0040:")));
}
