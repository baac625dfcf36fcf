use serde::{Deserialize, Serialize};

use crate::{
    ClockSource, Device, DeviceKind, EnergyCounter, EnergyRule, Host, ImplId, Inputs, KernelError, KernelRow,
    KernelSpec, Prepared, RowTiming, StopRule, Stopped, Stopping, Support, Timing, WarmUp, WarmUpRule,
    Warming, check_rounded,
    cold::cold_launches,
    counts,
    metering::{Metering, cool_down},
    stats::{median, quantile, relative_deviation},
};

/// How a cell is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// The shortest batch, ns.
    pub batch_ns: f64,
    /// When it is warm.
    pub warm_up: WarmUpRule,
    /// When enough was timed.
    pub stop: StopRule,
    /// How energy is measured, where there is a counter.
    pub energy: EnergyRule,
    /// Sets of buffers; None for as many as exceed three times the last-level cache.
    pub rotate: Option<usize>,
    /// Only checks: no times, no energy.
    pub check_only: bool,
}

impl Default for RunOptions {
    /// Batches of at least 10 ms, and the usual rules.
    fn default() -> Self {
        Self {
            batch_ns: 1e7,
            warm_up: WarmUpRule::default(),
            stop: StopRule::default(),
            energy: EnergyRule::default(),
            rotate: None,
            check_only: false,
        }
    }
}

/// What a cell is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Inputs are made, buffers filled, kernels compiled and tuned.
    Prepare,
    /// The output is compared with f64.
    Check,
    /// Until batches agree.
    WarmUp,
    /// Batches are timed.
    Time,
    /// Single launches are timed, each with nothing of its data in a cache.
    Cold,
    /// The idle device is metered.
    Idle,
    /// A window of launches is metered.
    Energy,
}

/// Host memory that rotating inputs may take where the device doesn't say what it has, bytes.
const ROTATED_BYTES: u64 = 4 << 30;

/// Sets beyond this gain nothing: a kernel so small lives in caches anyway.
const MOST_SETS: u64 = 256;

/// Cache that is assumed where a device doesn't say, bytes.
const ASSUMED_CACHE: u64 = 64 << 20;

/// Launches in one batch at most.
const MOST_LAUNCHES: f64 = 1e6;

/// Timing that the device slowed down in, by heat or its own protection, is repeated so often.
const HOT_REPEATS: usize = 2;

/// Two clocks that differ by more than this are flagged.
const CLOCKS_RATIO: f64 = 0.02;

/// Runs cells on one device.
pub struct Runner<'a> {
    /// The device.
    pub device: &'a dyn Device,
    /// The host's time.
    pub host: &'a dyn Host,
    /// How cells are run.
    pub options: RunOptions,
    /// The device's energy, where it can be read; else why it can't.
    pub counter: Result<&'a mut dyn EnergyCounter, String>,
    /// Told at the start of each phase.
    pub progress: &'a mut dyn FnMut(Phase),
}

/// How many sets of inputs and output exceed three times the last-level cache, within the device's memory: at least 1.
pub fn rotation(spec: &KernelSpec, device: &crate::DeviceInfo) -> usize {
    let cache = device.last_level_cache_bytes.unwrap_or(ASSUMED_CACHE);
    let tensors = spec.input_tensors().into_iter().chain([spec.output_tensor()]);
    let set = tensors.map(|tensor| tensor.bytes() as u64).sum::<u64>().max(1);
    let room = device.memory_bytes.map_or(ROTATED_BYTES, |bytes| (bytes / 2).min(8 * ROTATED_BYTES)) / set;
    usize::try_from((3 * cache).div_ceil(set).min(room).clamp(1, MOST_SETS)).unwrap_or(1)
}

/// Whether a kernel can fit at all: one set of buffers into the device's memory, and the inputs once more where that is
/// the host's. Found out before anything is allocated, for a system that promises more than it has ends processes later.
fn room(spec: &KernelSpec, device: &crate::DeviceInfo) -> Result<(), KernelError> {
    let inputs = spec.input_tensors().iter().map(crate::TensorSpec::bytes_real).sum::<f64>();
    let copies =
        if matches!(device.kind, DeviceKind::DiscreteGpu | DeviceKind::VirtualGpu) { 1.0 } else { 2.0 };
    let bytes = copies * inputs + spec.output_tensor().bytes_real();
    match device.memory_bytes {
        Some(memory) if bytes > whole(memory) => Err(KernelError::OutOfMemory {
            what: format!("{spec} on a device of {memory} bytes, buffers"),
            bytes: rounded(bytes),
        }),
        _ => Ok(()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "no memory has 2^53 bytes")]
const fn whole(bytes: u64) -> f64 {
    bytes as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at least 0, and clamped at 2^64"
)]
const fn rounded(bytes: f64) -> u64 {
    bytes as u64
}

