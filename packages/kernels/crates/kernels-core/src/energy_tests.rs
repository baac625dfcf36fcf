use super::*;
use crate::{Counts, DType, KernelSpec, counts, inputs::mix};

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

/// A counter as NVML's: a value every 100 ms, made of a power that the sensor looks at for the first 25 ms of each
/// period only, and that a poll each `poll_ns` sees.
struct Sensor {
    power_w: fn(f64) -> f64,
    period_ns: i64,
    look_ns: i64,
    poll_ns: i64,
}

impl Sensor {
    fn mean_power(&self, from_ns: i64) -> f64 {
        let looks = 25;
        let at = |look: i64| nanos(from_ns + self.look_ns * look / looks) * 1e-9;
        (0..looks).map(|look| (self.power_w)(at(look))).sum::<f64>() / 25.0
    }

    fn ticks(&self, until_ns: i64) -> Vec<CounterReading> {
        let mut energy_j = 0.0;
        (0..until_ns / self.period_ns)
            .map(|index| {
                energy_j += self.mean_power(index * self.period_ns) * nanos(self.period_ns) * 1e-9;
                let tick = (index + 1) * self.period_ns;
                CounterReading { at_ns: (tick + self.poll_ns - 1) / self.poll_ns * self.poll_ns, energy_j }
            })
            .collect()
    }
}

/// Batches one after another, of about 10 ms and `launches` each, with the device busy for `busy` of them.
fn batches(from_ns: i64, until_ns: i64, busy: f64) -> Vec<BatchEnd> {
    let (mut at_ns, mut list) = (from_ns, Vec::new());
    while at_ns < until_ns {
        let launches = jittered(100, u64::try_from(at_ns).unwrap_or(0));
        let span = i64::from(launches) * MS / 10;
        at_ns += span;
        list.push(BatchEnd { at_ns, launches, busy_ns: nanos(span) * busy });
    }
    list
}

fn trace(sensor: &Sensor, span_ns: i64, busy: f64) -> Trace {
    let began_ns = 37 * MS;
    Trace {
        ticks: sensor.ticks(span_ns),
        began_ns: Some(began_ns),
        batches: batches(began_ns, span_ns, busy),
    }
}

fn nvml(power_w: fn(f64) -> f64) -> Sensor {
    Sensor { power_w, period_ns: 100 * MS, look_ns: 25 * MS, poll_ns: MS }
}

fn window(sensor: &Sensor, span_ns: i64, busy: f64) -> Result<EnergyWindow, String> {
    energy_window(&trace(sensor, span_ns, busy), None, &EnergyRule::default(), sensor.period_ns)
}

#[test]
fn a_steady_power_gives_power_times_launch_time() -> Result<(), String> {
    let window = window(&nvml(|_| 300.0), 6 * S, 0.999)?;
    assert_eq!(window.invalid, None);
    assert!((window.power_w - 300.0).abs() < 0.01, "{}", window.power_w);
    let launch_j = window.energy_j / window.launches;
    assert!((launch_j / (300.0 * 1e-4) - 1.0).abs() < 1e-6, "{launch_j}");
    assert!((window.duty_ratio - 0.999).abs() < 1e-9);
    assert_eq!(window.start_ns % (100 * MS), 0);
    Ok(())
}

#[test]
fn a_sensor_that_looks_a_quarter_of_the_time_is_right_on_the_mean_of_a_drifting_power() -> Result<(), String>
{
    let window = window(&nvml(|at| 300.0 + 2.0 * at), 6 * S, 1.0)?;
    let truth = 300.0 + (nanos(window.start_ns) + nanos(window.end_ns)) * 1e-9;
    assert!((window.power_w / truth - 1.0).abs() < 0.002, "{} of {truth}", window.power_w);
    Ok(())
}

