use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    CONVENTION, Check, ClockSource, ColdTiming, DeviceId, DeviceInfo, Health, ImplId, KernelError,
    KernelSpec, LaunchEnergy, Stopped, Timing, WarmUp, counts,
};

/// What became of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// Timed, and right before and after.
    Ok,
    /// Its output is wrong: there are no times.
    Wrong,
    /// The device doesn't have it.
    Unsupported,
    /// It could not be run.
    Failed,
}

/// The times of one (kernel, shape, type, device, implementation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowTiming {
    /// Time of one launch in each batch: median, ns.
    pub launch_ns: f64,
    /// 5 % quantile, ns.
    pub launch_p05_ns: f64,
    /// 95 % quantile, ns.
    pub launch_p95_ns: f64,
    /// Standard deviation over mean; None of one batch.
    pub deviation_ratio: Option<f64>,
    /// Launches in one batch.
    pub launches_per_batch: u32,
    /// Sets of buffers that rotate.
    pub rotated_sets: usize,
    /// Which clock timed it.
    pub clock: ClockSource,
    /// (host − device) / device of the batches' median; None where only the host timed it.
    pub host_difference_ratio: Option<f64>,
    /// Useful FLOP per second at the median.
    pub flop_per_s: f64,
    /// Compulsory bytes per second at the median.
    pub bytes_per_s: f64,
    /// Why timing ended.
    pub stopped: Stopped,
    /// How it was warmed up.
    pub warm_up: WarmUp,
    /// Every batch.
    pub batches: Vec<Timing>,
    /// Clocks and temperature before the first batch; None where they can't be read.
    pub health_before: Option<Health>,
    /// The same after the last batch.
    pub health_after: Option<Health>,
}

/// Everything about one cell, for files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    /// What was asked for.
    pub spec: KernelSpec,
    /// The kernel in words.
    pub label: String,
    /// The backend.
    pub backend: String,
    /// The device.
    pub device: DeviceId,
    /// The device's name.
    pub device_name: String,
    /// What ran, in full; None where nothing could.
    pub implementation: Option<ImplId>,
    /// The same as text.
    pub implementation_id: Option<String>,
    /// What became of it.
    pub status: RowStatus,
    /// The error's code; None when it is ok.
    pub error_code: Option<String>,
    /// The error's message.
    pub error_message: Option<String>,
    /// How FLOP and bytes were counted.
    pub convention: String,
    /// Useful FLOP of one launch.
    pub flop: f64,
    /// Compulsory bytes of one launch.
    pub bytes: f64,
    /// The output against f64, before timing.
    pub check_before: Option<Check>,
    /// The same, poisoned anew, after timing.
    pub check_after: Option<Check>,
    /// The times; None where there are none.
    pub timing: Option<RowTiming>,
    /// Single launches with empty caches; None when they weren't timed.
    pub cold: Option<ColdTiming>,
    /// Why there are none.
    pub cold_reason: Option<String>,
    /// The energy; None when none was asked for or could be read, with the reason beside it.
    pub energy: Option<LaunchEnergy>,
    /// Why there is no energy.
    pub energy_reason: Option<String>,
    /// What a reader should know: `timed-out`, `noisy`, `not-warm`, `clocks-differ`, `slowed-down`, `one-set`.
    pub flags: Vec<String>,
    /// What changes the device's speed and isn't the kernel's.
    pub environment: BTreeMap<String, String>,
}

impl KernelRow {
    /// A row of `spec` on a device, before anything was tried.
    #[must_use]
    pub fn blank(info: &DeviceInfo, spec: &KernelSpec) -> Self {
        let of = counts(spec);
        Self {
            spec: spec.clone(),
            label: spec.to_string(),
            backend: info.backend.clone(),
            device: info.id.clone(),
            device_name: info.name.clone(),
            implementation: None,
            implementation_id: None,
            status: RowStatus::Ok,
            error_code: None,
            error_message: None,
            convention: CONVENTION.to_owned(),
            flop: of.flop,
            bytes: of.bytes,
            check_before: None,
            check_after: None,
            timing: None,
            cold: None,
            cold_reason: None,
            energy: None,
            energy_reason: None,
            flags: Vec::new(),
            environment: info.environment.clone(),
        }
    }

    /// The same with an error in it.
    #[must_use]
    pub fn failed(mut self, error: &KernelError) -> Self {
        self.status = match error {
            KernelError::Wrong { .. } => RowStatus::Wrong,
            KernelError::Unsupported { .. } => RowStatus::Unsupported,
            _ => RowStatus::Failed,
        };
        self.error_code = Some(error.code().to_owned());
        self.error_message = Some(error.to_string());
        if self.status == RowStatus::Wrong {
            self.timing = None;
            self.cold = None;
            self.energy = None;
        }
        self
    }
}