impl Runner<'_> {
    /// One cell from inputs to row: prepared, checked, warmed up, timed, metered, checked again. What goes wrong is in the
    /// row, with what was measured before it.
    pub fn run(&mut self, spec: &KernelSpec, implementation: Option<&ImplId>) -> KernelRow {
        let mut row = KernelRow::blank(self.device.info(), spec);
        match self.steps(spec, implementation, &mut row) {
            Ok(()) => row,
            Err(error) => row.failed(&error),
        }
    }

    fn steps(
        &mut self,
        spec: &KernelSpec,
        implementation: Option<&ImplId>,
        row: &mut KernelRow,
    ) -> Result<(), KernelError> {
        let chosen = self.chosen(spec, implementation)?;
        (self.progress)(Phase::Prepare);
        room(spec, self.device.info())?;
        let inputs = Inputs::generate(spec)?;
        let sets = self.options.rotate.unwrap_or_else(|| rotation(spec, self.device.info())).max(1);
        let mut prepared = self.device.prepare(spec, &inputs, sets, &chosen)?;
        let prepared = prepared.as_mut();
        set_implementation(row, &prepared.impl_id());
        (self.progress)(Phase::Check);
        row.check_before = Some(check_once(prepared, spec, &inputs)?);
        row.check_before.map(|check| check.into_result(spec)).transpose()?;
        if self.options.check_only {
            return Ok(());
        }
        self.time(prepared, spec, sets, row)?;
        self.cold(prepared, row)?;
        self.meter(prepared, spec, row)?;
        set_implementation(row, &prepared.impl_id());
        (self.progress)(Phase::Check);
        prepared.poison()?;
        row.check_after = Some(check_once(prepared, spec, &inputs)?);
        row.check_after.map(|check| check.into_result(spec)).transpose()?;
        Ok(())
    }

    fn chosen(&self, spec: &KernelSpec, implementation: Option<&ImplId>) -> Result<ImplId, KernelError> {
        let refused = |reason: String| KernelError::Unsupported { what: spec.to_string(), reason };
        match self.device.support(spec) {
            Support::No { reason } => Err(refused(reason)),
            Support::Yes { impls } => {
                let wanted = |known: &&ImplId| implementation.is_none_or(|wanted| wanted.name == known.name);
                impls.iter().find(wanted).cloned().ok_or_else(|| {
                    let names: Vec<&str> = impls.iter().map(|known| known.name.as_str()).collect();
                    refused(format!("it is implemented by {} only", names.join(", ")))
                })
            }
        }
    }

    fn time(
        &mut self,
        prepared: &mut dyn Prepared,
        spec: &KernelSpec,
        sets: usize,
        row: &mut KernelRow,
    ) -> Result<(), KernelError> {
        (self.progress)(Phase::WarmUp);
        let (launches, warm_up) = warm(prepared, self.options.batch_ns, self.options.warm_up)?;
        let mut timing = self.batches(prepared, spec, (launches, sets), warm_up)?;
        for _ in 0..HOT_REPEATS {
            if !slowed_down(&timing) {
                break;
            }
            cool_down(self.device, self.host, &self.options.energy, |health| health.slowed_down);
            timing = self.batches(prepared, spec, (launches, sets), warm_up)?;
        }
        row.flags.extend(flags(&timing).into_iter().map(str::to_owned));
        row.timing = Some(timing);
        Ok(())
    }

    fn batches(
        &mut self,
        prepared: &mut dyn Prepared,
        spec: &KernelSpec,
        (launches, sets): (u32, usize),
        warm_up: WarmUp,
    ) -> Result<RowTiming, KernelError> {
        (self.progress)(Phase::Time);
        let health_before = self.device.health();
        let mut stopping = Stopping::new(self.options.stop);
        let mut batches = Vec::new();
        let stopped = loop {
            let timing = batch(prepared, launches)?;
            batches.push(timing);
            if let Some(stopped) = stopping.push(timing.launch_ns(), timing.batch_ns()) {
                break stopped;
            }
        };
        let health_after = self.device.health();
        let of = counts(spec);
        let launches_ns = stopping.launches_ns();
        let at = |p: f64| quantile(launches_ns, p).unwrap_or(f64::NAN);
        let launch_ns = at(0.5);
        Ok(RowTiming {
            launch_ns,
            launch_p05_ns: at(0.05),
            launch_p95_ns: at(0.95),
            deviation_ratio: relative_deviation(launches_ns),
            launches_per_batch: launches,
            rotated_sets: sets,
            clock: batches.first().map_or(ClockSource::Host, |timing| timing.clock),
            host_difference_ratio: host_difference(&batches),
            flop_per_s: of.flop / launch_ns * 1e9,
            bytes_per_s: of.bytes / launch_ns * 1e9,
            stopped,
            warm_up,
            batches,
            health_before,
            health_after,
        })
    }

    fn cold(&mut self, prepared: &mut dyn Prepared, row: &mut KernelRow) -> Result<(), KernelError> {
        (self.progress)(Phase::Cold);
        let cache = self.device.info().last_level_cache_bytes.unwrap_or(ASSUMED_CACHE);
        match cold_launches(prepared, 2 * cache)? {
            Some(cold) => row.cold = Some(cold),
            None => row.cold_reason = Some("the backend can't empty the device's caches".to_owned()),
        }
        Ok(())
    }

    fn meter(
        &mut self,
        prepared: &mut dyn Prepared,
        spec: &KernelSpec,
        row: &mut KernelRow,
    ) -> Result<(), KernelError> {
        let counter = match &mut self.counter {
            Ok(counter) => &mut **counter,
            Err(reason) => {
                row.energy_reason = Some(reason.clone());
                return Ok(());
            }
        };
        let Some(timing) = &row.timing else { return Ok(()) };
        let mut metering = Metering {
            device: self.device,
            host: self.host,
            rule: self.options.energy,
            launches: timing.launches_per_batch,
            progress: &mut *self.progress,
        };
        match metering.run(prepared, counter) {
            Ok(energy) => {
                row.energy_reason.clone_from(&energy.reason);
                row.energy = Some(energy.with_ratios(&spec.shape, counts(spec)));
                Ok(())
            }
            Err(error @ KernelError::Counter { .. }) => {
                row.energy_reason = Some(error.to_string());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

fn slowed_down(timing: &RowTiming) -> bool {
    [&timing.health_before, &timing.health_after].into_iter().flatten().any(|health| health.slowed_down)
}

fn set_implementation(row: &mut KernelRow, implementation: &ImplId) {
    row.implementation_id = Some(implementation.to_string());
    row.implementation = Some(implementation.clone());
}

fn check_once(
    prepared: &mut dyn Prepared,
    spec: &KernelSpec,
    inputs: &Inputs,
) -> Result<crate::Check, KernelError> {
    batch(prepared, 1)?;
    check_rounded(spec, inputs, &prepared.read_output()?, prepared.activations())
}

pub(crate) fn batch(prepared: &mut dyn Prepared, launches: u32) -> Result<Timing, KernelError> {
    let ticket = prepared.submit(launches)?;
    prepared.wait(ticket)
}

/// Warms up with batches that grow until they are long enough; gives their size.
fn warm(prepared: &mut dyn Prepared, batch_ns: f64, rule: WarmUpRule) -> Result<(u32, WarmUp), KernelError> {
    let mut launches = 1;
    let mut warming = Warming::new(rule);
    loop {
        let timing = batch(prepared, launches)?;
        let warm = warming.push(timing.launch_ns(), timing.batch_ns());
        let wanted = launches_for(batch_ns, timing.launch_ns());
        if let Some(warm) = warm {
            return Ok((launches.max(wanted), warm));
        }
        if timing.batch_ns() < 0.8 * batch_ns {
            launches = wanted.min(launches.saturating_mul(10)).max(launches);
        }
    }
}

/// Launches that take at least `batch_ns`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and a million")]
fn launches_for(batch_ns: f64, launch_ns: f64) -> u32 {
    (batch_ns / launch_ns.max(1.0)).ceil().clamp(1.0, MOST_LAUNCHES) as u32
}

fn host_difference(batches: &[Timing]) -> Option<f64> {
    let ratios: Vec<f64> = batches
        .iter()
        .filter_map(|timing| timing.device_ns.map(|device| timing.host_ns / device - 1.0))
        .collect();
    median(&ratios).filter(|ratio| ratio.is_finite())
}

fn flags(timing: &RowTiming) -> Vec<&'static str> {
    let candidates = [
        ("timed-out", timing.stopped == Stopped::TimedOut),
        ("noisy", timing.stopped == Stopped::NoiseSettled),
        ("not-warm", !timing.warm_up.stable),
        ("clocks-differ", timing.host_difference_ratio.is_some_and(|ratio| ratio.abs() > CLOCKS_RATIO)),
        ("slowed-down", slowed_down(timing)),
        ("one-set", timing.rotated_sets == 1),
    ];
    candidates.into_iter().filter_map(|(flag, set)| set.then_some(flag)).collect()
}

#[cfg(test)]
#[path = "runner_tests.rs"]
mod tests;
