use power_core::{Booking, Counter, Domain, Event, MonotonicClock, Nanos, PowerSource, Reading, Value};

use crate::{CounterInfo, CounterReading, EnergyCounter, KernelError};

/// Counters of one power source as one counter: domains of one scope, summed, for instance both CPU packages. Wraps are
/// undone by the rules of `power-core`; sensors of power and estimates are refused, since they count nothing. A value that
/// is shown again is no news: what may have been drawn is judged by the time since it last changed, for some counters are
/// renewed less often than they should be.
pub struct PowerCounter {
    source: Box<dyn PowerSource>,
    counters: Vec<Counted>,
    info: CounterInfo,
    readings: Vec<Reading>,
    begun: bool,
}

/// One domain's counter.
struct Counted {
    domain: u16,
    counter: Counter,
    /// What it showed last.
    shown_uj: Option<u64>,
    /// Looks in a row that gave no number.
    missing: u32,
}

/// More looks than this in a row without a number are the end.
const MOST_MISSING: u32 = 2;

impl PowerCounter {
    /// Of the domains with these ids.
    ///
    /// # Errors
    /// `Counter`: an id is unknown, is no counter, or the domains differ in scope.
    pub fn new(source: Box<dyn PowerSource>, ids: &[&str]) -> Result<Self, KernelError> {
        let refused = |reason: String| KernelError::Counter { counter: source.name().to_owned(), reason };
        let mut chosen: Vec<(u16, &Domain, Counter)> = Vec::new();
        for id in ids {
            let found = (0u16..).zip(source.domains()).find(|(_, (domain, _))| domain.id == *id);
            match found {
                None => return Err(refused(format!("it has no domain {id:?}"))),
                Some((at, (domain, Booking::Counter(spec)))) => {
                    chosen.push((at, domain, Counter::new(*spec)));
                }
                Some((_, (domain, _))) => {
                    return Err(refused(format!("{id} is a {}, not a counter", domain.kind.name())));
                }
            }
        }
        let Some((_, first, _)) = chosen.first() else {
            return Err(refused("no domain was asked for".to_owned()));
        };
        if let Some((_, other, _)) = chosen.iter().find(|(_, domain, _)| domain.scope != first.scope) {
            return Err(refused(format!("{} and {} cover different things", first.id, other.id)));
        }
        let ratios: Option<Vec<f64>> = chosen.iter().map(|(_, domain, _)| domain.scale_error_ratio).collect();
        let info = CounterInfo {
            source: source.name().to_owned(),
            domain: ids.join("+"),
            scope: first.scope.name().to_owned(),
            update_period_ns: chosen.iter().map(|(_, domain, _)| domain.update_period.0).max().unwrap_or(0),
            systematic_ratio: ratios.and_then(|ratios| ratios.into_iter().reduce(f64::max)),
            shared: None,
        };
        let counters = chosen
            .into_iter()
            .map(|(domain, _, counter)| Counted { domain, counter, shown_uj: None, missing: 0 })
            .collect();
        Ok(Self { source, counters, info, readings: Vec::new(), begun: false })
    }

    /// Of all counters of a scope (`package`, `gpu`, `wall`) that are part of the source's total.
    ///
    /// # Errors
    /// `Counter`: it has none.
    pub fn of_scope(source: Box<dyn PowerSource>, scope: &str) -> Result<Self, KernelError> {
        let fits = |(domain, booking): &&(Domain, Booking)| {
            domain.in_total && domain.scope.name() == scope && matches!(booking, Booking::Counter(_))
        };
        let ids: Vec<String> =
            source.domains().iter().filter(fits).map(|(domain, _)| domain.id.clone()).collect();
        if ids.is_empty() {
            let reason = format!("it has no counter of scope {scope}");
            return Err(KernelError::Counter { counter: source.name().to_owned(), reason });
        }
        Self::new(source, &ids.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The same, marked as counting more than the device: its energy is then refused with this reason.
    #[must_use]
    pub fn shared(mut self, reason: &str) -> Self {
        self.info.shared = Some(reason.to_owned());
        self
    }

    /// Reads all counters. `first` takes what is no continuation of the reading before as a beginning.
    fn look(&mut self, first: bool) -> Result<CounterReading, KernelError> {
        self.readings.clear();
        let read = self.source.read(&MonotonicClock, &mut self.readings);
        read.map_err(|error| self.broken(error.to_string()))?;
        let anew = first && self.begun;
        self.begun = true;
        let (mut energy_j, mut at_ns) = (0.0, 0);
        for index in 0..self.counters.len() {
            let counted = &mut self.counters[index];
            let Some(reading) = self.readings.iter().find(|reading| reading.domain == counted.domain) else {
                return Err(self.broken("a domain gave no reading".to_owned()));
            };
            let at = reading.before.midpoint(reading.after);
            at_ns = at_ns.max(at.0);
            let event = match reading.value {
                Value::Counter { uj, .. } => counted.see(at, uj, anew),
                _ => counted.see_nothing(first),
            };
            energy_j += counted.counter.booked().0.get();
            if let Some(event) = event {
                return Err(self.broken(format!("the reading is {}", event.name())));
            }
        }
        Ok(CounterReading { at_ns, energy_j })
    }

    fn broken(&self, reason: String) -> KernelError {
        KernelError::Counter { counter: format!("{} {}", self.info.source, self.info.domain), reason }
    }
}

impl Counted {
    /// Takes a number in; what is wrong with it, if that can't be lived with. `anew` begins at it.
    fn see(&mut self, at: Nanos, uj: u64, anew: bool) -> Option<Event> {
        self.missing = 0;
        if anew {
            self.counter.interrupt();
        } else if self.shown_uj == Some(uj) {
            return None;
        }
        self.shown_uj = Some(uj);
        let event = self.counter.push(at, Some(uj));
        match event {
            Event::Gap => (!anew).then_some(event),
            Event::Reset | Event::Alias => Some(event),
            _ => None,
        }
    }

    /// No number came.
    fn see_nothing(&mut self, first: bool) -> Option<Event> {
        self.missing += 1;
        (first || self.missing > MOST_MISSING).then_some(Event::Missing)
    }
}

impl EnergyCounter for PowerCounter {
    fn info(&self) -> &CounterInfo {
        &self.info
    }

    fn read(&mut self) -> Result<CounterReading, KernelError> {
        self.look(false)
    }

    /// However long nobody looked, and however often the counter wrapped or was reset meanwhile.
    fn start(&mut self) -> Result<CounterReading, KernelError> {
        self.look(true)
    }
}

#[cfg(test)]
#[path = "power_tests.rs"]
mod tests;
