//! How a GPU fares beside its power.

use power_core::{ChannelInfo, ChannelReading, ChannelUnit, ChannelValue, Clock, Missing};

use super::{
    Metered,
    api::{FieldValue, Gpu, field, missing, scope},
    decode::whole,
};

/// One number that isn't power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Of the chip, °C.
    GpuTemperature,
    /// Of its memory, °C.
    MemoryTemperature,
    /// Of the streaming multiprocessors, MHz.
    SmClock,
    /// Of the memory, MHz.
    MemoryClock,
    /// That is enforced now, mW.
    PowerLimit,
    /// Bits that tell why clocks are lower than they could be.
    ThrottleReasons,
    /// Share of the last moments in which a kernel ran, percent.
    GpuUtilization,
    /// Share of the last moments in which memory was read or written, percent.
    MemoryUtilization,
}

use Condition::{
    GpuTemperature, GpuUtilization, MemoryClock, MemoryTemperature, MemoryUtilization, PowerLimit, SmClock,
    ThrottleReasons,
};

const ALL: [(Condition, &str, ChannelUnit); 8] = [
    (GpuTemperature, "gpu_temp_c", ChannelUnit::Celsius),
    (MemoryTemperature, "memory_temp_c", ChannelUnit::Celsius),
    (SmClock, "sm_clock_hz", ChannelUnit::Hertz),
    (MemoryClock, "memory_clock_hz", ChannelUnit::Hertz),
    (PowerLimit, "power_limit_w", ChannelUnit::Watts),
    (ThrottleReasons, "throttle_reasons", ChannelUnit::Bits),
    (GpuUtilization, "gpu_utilization_ratio", ChannelUnit::One),
    (MemoryUtilization, "memory_utilization_ratio", ChannelUnit::One),
];

/// Names of the throttle bits, as the vendor's header defines them.
const REASONS: [(u32, &str); 9] = [
    (0, "gpu_idle"),
    (1, "applications_clocks_setting"),
    (2, "sw_power_cap"),
    (3, "hw_slowdown"),
    (4, "sync_boost"),
    (5, "sw_thermal_slowdown"),
    (6, "hw_thermal_slowdown"),
    (7, "hw_power_brake_slowdown"),
    (8, "display_clock_setting"),
];

/// A channel of one of the GPUs.
pub struct Channel {
    gpu: usize,
    what: Condition,
}

/// What a device offers now, or would if it were allowed.
pub fn channels_of(uuid: &str, gpu: usize, device: &impl Gpu) -> Vec<(ChannelInfo, Channel)> {
    let offered = |(what, name, unit): (Condition, &str, ChannelUnit)| {
        let said = ask(device, what);
        let none = matches!(said, Err(Missing::NotSupported | Missing::Sentinel));
        let about = ChannelInfo { device: format!("nvml:{uuid}"), name: name.to_owned(), unit };
        (!none).then_some((about, Channel { gpu, what }))
    };
    ALL.into_iter().filter_map(offered).collect()
}

/// Reads every channel once.
pub fn read<D: Gpu>(
    gpus: &[Metered<D>],
    channels: &[Channel],
    clock: &dyn Clock,
    out: &mut Vec<ChannelReading>,
) {
    for (channel, Channel { gpu, what }) in (0..).zip(channels) {
        let Some(gpu) = gpus.get(*gpu) else { continue };
        let at = clock.now();
        let said = if gpu.sleeps() { Err(Missing::Inactive) } else { ask(&gpu.device, *what) };
        let value = said.map_or_else(ChannelValue::Missing, |raw| convert(*what, raw));
        out.push(ChannelReading { channel, at, value });
    }
}

fn ask(device: &impl Gpu, what: Condition) -> Result<u64, Missing> {
    let raw = if what == MemoryTemperature {
        let mut asked = [FieldValue::ask(field::MEMORY_TEMP, scope::GPU)];
        device.ask(&mut asked).map_err(missing)?;
        whole(&asked[0])?
    } else {
        device.condition(what).map_err(missing)?
    };
    if what != ThrottleReasons && raw >= u64::from(u32::MAX) { Err(Missing::Sentinel) } else { Ok(raw) }
}

#[expect(clippy::cast_precision_loss, reason = "all but bits are below 2^32")]
fn convert(what: Condition, raw: u64) -> ChannelValue {
    let number = raw as f64;
    match what {
        GpuTemperature | MemoryTemperature => ChannelValue::celsius(number),
        SmClock | MemoryClock => ChannelValue::Number(number * 1e6),
        PowerLimit => ChannelValue::Number(number / 1e3),
        ThrottleReasons => ChannelValue::bits(raw, &REASONS),
        GpuUtilization | MemoryUtilization => ChannelValue::percent(number),
    }
}
