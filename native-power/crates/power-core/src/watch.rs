//! What a sampler notices beside the numbers themselves.

use crate::{
    Clock, Domain, Kind, Ledger, Nanos, Observed, Reading,
    clock_watch::ClockWatch,
    cross_check::disagreeing,
    observed::{Observer, Pace},
    standstill::Standstills,
};

/// A burst of readings at the start tells the period of a sensor that is declared to be no slower than this.
const PROBED: Nanos = Nanos::from_millis(150);

/// Looks at each reading of a source, and at the clocks around it.
#[derive(Debug)]
pub struct Watch {
    clocks: ClockWatch,
    observers: Vec<Observer>,
    standstills: Standstills,
    probed: bool,
    /// Whether readings on schedule still show something of a sensor.
    learning: bool,
}

impl Watch {
    /// Over the domains of one source.
    pub fn over(domains: &[Domain]) -> Self {
        let sensed = domains.iter().all(|domain| domain.kind != Kind::Estimate);
        Self {
            clocks: ClockWatch::default(),
            observers: domains.iter().map(|domain| Observer::new(domain.kind, domain.quantum)).collect(),
            standstills: Standstills::of(domains),
            probed: sensed && domains.iter().any(|domain| domain.update_period <= PROBED),
            learning: true,
        }
    }

    /// Whether a burst of readings at the start would still show something. Never of an estimate, which goes by the time
    /// since its last reading.
    pub fn wants_probe(&self) -> bool {
        self.probed && !self.observers.iter().all(Observer::probed)
    }

    /// After a reading of the source that began `at`, before it is booked: a host that slept since the last one interrupts every book.
    pub fn look(&mut self, clock: &dyn Clock, at: Nanos, ledgers: &mut [Ledger]) {
        if self.clocks.look(clock, at) {
            ledgers.iter_mut().for_each(Ledger::interrupt);
        }
    }

    /// Learns of the sensors, and lets the books know of those that are slower than declared.
    pub fn learn(&mut self, pace: Pace, readings: &[Reading], ledgers: &mut [Ledger]) {
        if pace == Pace::Scheduled && !self.learning {
            return;
        }
        self.learning = !self.observers.iter().all(Observer::settled);
        for reading in readings {
            let index = usize::from(reading.domain);
            let Some(observer) = self.observers.get_mut(index) else { continue };
            if !observer.see(pace, reading.before.midpoint(reading.after), &reading.value) {
                continue;
            }
            if let (Ok(period), Some(ledger)) = (observer.outcome().update_period, ledgers.get_mut(index)) {
                ledger.renewed_every(period);
                self.standstills.renewed_every(index, period);
            }
        }
    }

    /// After a reading was booked.
    pub fn check(&mut self, at: Nanos, ledgers: &[Ledger]) {
        self.standstills.see(at, ledgers);
    }

    /// By domain: what was seen of its sensor.
    pub fn observed(&self) -> Vec<Observed> {
        self.observers.iter().map(Observer::outcome).collect()
    }

    /// What a reader of the samples should know.
    pub fn flags(&self, domains: &[Domain], ledgers: &[Ledger]) -> Vec<String> {
        let stale = domains.iter().zip(ledgers).enumerate().filter_map(|(index, (domain, ledger))| {
            if self.standstills.stale(index) {
                Some(format!("stale->gauge:{}", domain.id))
            } else {
                ledger.stale().then(|| format!("stale:{}", domain.id))
            }
        });
        let disagreeing = disagreeing(domains, ledgers).into_iter().map(|id| format!("cross-check:{id}"));
        let clocks = [("suspended", self.clocks.suspended), ("clock_step", self.clocks.stepped)];
        let clocks = clocks.into_iter().filter(|(_, seen)| *seen).map(|(flag, _)| flag.to_owned());
        stale.chain(disagreeing).chain(clocks).collect()
    }
}
