//! Channels beside the power of GPUs, over stand-ins for the vendors' libraries.
#![cfg(unix)]

mod stub;

use power_core::{ChannelReading, ChannelValue, Missing, PowerSource};
use power_vendor::{AmdSmi, Nvml};
use stub::{At, Stub};

const NVIDIA: &str = "
0, 0, index, 0, 0, 0, 0
0, 0, uuid, 0, 0, 0, GPU-A
0, 0, 83, 0, 0, 3, 5000
0, 0, 82, 0, 0, 1, 71
0, 0, temperature, 0, 0, 0, 64
0, 0, clock, 1, 0, 0, 1980
0, 0, clock, 2, 0, 0, 2619
0, 0, limit, 0, 0, 0, 700000
0, 0, reasons, 0, 0, 0, 36
0, 0, utilization, 0, 0, 0, 97
0, 0, utilization, 1, 0, 0, 41
";

const AMD: &str = "
0, 0, version, 0, 0, 2, 26
0, 0, socket, 0, 0, 0, 0
0, 0, bdf, 0, 0, 0, 10496
0, 0, energy, 0, 0, 0, 65536
0, 0, power, 0, 0, 0, 100
0, 0, cap, 0, 0, 600, 750000000
0, 0, temperature, 0, 0, 0, 51
0, 0, temperature, 1, 0, 0, 63500
0, 0, clock, 0, 0, 0, 2100
0, 0, clock, 4, 0, 0, 1300
0, 0, activity, 0, 0, 10, 60
";

fn nvml(stub: &Stub) -> Nvml {
    match Nvml::open(&stub.library, std::path::Path::new("/")) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    }
}

fn amd(stub: &Stub) -> AmdSmi {
    match AmdSmi::open(&stub.library, std::path::Path::new("/"), || std::time::Duration::ZERO) {
        Ok(source) => source,
        Err(error) => unreachable!("{error}"),
    }
}

/// What every channel says now, by device, name and unit.
fn told(source: &mut dyn PowerSource) -> Vec<(String, ChannelValue)> {
    let mut out: Vec<ChannelReading> = Vec::new();
    source.read_channels(&At(2.0), &mut out);
    assert_eq!(out.len(), source.channels().len());
    assert!((0..).zip(&out).all(|(k, reading)| reading.channel == k && reading.at.0 == 2_000_000_000));
    let about = source.channels().iter().map(|c| format!("{} {} {}", c.device, c.name, c.unit.name()));
    about.zip(out).map(|(about, reading)| (about, reading.value)).collect()
}

fn number(value: f64) -> ChannelValue {
    ChannelValue::Number(value)
}

fn missing(why: Missing) -> ChannelValue {
    ChannelValue::Missing(why)
}

#[test]
fn an_nvidia_gpu_tells_how_it_fares() {
    let stub = Stub::new("stub_nvml", NVIDIA);
    let mut source = nvml(&stub);
    let throttled = ChannelValue::Bits { bits: 36, names: "sw_power_cap sw_thermal_slowdown".to_owned() };
    let expected = [
        ("gpu_temp_c °C", number(64.0)),
        ("memory_temp_c °C", number(71.0)),
        ("sm_clock_hz Hz", number(1.98e9)),
        ("memory_clock_hz Hz", number(2.619e9)),
        ("power_limit_w W", number(700.0)),
        ("throttle_reasons bits", throttled),
        ("gpu_utilization_ratio 1", number(0.97)),
        ("memory_utilization_ratio 1", number(0.41)),
    ];
    let expected = expected.map(|(name, value)| (format!("nvml:GPU-A {name}"), value));
    assert_eq!(told(&mut source), expected);
    assert!(source.domains()[0].0.id.starts_with(&source.channels()[0].device));
}

