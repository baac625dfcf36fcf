//! What readings show of a sensor itself: how often it renews its value, and in what steps.
//!
//! A renewal is seen as a change between two readings, so that its period can be told only where readings are closer
//! together than renewals. A counter that grows by few of its own steps a change waits for a step, not for a renewal, and
//! says nothing of its period. A power may be renewed without a change; the shorter of its waits count.

use crate::{Kind, Nanos, Value};

/// Waits between changes that are kept, and those that are needed to tell a period.
const MOST_WAITS: usize = 64;
const FEWEST_WAITS: usize = 2;

/// Readings on schedule after which a sensor that hasn't shown its period won't any more.
const MOST_READINGS: u64 = 1 << 16;

/// Changes after which what they have in common is no coincidence.
const FEWEST_STEPS: u32 = 8;

/// A counter's growth, in its own steps, that no longer depends on where in a step it was.
const FINE_STEPS: u64 = 3;

/// What readings showed of one domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// How often the sensor renewed its value, or why that can't be told.
    pub update_period: Result<Nanos, Unobserved>,
    /// The greatest step that every change was a multiple of, in joules (counters) or watts (gauges).
    pub quantum: Option<f64>,
    /// Readings behind it.
    pub samples: u64,
}

/// Why the period of a sensor can't be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unobserved {
    /// Its value never changed.
    NotChanged,
    /// Its value changed too seldom.
    TooFewChanges,
    /// Its value changed with nearly every reading.
    FasterThanRead,
    /// Its counter grew by few of its steps at a time.
    CoarseCounter,
    /// It is no sensor.
    NotSensed,
}

impl Unobserved {
    /// Its name in files and in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotChanged => "not_changed",
            Self::TooFewChanges => "too_few_changes",
            Self::FasterThanRead => "faster_than_read",
            Self::CoarseCounter => "coarse_counter",
            Self::NotSensed => "not_sensed",
        }
    }
}

/// Whether a reading belongs to the fast ones at the start, or to those on schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One of a burst, much closer together than the sensor's declared period.
    Probe,
    /// One on schedule.
    Scheduled,
}

/// Watches one domain.
#[derive(Debug)]
pub struct Observer {
    kind: Kind,
    quantum: u64,
    probe: Waits,
    scheduled: Waits,
    step: u64,
    steps: u32,
    samples: u64,
}

impl Observer {
    /// Of a domain of this kind with this declared smallest step (J or W).
    pub fn new(kind: Kind, quantum: Option<f64>) -> Self {
        Self {
            kind,
            quantum: micros(quantum.unwrap_or(0.0)),
            probe: Waits::default(),
            scheduled: Waits::default(),
            step: 0,
            steps: 0,
            samples: 0,
        }
    }

    /// Takes in one reading; says whether it taught something of the period.
    pub fn see(&mut self, pace: Pace, at: Nanos, value: &Value) -> bool {
        let number = match value {
            Value::Counter { uj, .. } => Some(*uj),
            Value::Power { power, .. } => Some(micros(power.get())),
            Value::MeanPower { .. } | Value::Missing(_) => None,
        };
        let waits = match pace {
            Pace::Probe => &mut self.probe,
            Pace::Scheduled => &mut self.scheduled,
        };
        let Some(number) = number else {
            waits.forget();
            return false;
        };
        self.samples += 1;
        let known = waits.all.len();
        if let Some(change) = waits.see(at, number) {
            self.step = gcd(self.step, change);
            self.steps = self.steps.saturating_add(1);
        }
        waits.all.len() > known
    }

    /// Whether the burst at the start has shown enough.
    pub const fn probed(&self) -> bool {
        matches!(self.kind, Kind::Estimate) || self.probe.all.len() >= FEWEST_STEPS as usize
    }

    /// Whether readings on schedule have shown what they can.
    pub const fn settled(&self) -> bool {
        matches!(self.kind, Kind::Estimate)
            || self.scheduled.all.len() >= MOST_WAITS
            || self.samples >= MOST_READINGS
    }

    /// What was seen so far. The burst at the start tells shorter periods than readings on schedule do.
    pub fn outcome(&self) -> Observed {
        let quantum = (self.steps >= FEWEST_STEPS && self.step > 0).then(|| units(self.step));
        let update_period = if self.kind == Kind::Estimate {
            Err(Unobserved::NotSensed)
        } else {
            self.period(&self.probe).or_else(|_| self.period(&self.scheduled))
        };
        Observed { update_period, quantum, samples: self.samples }
    }

    fn period(&self, waits: &Waits) -> Result<Nanos, Unobserved> {
        if waits.changes == 0 {
            return Err(Unobserved::NotChanged);
        }
        if waits.all.len() < FEWEST_WAITS {
            return Err(Unobserved::TooFewChanges);
        }
        if waits.same < waits.changes {
            return Err(Unobserved::FasterThanRead);
        }
        let least =
            if self.kind == Kind::Counter { self.quantum.max(1).saturating_mul(FINE_STEPS) } else { 0 };
        let mut fine: Vec<_> =
            waits.all.iter().filter(|wait| wait.change >= least).map(|wait| wait.span).collect();
        if fine.len() < FEWEST_WAITS {
            return Err(Unobserved::CoarseCounter);
        }
        fine.sort_unstable();
        let part = if self.kind == Kind::Counter { 2 } else { 4 };
        Ok(fine[(fine.len() - 1) / part])
    }
}

/// Times between changes.
#[derive(Debug, Default)]
struct Waits {
    last: Option<(Nanos, u64)>,
    changed_at: Option<Nanos>,
    all: Vec<Wait>,
    changes: u64,
    same: u64,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    span: Nanos,
    change: u64,
}

impl Waits {
    /// By how much the number changed, where it did.
    fn see(&mut self, at: Nanos, number: u64) -> Option<u64> {
        let (then, before) = *self.last.get_or_insert((at, number));
        if at <= then || self.all.len() >= MOST_WAITS {
            return None;
        }
        self.last = Some((at, number));
        if number == before {
            self.same += 1;
            return None;
        }
        self.changes += 1;
        let change = number.abs_diff(before);
        if let Some(changed_at) = self.changed_at.replace(at) {
            self.all.push(Wait { span: at - changed_at, change });
        }
        Some(change)
    }

    fn forget(&mut self) {
        self.last = None;
        self.changed_at = None;
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates; what isn't a number is 0"
)]
fn micros(units: f64) -> u64 {
    (units * 1e6).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
const fn units(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
#[path = "observed_tests.rs"]
mod tests;
