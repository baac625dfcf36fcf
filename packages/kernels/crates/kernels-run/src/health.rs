//! Clocks, temperature and throttling of a GPU, from the host's power sources: the libraries that drive it don't tell.

use std::cell::RefCell;

use kernels_core::{
    Device, DeviceInfo, DeviceKind, Health, ImplId, Inputs, KernelError, KernelSpec, Prepared, Support,
};
use power_core::{ChannelReading, ChannelValue, MonotonicClock, PowerSource};
use power_vendor::{Libraries, VENDOR_SOURCES, open_vendor_source};

use crate::Power;

/// A bit that says that a GPU has nothing to do, which is no throttling.
const IDLE: &str = "gpu_idle";

/// What channels are called, those of one number in the order of preference.
const CLOCK: [&str; 2] = ["sm_clock_hz", "gpu_clock_hz"];
const MEMORY_CLOCK: [&str; 1] = ["memory_clock_hz"];
const TEMPERATURE: [&str; 3] = ["gpu_temp_c", "hotspot_temp_c", "edge_temp_c"];
const REASONS: &str = "throttle_reasons";

/// A source and those of its channels that are of one GPU, by their places.
pub struct Conditions {
    source: RefCell<Box<dyn PowerSource>>,
    own: Vec<(u16, String)>,
}

impl Conditions {
    /// Those of a GPU, where a power source knows it by its id; None for any other device.
    pub fn of(device: &DeviceInfo, power: &Power) -> Option<Self> {
        if matches!(device.kind, DeviceKind::Cpu | DeviceKind::Software) {
            return None;
        }
        let place = &power.libraries;
        let libraries = Libraries {
            nvml: place.nvml.clone(),
            amdsmi: place.amdsmi.clone(),
            level_zero: place.level_zero.clone(),
        };
        VENDOR_SOURCES.iter().find_map(|info| {
            let source = open_vendor_source(info.name, &power.root, &libraries)?.ok()?;
            Self::in_source(source, device.hardware_id.as_deref()?)
        })
    }

    fn in_source(source: Box<dyn PowerSource>, id: &str) -> Option<Self> {
        let named = |device: &str| device.split_once(':').is_some_and(|(_, rest)| rest == id);
        let own: Vec<(u16, String)> = (0..)
            .zip(source.channels())
            .filter(|(_, channel)| named(&channel.device))
            .map(|(at, channel)| (at, channel.name.clone()))
            .collect();
        (!own.is_empty()).then(|| Self { source: RefCell::new(source), own })
    }

    fn read(&self) -> Option<Health> {
        let mut readings: Vec<ChannelReading> = Vec::new();
        self.source.try_borrow_mut().ok()?.read_channels(&MonotonicClock, &mut readings);
        let value = |name: &str| {
            let (at, _) = self.own.iter().find(|(_, own)| own == name)?;
            readings.iter().find(|reading| reading.channel == *at).map(|reading| &reading.value)
        };
        let number = |names: &[&str]| {
            names.iter().find_map(|name| match value(name)? {
                ChannelValue::Number(number) => Some(*number),
                _ => None,
            })
        };
        let reasons = match value(REASONS) {
            Some(ChannelValue::Bits { names, .. }) => Some(names.as_str()),
            _ => None,
        };
        let throttle_reasons: Vec<String> = reasons
            .unwrap_or_default()
            .split_whitespace()
            .filter(|name| *name != IDLE)
            .map(Into::into)
            .collect();
        let found = Health {
            clock_hz: number(&CLOCK),
            memory_clock_hz: number(&MEMORY_CLOCK),
            temperature_c: number(&TEMPERATURE),
            slowed_down: throttle_reasons.iter().any(|name| slows_down(name)),
            throttle_reasons,
        };
        let known = found.clock_hz.is_some() || found.temperature_c.is_some() || reasons.is_some();
        known.then_some(found)
    }
}

/// Whether a reason is heat or the hardware's own protection, after which what was measured is repeated. A cap of the power that
/// the software sets is normal in a large product.
fn slows_down(name: &str) -> bool {
    name.contains("thermal") || name.starts_with("hw_")
}

/// A device that tells how it fares, by what its backend says, else by a power source.
pub struct Watched {
    device: Box<dyn Device>,
    conditions: Option<Conditions>,
}

impl Watched {
    /// A device with what was found of it.
    pub fn new(device: Box<dyn Device>, conditions: Option<Conditions>) -> Self {
        Self { device, conditions }
    }
}

impl Device for Watched {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        self.device.support(spec)
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        self.device.prepare(spec, inputs, rotate, implementation)
    }

    fn health(&self) -> Option<Health> {
        self.device.health().or_else(|| self.conditions.as_ref()?.read())
    }
}

#[cfg(test)]
#[path = "health_tests.rs"]
mod tests;
