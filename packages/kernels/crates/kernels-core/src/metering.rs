//! Keeps a device busy, or leaves it alone, while its counter is watched.

use std::collections::VecDeque;

use crate::{
    BatchEnd, Device, EnergyCounter, EnergyRule, EnergyWindow, Health, Host, KernelError, LaunchEnergy,
    Phase, Prepared, Timing, Trace,
    energy::{energy_window, idle_power, jittered},
    meter::metered,
};

/// Windows tried beyond those that must be valid.
const SPARE_WINDOWS: usize = 2;

/// Energy windows of one prepared kernel.
pub(crate) struct Metering<'a> {
    pub device: &'a dyn Device,
    pub host: &'a dyn Host,
    pub rule: EnergyRule,
    /// Launches of a batch.
    pub launches: u32,
    pub progress: &'a mut dyn FnMut(Phase),
}

impl Metering<'_> {
    /// The idle device first, then windows until enough are valid, or too many were not.
    pub fn run(
        &mut self,
        prepared: &mut dyn Prepared,
        counter: &mut dyn EnergyCounter,
    ) -> Result<LaunchEnergy, KernelError> {
        let info = counter.info().clone();
        if info.shared.is_some() {
            let idle = Err("not measured".to_owned());
            return Ok(LaunchEnergy::from_windows(info, Vec::new(), idle, &self.rule));
        }
        let baseline_c = self.device.health().and_then(|health| health.temperature_c);
        (self.progress)(Phase::Idle);
        self.host.sleep_ns(self.rule.settle_ns);
        let span_of = |period_ns: i64| self.rule.window_ns(period_ns) + 2 * period_ns;
        let ((), ticks) = metered(counter, self.host, || {
            self.host.sleep_ns(span_of(info.update_period_ns));
            Ok(())
        })?;
        let resting = Trace { ticks, ..Trace::default() };
        let idle = idle_power(&resting);
        let period_ns =
            resting.tick_period_ns().map_or(info.update_period_ns, |seen| seen.max(info.update_period_ns));
        let mut span_ns = span_of(period_ns);
        let mut windows: Vec<EnergyWindow> = Vec::new();
        let needed = self.rule.windows.max(2);
        for attempt in 0..needed + SPARE_WINDOWS {
            if windows.iter().filter(|window| window.invalid.is_none()).count() >= needed {
                break;
            }
            (self.progress)(Phase::Energy);
            if attempt > 0 {
                let warmer = |health: &Health| {
                    let limit_c = baseline_c.map(|then| then + self.rule.cool_within_c);
                    health.temperature_c.zip(limit_c).is_some_and(|(now, limit)| now > limit)
                };
                cool_down(self.device, self.host, &self.rule, warmer);
            }
            let trace = self.trace(prepared, counter, span_ns)?;
            match energy_window(&trace, idle.as_ref().ok().copied(), &self.rule, period_ns) {
                Ok(window) => {
                    // Long launches and late ticks take from both ends: what was missing is added to the next one.
                    let missing_ns = self.rule.window_ns(period_ns) - (window.end_ns - window.start_ns);
                    span_ns += 2 * missing_ns.max(0);
                    windows.push(EnergyWindow { health: self.device.health(), ..window });
                }
                Err(reason) => return Err(KernelError::Counter { counter: info.domain, reason }),
            }
        }
        Ok(LaunchEnergy::from_windows(info, windows, idle, &self.rule))
    }

    /// Keeps two batches in flight (one where a batch is done when it was submitted): through the warm-up, then for `span_ns` while the counter is watched.
    fn trace(
        &self,
        prepared: &mut dyn Prepared,
        counter: &mut dyn EnergyCounter,
        span_ns: i64,
    ) -> Result<Trace, KernelError> {
        let began_ns = self.host.now_ns();
        let until_ns = began_ns + self.rule.warm_up_ns + span_ns;
        let (batches, ticks) = metered(counter, self.host, || self.keep_busy(prepared, until_ns))?;
        let warm_ns = began_ns + self.rule.warm_up_ns;
        let cold = batches.iter().take_while(|batch| batch.at_ns < warm_ns).last().map(|batch| batch.at_ns);
        let batches = batches.into_iter().filter(|batch| batch.at_ns >= warm_ns).collect();
        Ok(Trace { ticks, began_ns: Some(cold.unwrap_or(began_ns)), batches })
    }

    fn keep_busy(&self, prepared: &mut dyn Prepared, until_ns: i64) -> Result<Vec<BatchEnd>, KernelError> {
        let most = if prepared.is_synchronous() { 1 } else { 2 };
        let (mut batches, mut flying, mut drawn) = (Vec::new(), VecDeque::new(), 0);
        loop {
            while flying.len() < most && (drawn == 0 || self.host.now_ns() < until_ns) {
                flying.push_back(prepared.submit(jittered(self.launches, drawn))?);
                drawn += 1;
            }
            let Some(next) = flying.pop_front() else { break };
            let timing = prepared.wait(next)?;
            batches.push(self.ended(timing));
        }
        Ok(batches)
    }

    fn ended(&self, timing: Timing) -> BatchEnd {
        BatchEnd { at_ns: self.host.now_ns(), launches: timing.launches, busy_ns: timing.batch_ns() }
    }
}

/// Leaves the device idle for as long as it is too warm, within the rule; not at all where it can't be told.
pub(crate) fn cool_down(
    device: &dyn Device,
    host: &dyn Host,
    rule: &EnergyRule,
    too_warm: impl Fn(&Health) -> bool,
) {
    const LOOK_NS: i64 = 500_000_000;
    for _ in 0..rule.cool_down_ns / LOOK_NS {
        if !device.health().is_some_and(|health| too_warm(&health)) {
            return;
        }
        host.sleep_ns(LOOK_NS);
    }
}
