//! How an AMD GPU fares beside its power.

use power_core::{ChannelInfo, ChannelReading, ChannelUnit, ChannelValue, Clock, Missing};

use super::{
    Gpu,
    api::{Device, missing},
};

/// One number that isn't power, with the library's number of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Temperature(u32),
    Clock(u32),
    PowerLimit,
    Activity(usize),
}

const ALL: [(Condition, &str, ChannelUnit); 8] = [
    (Condition::Temperature(0), "edge_temp_c", ChannelUnit::Celsius),
    (Condition::Temperature(1), "hotspot_temp_c", ChannelUnit::Celsius),
    (Condition::Temperature(2), "memory_temp_c", ChannelUnit::Celsius),
    (Condition::Clock(0), "gpu_clock_hz", ChannelUnit::Hertz),
    (Condition::Clock(4), "memory_clock_hz", ChannelUnit::Hertz),
    (Condition::PowerLimit, "power_limit_w", ChannelUnit::Watts),
    (Condition::Activity(0), "gpu_utilization_ratio", ChannelUnit::One),
    (Condition::Activity(1), "memory_utilization_ratio", ChannelUnit::One),
];

/// A channel of one of the GPUs.
pub struct Channel {
    gpu: usize,
    what: Condition,
}

/// What a device offers now, or would if it were allowed.
pub fn channels_of(bus: &str, gpu: usize, device: &Device) -> Vec<(ChannelInfo, Channel)> {
    let offered = |(what, name, unit): (Condition, &str, ChannelUnit)| {
        let about = ChannelInfo { device: format!("amd-smi:{bus}"), name: name.to_owned(), unit };
        let none = matches!(read_one(device, what), Err(Missing::NotSupported | Missing::Sentinel));
        (!none).then_some((about, Channel { gpu, what }))
    };
    ALL.into_iter().filter_map(offered).collect()
}

/// Reads every channel once.
pub fn read(gpus: &[Gpu], channels: &[Channel], clock: &dyn Clock, out: &mut Vec<ChannelReading>) {
    for (channel, Channel { gpu, what }) in (0..).zip(channels) {
        let Some(gpu) = gpus.get(*gpu) else { continue };
        let at = clock.now();
        let value = read_one(&gpu.device, *what).unwrap_or_else(ChannelValue::Missing);
        out.push(ChannelReading { channel, at, value });
    }
}

fn read_one(device: &Device, what: Condition) -> Result<ChannelValue, Missing> {
    Ok(match what {
        Condition::Temperature(sensor) => celsius(device.temperature(sensor).map_err(missing)?)?,
        Condition::Clock(which) => {
            ChannelValue::Number(f64::from(number(device.clock_mhz(which).map_err(missing)?)?) * 1e6)
        }
        Condition::PowerLimit => watts(device.limit_uw().map_err(missing)?)?,
        Condition::Activity(engine) => {
            let activity = device.activity().map_err(missing)?;
            let percent = activity.get(engine).copied().ok_or(Missing::NotSupported)?;
            ChannelValue::percent(f64::from(number(percent)?))
        }
    })
}

const fn number(raw: u32) -> Result<u32, Missing> {
    if raw == 0xffff || raw == u32::MAX { Err(Missing::Sentinel) } else { Ok(raw) }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 µW, 9 GW")]
fn watts(uw: u64) -> Result<ChannelValue, Missing> {
    match uw {
        0 | u64::MAX => Err(Missing::Sentinel),
        uw => Ok(ChannelValue::Number(uw as f64 / 1e6)),
    }
}

/// Degrees. Some versions leave out the division of the driver's thousandths: no chip runs at 1000 °C.
#[expect(clippy::cast_precision_loss, reason = "temperatures are small")]
fn celsius(raw: i64) -> Result<ChannelValue, Missing> {
    match raw {
        0xffff | 0xffff_ffff | i64::MAX => Err(Missing::Sentinel),
        degrees if degrees.unsigned_abs() < 1000 => Ok(ChannelValue::celsius(degrees as f64)),
        thousandths => Ok(ChannelValue::celsius(thousandths as f64 / 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use power_core::{ChannelValue, Missing};

    use super::celsius;

    #[test]
    fn degrees_and_thousandths_are_told_apart() {
        #[rustfmt::skip]
        let cases = [
            ("degrees",                 64,       Ok(ChannelValue::Number(64.0))),
            ("thousandths",             64_500,   Ok(ChannelValue::Number(64.5))),
            ("frost, in thousandths",   -5000,    Ok(ChannelValue::Number(-5.0))),
            ("neither",                 900,      Ok(ChannelValue::Missing(Missing::Implausible))),
            ("16 bits of ones",         65_535,   Err(Missing::Sentinel)),
            ("63 bits of ones",         i64::MAX, Err(Missing::Sentinel)),
        ];
        for (why, raw, expected) in cases {
            assert_eq!(celsius(raw), expected, "{why}");
        }
    }
}