#[test]
fn edges_cost_one_polling_step_at_most() -> Result<(), String> {
    for poll_ns in [MS, 3 * MS, 7 * MS] {
        let sensor = Sensor { poll_ns, ..nvml(|_| 250.0) };
        let window = window(&sensor, 6 * S, 1.0)?;
        let limit = nanos(poll_ns) / nanos(window.end_ns - window.start_ns);
        assert!((window.power_w / 250.0 - 1.0).abs() <= limit, "{poll_ns}: {}", window.power_w);
    }
    Ok(())
}

#[test]
fn windows_that_do_not_count_say_why() -> Result<(), String> {
    let cases =
        [(6 * S, 0.9, "the device computed for 0.900"), (3 * S, 1.0, "2.90 s long, and 5.00 s are needed")];
    for (span, busy, why) in cases {
        let invalid = window(&nvml(|_| 300.0), span, busy)?.invalid.unwrap_or_default();
        assert!(invalid.starts_with(why), "{invalid}");
    }
    let slow = Sensor { period_ns: S, look_ns: S, ..nvml(|_| 300.0) };
    assert!(window(&slow, 20 * S, 1.0)?.invalid.is_some_and(|why| why.contains("50.00 s are needed")));
    Ok(())
}

#[test]
fn a_counter_that_stands_still_has_no_window() {
    let still = Trace { batches: batches(0, 6 * S, 1.0), ..Trace::default() };
    let result = energy_window(&still, None, &EnergyRule::default(), 100 * MS);
    assert_eq!(result, Err("the counter did not move while the kernel ran".to_owned()));
    assert!(energy_window(&Trace::default(), None, &EnergyRule::default(), 1).is_err());
    let once = Trace { ticks: vec![CounterReading { at_ns: 3 * S, energy_j: 1.0 }], ..still };
    assert!(
        energy_window(&once, None, &EnergyRule::default(), 1).is_err_and(|why| why.contains("only once"))
    );
    assert!(idle_power(&once).is_err());
    assert!(idle_power(&Trace::default()).is_err());
}

fn three(busy: f64) -> Result<Vec<EnergyWindow>, String> {
    let idle = idle_power(&Trace { ticks: nvml(|_| 80.0).ticks(5 * S), ..Trace::default() })?;
    let sensors = [nvml(|_| 300.0), nvml(|_| 303.0), nvml(|_| 297.0)];
    let windows = sensors.iter().map(|sensor| {
        energy_window(&trace(sensor, 6 * S, busy), Some(idle), &EnergyRule::default(), sensor.period_ns)
    });
    windows.collect()
}

fn info(shared: Option<&str>) -> CounterInfo {
    CounterInfo {
        source: "nvml".to_owned(),
        domain: "gpu0".to_owned(),
        scope: "board".to_owned(),
        update_period_ns: 100 * MS,
        systematic_ratio: Some(0.05),
        shared: shared.map(str::to_owned),
    }
}

#[test]
fn three_windows_give_gross_and_net_with_an_interval() -> Result<(), String> {
    let idle = Ok(IdlePower { power_w: 80.0, duration_ns: 5 * S });
    let energy = LaunchEnergy::from_windows(info(None), three(1.0)?, idle, &EnergyRule::default());
    let near = |interval: Option<Interval>, mean: f64| {
        interval.is_some_and(|i| (i.mean / mean - 1.0).abs() < 1e-6 && i.low < i.mean && i.mean < i.high)
    };
    assert!(near(energy.energy_j, 300.0 * 1e-4), "{:?}", energy.energy_j);
    assert!(near(energy.net_energy_j, 220.0 * 1e-4), "{:?}", energy.net_energy_j);
    assert_eq!((energy.reason, energy.idle_reason), (None, None));
    Ok(())
}

