//! Energy counters of the host's power sources, for the device that a kernel runs on.

use kernels_core::{DeviceInfo, DeviceKind, EnergyCounter, PowerCounter};
use power_core::{Booking, Domain, PowerSource, Provenance, Scope, chain, open_source};
use power_vendor::{Libraries, VENDOR_SOURCES, open_vendor_source};

use crate::{Conditions, Meters, Power};

/// A counter, and where its joules come from.
pub struct FoundCounter {
    /// The counter.
    pub counter: Box<dyn EnergyCounter>,
    /// As rows name it.
    pub provenance: &'static str,
}

/// The power sources of this host.
pub struct PowerMeters;

impl Meters for PowerMeters {
    /// The first counter that measures the device. Power that would have to be integrated or estimated is none.
    fn find(&self, device: &DeviceInfo, power: &Power) -> Result<FoundCounter, String> {
        let place = &power.libraries;
        let libraries = Libraries {
            nvml: place.nvml.clone(),
            amdsmi: place.amdsmi.clone(),
            level_zero: place.level_zero.clone(),
        };
        let mut reasons = Vec::new();
        for name in counter_names() {
            let opened = open_vendor_source(name, &power.root, &libraries)
                .unwrap_or_else(|| open_source(name, &power.root));
            match opened.map_err(|error| chain(&error)).and_then(|source| counter_of(source, device)) {
                Ok(counter) => return Ok(FoundCounter { counter: Box::new(counter), provenance: "counter" }),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(format!("no energy counter measures {}: {}", device.id, reasons.join("; ")))
    }

    fn conditions(&self, device: &DeviceInfo, power: &Power) -> Option<Conditions> {
        Conditions::of(device, power)
    }
}

/// Names of the sources that count energy, the most trustworthy first.
fn counter_names() -> impl Iterator<Item = &'static str> {
    let counts = |info: &&power_core::SourceInfo| info.provenance == Provenance::Counter;
    power_core::SOURCES.iter().chain(VENDOR_SOURCES).filter(counts).map(|info| info.name)
}

/// The domains of `source` that measure `device` and nothing else, those of the first one's scope.
fn counter_of(source: Box<dyn PowerSource>, device: &DeviceInfo) -> Result<PowerCounter, String> {
    let counts = |(domain, booking): &&(Domain, Booking)| {
        domain.in_total && matches!(booking, Booking::Counter(_)) && belongs(domain, device)
    };
    let own: Vec<&(Domain, Booking)> = source.domains().iter().filter(counts).collect();
    let Some(scope) = own.first().map(|(domain, _)| domain.scope) else {
        return Err(format!("{} has no counter of {}", source.name(), device.id));
    };
    let same = own.iter().filter(|(domain, _)| domain.scope == scope);
    let ids: Vec<String> = same.map(|(domain, _)| domain.id.clone()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let counter = PowerCounter::new(source, &ids).map_err(|error| error.to_string())?;
    Ok(match device.kind {
        DeviceKind::VirtualGpu => {
            counter.shared("the device is a share of one, whose energy can't be told apart")
        }
        _ => counter,
    })
}

/// Whether a domain measures a device: a GPU's is known by the GPU's id, a processor's by its scope.
fn belongs(domain: &Domain, device: &DeviceInfo) -> bool {
    match device.kind {
        DeviceKind::Cpu | DeviceKind::Software => {
            matches!(domain.scope, Scope::Package | Scope::Cpu | Scope::Soc)
        }
        _ => {
            let named = |id: &String| !id.is_empty() && domain.id.contains(id.as_str());
            device.hardware_id.as_ref().is_some_and(named)
        }
    }
}

#[cfg(test)]
#[path = "counter_tests.rs"]
mod tests;
