//! A power sensor as a plain value: watts in, booked joules out, by trapezoid between readings.
//!
//! Equal values are readings like any other, and falling power counts like rising power. A span longer than the longest
//! gap is never drawn through: it books nothing, and only the upper bound says what may have been used in it.

use crate::{Event, Joules, Nanos, Watts};

/// What must be known of a power sensor to book it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugeSpec {
    /// The longest span between two readings that is integrated: three periods of the sensor, or of the reading where
    /// that is slower.
    pub max_gap: Nanos,
    /// More than any such domain can draw: what exceeds it is not believed, and it bounds what a gap may hide.
    pub cap: Watts,
}

impl GaugeSpec {
    /// Of a sensor that renews its value every `update_period`.
    pub const fn new(update_period: Nanos, cap: Watts) -> Self {
        Self { max_gap: Nanos(update_period.0.saturating_mul(3)), cap }
    }

    /// The same, read every `period`.
    #[must_use]
    pub fn read_every(self, period: Nanos) -> Self {
        Self { max_gap: self.max_gap.max(Nanos(period.0.saturating_mul(3))), ..self }
    }
}

/// What a power sensor has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaugeTally {
    /// Readings without a number, the unbelievable ones included.
    pub missing: u64,
    /// Stamps that didn't advance.
    pub clock: u64,
    /// Time that nothing is known about.
    pub gap: Nanos,
}

/// Books one power sensor. See the module's text for the rules.
#[derive(Clone, Debug)]
pub struct Gauge {
    spec: GaugeSpec,
    last: Option<(Nanos, Watts)>,
    interrupted: bool,
    booked: Joules,
    lo: Joules,
    hi: Joules,
    tally: GaugeTally,
}

impl Gauge {
    /// A sensor that has not been read yet.
    pub const fn new(spec: GaugeSpec) -> Self {
        Self {
            spec,
            last: None,
            interrupted: false,
            booked: Joules::ZERO,
            lo: Joules::ZERO,
            hi: Joules::ZERO,
            tally: GaugeTally { missing: 0, clock: 0, gap: Nanos(0) },
        }
    }

    /// Takes in the next reading; None when there was none. What can't be a power counts as none.
    pub fn push(&mut self, at: Nanos, power: Option<Watts>) -> Event {
        let Some(power) = power.filter(|power| self.believes(*power)) else {
            self.tally.missing += 1;
            return Event::Missing;
        };
        let Some((then, before)) = self.last else {
            self.last = Some((at, power));
            return Event::First;
        };
        if at <= then {
            self.tally.clock += 1;
            return Event::Clock;
        }
        self.last = Some((at, power));
        let span = at - then;
        if std::mem::take(&mut self.interrupted) || span > self.spec.max_gap {
            self.add_gap(span);
            return Event::Gap;
        }
        let energy = Watts::new(f64::midpoint(before.get(), power.get())) * span;
        self.booked = self.booked + energy;
        self.lo = self.lo + energy;
        self.hi = self.hi + energy;
        Event::Ok
    }

    /// Something happened since the last reading that power can't be drawn through, for instance that the host slept: the
    /// time up to the next reading is a gap.
    pub const fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// The sensor proved to renew its value less often than was declared.
    pub fn renewed_every(&mut self, update_period: Nanos) {
        self.spec = self.spec.read_every(update_period);
    }

    /// Ends the series at `at`. When nothing was read for longer than the longest gap, that span becomes a gap, and
    /// `true` is returned.
    pub fn close(&mut self, at: Nanos) -> bool {
        let Some((then, power)) = self.last.filter(|(then, _)| at - *then > self.spec.max_gap) else {
            return false;
        };
        self.add_gap(at - then);
        self.last = Some((at, power));
        true
    }

    /// Energy since the first reading: the best value, and its bounds without the sensor's edges.
    pub const fn booked(&self) -> (Joules, Joules, Joules) {
        (self.booked, self.lo, self.hi)
    }

    /// What happened so far.
    pub const fn tally(&self) -> GaugeTally {
        self.tally
    }

    fn believes(&self, power: Watts) -> bool {
        power.get() >= 0.0 && power.get() <= self.spec.cap.get()
    }

    fn add_gap(&mut self, span: Nanos) {
        self.tally.gap = self.tally.gap + span;
        self.hi = self.hi + self.spec.cap * span;
    }
}

#[cfg(test)]
#[path = "gauge_tests.rs"]
mod tests;