#[test]
fn no_energy_comes_with_its_reason() -> Result<(), String> {
    let of = |counter, windows| {
        let idle = Err("the counter moved only once while the device was idle".to_owned());
        LaunchEnergy::from_windows(counter, windows, idle, &EnergyRule::default())
    };
    let cases = [
        (of(info(None), three(0.5)?), "0 of 3 windows are valid: the device computed for 0.500"),
        (of(info(Some("a MIG share")), three(1.0)?), "a MIG share"),
        (of(info(None), three(1.0)?.into_iter().take(2).collect()), "2 of 3 windows are valid"),
        (of(info(None), Vec::new()), "0 of 3 windows are valid"),
    ];
    for (energy, why) in cases {
        assert_eq!((energy.energy_j, energy.net_energy_j), (None, None), "{why}");
        assert!(energy.reason.is_some_and(|reason| reason.starts_with(why)), "{why}");
        assert!(energy.idle_reason.is_some());
    }
    Ok(())
}

#[test]
fn ratios_without_a_meaning_are_absent() -> Result<(), Box<dyn std::error::Error>> {
    let cases = [
        (Shape::Gemm { m: 8, n: 8, k: 8 }, (true, false)),
        (Shape::Triad { n: 8 }, (false, true)),
        (Shape::Softmax { rows: 8, width: 8 }, (true, true)),
    ];
    for (shape, present) in cases {
        let idle = Ok(IdlePower { power_w: 80.0, duration_ns: 5 * S });
        let of: Counts = counts(&KernelSpec::new(shape, DType::F32)?);
        let energy = LaunchEnergy::from_windows(info(None), three(1.0)?, idle, &EnergyRule::default());
        let energy = energy.with_ratios(&shape, of);
        assert_eq!(
            (energy.energy_per_flop_j.is_some(), energy.energy_per_byte_j.is_some()),
            present,
            "{shape:?}"
        );
    }
    Ok(())
}

#[test]
fn launches_are_counted_once_whatever_the_edges() {
    for seed in 0..200 {
        let cut = |draw: u64| 37 * MS + i64::try_from(mix(seed * 10 + draw) % 5_000_000_000).unwrap_or(0);
        let (a, b) = (cut(1), cut(2));
        let (open, close) = (a.min(b), a.max(b) + MS);
        let mut began = 37 * MS;
        let total: f64 = batches(began, 6 * S, 1.0)
            .iter()
            .map(|batch| {
                let share = overlap(began, batch.at_ns, open, close);
                began = batch.at_ns;
                share * f64::from(batch.launches)
            })
            .sum();
        assert!((total - nanos(close - open) / 1e5).abs() < 1e-3, "seed {seed}");
    }
}

#[test]
fn batches_vary_by_five_per_cent_and_never_vanish() {
    let drawn: Vec<u32> = (0..1000).map(|draw| jittered(100, draw)).collect();
    assert!(drawn.iter().all(|count| (95..=105).contains(count)));
    assert!(drawn.contains(&95) || drawn.contains(&96));
    assert!((0..100).all(|draw| jittered(1, draw) == 1 && jittered(0, draw) == 1));
}

#[test]
fn a_counter_that_stands_still_for_a_while_spoils_its_window() -> Result<(), String> {
    let sensor = nvml(|_| 300.0);
    let mut trace = trace(&sensor, 8 * S, 1.0);
    trace.ticks.retain(|tick| !(3 * S..5 * S).contains(&tick.at_ns));
    let window = energy_window(&trace, None, &EnergyRule::default(), sensor.period_ns)?;
    assert_eq!(window.invalid.as_deref(), Some("the counter stood still for 2.10 s of it"));
    Ok(())
}

#[test]
fn the_period_of_a_counter_is_that_of_its_ticks() {
    let of = |period_ns: i64| {
        let sensor = Sensor { period_ns, look_ns: period_ns, ..nvml(|_| 100.0) };
        Trace { ticks: sensor.ticks(S), ..Trace::default() }.tick_period_ns()
    };
    assert_eq!((of(100 * MS), of(20 * MS), of(400 * MS)), (Some(100 * MS), Some(20 * MS), None));
    assert_eq!(Trace::default().tick_period_ns(), None);
}
