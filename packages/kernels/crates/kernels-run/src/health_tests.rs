use power_core::{
    Booking, ChannelInfo, ChannelUnit, Clock, Domain, Missing, Nanos, PowerError, Provenance, Reading,
};

use super::*;

/// A source of two GPUs, whose second is warm and slowed down.
struct Two(Vec<ChannelInfo>);

impl Two {
    fn boxed(names: &[&str]) -> Box<dyn PowerSource> {
        let of = |id: &str, name: &&str| ChannelInfo {
            device: format!("nvml:{id}"),
            name: (*name).to_owned(),
            unit: ChannelUnit::One,
        };
        let channels = ["GPU-1", "GPU-12"].iter().flat_map(|id| names.iter().map(|name| of(id, name)));
        Box::new(Self(channels.collect()))
    }
}

impl PowerSource for Two {
    fn name(&self) -> &'static str {
        "nvml"
    }

    fn provenance(&self) -> Provenance {
        Provenance::Counter
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &[]
    }

    fn channels(&self) -> &[ChannelInfo] {
        &self.0
    }

    fn read_channels(&mut self, _clock: &dyn Clock, out: &mut Vec<ChannelReading>) {
        for (channel, info) in (0..).zip(&self.0) {
            let second = info.device.ends_with("12");
            let value = match info.name.as_str() {
                "throttle_reasons" => {
                    let known = [(0, "gpu_idle"), (2, "sw_power_cap"), (6, "hw_thermal_slowdown")];
                    ChannelValue::bits(if second { 0b100_0100 } else { 0b1 }, &known)
                }
                "gpu_temp_c" => ChannelValue::Missing(Missing::NotSupported),
                "hotspot_temp_c" => ChannelValue::Number(if second { 91.0 } else { 30.0 }),
                _ => ChannelValue::Number(if second { 1.2e9 } else { 1.98e9 }),
            };
            out.push(ChannelReading { channel, at: Nanos(0), value });
        }
    }

    fn read(&mut self, _clock: &dyn Clock, _out: &mut Vec<Reading>) -> Result<(), PowerError> {
        Ok(())
    }
}

const ALL: [&str; 5] = ["sm_clock_hz", "memory_clock_hz", "gpu_temp_c", "hotspot_temp_c", "throttle_reasons"];

fn read(names: &[&str], id: &str) -> Option<Health> {
    Conditions::in_source(Two::boxed(names), id).and_then(|conditions| conditions.read())
}

#[test]
fn a_gpu_is_told_by_its_own_channels() {
    let cool = Health {
        clock_hz: Some(1.98e9),
        memory_clock_hz: Some(1.98e9),
        temperature_c: Some(30.0),
        throttle_reasons: Vec::new(),
        slowed_down: false,
    };
    assert_eq!(read(&ALL, "GPU-1"), Some(cool.clone()), "idle is no reason");
    let hot = Health {
        clock_hz: Some(1.2e9),
        memory_clock_hz: Some(1.2e9),
        temperature_c: Some(91.0),
        throttle_reasons: vec!["sw_power_cap".to_owned(), "hw_thermal_slowdown".to_owned()],
        slowed_down: true,
    };
    assert_eq!(read(&ALL, "GPU-12"), Some(hot));
    assert_eq!(read(&ALL, "GPU-2"), None);
    let clock_only = Health { memory_clock_hz: None, temperature_c: None, ..cool };
    assert_eq!(read(&["sm_clock_hz"], "GPU-1"), Some(clock_only));
    assert_eq!(read(&["memory_clock_hz"], "GPU-1"), None, "nothing of use");
}

#[test]
fn a_cap_of_the_power_is_no_slowdown() {
    let reasons = [
        ("sw_power_cap", false),
        ("sync_boost", false),
        ("sw_thermal_slowdown", true),
        ("hw_slowdown", true),
        ("hw_power_brake_slowdown", true),
    ];
    for (name, expected) in reasons {
        assert_eq!(slows_down(name), expected, "{name}");
    }
}
