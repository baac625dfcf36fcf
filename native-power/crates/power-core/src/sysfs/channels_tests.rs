use super::{channels_of, with_channels};
use crate::{
    ACPI_METER, AMD_ENERGY, AMDGPU, BATTERY, ChannelInfo, ChannelUnit, ChannelValue, ESTIMATE, INTEL_GPU,
    JETSON, Missing, RAPL, RAPL_PERF,
    file::open_file,
    open_source,
    sysfs::tree::{Stopped, Tree, refuses_numbers},
};

const CPU: &str = "sys/devices/system/cpu";

/// Device, name and unit of every channel, and what it says now.
fn told(source: &str, tree: &Tree) -> Vec<(String, ChannelValue)> {
    let about = |info: &ChannelInfo| format!("{} {} {}", info.device, info.name, info.unit.name());
    channels_of(source, tree, open_file)
        .into_iter()
        .map(|(info, mut input)| (about(&info), input()))
        .collect()
}

fn number(value: f64) -> ChannelValue {
    ChannelValue::Number(value)
}

fn row(about: &str, value: ChannelValue) -> (String, ChannelValue) {
    (about.to_owned(), value)
}

fn package(tree: &Tree) {
    let zone = "sys/class/powercap/intel-rapl:0";
    tree.set(&format!("{zone}/name"), "package-0");
    tree.set(&format!("{zone}/energy_uj"), "0");
    tree.set(&format!("{zone}/max_energy_range_uj"), "262143328850");
    tree.set(&format!("{zone}/constraint_0_name"), "long_term");
    tree.set(&format!("{zone}/constraint_0_power_limit_uw"), "125000000");
    tree.set(&format!("{zone}/constraint_1_name"), "short_term");
    tree.set(&format!("{zone}/constraint_1_power_limit_uw"), "253000000");
    tree.set("sys/class/powercap/intel-rapl:0:0/name", "core");
    tree.set("sys/class/powercap/intel-rapl:0:0/constraint_0_name", "long_term");
    tree.set("sys/class/powercap/intel-rapl:0:0/constraint_0_power_limit_uw", "1");
}

#[test]
fn a_cpu_has_limits_temperatures_a_clock_and_throttling() {
    let tree = Tree::new(&[]);
    package(&tree);
    tree.chip(
        "hwmon1",
        "coretemp",
        "platform/coretemp.0",
        &[
            ("temp1_label", "Package id 0"),
            ("temp1_input", "45500"),
            ("temp2_label", "Core 0"),
            ("temp2_input", "44000"),
        ],
    );
    tree.set("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp");
    tree.set("sys/class/thermal/thermal_zone0/temp", "45000");
    for (cpu, package, khz) in [(0, 0, 3_000_000), (1, 0, 2_000_000), (2, 1, 1_000_000)] {
        tree.set(&format!("{CPU}/cpufreq/policy{cpu}/scaling_cur_freq"), &format!("{khz}"));
        tree.set(&format!("{CPU}/cpu{cpu}/topology/physical_package_id"), &format!("{package}"));
        tree.set(&format!("{CPU}/cpu{cpu}/thermal_throttle/package_throttle_count"), &format!("{}", cpu + 3));
    }
    let conditions = [
        row("cpu:package-0 package_temp_c °C", number(45.5)),
        row("cpu mean_clock_hz Hz", number(2e9)),
        row("cpu:package-0 thermal_throttle_count 1", number(3.0)),
        row("cpu:package-1 thermal_throttle_count 1", number(5.0)),
    ];
    let limits = [
        row("cpu:package-0 long_term_power_limit_w W", number(125.0)),
        row("cpu:package-0 short_term_power_limit_w W", number(253.0)),
    ];
    assert_eq!(told(RAPL, &tree), [&limits[..], &conditions[..]].concat());
    for source in [RAPL_PERF, AMD_ENERGY, ESTIMATE] {
        assert_eq!(told(source, &tree), conditions, "{source}");
    }
    assert_eq!(told(BATTERY, &tree), []);
}

