use crate::{Event, Joules, Nanos, Watts};

/// A power that is only known to lie between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Not less than this.
    pub lo: Watts,
    /// The stated value.
    pub point: Watts,
    /// Not more than this.
    pub hi: Watts,
}

/// What one reading says of the time since the last one that was settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Since {
    /// Its mean power: books the span for good.
    Settled(Band),
    /// The span is too short to tell: a value held from before, until the next settled one replaces it.
    Held(Band),
    /// Nothing: the span becomes a gap in which up to this much may have been drawn.
    Unknown(Watts),
}

/// Energy of a series of mean powers, each over the span since the one before it.
#[derive(Clone, Debug, Default)]
pub struct MeanPower {
    last: Option<Nanos>,
    settled: Totals,
    shown: Totals,
    gap: Nanos,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    at: Nanos,
    point: Joules,
    lo: Joules,
    hi: Joules,
}

impl MeanPower {
    /// Takes in the next reading. The first sets the start and books nothing.
    pub fn push(&mut self, at: Nanos, since: Since) -> Event {
        let Some(last) = self.last else {
            self.last = Some(at);
            self.settled.at = at;
            return Event::First;
        };
        if at <= last {
            return Event::Clock;
        }
        self.last = Some(at);
        match since {
            Since::Settled(band) => {
                self.settled = self.settled.after(at, band);
                self.show(self.settled);
                Event::Ok
            }
            Since::Held(band) => {
                self.show(self.settled.after(at, band));
                Event::Ok
            }
            Since::Unknown(cap) => {
                self.gap = self.gap + (at - self.settled.at);
                let none = Watts::new(0.0);
                self.settled = self.settled.after(at, Band { lo: none, point: none, hi: cap });
                self.show(self.settled);
                Event::Gap
            }
        }
    }

    /// Energy since the first reading, and its bounds. None of them ever falls.
    pub const fn booked(&self) -> (Joules, Joules, Joules) {
        (self.shown.point, self.shown.lo, self.shown.hi)
    }

    /// Time that nothing is known about.
    pub const fn gap(&self) -> Nanos {
        self.gap
    }

    /// A held value may have been too high; then the sum stands still until the settled one catches up.
    fn show(&mut self, totals: Totals) {
        self.shown = Totals {
            at: totals.at,
            point: self.shown.point.max(totals.point),
            lo: self.shown.lo.max(totals.lo),
            hi: self.shown.hi.max(totals.hi),
        };
    }
}

impl Totals {
    fn after(self, at: Nanos, band: Band) -> Self {
        let span = at - self.at;
        Self {
            at,
            point: self.point + band.point * span,
            lo: self.lo + band.lo * span,
            hi: self.hi + band.hi * span,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Band, MeanPower, Since};
    use crate::{Event, Joules, Nanos, Watts};

    fn band(lo: f64, point: f64, hi: f64) -> Band {
        Band { lo: Watts::new(lo), point: Watts::new(point), hi: Watts::new(hi) }
    }

    type Row<'a> = (&'a str, &'a [(i64, Since)], [f64; 3], Event);

    #[test]
    fn books_each_span_once() {
        use Since::{Held, Settled, Unknown};
        let busy = band(5.0, 10.0, 20.0);
        let idle = band(1.0, 2.0, 4.0);
        #[rustfmt::skip]
        let cases: &[Row] = &[
            ("the first reading only sets the start",    &[(0, Settled(busy))],                                          [0.0, 0.0, 0.0],   Event::First),
            ("mean power times its span",                &[(0, Settled(busy)), (2000, Settled(busy))],                   [20.0, 10.0, 40.0], Event::Ok),
            ("falling power counts like rising power",   &[(0, Settled(busy)), (1000, Settled(busy)), (2000, Settled(idle))], [12.0, 6.0, 24.0], Event::Ok),
            ("a held value books until it is replaced",  &[(0, Settled(busy)), (1000, Held(busy))],                      [10.0, 5.0, 20.0], Event::Ok),
            ("the settled value covers the held span",   &[(0, Settled(busy)), (500, Held(idle)), (1000, Settled(busy))], [10.0, 5.0, 20.0], Event::Ok),
            ("too much was held: the sum stands still",  &[(0, Settled(idle)), (1000, Held(busy)), (2000, Settled(idle))], [10.0, 5.0, 20.0], Event::Ok),
            ("and the settled value catches up",         &[(0, Settled(idle)), (1000, Held(busy)), (2000, Settled(idle)), (9000, Settled(idle))], [18.0, 9.0, 36.0], Event::Ok),
            ("an unknown span only raises the upper bound", &[(0, Settled(busy)), (1000, Unknown(Watts::new(30.0)))],    [0.0, 0.0, 30.0],  Event::Gap),
            ("a stamp that doesn't advance is ignored",  &[(1000, Settled(busy)), (1000, Settled(busy))],                [0.0, 0.0, 0.0],   Event::Clock),
        ];
        for (why, readings, expected, last) in cases {
            let mut sum = MeanPower::default();
            let events: Vec<_> =
                readings.iter().map(|&(ms, since)| sum.push(Nanos::from_millis(ms), since)).collect();
            let [point, lo, hi] = expected.map(Joules::new);
            assert_eq!(sum.booked(), (point, lo, hi), "{why}");
            assert_eq!(events.last(), Some(last), "{why}");
        }
    }
}
