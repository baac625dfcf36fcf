use serde::{Deserialize, Serialize};

use crate::{conventions::real, stats::relative_deviation};

/// When enough batches were timed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StopRule {
    /// At least so many batches.
    pub least_batches: usize,
    /// At least so long in batches, ns.
    pub least_ns: f64,
    /// Stop when the standard deviation over the mean is below this.
    pub deviation_ratio: f64,
    /// Stop, flagged, after so long in batches, ns.
    pub most_ns: f64,
}

impl Default for StopRule {
    /// 10 batches, 0.5 s, 0.5 %, 15 s: nvbench's criterion `stdrel`.
    fn default() -> Self {
        Self { least_batches: 10, least_ns: 5e8, deviation_ratio: 0.005, most_ns: 15e9 }
    }
}

/// Why timing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The deviation is small enough.
    Settled,
    /// The deviation isn't small but has itself stopped changing: more batches would not lower it.
    NoiseSettled,
    /// It took too long; the number is flagged.
    TimedOut,
}

/// Batches after which noise is looked at, and how many looks are compared (nvbench: 64 within 5 %).
const NOISE_WINDOW: usize = 64;
const NOISE_RATIO: f64 = 0.05;

/// No rule lets more batches be timed.
const MOST_BATCHES: usize = 10_000;

/// Decides after each batch whether to go on.
#[derive(Clone, Debug)]
pub struct Stopping {
    rule: StopRule,
    launches_ns: Vec<f64>,
    /// Mean and sum of squared differences from it, kept as batches come (Welford).
    mean: f64,
    squares: f64,
    deviations: Vec<f64>,
    total_ns: f64,
}

impl Stopping {
    /// Before the first batch.
    pub const fn new(rule: StopRule) -> Self {
        Self { rule, launches_ns: Vec::new(), mean: 0.0, squares: 0.0, deviations: Vec::new(), total_ns: 0.0 }
    }

    /// Takes a batch in: the time of one launch and of the whole batch, ns. Some when it was the last.
    pub fn push(&mut self, launch_ns: f64, batch_ns: f64) -> Option<Stopped> {
        self.launches_ns.push(launch_ns);
        self.total_ns += batch_ns.max(0.0);
        let deviation = self.deviation(launch_ns);
        self.deviations.extend(deviation);
        if self.total_ns >= self.rule.most_ns || self.launches_ns.len() >= MOST_BATCHES {
            return Some(Stopped::TimedOut);
        }
        if self.launches_ns.len() < self.rule.least_batches || self.total_ns < self.rule.least_ns {
            return None;
        }
        if deviation.is_some_and(|deviation| deviation < self.rule.deviation_ratio) {
            return Some(Stopped::Settled);
        }
        let window = self.deviations.len().checked_sub(NOISE_WINDOW).map(|first| &self.deviations[first..]);
        let noise = window.and_then(relative_deviation);
        noise.is_some_and(|noise| noise < NOISE_RATIO).then_some(Stopped::NoiseSettled)
    }

    /// The relative deviation with one launch time more; None of the first, and where there is none.
    fn deviation(&mut self, launch_ns: f64) -> Option<f64> {
        let count = real(self.launches_ns.len());
        let from_mean = launch_ns - self.mean;
        self.mean += from_mean / count;
        self.squares += from_mean * (launch_ns - self.mean);
        let deviation = (self.squares / (count - 1.0)).sqrt() / self.mean;
        deviation.is_finite().then_some(deviation)
    }

    /// Time of one launch in each batch so far, ns.
    pub fn launches_ns(&self) -> &[f64] {
        &self.launches_ns
    }
}

/// When a kernel is warm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WarmUpRule {
    /// So many batches in a row agree.
    pub agreeing: usize,
    /// Within this ratio of the largest to the smallest, less 1.
    pub within_ratio: f64,
    /// At least so long, ns.
    pub least_ns: f64,
    /// Give up, flagged, after so long, ns.
    pub most_ns: f64,
}

impl Default for WarmUpRule {
    /// 3 batches within 3 %, at least 0.5 s and at most 10 s.
    fn default() -> Self {
        Self { agreeing: 3, within_ratio: 0.03, least_ns: 5e8, most_ns: 10e9 }
    }
}

/// What warming up took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Batches.
    pub batches: usize,
    /// Their time, ns.
    pub ns: f64,
    /// Whether the last ones agreed.
    pub stable: bool,
}