#[test]
fn amd_packages_are_told_by_their_chip_and_others_by_thermal_zones() {
    let amd = Tree::new(&[]);
    for (at, mc) in [(0, "61000"), (1, "-2000")] {
        let files = [("temp1_label", "Tctl"), ("temp1_input", mc), ("temp2_input", "1")];
        amd.chip(&format!("hwmon{at}"), "k10temp", &format!("pci/0000:00:1{at}.3"), &files);
    }
    let expected = [
        row("cpu:package-0 tctl_temp_c °C", number(61.0)),
        row("cpu:package-1 tctl_temp_c °C", number(-2.0)),
    ];
    assert_eq!(told(RAPL, &amd), expected);
    let arm = Tree::new(&[]);
    let zones = [("cpu-thermal", "50000"), ("gpu-thermal", "48000"), ("cpu-thermal", "999000")];
    for (at, (kind, mc)) in zones.iter().enumerate() {
        arm.set(&format!("sys/class/thermal/thermal_zone{at}/type"), kind);
        arm.set(&format!("sys/class/thermal/thermal_zone{at}/temp"), mc);
    }
    let cpu = row("cpu cpu_thermal_temp_c °C", number(50.0));
    let broken = row("cpu cpu_thermal_2_temp_c °C", ChannelValue::Missing(Missing::Implausible));
    assert_eq!(told(ESTIMATE, &arm), [cpu.clone(), broken.clone()]);
    let gpu = row("cpu gpu_thermal_temp_c °C", number(48.0));
    assert_eq!(told(JETSON, &arm), [cpu, gpu, broken], "a board shows all of its zones");
}

#[test]
fn of_many_clocks_a_few_are_looked_at_and_one_that_is_off_is_left_out() {
    let tree = Tree::new(&[]);
    for policy in 0..64 {
        let khz = if policy % 4 == 0 { 1_000_000 } else { 9_000_000 };
        tree.set(&format!("{CPU}/cpufreq/policy{policy}/scaling_cur_freq"), &format!("{khz}"));
    }
    let mut found = channels_of(ESTIMATE, &tree, open_file);
    let [(_, input)] = found.as_mut_slice() else { unreachable!("one clock") };
    assert_eq!(input(), number(1e9), "every fourth");
    tree.set(&format!("{CPU}/cpufreq/policy4/scaling_cur_freq"), "<unknown>");
    assert_eq!(input(), number(1e9), "the mean of the others");
    for policy in 0..64 {
        tree.set(&format!("{CPU}/cpufreq/policy{policy}/scaling_cur_freq"), "<unknown>");
    }
    assert_eq!(input(), ChannelValue::Missing(Missing::Parse), "and not 0 Hz");
}

const AMD: &[(&str, &str)] = &[
    ("power1_average", "90000000"),
    ("power1_cap", "300000000"),
    ("temp1_input", "60000"),
    ("temp1_label", "edge"),
    ("temp2_input", "71000"),
    ("temp2_label", "junction"),
    ("temp3_input", "66000"),
    ("freq1_input", "2100000000"),
    ("freq1_label", "sclk"),
];
const CARD: &str = "pci0/0000:03:00.0";

#[test]
fn an_amd_card_tells_what_stands_beside_its_power() {
    let tree = Tree::new(&[]);
    tree.chip("hwmon3", "amdgpu", CARD, AMD);
    tree.set(&format!("sys/devices/{CARD}/gpu_busy_percent"), "37");
    let device = "amdgpu-hwmon:0000:03:00.0";
    assert_eq!(
        told(AMDGPU, &tree),
        [
            row(&format!("{device} edge_temp_c °C"), number(60.0)),
            row(&format!("{device} junction_temp_c °C"), number(71.0)),
            row(&format!("{device} temp3_c °C"), number(66.0)),
            row(&format!("{device} sclk_clock_hz Hz"), number(2.1e9)),
            row(&format!("{device} power_limit_w W"), number(300.0)),
            row(&format!("{device} gpu_utilization_ratio 1"), number(0.37)),
        ]
    );
    let meter = Tree::new(&[]);
    meter.chip("hwmon0", "power_meter", "ACPI000D:00", &[("power1_cap", "900000000")]);
    let limit = row("acpi-power-meter:ACPI000D:00 power_limit_w W", number(900.0));
    assert_eq!(told(ACPI_METER, &meter), [limit]);
}

