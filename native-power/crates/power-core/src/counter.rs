//! A hardware energy counter as a plain value: raw numbers in, booked microjoules out.
//!
//! Two numbers must agree before a fall is believed, so that one rule covers driver reloads, zero blips, one-off jumps and
//! failed reads. A reset that happens within one step's plausible energy of the counter's highest value can't be told
//! from a wrap; the error is then at most what the domain could have drawn in that step.

use crate::{Event, Joules, Nanos};

/// What must be known of a counter to book it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSpec {
    /// Highest value shown, µJ. None when it can't be read, or when the counter is a true 64-bit one: then it never wraps.
    pub max_uj: Option<u64>,
    /// More than any such domain can draw, µW: what exceeds it is not believed.
    pub cap_uw: u64,
    /// How often the hardware renews its value.
    pub update_period: Nanos,
}

impl CounterSpec {
    /// One count in µJ, for a counter of 32 bits. None without a highest value.
    pub fn lsb_uj(&self) -> Option<u64> {
        const COUNTS: u64 = u32::MAX as u64;
        self.max_uj.map(|max| (max.saturating_add(COUNTS / 2) / COUNTS).max(1))
    }

    /// What one lap adds, µJ.
    fn modulus(&self) -> Option<u64> {
        self.max_uj.zip(self.lsb_uj()).map(|(max, lsb)| max.saturating_add(lsb))
    }

    /// The most that can have been drawn in `span`, µJ.
    fn limit_uj(&self, span: Nanos) -> u64 {
        self.energy_at_cap_uj(span + self.update_period)
    }

    /// Nothing that draws power stands still for longer.
    fn longest_standstill(&self) -> Nanos {
        Nanos(self.update_period.0.saturating_mul(50)).max(Nanos::from_millis(5000))
    }

    fn energy_at_cap_uj(&self, span: Nanos) -> u64 {
        let nanos = u64::try_from(span.0).unwrap_or(0);
        self.cap_uw.checked_mul(nanos).map_or_else(
            || u64::try_from(u128::from(self.cap_uw) * u128::from(nanos) / 1_000_000_000).unwrap_or(u64::MAX),
            |product| product / 1_000_000_000,
        )
    }
}

/// What a counter has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Laps that were seen and booked.
    pub wraps: u64,
    /// Confirmed restarts.
    pub resets: u64,
    /// One-off numbers that were dropped.
    pub glitches: u64,
    /// Readings without a number.
    pub missing: u64,
    /// Numbers above the highest value.
    pub out_of_range: u64,
    /// Stamps that didn't advance.
    pub clock: u64,
    /// Steps in which laps may have gone unseen.
    pub aliases: u64,
    /// Time that nothing is known about.
    pub gap: Nanos,
    /// Whether it ever stood still for so long that it can't have been counting.
    pub stale: bool,
}

/// Books one counter. See the module's text for the rules.
#[derive(Clone, Debug)]
pub struct Counter {
    spec: CounterSpec,
    modulus: Option<u64>,
    base: Option<Point>,
    suspect: Option<Point>,
    interrupted: bool,
    grew_at: Nanos,
    booked_uj: u64,
    lo_uj: u64,
    hi_uj: u64,
    tally: Tally,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    at: Nanos,
    uj: u64,
}

/// A step that is possible: its energy and, if laps may hide in it, the most that it can have been.
struct Step {
    uj: u64,
    most_uj: u64,
    event: Event,
}

impl Counter {
    /// A counter that has not been read yet.
    pub fn new(spec: CounterSpec) -> Self {
        Self {
            spec,
            modulus: spec.modulus(),
            base: None,
            suspect: None,
            interrupted: false,
            grew_at: Nanos(0),
            booked_uj: 0,
            lo_uj: 0,
            hi_uj: 0,
            tally: Tally::default(),
        }
    }