#[test]
fn channels_are_frozen_and_what_is_not_answered_any_more_is_missing() {
    let stub = Stub::new("stub_nvml", NVIDIA);
    let mut source = nvml(&stub);
    #[rustfmt::skip]
    let cases: &[(&str, &str, &str, usize, ChannelValue)] = &[
        ("no longer supported",     "temperature, 0, 0, 0, 64", "temperature, 0, 3, 0, 64",       0, missing(Missing::NotSupported)),
        ("the GPU is lost",         "temperature, 0, 0, 0, 64", "temperature, 0, 15, 0, 64",      0, missing(Missing::Lost)),
        ("no temperature of chips", "temperature, 0, 0, 0, 64", "temperature, 0, 0, 0, 6400",     0, missing(Missing::Implausible)),
        ("a field's own status",    "82, 0, 0, 1, 71",          "82, 0, 4, 1, 71",                1, missing(Missing::Permission)),
        ("all bits set",            "clock, 1, 0, 0, 1980",     "clock, 1, 0, 0, 4294967295",     2, missing(Missing::Sentinel)),
        ("a clock that stands",     "clock, 1, 0, 0, 1980",     "clock, 1, 0, 0, 0",              2, number(0.0)),
        ("nothing holds it back",   "reasons, 0, 0, 0, 36",     "reasons, 0, 0, 0, 0",            5, ChannelValue::Bits { bits: 0, names: String::new() }),
        ("a bit newer than we are", "reasons, 0, 0, 0, 36",     "reasons, 0, 0, 0, 513",          5, ChannelValue::Bits { bits: 513, names: "gpu_idle bit_9".to_owned() }),
        ("more than all the time",  "utilization, 0, 0, 0, 97", "utilization, 0, 0, 0, 101",      6, missing(Missing::Implausible)),
    ];
    for (why, from, to, at, expected) in cases {
        stub.say(&NVIDIA.replace(from, to));
        assert_eq!(told(&mut source)[*at].1, *expected, "{why}");
    }
}

#[test]
fn a_gpu_has_the_channels_that_it_offers() {
    let stub = Stub::new(
        "stub_nvml",
        "0, 0, index, 0, 0, 0, 0\n0, 0, uuid, 0, 0, 0, GPU-A\n0, 0, 83, 0, 0, 3, 5\n0, 0, temperature, 0, 0, 0, 64\n0, 0, limit, 0, 4, 0, 1\n",
    );
    let mut source = nvml(&stub);
    let expected = [
        ("nvml:GPU-A gpu_temp_c °C".to_owned(), number(64.0)),
        ("nvml:GPU-A power_limit_w W".to_owned(), missing(Missing::Permission)),
    ];
    assert_eq!(told(&mut source), expected);
}

#[test]
fn an_amd_gpu_tells_how_it_fares_in_degrees_or_thousandths_of_them() {
    let stub = Stub::new("stub_amdsmi", AMD);
    let mut source = amd(&stub);
    let expected = [
        ("edge_temp_c °C", number(51.0)),
        ("hotspot_temp_c °C", number(63.5)),
        ("gpu_clock_hz Hz", number(2.1e9)),
        ("memory_clock_hz Hz", number(1.3e9)),
        ("power_limit_w W", number(600.0)),
        ("gpu_utilization_ratio 1", number(0.6)),
        ("memory_utilization_ratio 1", number(0.7)),
    ];
    let expected = expected.map(|(name, value)| (format!("amd-smi:0000:29:00.0 {name}"), value));
    assert_eq!(told(&mut source), expected);
    #[rustfmt::skip]
    let cases: &[(&str, &str, &str, usize, ChannelValue)] = &[
        ("16 bits of ones",     "temperature, 0, 0, 0, 51", "temperature, 0, 0, 0, 65535", 0, missing(Missing::Sentinel)),
        ("gone",                "temperature, 0, 0, 0, 51", "temperature, 0, 31, 0, 51",   0, missing(Missing::Lost)),
        ("a clock of ones",     "clock, 0, 0, 0, 2100",     "clock, 0, 0, 0, 65535",       2, missing(Missing::Sentinel)),
        ("no limit is set",     "cap, 0, 0, 600,",          "cap, 0, 0, 0,",               4, missing(Missing::Sentinel)),
        ("no number of load",   "activity, 0, 0, 10, 60",   "activity, 0, 0, 0, 65535",    5, missing(Missing::Sentinel)),
    ];
    for (why, from, to, at, expected) in cases {
        stub.say(&AMD.replace(from, to));
        assert_eq!(told(&mut source)[*at].1, *expected, "{why}");
    }
}
