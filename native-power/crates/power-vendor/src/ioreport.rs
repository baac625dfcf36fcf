//! Apple's energy channels, through the library `libIOReport`, which needs no right. It compiles wherever libraries can be
//! loaded, so that it can be tested; only on macOS is it one of the sources.
//!
//! Every channel counts since the start of the system, and each is booked by itself: units differ between them, and may
//! change. Channels in mJ are published in batches of up to 2.3 s, so that windows shorter than that tell little.

mod api;

use std::path::Path;

use power_core::{
    Booking, Clock, CounterSpec, Domain, EnergyUnit, Excluded, Kind, Missing, PowerError, PowerSource,
    Provenance, Reading, Speed, Value, ioreport_channel, ioreport_covered,
};

use self::api::{Count, Subscription};

/// The source's name.
pub const IOREPORT: &str = "ioreport";

/// More than any chip of theirs draws in one of its parts.
const CAP_UW: u64 = 1_000_000_000;

/// The energy channels of a Mac.
pub struct IoReport {
    subscription: Subscription,
    names: Vec<String>,
    domains: Vec<(Domain, Booking)>,
    left_out: Vec<Excluded>,
}

impl IoReport {
    /// Loads the two libraries (paths, or names that the system looks up), subscribes, and takes the channels that make up
    /// the totals.
    pub fn open(ioreport: &Path, core_foundation: &Path) -> Result<Self, PowerError> {
        let subscription = Subscription::new(ioreport, core_foundation)?;
        let counts = subscription.counts().ok_or_else(|| nothing("it gives no sample"))?;
        let mut source = Self { subscription, names: Vec::new(), domains: Vec::new(), left_out: Vec::new() };
        let names: Vec<_> = counts.iter().map(|count| count.name.as_str()).collect();
        for (count, covered) in counts.iter().zip(ioreport_covered(&names)) {
            match covered {
                Some(None) => source.take(count)?,
                Some(Some(by)) => source.leave_out(&count.name, format!("covered-by {}", by.trim())),
                None => {}
            }
        }
        if source.domains.is_empty() {
            return Err(nothing(&format!("none of {} channels is a total", counts.len())));
        }
        Ok(source)
    }

    /// A total whose unit isn't known can't be left out: the sum of the others would be too small.
    fn take(&mut self, count: &Count) -> Result<(), PowerError> {
        let found = ioreport_channel(&count.name, &count.unit).zip(EnergyUnit::of(&count.unit));
        let (channel, unit) =
            found.ok_or_else(|| nothing(&format!("channel {:?} counts in {:?}", count.name, count.unit)))?;
        let batched = unit == EnergyUnit::Milli;
        let domain = Domain {
            id: id(&count.name),
            scope: channel.scope,
            kind: Kind::Counter,
            provenance: Provenance::Counter,
            in_total: true,
            update_period: channel.update_period,
            quantum: Some(channel.count_uj / 1e6),
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: unit.name(),
            note: batched.then(|| "published in batches of up to 2.3 s".to_owned()),
        };
        let spec = CounterSpec { max_uj: None, cap_uw: CAP_UW, update_period: channel.update_period };
        self.domains.push((domain, Booking::Counter(spec)));
        self.names.push(count.name.clone());
        Ok(())
    }

    fn leave_out(&mut self, name: &str, reason: String) {
        self.left_out.push(Excluded { zone: id(name), reason });
    }
}

/// `ioreport:die_0_cpu_energy`.
fn id(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("{IOREPORT}:{}", name.trim().chars().map(plain).collect::<String>())
}

fn nothing(said: &str) -> PowerError {
    PowerError::Vendor { source_name: IOREPORT, said: said.to_owned(), fix: None, refused: false }
}

/// The unit is read every time; the raw number is of the unit that the channel had at first.
fn value(count: &Count, domain: &Domain) -> Result<Value, Missing> {
    let unit = EnergyUnit::of(&count.unit).ok_or(Missing::Parse)?;
    let number = u64::try_from(count.value).map_err(|_| Missing::Sentinel)?;
    let uj = unit.microjoules(number).ok_or(Missing::Implausible)?;
    let raw = match (unit.name() == domain.raw_unit, domain.raw_unit) {
        (true, _) => number,
        (false, "mJ") => uj / 1000,
        (false, "nJ") => uj.checked_mul(1000).ok_or(Missing::Implausible)?,
        (false, _) => uj,
    };
    Ok(Value::Counter { raw, uj })
}

impl PowerSource for IoReport {
    fn name(&self) -> &'static str {
        IOREPORT
    }

    fn provenance(&self) -> Provenance {
        Provenance::Counter
    }

    fn speed(&self) -> Speed {
        Speed::Waits
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.domains
    }

    fn excluded(&self) -> &[Excluded] {
        &self.left_out
    }

    /// One sample holds every channel.
    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        let before = clock.now();
        let counts = self.subscription.counts();
        let after = clock.now();
        for (domain, ((about, _), name)) in (0..).zip(self.domains.iter().zip(&self.names)) {
            let value = match &counts {
                None => Err(Missing::Io),
                Some(counts) => match counts.iter().find(|count| count.name == *name) {
                    None => Err(Missing::Absent),
                    Some(count) => value(count, about),
                },
            };
            out.push(Reading { domain, before, after, value: value.unwrap_or_else(Value::Missing) });
        }
        Ok(())
    }
}
