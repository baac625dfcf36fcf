//! Energy of a kernel from a counter that ticks: arithmetic only. What reads the counter is in `meter`.

use serde::{Deserialize, Serialize};

use crate::{Health, Interval, KernelError, Shape, conventions::real, host::nanos, mean_interval};

/// What an energy counter counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterInfo {
    /// The power source: `nvml`, `rapl`.
    pub source: String,
    /// The domain within it.
    pub domain: String,
    /// What the number includes: `board`, `cpu-package`, `soc`. Different scopes are never ranked together.
    pub scope: String,
    /// How often the hardware renews its value, ns.
    pub update_period_ns: i64,
    /// The systematic error that the vendor or the literature states, a ratio; repetition doesn't lower it. None where
    /// none is known.
    pub systematic_ratio: Option<f64>,
    /// Why its joules aren't this device's alone (MIG, vGPU, another process); None where they are.
    pub shared: Option<String>,
}

/// One look at a counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterReading {
    /// When, on the host's clock, ns.
    pub at_ns: i64,
    /// Energy since some fixed moment, J; wraps are undone.
    pub energy_j: f64,
}

/// A counter of energy that only grows.
pub trait EnergyCounter: Send {
    /// What it counts.
    fn info(&self) -> &CounterInfo;

    /// What it says now.
    ///
    /// # Errors
    /// `Counter`: it is gone, or gave no number.
    fn read(&mut self) -> Result<CounterReading, KernelError>;

    /// The same, as the first look of a new stretch: of what happened since the last one, nothing is asked.
    ///
    /// # Errors
    /// `Counter`, as [`Self::read`].
    fn start(&mut self) -> Result<CounterReading, KernelError> {
        self.read()
    }
}

/// How energy is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergyRule {
    /// Windows that must be valid.
    pub windows: usize,
    /// Shortest window, ns.
    pub least_ns: i64,
    /// Fewest update periods of the counter in a window.
    pub least_periods: i64,
    /// Least share of a window in which the device computes.
    pub duty_ratio: f64,
    /// Warm-up before a window, ns.
    pub warm_up_ns: i64,
    /// The device is left alone so long before its idle power is measured, ns: clocks come down with a delay.
    pub settle_ns: i64,
    /// The device is left to cool down for at most so long, ns.
    pub cool_down_ns: i64,
    /// Until it is within so many °C of the temperature at the start.
    pub cool_within_c: f64,
}

impl Default for EnergyRule {
    /// 3 windows of 5 s and 50 periods, duty 0.97, warm-up 2 s, a second before idle, cool-down of at most 60 s to within 3 °C.
    fn default() -> Self {
        Self {
            windows: 3,
            least_ns: 5_000_000_000,
            least_periods: 50,
            duty_ratio: 0.97,
            warm_up_ns: 2_000_000_000,
            settle_ns: 1_000_000_000,
            cool_down_ns: 60_000_000_000,
            cool_within_c: 3.0,
        }
    }
}

impl EnergyRule {
    /// The shortest window that a counter of this period allows, ns.
    pub fn window_ns(&self, update_period_ns: i64) -> i64 {
        self.least_ns.max(update_period_ns.saturating_mul(self.least_periods))
    }
}

/// A batch that ended within a trace. Its launches ran since the end of the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchEnd {
    /// When the host saw its end, ns.
    pub at_ns: i64,
    /// Launches in it.
    pub launches: u32,
    /// How long the device was busy with it, ns.
    pub busy_ns: f64,
}

/// A counter that doesn't move for so many of its periods, and so long, stood still.
const STANDSTILL_PERIODS: i64 = 10;
const STANDSTILL_NS: i64 = 500_000_000;

/// What was seen while a device was kept busy, or idle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The counter whenever it changed, at the first look that saw the new value.
    pub ticks: Vec<CounterReading>,
    /// When batches began, ns; None for an idle trace.
    pub began_ns: Option<i64>,
    /// The batches, in order.
    pub batches: Vec<BatchEnd>,
}