/// Watches batches until they agree.
#[derive(Clone, Debug)]
pub struct Warming {
    rule: WarmUpRule,
    launches_ns: Vec<f64>,
    total_ns: f64,
}

impl Warming {
    /// Before the first batch.
    pub const fn new(rule: WarmUpRule) -> Self {
        Self { rule, launches_ns: Vec::new(), total_ns: 0.0 }
    }

    /// Takes a batch in, as [`Stopping::push`] does. Some when the kernel is warm or will not become so.
    pub fn push(&mut self, launch_ns: f64, batch_ns: f64) -> Option<WarmUp> {
        self.launches_ns.push(launch_ns);
        self.total_ns += batch_ns.max(0.0);
        let stable = self.agree();
        let spent = self.total_ns >= self.rule.most_ns || self.launches_ns.len() >= MOST_BATCHES;
        let done = (stable && self.total_ns >= self.rule.least_ns) || spent;
        done.then_some(WarmUp { batches: self.launches_ns.len(), ns: self.total_ns, stable })
    }

    fn agree(&self) -> bool {
        let Some(first) = self.launches_ns.len().checked_sub(self.rule.agreeing.max(1)) else { return false };
        let last = &self.launches_ns[first..];
        let slowest = last.iter().copied().fold(f64::MIN, f64::max);
        let fastest = last.iter().copied().fold(f64::MAX, f64::min);
        slowest <= fastest * (1.0 + self.rule.within_ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::mix;

    const RULE: StopRule =
        StopRule { least_batches: 10, least_ns: 1e8, deviation_ratio: 0.005, most_ns: 15e9 };

    fn drawn(seed: u64, index: u64) -> f64 {
        f64::from(u32::try_from(mix(mix(seed) ^ index) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }

    /// Batches of 20 ms, `noise` wide.
    fn run(rule: StopRule, noise: f64, seed: u64) -> (usize, Option<Stopped>) {
        let mut stopping = Stopping::new(rule);
        for index in 0..2 * MOST_BATCHES as u64 {
            let launch = 1e6 * (1.0 + noise * (drawn(seed, index) - 0.5));
            if let Some(why) = stopping.push(launch, 20.0 * launch) {
                return (stopping.launches_ns().len(), Some(why));
            }
        }
        (0, None)
    }

    #[test]
    fn steady_batches_stop_at_the_least_and_noise_stops_when_it_is_known() {
        assert_eq!(run(RULE, 0.001, 1), (10, Some(Stopped::Settled)));
        let (batches, why) = run(RULE, 0.4, 1);
        assert_eq!(why, Some(Stopped::NoiseSettled));
        assert!((64..700).contains(&batches), "{batches}");
        assert_eq!(
            run(StopRule { most_ns: 2.5e8, least_batches: 20, ..RULE }, 0.001, 1).1,
            Some(Stopped::TimedOut)
        );
    }

    #[test]
    fn any_batches_end_even_those_that_took_no_time() {
        for seed in 0..20 {
            assert!(run(RULE, 2.0, seed).1.is_some(), "seed {seed}");
        }
        for value in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            let (mut stopping, mut warming) = (Stopping::new(RULE), Warming::new(WarmUpRule::default()));
            assert!((0..MOST_BATCHES).any(|_| stopping.push(value, value).is_some()), "{value}");
            assert!((0..MOST_BATCHES).any(|_| warming.push(value, value).is_some()), "{value}");
        }
    }

    #[test]
    fn a_kernel_is_warm_when_three_batches_agree_and_time_has_passed() {
        let rule = WarmUpRule { least_ns: 0.0, ..WarmUpRule::default() };
        let mut warming = Warming::new(rule);
        let seen: Vec<bool> = [2.0, 1.5, 1.2, 1.0, 1.01, 1.02]
            .iter()
            .map(|&launch| warming.push(launch, launch).is_some())
            .collect();
        assert_eq!(seen, [false, false, false, false, false, true]);
        let mut slow = Warming::new(WarmUpRule { least_ns: 50.0, ..rule });
        let count = (1..100).find(|_| slow.push(1.0, 10.0).is_some());
        assert_eq!(count, Some(5));
        let mut never = Warming::new(WarmUpRule { most_ns: 100.0, ..rule });
        let end = (0..1000).find_map(|index| never.push(f64::from(1 + index % 2), 10.0));
        assert_eq!(end, Some(WarmUp { batches: 10, ns: 100.0, stable: false }));
    }
}
