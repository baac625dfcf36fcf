//! Intel graphics cards through the hwmon of the drivers i915 and xe.
//!
//! The register has 32 bits, and the driver extends it only when it is read: at 1 kW it laps in little more than four
//! minutes, so it must be read at least once a minute.

use std::path::Path;

use super::{
    Sensors,
    hwmon::{chips, class_dir},
    sensors::{Finder, counter, microjoules},
};
use crate::{
    CounterSpec, Nanos, PowerError, Provenance, Scope,
    file::{Open, open_file},
};

/// The source's name.
pub const INTEL_GPU: &str = "intel-gpu-hwmon";

const SLOWEST: Nanos = Nanos::from_millis(60_000);
const DEFAULT_CAP_UW: u64 = 2_000_000_000;
const LIMITS: [&str; 4] = ["power1_max", "power1_rated_max", "power1_crit", "power2_max"];

/// Where graphics that are part of a CPU always are.
const INTEGRATED: &str = "0000:00:02.0";

/// Opens the cards under `root`, normally `/`.
pub fn open_intel_gpu(root: &Path) -> Result<Sensors, PowerError> {
    open_with(root, open_file)
}

pub(super) fn open_with(root: &Path, open: Open) -> Result<Sensors, PowerError> {
    let mut finder = Finder::new(INTEL_GPU, Provenance::Counter, class_dir(root));
    for chip in chips(INTEL_GPU, root, &["i915", "xe"], open)? {
        let cap_uw = chip.greatest(&LIMITS, open).map_or(DEFAULT_CAP_UW, |limit| limit.saturating_mul(2));
        let spec = CounterSpec { max_uj: None, cap_uw, update_period: Nanos::from_millis(1) };
        let mut around: Option<String> = None;
        for (file, part) in [("energy1_input", "card"), ("energy2_input", "package")] {
            if !chip.file(file).exists() {
                continue;
            }
            let id = format!("{INTEL_GPU}:{}:{part}", chip.place);
            let (mut domain, booking) = counter(id.clone(), Scope::Gpu, spec);
            domain.note = match &around {
                Some(outer) => Some(format!("lies inside {outer}; never added to it")),
                None if chip.place == INTEGRATED => {
                    Some("graphics of the CPU: lies inside its package; never added to it".to_owned())
                }
                None => None,
            };
            domain.in_total = domain.note.is_none();
            around = around.or(Some(id));
            finder.add(domain, booking, microjoules(chip.file(file), open));
        }
    }
    finder.finish(Some(SLOWEST))
}

#[cfg(all(test, unix))]
#[path = "intel_gpu_tests.rs"]
mod tests;