/// Energy of one stretch of launches, from tick to tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyWindow {
    /// The tick that opened it, ns on the host's clock.
    pub start_ns: i64,
    /// The tick that closed it.
    pub end_ns: i64,
    /// Launches between them, those at the edges by proportion.
    pub launches: f64,
    /// Energy, J.
    pub energy_j: f64,
    /// The same less what the device draws when idle with its context open; None without an idle window.
    pub net_energy_j: Option<f64>,
    /// Mean power, W.
    pub power_w: f64,
    /// Share of the window in which the device computed.
    pub duty_ratio: f64,
    /// Ticks within it, the opening one not counted.
    pub ticks: usize,
    /// Clocks and temperature at its end; None where they can't be read.
    pub health: Option<Health>,
    /// Why it doesn't count; None when it does.
    pub invalid: Option<String>,
}

/// Power of a device that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdlePower {
    /// Mean power, W.
    pub power_w: f64,
    /// From tick to tick, ns.
    pub duration_ns: i64,
}

impl Trace {
    /// How often the counter really changed, ns: the median of the steps between ticks; None of fewer than three.
    pub fn tick_period_ns(&self) -> Option<i64> {
        let mut steps: Vec<i64> = self.ticks.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns).collect();
        steps.sort_unstable();
        if steps.len() < 2 { None } else { steps.get(steps.len() / 2).copied() }
    }
}

/// Mean power over an idle trace, from its first tick to its last.
///
/// # Errors
/// A sentence, for a counter that didn't tick twice.
pub fn idle_power(trace: &Trace) -> Result<IdlePower, String> {
    let (Some(first), Some(last)) = (trace.ticks.first(), trace.ticks.last()) else {
        return Err("the counter did not move while the device was idle".to_owned());
    };
    let duration_ns = last.at_ns - first.at_ns;
    if duration_ns <= 0 {
        return Err("the counter moved only once while the device was idle".to_owned());
    }
    let power_w = (last.energy_j - first.energy_j) / (nanos(duration_ns) * 1e-9);
    Ok(IdlePower { power_w, duration_ns })
}

/// The energy of a trace of launches: from the first tick after the first batch to the last tick before the last batch's
/// end.
///
/// # Errors
/// A sentence, for a trace in which the counter didn't tick twice.
pub fn energy_window(
    trace: &Trace,
    idle: Option<IdlePower>,
    rule: &EnergyRule,
    update_period_ns: i64,
) -> Result<EnergyWindow, String> {
    let (Some(first), Some(last)) = (trace.batches.first(), trace.batches.last()) else {
        return Err("no batch ran".to_owned());
    };
    let inside = |tick: &&CounterReading| tick.at_ns >= first.at_ns && tick.at_ns <= last.at_ns;
    let ticks: Vec<&CounterReading> = trace.ticks.iter().filter(inside).collect();
    let (Some(open), Some(close)) = (ticks.first(), ticks.last()) else {
        return Err("the counter did not move while the kernel ran".to_owned());
    };
    let duration_ns = close.at_ns - open.at_ns;
    if duration_ns <= 0 {
        return Err("the counter moved only once while the kernel ran".to_owned());
    }
    let (mut launches, mut busy) = (0.0, 0.0);
    let mut began = trace.began_ns.unwrap_or(first.at_ns);
    for batch in &trace.batches {
        let share = overlap(began, batch.at_ns, open.at_ns, close.at_ns);
        launches += share * f64::from(batch.launches);
        busy += share * batch.busy_ns;
        began = batch.at_ns;
    }
    let seconds = nanos(duration_ns) * 1e-9;
    let energy_j = close.energy_j - open.energy_j;
    let duty_ratio = busy / nanos(duration_ns);
    let (least_ns, ticked) = (rule.window_ns(update_period_ns), ticks.len() - 1);
    let still_ns = ticks.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns).max().unwrap_or(0);
    let invalid = if duration_ns < least_ns {
        Some(format!("{:.2} s long, and {:.2} s are needed", seconds, nanos(least_ns) * 1e-9))
    } else if duty_ratio < rule.duty_ratio {
        Some(format!("the device computed for {duty_ratio:.3} of it, and {:.2} are needed", rule.duty_ratio))
    } else if still_ns > STANDSTILL_NS.max(update_period_ns.saturating_mul(STANDSTILL_PERIODS)) {
        Some(format!("the counter stood still for {:.2} s of it", nanos(still_ns) * 1e-9))
    } else if energy_j <= 0.0 || launches <= 0.0 {
        Some("no energy or no launch falls into it".to_owned())
    } else {
        None
    };
    Ok(EnergyWindow {
        start_ns: open.at_ns,
        end_ns: close.at_ns,
        launches,
        energy_j,
        net_energy_j: idle.map(|idle| energy_j - idle.power_w * seconds),
        power_w: energy_j / seconds,
        duty_ratio,
        ticks: ticked,
        health: None,
        invalid,
    })
}

