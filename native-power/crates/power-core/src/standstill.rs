//! Counters that stand still while the power beside them says that they must have grown.

use crate::{Domain, Joules, Kind, Ledger, Nanos, cross_check::power_beside};

/// A standstill is no matter before this much time, or so many renewals, have passed.
const LEAST_SPAN: Nanos = Nanos::from_millis(1_000);
const LEAST_PERIODS: i64 = 10;

/// Steps that the counter must have missed.
const LEAST_STEPS: f64 = 10.0;

/// A step of a counter that declares none, J.
const DEFAULT_STEP: f64 = 0.001;

/// Watches the counters of one source that have their power beside them.
#[derive(Debug)]
pub struct Standstills(Vec<Pair>);

#[derive(Debug)]
struct Pair {
    counter: usize,
    gauge: usize,
    longest: Nanos,
    missed_j: f64,
    since: Option<Mark>,
    stale: bool,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Nanos,
    counted: Joules,
    integrated: Joules,
}

impl Standstills {
    /// Pairs each counter with the power of its own device.
    pub fn of(domains: &[Domain]) -> Self {
        let counters = domains.iter().enumerate().filter(|(_, domain)| domain.kind == Kind::Counter);
        let pair = |(counter, domain): (usize, &Domain)| {
            Some(Pair {
                counter,
                gauge: power_beside(domains, &domain.id)?,
                longest: LEAST_SPAN.max(Nanos(domain.update_period.0.saturating_mul(LEAST_PERIODS))),
                missed_j: domain.quantum.unwrap_or(DEFAULT_STEP) * LEAST_STEPS,
                since: None,
                stale: false,
            })
        };
        Self(counters.filter_map(pair).collect())
    }

    /// Looks at the books after a reading of every domain.
    pub fn see(&mut self, at: Nanos, ledgers: &[Ledger]) {
        for pair in &mut self.0 {
            let booked = |index: usize| ledgers.get(index).map(|ledger| ledger.booked().0);
            if let (Some(counted), Some(integrated)) = (booked(pair.counter), booked(pair.gauge)) {
                pair.see(Mark { at, counted, integrated });
            }
        }
    }

    /// The sensor of a domain proved to renew its value less often than was declared.
    pub fn renewed_every(&mut self, domain: usize, update_period: Nanos) {
        for pair in self.0.iter_mut().filter(|pair| pair.counter == domain) {
            pair.longest = pair.longest.max(Nanos(update_period.0.saturating_mul(LEAST_PERIODS)));
        }
    }

    /// Whether the domain is a counter that ever stood still beside its power.
    pub fn stale(&self, domain: usize) -> bool {
        self.0.iter().any(|pair| pair.counter == domain && pair.stale)
    }
}

impl Pair {
    fn see(&mut self, now: Mark) {
        let since = *self.since.get_or_insert(now);
        if now.counted > since.counted {
            self.since = Some(now);
        } else if now.at - since.at >= self.longest {
            self.stale |= now.integrated.get() - since.integrated.get() >= self.missed_j;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Standstills;
    use crate::{
        Booking, CounterSpec, Domain, GaugeSpec, Kind, Ledger, Nanos, Provenance, Reading, Scope, Value,
        Watts,
    };

    const UPDATE_PERIOD: Nanos = Nanos::from_millis(100);

    fn domain(id: &str, kind: Kind) -> Domain {
        Domain {
            id: id.to_owned(),
            scope: Scope::Gpu,
            kind,
            provenance: Provenance::Counter,
            in_total: kind == Kind::Counter,
            update_period: UPDATE_PERIOD,
            quantum: Some(0.001),
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: "mJ",
            note: None,
        }
    }

    /// A counter whose growth by tenth of a second is told, beside a power; whether it is stale after so many tenths.
    fn stale(ids: [&str; 2], tenths: i64, grows: impl Fn(i64) -> bool, watts: f64) -> bool {
        let domains = [domain(ids[0], Kind::Counter), domain(ids[1], Kind::Gauge)];
        let spec = CounterSpec { max_uj: None, cap_uw: 1_000_000_000, update_period: UPDATE_PERIOD };
        let gauge = GaugeSpec::new(UPDATE_PERIOD, Watts::new(1000.0));
        let mut ledgers = [Ledger::new(Booking::Counter(spec)), Ledger::new(Booking::Gauge(gauge))];
        let mut standstills = Standstills::of(&domains);
        let mut uj = 5_000_000;
        for tenth in 0..=tenths {
            uj += if grows(tenth) { 10_000_000 } else { 0 };
            let at = Nanos::from_millis(tenth * 100);
            let values =
                [Value::Counter { raw: uj, uj }, Value::Power { raw: None, power: Watts::new(watts) }];
            for (domain, value) in (0..).zip(values) {
                ledgers[usize::from(domain)].enter(&Reading { domain, before: at, after: at, value });
            }
            standstills.see(at, &ledgers);
        }
        standstills.stale(0)
    }

    #[test]
    fn a_counter_is_stale_when_its_power_says_that_it_must_have_grown() {
        let ids = ["gpu:energy", "gpu:power"];
        #[rustfmt::skip]
        let cases: &[(&str, bool, bool)] = &[
            ("it grows",                                stale(ids, 100, |_| true, 100.0),                   false),
            ("a second of standstill at 100 W",         stale(ids, 10, |_| false, 100.0),                   true),
            ("a little less than a second",             stale(ids, 9, |_| false, 100.0),                    false),
            ("nothing is drawn",                        stale(ids, 100, |_| false, 0.0),                    false),
            ("less than ten of its steps are missed",   stale(ids, 10, |_| false, 0.009),                   false),
            ("it stood still once, in the middle",      stale(ids, 100, |t| !(20..40).contains(&t), 100.0), true),
            ("short standstills, again and again",      stale(ids, 100, |t| t % 8 == 0, 100.0),             false),
            ("the power of another device",             stale(["a:energy", "b:power"], 100, |_| false, 100.0), false),
        ];
        for (why, found, expected) in cases {
            assert_eq!(found, expected, "{why}");
        }
    }
}