#[test]
fn a_card_that_sleeps_is_not_woken() {
    let tree = Tree::new(&[]);
    tree.chip("hwmon3", "amdgpu", CARD, AMD);
    let state = format!("sys/devices/{CARD}/power/runtime_status");
    tree.set(&state, "suspended");
    let mut found = channels_of(AMDGPU, &tree, refuses_numbers);
    assert_eq!(found.len(), 5, "what can be read once it is awake");
    for (info, input) in &mut found {
        assert_eq!(input(), ChannelValue::Missing(Missing::Inactive), "{}", info.name);
    }
    tree.set(&state, "active");
    let (_, input) = &mut found[0];
    assert_eq!(input(), ChannelValue::Missing(Missing::Permission), "only now it is asked");
}

#[test]
fn an_intel_card_tells_its_clock_and_why_it_slows_down() {
    let clock_and_reasons = |clock: &str, reasons: &str| {
        let tree = Tree::new(&[]);
        tree.chip("hwmon3", "i915", CARD, &[("power1_max", "150000000")]);
        let engine = format!("sys/devices/{CARD}/{clock}");
        tree.set(&engine, "2400");
        for (reason, set) in [("pl1", "1"), ("status", "1"), ("thermal", "0"), ("vr_tdc", "1")] {
            tree.set(&format!("sys/devices/{CARD}/{reasons}{reason}"), set);
        }
        tree
    };
    let device = "intel-gpu-hwmon:0000:03:00.0";
    let expected = [
        row(&format!("{device} gt0_clock_hz Hz"), number(2.4e9)),
        row(&format!("{device} power_limit_w W"), number(150.0)),
        row(
            &format!("{device} gt0_throttle_reasons bits"),
            ChannelValue::Bits { bits: 5, names: "pl1 vr_tdc".to_owned() },
        ),
    ];
    let i915 = clock_and_reasons("drm/card0/gt/gt0/rps_act_freq_mhz", "drm/card0/gt/gt0/throttle_reason_");
    assert_eq!(told(INTEL_GPU, &i915), expected);
    let xe = clock_and_reasons("tile0/gt0/freq0/act_freq", "tile0/gt0/freq0/throttle/reason_");
    assert_eq!(told(INTEL_GPU, &xe), expected);
    let mut found = channels_of(INTEL_GPU, &xe, open_file);
    xe.set(&format!("sys/devices/{CARD}/tile0/gt0/freq0/throttle/reason_thermal"), "maybe");
    let Some((_, input)) = found.last_mut() else { unreachable!("reasons are told") };
    assert_eq!(input(), ChannelValue::Missing(Missing::Parse));
}

#[test]
fn a_channel_that_goes_bad_is_missing_until_it_is_good_again() {
    let tree = Tree::new(&[]);
    package(&tree);
    let mut source = match open_source(RAPL, &tree) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    };
    assert_eq!((source.name(), source.domains().len()), (RAPL, 1));
    let names: Vec<_> = source.channels().iter().map(|info| info.name.clone()).collect();
    assert_eq!(names, ["long_term_power_limit_w", "short_term_power_limit_w"]);
    assert_eq!(source.channels()[0].unit, ChannelUnit::Watts);
    let mut values = || {
        let mut out = Vec::new();
        source.read_channels(&Stopped::default(), &mut out);
        out.into_iter().map(|reading| (reading.channel, reading.value)).collect::<Vec<_>>()
    };
    assert_eq!(values(), [(0, number(125.0)), (1, number(253.0))]);
    let limit = "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw";
    tree.set(limit, "no limit");
    assert_eq!(values()[0], (0, ChannelValue::Missing(Missing::Parse)));
    tree.set(limit, "-1");
    assert_eq!(values()[0], (0, ChannelValue::Missing(Missing::Implausible)));
    tree.set(limit, "95000000");
    assert_eq!(values()[0], (0, number(95.0)));
}

#[test]
fn a_source_without_channels_stays_as_it_is() {
    let tree = Tree::new(&[("proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10")]);
    let source = open_source(ESTIMATE, &tree);
    assert!(source.is_ok_and(|source| with_channels(source, &tree).channels().is_empty()));
}