/// The share of `[from, to)` that lies within `[open, close)`.
fn overlap(from: i64, to: i64, open: i64, close: i64) -> f64 {
    let common = to.min(close) - from.max(open);
    if common <= 0 || to <= from { 0.0 } else { nanos(common) / nanos(to - from) }
}

/// Energy of one launch, by all its windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchEnergy {
    /// What was counted.
    pub counter: CounterInfo,
    /// All windows, in order, also those that don't count.
    pub windows: Vec<EnergyWindow>,
    /// Power of the idle device with its context open; None with its reason in `idle_reason`.
    pub idle: Option<IdlePower>,
    /// Why there is no idle power.
    pub idle_reason: Option<String>,
    /// J per launch; None with its reason in `reason`.
    pub energy_j: Option<Interval>,
    /// The same less idle power; None also without an idle window.
    pub net_energy_j: Option<Interval>,
    /// J per useful FLOP; None for copy, triad and fma, whose FLOP say nothing.
    pub energy_per_flop_j: Option<f64>,
    /// J per compulsory byte; None for GEMM, prefill and fma, whose bytes say nothing.
    pub energy_per_byte_j: Option<f64>,
    /// Why there is no energy.
    pub reason: Option<String>,
}

impl LaunchEnergy {
    /// Joules of a launch from windows; null with the reason when too few are valid or the counter is shared.
    pub fn from_windows(
        counter: CounterInfo,
        windows: Vec<EnergyWindow>,
        idle: Result<IdlePower, String>,
        rule: &EnergyRule,
    ) -> Self {
        let valid: Vec<&EnergyWindow> = windows.iter().filter(|window| window.invalid.is_none()).collect();
        let reason = counter.shared.clone().or_else(|| {
            let last = windows.iter().rev().find_map(|window| window.invalid.clone());
            (valid.len() < rule.windows.max(2)).then(|| {
                let why = last.map_or(String::new(), |why| format!(": {why}"));
                format!("{} of {} windows are valid{why}", valid.len(), rule.windows.max(2))
            })
        });
        let per_launch = |of: &dyn Fn(&EnergyWindow) -> Option<f64>| {
            let values: Option<Vec<f64>> =
                valid.iter().map(|&window| Some(of(window)? / window.launches)).collect();
            values.filter(|_| reason.is_none()).and_then(|values| mean_interval(&values))
        };
        let energy_j = per_launch(&|window| Some(window.energy_j));
        let net_energy_j = per_launch(&|window| window.net_energy_j);
        let (idle, idle_reason) = match idle {
            Ok(idle) => (Some(idle), None),
            Err(reason) => (None, Some(reason)),
        };
        let (energy_per_flop_j, energy_per_byte_j) = (None, None);
        Self {
            counter,
            windows,
            idle,
            idle_reason,
            energy_j,
            net_energy_j,
            energy_per_flop_j,
            energy_per_byte_j,
            reason,
        }
    }

    /// The same with the ratios that mean something for this kernel.
    #[must_use]
    pub fn with_ratios(mut self, shape: &Shape, counts: crate::Counts) -> Self {
        let mean = self.energy_j.map(|energy| energy.mean);
        let streams = matches!(shape, Shape::Copy { .. } | Shape::Triad { .. } | Shape::Fma { .. });
        let computes = matches!(shape, Shape::Gemm { .. } | Shape::Prefill { .. } | Shape::Fma { .. });
        self.energy_per_flop_j = mean.filter(|_| !streams).map(|energy| energy / counts.flop);
        self.energy_per_byte_j = mean.filter(|_| !computes).map(|energy| energy / counts.bytes);
        self
    }
}

/// The number of launches for a batch of about `base`, changed by up to 5 % at random so that batches don't beat with
/// the sensor's sampling.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within 5 % of a u32, at least 1"
)]
pub(crate) fn jittered(base: u32, draw: u64) -> u32 {
    let unit = real(usize::try_from(crate::inputs::mix(draw) >> 40).unwrap_or(0)) / real(1 << 24);
    (f64::from(base) * (0.95 + 0.1 * unit)).round().max(1.0) as u32
}

#[cfg(test)]
#[path = "energy_tests.rs"]
mod tests;
