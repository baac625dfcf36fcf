use std::{fs, path::PathBuf};

use super::{Moment, Refusal, replay_counter, replay_gauge, replay_refusal, replay_source};
use crate::{CounterSpec, Event, GaugeSpec, Nanos, RAPL, Watts};

const INTEL: u64 = 262_143_328_850;

fn spec(max_uj: Option<u64>) -> CounterSpec {
    CounterSpec { max_uj, cap_uw: 1_000_000_000, update_period: Nanos::from_millis(1) }
}

fn readings(values: &[(i64, u64)]) -> Vec<(Nanos, Option<u64>)> {
    values.iter().map(|&(ms, uj)| (Nanos::from_millis(ms), Some(uj))).collect()
}

type Row<'a> = (&'a str, Option<u64>, &'a [(i64, u64)], &'a [&'a str]);

#[test]
fn a_step_is_named_by_what_it_is_and_by_what_it_refutes() {
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("nothing",       None,        &[],                                                            &[]),
        ("a wrap",        Some(INTEL), &[(0, 262_143_000_000), (100, 1_000_000)],                      &["first", "wrap"]),
        ("ok after all",  None,        &[(0, 5_000_000), (100, 0), (200, 6_000_000)],                  &["first", "suspect", "ok+glitch"]),
        ("still there",   None,        &[(0, 5_000_000), (100, 0), (200, 5_000_000)],                  &["first", "suspect", "same+glitch"]),
        ("wraps by then", Some(INTEL), &[(0, 262_143_000_000), (100, 900_000_000), (200, 1_000_000)],  &["first", "suspect", "wrap+glitch"]),
        ("a new start",   None,        &[(0, 5_000_000), (100, 0), (200, 70_000)],                     &["first", "suspect", "reset_confirmed"]),
    ];
    for (why, max, values, expected) in cases {
        let replay = replay_counter(spec(*max), &readings(values));
        assert_eq!(replay.steps.iter().map(|step| step.name()).collect::<Vec<_>>(), *expected, "{why}");
        assert_eq!(replay.booked.len(), values.len(), "{why}");
    }
}

#[test]
fn a_doubt_that_is_left_open_is_a_gap_at_the_end() {
    let replay = replay_counter(spec(None), &readings(&[(0, 5_000_000), (100, 0)]));
    assert_eq!(replay.tally.gap, Nanos::from_millis(100));
    assert_eq!((replay.total.0.get(), replay.total.2.get()), (0.0, 100.0));
}

#[test]
fn a_power_sensor_is_booked_reading_by_reading() {
    let spec = GaugeSpec { max_gap: Nanos::from_millis(3000), cap: Watts::new(2000.0) };
    let readings: Vec<_> =
        [(0, Some(100.0)), (1000, Some(90.0)), (1500, None), (2000, Some(80.0)), (9000, Some(80.0))]
            .into_iter()
            .map(|(ms, watts)| (Nanos::from_millis(ms), watts.map(Watts::new)))
            .collect();
    let replay = replay_gauge(spec, &readings);
    assert_eq!(replay.events, [Event::First, Event::Ok, Event::Missing, Event::Ok, Event::Gap]);
    assert_eq!(replay.booked.iter().map(|b| b.0.get()).collect::<Vec<_>>(), [0.0, 95.0, 95.0, 180.0, 180.0]);
    assert_eq!((replay.tally.missing, replay.tally.gap), (1, Nanos::from_millis(7000)));
}

/// A folder that goes with the test.
struct Tree(PathBuf);

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tree(test: &str) -> Tree {
    let root = std::env::temp_dir().join(format!("power-replay-{}-{test}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    let zone = root.join("sys/class/powercap/intel-rapl:0");
    fs::create_dir_all(&zone).unwrap_or_default();
    for (file, text) in [("name", "package-0"), ("max_energy_range_uj", "262143328850"), ("energy_uj", "5")] {
        fs::write(zone.join(file), text).unwrap_or_default();
    }
    Tree(root)
}

#[test]
fn a_source_is_read_at_the_stated_times() {
    let root = tree("times");
    let energy = PathBuf::from("sys/class/powercap/intel-rapl:0/energy_uj");
    let moments = [
        Moment::default(),
        Moment { at: Nanos::from_millis(60_000), writes: vec![(energy, "9000000005".to_owned())] },
    ];
    let replay = replay_source(RAPL, &root.0, &moments).map_err(|error| error.to_string());
    let replay = replay.unwrap_or_else(|error| unreachable!("{error}"));
    assert_eq!(replay.samples.last().map(|sample| sample.booked.get()), Some(9000.0));
}

#[test]
fn a_refusal_has_its_reason() {
    let root = tree("refusal");
    let reason = |refusal| replay_refusal(RAPL, &root.0, refusal).map_err(|error| error.reason());
    assert_eq!(reason(None), Ok(()));
    assert_eq!(reason(Some(Refusal::Permission)), Err("permission"));
    assert_eq!(reason(Some(Refusal::Io)), Err("io"));
}
