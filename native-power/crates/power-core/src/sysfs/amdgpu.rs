//! AMD graphics through the hwmon of the driver amdgpu: power only, integrated by us.
//!
//! Depending on kernel and chip, the driver shows an average or the present power, and only one of them.

use std::path::Path;

use super::{
    Sensors,
    hwmon::{Chip, chips, class_dir},
    sensors::{Finder, Input, gauge, microwatts},
};
use crate::{
    Missing, Nanos, PowerError, Provenance, Scope, Value, Watts,
    file::{KeptFile, Open, open_file},
};

/// The source's name.
pub const AMDGPU: &str = "amdgpu-hwmon";

const UPDATE_PERIOD: Nanos = Nanos::from_millis(100);
const DEFAULT_CAP_UW: u64 = 2_000_000_000;

/// Opens the graphics processors under `root`, normally `/`.
pub fn open_amdgpu(root: &Path) -> Result<Sensors, PowerError> {
    open_with(root, open_file)
}

pub(super) fn open_with(root: &Path, open: Open) -> Result<Sensors, PowerError> {
    let mut finder = Finder::new(AMDGPU, Provenance::Integrated, class_dir(root));
    let package_counted = root.join("sys/class/powercap/intel-rapl:0").exists();
    for chip in chips(AMDGPU, root, &["amdgpu"], open)? {
        let id = format!("{AMDGPU}:{}", chip.place);
        let Some(file) = chip.first_of(&["power1_average", "power1_input"]) else {
            finder.leave_out(id, "shows no power");
            continue;
        };
        let cap = chip.greatest(&["power1_cap_max", "power1_cap"], open);
        let cap = Watts::from_micros(cap.map_or(DEFAULT_CAP_UW, |limit| limit.saturating_mul(2)));
        let with_cpu = has_cpu(&chip, open);
        let scope = if with_cpu { Scope::Soc } else { Scope::Gpu };
        let (mut domain, booking) = gauge(id, scope, UPDATE_PERIOD, cap);
        let averaged = file.ends_with("power1_average").then_some("averaged by the firmware");
        let overlaps = with_cpu.then_some("the CPU on the same chip is in it; never added to its package");
        let notes: Vec<_> = averaged.into_iter().chain(overlaps).collect();
        domain.note = Some(notes.join("; ")).filter(|note| !note.is_empty());
        domain.in_total = !(with_cpu && package_counted);
        let input = microwatts(file, open).map(|input| unless_asleep(&chip, input, open));
        finder.add(domain, booking, input);
    }
    finder.finish(None).map(Sensors::on_a_bus)
}

/// Only chips with a CPU of their own have a north bridge voltage.
fn has_cpu(chip: &Chip, open: Open) -> bool {
    chip.text("in1_label", open).is_some_and(|label| label == "vddnb")
}

/// To read the sensor would wake a processor that sleeps.
fn unless_asleep(chip: &Chip, mut input: Input, open: Open) -> Input {
    let state = chip.file("device/power/runtime_status");
    if !state.exists() {
        return input;
    }
    let mut state = KeptFile::new(state, open);
    Box::new(move || if state.holds("suspended") { Value::Missing(Missing::Inactive) } else { input() })
}

#[cfg(all(test, unix))]
#[path = "amdgpu_tests.rs"]
mod tests;
