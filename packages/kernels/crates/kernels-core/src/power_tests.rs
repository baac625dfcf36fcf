use std::collections::VecDeque;

use power_core::{Clock, CounterSpec, GaugeSpec, Kind, Nanos, PowerError, Provenance, Scope};

use super::*;

const MAX_UJ: u64 = 65_532_610_987;

/// Two packages and a sensor of the board, scripted in µJ; None is a failed read.
struct Script {
    domains: Vec<(Domain, Booking)>,
    steps: VecDeque<[Option<u64>; 2]>,
    /// Time from one reading to the next; None for that of the clock.
    pace: Option<Nanos>,
    now: Nanos,
}

fn domain(id: &str, scope: Scope, kind: Kind) -> Domain {
    Domain {
        id: id.to_owned(),
        scope,
        kind,
        provenance: Provenance::Counter,
        in_total: true,
        update_period: Nanos::from_millis(1),
        quantum: None,
        scale_error_ratio: (id == "package-0").then_some(0.02),
        sensing_share: None,
        raw_unit: "uJ",
        note: None,
    }
}

fn script(steps: &[[Option<u64>; 2]]) -> Box<dyn PowerSource> {
    scripted(steps, u64::MAX / 1_000_000_000, None)
}

/// Read every 4 ms, of domains that draw 500 W at most.
fn paced(steps: &[[Option<u64>; 2]]) -> Box<dyn PowerSource> {
    scripted(steps, 500_000_000, Some(Nanos::from_millis(4)))
}

fn scripted(steps: &[[Option<u64>; 2]], cap_uw: u64, pace: Option<Nanos>) -> Box<dyn PowerSource> {
    let counter =
        Booking::Counter(CounterSpec { max_uj: Some(MAX_UJ), cap_uw, update_period: Nanos::from_millis(1) });
    Box::new(Script {
        domains: vec![
            (domain("package-0", Scope::Package, Kind::Counter), counter),
            (domain("package-1", Scope::Package, Kind::Counter), counter),
            (
                domain("board", Scope::System, Kind::Gauge),
                Booking::Gauge(GaugeSpec::new(Nanos(1), power_core::Watts::new(9e9))),
            ),
            (domain("dram", Scope::Dram, Kind::Counter), counter),
        ],
        steps: steps.iter().copied().collect(),
        pace,
        now: Nanos(0),
    })
}

impl PowerSource for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn provenance(&self) -> Provenance {
        Provenance::Counter
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.domains
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        self.now = self.pace.map_or_else(|| clock.now(), |pace| self.now + pace);
        let now = self.now;
        let values = self.steps.pop_front().unwrap_or([None, None]);
        out.extend((0u16..).zip(values).map(|(domain, uj)| {
            let value =
                uj.map_or(Value::Missing(power_core::Missing::Io), |uj| Value::Counter { raw: uj, uj });
            Reading { domain, before: now, after: now, value }
        }));
        Ok(())
    }
}

fn codes(result: Result<PowerCounter, KernelError>) -> String {
    result.map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn domains_of_a_scope_are_summed_from_the_first_reading_on() -> Result<(), KernelError> {
    let steps = [[Some(1_000_000), Some(5_000_000)], [Some(1_500_000), Some(5_250_000)]];
    let mut counter = PowerCounter::of_scope(script(&steps), "package")?;
    assert_eq!(counter.info().domain, "package-0+package-1");
    assert_eq!((counter.info().scope.as_str(), counter.info().systematic_ratio), ("package", None));
    let first = counter.read()?;
    let second = counter.read()?;
    assert!(first.energy_j.abs() < 1e-12 && (second.energy_j - 0.75).abs() < 1e-12);
    assert!(second.at_ns > first.at_ns);
    Ok(())
}

#[test]
fn a_wrap_is_undone_and_a_missing_number_is_an_error() -> Result<(), KernelError> {
    let steps = [[Some(MAX_UJ - 10), None], [Some(20_000), None]];
    let mut counter = PowerCounter::new(script(&steps), &["package-0"])?;
    assert_eq!(counter.info().systematic_ratio, Some(0.02));
    counter.read()?;
    let grown = counter.read()?.energy_j;
    assert!((0.02..0.021).contains(&grown), "{grown}");
    for _ in 0..2 {
        assert!(
            (counter.read()?.energy_j - grown).abs() < 1e-12,
            "a look or two without a number change nothing"
        );
    }
    let error = counter.read().map_or_else(|error| error.to_string(), |_| String::new());
    assert_eq!(error, "no energy from script package-0: the reading is missing");
    assert!(counter.start().is_err());
    Ok(())
}

#[test]
fn a_new_stretch_begins_wherever_the_counter_is() -> Result<(), KernelError> {
    let at = |uj: u64| [Some(uj), None];
    let steps = [
        at(5_000_000_000),
        at(5_000_000_500),
        at(9),
        at(1_009),
        at(2_009),
        at(5_000_000_000),
        at(5_000_000_100),
    ];
    let mut counter = PowerCounter::new(script(&steps), &["package-0"])?;
    let grown = |from: CounterReading, to: CounterReading| ((to.energy_j - from.energy_j) * 1e6).round();
    let begun = counter.start()?;
    assert!((grown(begun, counter.read()?) - 500.0).abs() < 0.5, "the first stretch is as any");
    let anew = counter.start()?;
    let (first, second) = (counter.read()?, counter.read()?);
    assert!((grown(anew, first) - 1000.0).abs() < 0.5 && (grown(first, second) - 1000.0).abs() < 0.5);
    assert!((grown(begun, anew) - 500.0).abs() < 0.5, "what came between is in no stretch");
    let again = counter.start()?;
    assert!((grown(again, counter.read()?) - 100.0).abs() < 0.5);
    Ok(())
}

/// 100 W that are shown anew only every 40 ms, by a counter that says it is renewed every millisecond.
#[test]
fn a_counter_that_is_renewed_more_slowly_than_it_says_is_believed() -> Result<(), KernelError> {
    const SLOW_UJ: u64 = 4_000_000;
    let steps: Vec<[Option<u64>; 2]> = (0..60).map(|look| [Some(look / 10 * SLOW_UJ), None]).collect();
    let mut counter = PowerCounter::new(paced(&steps), &["package-0"])?;
    let first = counter.start()?;
    let mut last = first;
    for _ in 1..steps.len() {
        last = counter.read()?;
    }
    assert!((last.energy_j - first.energy_j - 20.0).abs() < 1e-9, "{}", last.energy_j);
    Ok(())
}

#[test]
fn what_is_no_counter_of_one_scope_is_refused() {
    assert!(codes(PowerCounter::new(script(&[]), &["cores"])).ends_with("it has no domain \"cores\""));
    assert!(codes(PowerCounter::new(script(&[]), &["board"])).ends_with("board is a gauge, not a counter"));
    assert!(
        codes(PowerCounter::new(script(&[]), &["package-0", "dram"])).ends_with("cover different things")
    );
    assert!(codes(PowerCounter::new(script(&[]), &[])).ends_with("no domain was asked for"));
    assert!(codes(PowerCounter::of_scope(script(&[]), "gpu")).ends_with("no counter of scope gpu"));
}

#[test]
fn a_shared_counter_says_so() -> Result<(), KernelError> {
    let counter = PowerCounter::of_scope(script(&[]), "package")?.shared("a virtual GPU");
    assert_eq!(counter.info().shared.as_deref(), Some("a virtual GPU"));
    Ok(())
}
