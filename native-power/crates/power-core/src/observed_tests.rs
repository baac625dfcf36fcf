use super::{Observer, Pace, Unobserved};
use crate::{Kind, Missing, Nanos, Value, Watts};

const MS: i64 = 1_000_000;

/// Reads a number every `every` µs for `length` ms.
fn watch(kind: Kind, quantum: f64, (every, length): (i64, i64), number: impl Fn(i64) -> u64) -> Observer {
    let mut observer = Observer::new(kind, Some(quantum));
    for us in (0..=length * 1000).step_by(usize::try_from(every).unwrap_or(1)) {
        let number = number(us);
        let value = match kind {
            Kind::Counter => Value::Counter { raw: number, uj: number },
            _ => Value::Power { raw: None, power: Watts::from_micros(number) },
        };
        observer.see(Pace::Scheduled, Nanos(us * 1000), &value);
    }
    observer
}

/// A counter of so many watts, renewed every `period` µs, in steps of `step` µJ.
fn counter(watts: u64, period: i64, step: u64) -> impl Fn(i64) -> u64 {
    move |us| watts * u64::try_from(us / period * period).unwrap_or(0) / step * step
}

/// A power that is renewed every `period` µs, in whole watts; every `of`-th renewal changes it.
fn power(period: i64, of: i64) -> impl Fn(i64) -> u64 {
    move |us| 100_000_000 + 1_000_000 * u64::try_from((us / period / of * 7) % 5).unwrap_or(0)
}

#[test]
fn a_period_is_told_where_readings_are_closer_than_renewals() {
    #[rustfmt::skip]
    let cases: Vec<(&str, Observer, Result<i64, Unobserved>)> = vec![
        ("100 ms, read every ms",              watch(Kind::Counter, 0.001, (1_000, 350), counter(100, 100_000, 1000)),    Ok(100)),
        ("longer than declared by far",        watch(Kind::Counter, 0.001, (100_000, 30_000), counter(100, 2_200_000, 1000)), Ok(2200)),
        ("renewed with every reading",         watch(Kind::Counter, 0.001, (100_000, 9_000), counter(100, 100_000, 1000)), Err(Unobserved::FasterThanRead)),
        ("renewed much faster",                watch(Kind::Counter, 0.0, (100_000, 9_000), counter(100, 1_000, 61)),      Err(Unobserved::FasterThanRead)),
        ("waits for a whole joule",            watch(Kind::Counter, 1.0, (1_000, 9_000), counter(5, 1_000, 1_000_000)),    Err(Unobserved::CoarseCounter)),
        ("whole joules, but many at a time",   watch(Kind::Counter, 1.0, (10_000, 9_000), counter(50, 500_000, 1_000_000)), Ok(500)),
        ("stands still",                       watch(Kind::Counter, 0.001, (1_000, 350), |_| 7),                          Err(Unobserved::NotChanged)),
        ("changes once",                       watch(Kind::Counter, 0.001, (1_000, 150), counter(100, 100_000, 1000)),    Err(Unobserved::TooFewChanges)),
        ("a power, changing each time",        watch(Kind::Gauge, 1.0, (5_000, 2_000), power(100_000, 1)),                Ok(100)),
    ];
    for (why, observer, expected) in cases {
        assert_eq!(observer.outcome().update_period, expected.map(|ms| Nanos(ms * MS)), "{why}");
    }
}

#[test]
fn the_shorter_waits_of_a_power_count_for_it_may_be_renewed_without_a_change() {
    let steady = |us: i64| if us < 500_000 { power(100_000, 1)(us) } else { power(100_000, 9)(us) };
    let observer = watch(Kind::Gauge, 1.0, (5_000, 1_200), steady);
    assert_eq!(observer.outcome().update_period, Ok(Nanos(100 * MS)));
}

#[test]
fn the_step_is_what_all_changes_have_in_common() {
    #[rustfmt::skip]
    let cases: Vec<(&str, Observer, Option<f64>)> = vec![
        ("millijoules",            watch(Kind::Counter, 0.001, (100_000, 2_000), |us| u64::try_from(us / 1000 * (us / 1000 % 7 + 90)).unwrap_or(0) * 1000), Some(0.1)),
        ("whole watts",            watch(Kind::Gauge, 0.001, (5_000, 2_000), power(100_000, 1)),              Some(1.0)),
        ("too few changes",        watch(Kind::Gauge, 0.001, (5_000, 600), power(100_000, 1)),                None),
        ("no change",              watch(Kind::Gauge, 0.001, (5_000, 2_000), |_| 5),                          None),
    ];
    for (why, observer, expected) in cases {
        let quantum = observer.outcome().quantum;
        if why == "millijoules" {
            let micros = quantum.map(|q| (q * 1e6).round());
            assert!(micros.is_some_and(|q| q >= 1000.0 && q % 1000.0 == 0.0), "{why}: {quantum:?}");
        } else {
            assert_eq!(quantum, expected, "{why}");
        }
    }
}

#[test]
fn a_hole_is_no_wait_and_an_estimate_no_sensor() {
    let mut observer = Observer::new(Kind::Counter, Some(0.001));
    let count = |ms: i64| {
        let uj = u64::try_from(ms / 100 * 10_000).unwrap_or(0);
        Value::Counter { raw: uj, uj }
    };
    for ms in 0..1000 {
        let value = if (250..850).contains(&ms) { Value::Missing(Missing::Io) } else { count(ms) };
        observer.see(Pace::Scheduled, Nanos(ms * MS), &value);
    }
    assert_eq!(observer.outcome().samples, 400);
    assert_eq!(observer.outcome().update_period, Err(Unobserved::TooFewChanges), "600 ms was no period");
    let estimate = Observer::new(Kind::Estimate, None);
    assert_eq!(estimate.outcome().update_period, Err(Unobserved::NotSensed));
    assert!(estimate.probed());
}

#[test]
fn the_burst_at_the_start_is_told_apart_from_what_follows() {
    let mut observer = Observer::new(Kind::Counter, Some(0.001));
    let count = counter(100, 20_000, 1000);
    let see = |observer: &mut Observer, pace, us: i64| {
        let uj = count(us);
        observer.see(pace, Nanos(us * 1000), &Value::Counter { raw: uj, uj })
    };
    for us in (0..200_000).step_by(1000) {
        see(&mut observer, Pace::Probe, us);
    }
    assert!(observer.probed());
    for us in (0..9_000_000).step_by(100_000) {
        see(&mut observer, Pace::Scheduled, us);
    }
    assert_eq!(observer.outcome().update_period, Ok(Nanos(20 * MS)));
}