    /// Takes in the next reading, µJ; None when there was none.
    pub fn push(&mut self, at: Nanos, uj: Option<u64>) -> Event {
        let Some(uj) = uj else {
            self.tally.missing += 1;
            return Event::Missing;
        };
        if self.spec.max_uj.is_some_and(|max| uj > max) {
            self.tally.out_of_range += 1;
            return Event::OutOfRange;
        }
        let point = Point { at, uj };
        let Some(base) = self.base else {
            self.base = Some(point);
            self.grew_at = at;
            return Event::First;
        };
        if at <= self.suspect.unwrap_or(base).at {
            self.tally.clock += 1;
            return Event::Clock;
        }
        if std::mem::take(&mut self.interrupted) {
            return self.start_anew(base, point);
        }
        if let Some(step) = self.step(base, point) {
            return self.accept(point, &step);
        }
        if let Some(suspect) = self.suspect
            && let Some(step) = self.step(suspect, point)
        {
            self.add_gap(suspect.at - base.at);
            self.book(point, &step);
            self.tally.resets += 1;
            return Event::Reset;
        }
        self.suspect = Some(point);
        Event::Suspect
    }

    /// Something happened since the last reading that the numbers can't be trusted across, for instance that the host
    /// slept: up to the next number, nothing is booked.
    pub const fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// The sensor proved to renew its value less often than was declared.
    pub fn renewed_every(&mut self, update_period: Nanos) {
        self.spec.update_period = self.spec.update_period.max(update_period);
    }

    /// Ends the series. A number still in doubt becomes a gap, and `true` is returned.
    pub fn close(&mut self) -> bool {
        let Some((base, suspect)) = self.base.zip(self.suspect.take()) else { return false };
        self.add_gap(suspect.at - base.at);
        true
    }

    /// Energy since the first reading: the best value, and its bounds without the sensor's edges.
    pub const fn booked(&self) -> (Joules, Joules, Joules) {
        (
            Joules::from_micros(self.booked_uj),
            Joules::from_micros(self.lo_uj),
            Joules::from_micros(self.hi_uj),
        )
    }

    /// What happened so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    fn start_anew(&mut self, base: Point, point: Point) -> Event {
        self.add_gap(point.at - base.at);
        self.base = Some(point);
        self.suspect = None;
        self.grew_at = point.at;
        Event::Gap
    }

    fn accept(&mut self, point: Point, step: &Step) -> Event {
        let refuted = self.suspect.is_some();
        self.tally.glitches += u64::from(refuted);
        self.book(point, step);
        if refuted && step.event != Event::Alias { Event::Glitch } else { step.event }
    }

    fn book(&mut self, point: Point, step: &Step) {
        match step.event {
            Event::Wrap => self.tally.wraps += 1,
            Event::Alias => self.tally.aliases += 1,
            _ => {}
        }
        if step.uj > 0 {
            self.grew_at = point.at;
        }
        self.tally.stale |= point.at - self.grew_at >= self.spec.longest_standstill();
        self.booked_uj = self.booked_uj.saturating_add(step.uj);
        self.lo_uj = self.lo_uj.saturating_add(step.uj);
        self.hi_uj = self.hi_uj.saturating_add(step.most_uj);
        self.base = Some(point);
        self.suspect = None;
    }

    fn add_gap(&mut self, span: Nanos) {
        self.tally.gap = self.tally.gap + span;
        self.hi_uj = self.hi_uj.saturating_add(self.spec.energy_at_cap_uj(span));
    }

    fn step(&self, from: Point, to: Point) -> Option<Step> {
        let limit = self.spec.limit_uj(to.at - from.at);
        let fell = to.uj < from.uj;
        let uj = if fell { self.modulus? - from.uj + to.uj } else { to.uj - from.uj };
        if uj > limit {
            return None;
        }
        if let Some(modulus) = self.modulus
            && limit >= modulus
        {
            let unseen = (limit - uj) / modulus;
            return Some(Step { uj, most_uj: uj + unseen * modulus, event: Event::Alias });
        }
        let event = match (fell, uj) {
            (true, _) => Event::Wrap,
            (false, 0) => Event::Same,
            (false, _) => Event::Ok,
        };
        Some(Step { uj, most_uj: uj, event })
    }
}

#[cfg(test)]
#[path = "counter_tests.rs"]
mod tests;
