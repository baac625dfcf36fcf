//! A counter beside the power of its own device, integrated: two ways to tell one energy. Neither is declared right.

use std::ops::RangeInclusive;

use crate::{Domain, Kind, Ledger, Nanos};

/// What the integral may be of the counter.
const AGREE: RangeInclusive<f64> = 0.9..=1.1;

/// Below it the sensors' own steps at both ends weigh too much.
const LEAST_SPAN: Nanos = Nanos::from_millis(5_000);

/// Ids of counters that disagree with the power beside them, over all that was recorded without a gap.
pub fn disagreeing(domains: &[Domain], ledgers: &[Ledger]) -> Vec<String> {
    let disagrees = |(index, domain): &(usize, &Domain)| {
        let beside = power_beside(domains, &domain.id).filter(|_| domain.kind == Kind::Counter);
        let both = ledgers.get(*index).zip(beside.and_then(|beside| ledgers.get(beside)));
        both.is_some_and(|(counter, gauge)| disagree(counter, gauge))
    };
    domains.iter().enumerate().filter(disagrees).map(|(_, domain)| domain.id.clone()).collect()
}

/// Index of the power of the device whose counter has this id: `…:energy` and `…:power`.
pub fn power_beside(domains: &[Domain], counter: &str) -> Option<usize> {
    let id = format!("{}:power", counter.strip_suffix(":energy")?);
    domains.iter().position(|domain| domain.id == id && domain.kind == Kind::Gauge)
}

fn disagree(counter: &Ledger, gauge: &Ledger) -> bool {
    let Some((meter, integral)) = counter.certain().zip(gauge.certain()) else { return false };
    let span = meter.last - meter.first;
    let apart = (meter.first - integral.first).0.abs() + (meter.last - integral.last).0.abs();
    if span < LEAST_SPAN || apart > span.0 / 50 {
        return false;
    }
    let (drawn, integrated) = (meter.energy.get(), integral.energy.get());
    if drawn > 0.0 { !AGREE.contains(&(integrated / drawn)) } else { integrated > 0.0 }
}

#[cfg(test)]
mod tests {
    use super::disagreeing;
    use crate::{
        Booking, CounterSpec, Domain, GaugeSpec, Kind, Ledger, Missing, Nanos, Provenance, Reading, Scope,
        Value, Watts,
    };

    fn domain(id: &str, kind: Kind) -> Domain {
        Domain {
            id: id.to_owned(),
            scope: Scope::Gpu,
            kind,
            provenance: Provenance::Counter,
            in_total: kind == Kind::Counter,
            update_period: Nanos::from_millis(100),
            quantum: None,
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: "mJ",
            note: None,
        }
    }

    /// A counter that grows by so many W beside a gauge that shows so many, read every 0.1 s; None: that reading is missing.
    fn recorded(tenths: i64, counter_w: impl Fn(i64) -> Option<u64>, gauge_w: f64) -> Vec<Ledger> {
        let update_period = Nanos::from_millis(100);
        let spec = CounterSpec { max_uj: None, cap_uw: 1_000_000_000, update_period };
        let gauge = GaugeSpec::new(update_period, Watts::new(1000.0));
        let mut ledgers = vec![Ledger::new(Booking::Counter(spec)), Ledger::new(Booking::Gauge(gauge))];
        let mut uj = 1_000_000;
        for tenth in 0..=tenths {
            let at = Nanos::from_millis(tenth * 100);
            let counted = counter_w(tenth).map(|watts| {
                uj += watts * 100_000;
                Value::Counter { raw: uj, uj }
            });
            let values = [
                counted.unwrap_or(Value::Missing(Missing::Io)),
                Value::Power { raw: None, power: Watts::new(gauge_w) },
            ];
            for (domain, value) in (0..).zip(values) {
                ledgers[usize::from(domain)].enter(&Reading { domain, before: at, after: at, value });
            }
        }
        ledgers
    }

    #[test]
    fn a_counter_and_its_power_are_compared_over_what_both_saw() {
        let ids = ["gpu:energy", "gpu:power"];
        #[rustfmt::skip]
        let cases: &[(&str, [&str; 2], Vec<Ledger>, bool)] = &[
            ("they agree",                             ids,                       recorded(100, |_| Some(100), 100.0),                     false),
            ("just within a tenth",                    ids,                       recorded(100, |_| Some(100), 109.9),                     false),
            ("just beyond",                            ids,                       recorded(100, |_| Some(100), 110.1),                     true),
            ("187 J beside 327 J",                     ids,                       recorded(1000, |_| Some(187), 327.0),                    true),
            ("too short to tell",                      ids,                       recorded(49, |_| Some(187), 327.0),                      false),
            ("a counter that stands still",            ids,                       recorded(100, |_| Some(0), 100.0),                       true),
            ("nothing is drawn",                       ids,                       recorded(100, |_| Some(0), 0.0),                         false),
            ("of two devices",                         ["a:energy", "b:power"],   recorded(100, |_| Some(100), 300.0),                     false),
            ("a counter that came late",               ids,                       recorded(100, |t| (t > 20).then_some(100), 300.0),       false),
            ("a counter with a hole that it bridges",  ids,                       recorded(100, |t| Some(if t == 51 { 200 } else { 100 }).filter(|_| t != 50), 100.0), false),
        ];
        for (why, [energy, power], ledgers, expected) in cases {
            let domains = [domain(energy, Kind::Counter), domain(power, Kind::Gauge)];
            let found = disagreeing(&domains, ledgers);
            assert_eq!(found, if *expected { vec![(*energy).to_owned()] } else { Vec::new() }, "{why}");
        }
    }
}
