use std::path::PathBuf;

use crate::{
    Booking, Clock, CounterSpec, Domain, Excluded, GaugeSpec, Kind, Missing, Nanos, PowerError, PowerSource,
    Provenance, Reading, Scope, Speed, Value, Watts,
    file::{CountFile, Open},
};

/// Reads one domain.
pub type Input = Box<dyn FnMut() -> Value + Send>;

/// A source made of files, each read on its own.
pub struct Sensors {
    name: &'static str,
    provenance: Provenance,
    slowest: Option<Nanos>,
    speed: Speed,
    domains: Vec<(Domain, Booking)>,
    inputs: Vec<Input>,
    excluded: Vec<Excluded>,
}

impl PowerSource for Sensors {
    fn name(&self) -> &'static str {
        self.name
    }

    fn provenance(&self) -> Provenance {
        self.provenance
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.domains
    }

    fn excluded(&self) -> &[Excluded] {
        &self.excluded
    }

    fn slowest_period(&self) -> Option<Nanos> {
        self.slowest
    }

    fn speed(&self) -> Speed {
        self.speed
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        let mut before = clock.now();
        for (domain, input) in (0..).zip(&mut self.inputs) {
            let value = input();
            let after = clock.now();
            out.push(Reading { domain, before, after, value });
            before = after;
        }
        Ok(())
    }
}

impl Sensors {
    /// The same, whose readings take longer than those of the kernel's own numbers.
    #[must_use]
    pub(crate) fn on_a_bus(self) -> Self {
        Self { speed: Speed::Bus, ..self }
    }
}

/// Gathers what a source finds, and decides at the end whether it can be used.
pub struct Finder {
    name: &'static str,
    provenance: Provenance,
    looked_in: PathBuf,
    domains: Vec<(Domain, Booking)>,
    inputs: Vec<Input>,
    excluded: Vec<Excluded>,
    refused: Vec<PathBuf>,
    broken: Option<PowerError>,
}

impl Finder {
    /// Nothing found yet.
    pub fn new(name: &'static str, provenance: Provenance, looked_in: PathBuf) -> Self {
        Self {
            name,
            provenance,
            looked_in,
            domains: Vec::new(),
            inputs: Vec::new(),
            excluded: Vec::new(),
            refused: Vec::new(),
            broken: None,
        }
    }

    /// Adds a domain, or what keeps it from being read. Beside the total, that only leaves it out.
    pub fn add(&mut self, domain: Domain, booking: Booking, input: Result<Input, PowerError>) {
        match input {
            Ok(input) => {
                self.domains.push((domain, booking));
                self.inputs.push(input);
            }
            Err(error) if !domain.in_total => self.leave_out(domain.id, error.to_string()),
            Err(PowerError::Permission { paths }) => self.refused.extend(paths),
            Err(error) => self.broken = Some(self.broken.take().unwrap_or(error)),
        }
    }

    /// Notes what isn't recorded, and why.
    pub fn leave_out(&mut self, zone: String, reason: impl Into<String>) {
        self.excluded.push(Excluded { zone, reason: reason.into() });
    }

    /// The source. One domain of the total that can't be read makes the whole unusable: a sum without it would be too low.
    pub fn finish(self, slowest: Option<Nanos>) -> Result<Sensors, PowerError> {
        if !self.refused.is_empty() {
            return Err(PowerError::Permission { paths: self.refused });
        }
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        if !self.domains.iter().any(|(domain, _)| domain.in_total) {
            let beside =
                self.domains.iter().map(|(d, _)| (&d.id, d.note.as_deref().unwrap_or("beside the total")));
            let left_out = self.excluded.iter().map(|e| (&e.zone, e.reason.as_str()));
            let said: Vec<_> = beside.chain(left_out).map(|(id, why)| format!("{id}: {why}")).collect();
            return Err(if said.is_empty() {
                PowerError::Absent { source_name: self.name, path: self.looked_in }
            } else {
                PowerError::Unusable { source_name: self.name, reason: said.join("; ") }
            });
        }
        Ok(Sensors {
            name: self.name,
            provenance: self.provenance,
            slowest,
            speed: Speed::Fast,
            domains: self.domains,
            inputs: self.inputs,
            excluded: self.excluded,
        })
    }
}

/// A domain with an energy counter in µJ that the driver keeps in 64 bits.
pub fn counter(id: String, scope: Scope, spec: CounterSpec) -> (Domain, Booking) {
    let domain = Domain {
        id,
        scope,
        kind: Kind::Counter,
        provenance: Provenance::Counter,
        in_total: true,
        update_period: spec.update_period,
        quantum: None,
        scale_error_ratio: None,
        sensing_share: None,
        raw_unit: "uJ",
        note: None,
    };
    (domain, Booking::Counter(spec))
}

/// A domain with a power in µW.
pub fn gauge(id: String, scope: Scope, update_period: Nanos, cap: Watts) -> (Domain, Booking) {
    let domain = Domain {
        id,
        scope,
        kind: Kind::Gauge,
        provenance: Provenance::Integrated,
        in_total: true,
        update_period,
        quantum: None,
        scale_error_ratio: None,
        sensing_share: None,
        raw_unit: "uW",
        note: None,
    };
    (domain, Booking::Gauge(GaugeSpec::new(update_period, cap)))
}

/// Reads a counter of microjoules.
pub fn microjoules(path: PathBuf, open: Open) -> Result<Input, PowerError> {
    let mut file = CountFile::open(path, open)?;
    Ok(Box::new(move || match file.read() {
        Ok(u64::MAX) => Value::Missing(Missing::Sentinel),
        Ok(uj) => Value::Counter { raw: uj, uj },
        Err(missing) => Value::Missing(missing),
    }))
}

/// Reads a power in microwatts.
pub fn microwatts(path: PathBuf, open: Open) -> Result<Input, PowerError> {
    let mut file = CountFile::open(path, open)?;
    Ok(Box::new(move || match file.read() {
        Ok(uw) => power(uw),
        Err(missing) => Value::Missing(missing),
    }))
}

/// A power, unless the number stands for "no value": all ones in the width of the register behind it, as it is or as
/// milliwatts told in microwatts.
pub fn power(uw: u64) -> Value {
    const NONE: u64 = u32::MAX as u64;
    const NONE_MILLI: u64 = NONE * 1000;
    match uw {
        NONE | NONE_MILLI | u64::MAX => Value::Missing(Missing::Sentinel),
        uw => Value::Power { raw: Some(uw), power: Watts::from_micros(uw) },
    }
}
