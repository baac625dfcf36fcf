//! Energy counters of the host's power sources, for the device that a kernel runs on.

use kernels_core::{CounterInfo, CounterReading, DeviceInfo, DeviceKind, EnergyCounter, KernelError};
use power_core::{
    Clock, Domain, Event, Ledger, MonotonicClock, PowerSource, Provenance, Reading, Scope, chain, open_source,
};
use power_vendor::{Libraries, VENDOR_SOURCES, open_vendor_source};

use crate::{Meters, Power};

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
            match opened.map_err(|error| chain(&error)).and_then(|source| SourceCounter::over(source, device))
            {
                Ok(counter) => return Ok(FoundCounter { counter: Box::new(counter), provenance: "counter" }),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(format!("no energy counter measures {}: {}", device.id, reasons.join("; ")))
    }
}

/// Names of the sources that count energy, the most trustworthy first.
fn counter_names() -> impl Iterator<Item = &'static str> {
    let counts = |info: &&power_core::SourceInfo| info.provenance == Provenance::Counter;
    power_core::SOURCES.iter().chain(VENDOR_SOURCES).filter(counts).map(|info| info.name)
}

/// The domains of one source that belong to a device, as one counter.
pub struct SourceCounter {
    source: Box<dyn PowerSource>,
    /// By domain of the source; None for those that aren't the device's.
    ledgers: Vec<Option<Ledger>>,
    info: CounterInfo,
    readings: Vec<Reading>,
}

impl SourceCounter {
    /// The domains of `source` that measure `device`, and nothing else.
    ///
    /// # Errors
    /// A sentence: it has none.
    pub fn over(source: Box<dyn PowerSource>, device: &DeviceInfo) -> Result<Self, String> {
        let own = |domain: &Domain| domain.provenance == Provenance::Counter && belongs(domain, device);
        let domains: Vec<&Domain> =
            source.domains().iter().map(|(domain, _)| domain).filter(|domain| own(domain)).collect();
        let Some(update_period) = domains.iter().map(|domain| domain.update_period.0).max() else {
            return Err(format!("{} has no domain of {}", source.name(), device.id));
        };
        let mut scopes: Vec<&str> = domains.iter().map(|domain| domain.scope.name()).collect();
        scopes.dedup();
        let share = (device.kind == DeviceKind::VirtualGpu)
            .then(|| "the device is a share of one, whose energy can't be told apart".to_owned());
        let info = CounterInfo {
            source: source.name().to_owned(),
            domain: domains.iter().map(|domain| domain.id.as_str()).collect::<Vec<_>>().join(" "),
            scope: scopes.join(" "),
            update_period_ns: update_period,
            systematic_ratio: domains.iter().filter_map(|domain| domain.scale_error_ratio).reduce(f64::max),
            shared: share,
        };
        let ledgers = source
            .domains()
            .iter()
            .map(|(domain, booking)| own(domain).then(|| Ledger::new(*booking)))
            .collect();
        Ok(Self { source, ledgers, info, readings: Vec::new() })
    }

    fn failure(&self, reason: impl Into<String>) -> KernelError {
        KernelError::Counter { counter: self.info.domain.clone(), reason: reason.into() }
    }
}

/// Whether a domain measures a device: a GPU's is known by the GPU's id, a processor's by its scope.
fn belongs(domain: &Domain, device: &DeviceInfo) -> bool {
    match device.kind {
        DeviceKind::Cpu | DeviceKind::Software => {
            domain.in_total && matches!(domain.scope, Scope::Package | Scope::Cpu | Scope::Dram | Scope::Soc)
        }
        _ => {
            let named = |id: &String| !id.is_empty() && domain.id.contains(id.as_str());
            domain.in_total && device.hardware_id.as_ref().is_some_and(named)
        }
    }
}

impl EnergyCounter for SourceCounter {
    fn info(&self) -> &CounterInfo {
        &self.info
    }

    fn read(&mut self) -> Result<CounterReading, KernelError> {
        self.readings.clear();
        if let Err(error) = self.source.read(&MonotonicClock, &mut self.readings) {
            return Err(self.failure(chain(&error)));
        }
        let (mut at_ns, mut energy_j, mut seen) = (MonotonicClock.now().0, 0.0, 0);
        let mut lost = None;
        for reading in &self.readings {
            let Some(Some(ledger)) = self.ledgers.get_mut(usize::from(reading.domain)) else { continue };
            let sample = ledger.enter(reading);
            at_ns = sample.at.0;
            energy_j += sample.booked.get();
            seen += 1;
            if matches!(sample.event, Event::Missing | Event::OutOfRange) || sample.lo < sample.hi {
                lost = Some(sample.event);
            }
        }
        if let Some(event) = lost {
            return Err(self.failure(format!("it gave no number that can be used ({})", event.name())));
        }
        if seen == 0 {
            return Err(self.failure("it gave no reading"));
        }
        Ok(CounterReading { at_ns, energy_j })
    }
}

#[cfg(test)]
#[path = "counter_tests.rs"]
mod tests;
