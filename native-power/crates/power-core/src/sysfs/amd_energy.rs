//! AMD CPU energy through the `amd_energy` driver, which is not part of Linux itself. It keeps 64-bit sums of the same
//! counters that powercap and perf show.

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
pub const AMD_ENERGY: &str = "amd-energy";

/// One count of the hardware, J.
const QUANTUM_J: f64 = 1.0 / 65_536.0;
const SPEC: CounterSpec =
    CounterSpec { max_uj: None, cap_uw: 2_000_000_000, update_period: Nanos::from_millis(1) };

/// Opens the socket counters under `root`, normally `/`. Counters of single cores lie inside them.
pub fn open_amd_energy(root: &Path) -> Result<Sensors, PowerError> {
    open_with(root, open_file)
}

pub(super) fn open_with(root: &Path, open: Open) -> Result<Sensors, PowerError> {
    let mut finder = Finder::new(AMD_ENERGY, Provenance::Counter, class_dir(root));
    for chip in chips(AMD_ENERGY, root, &["amd_energy"], open)? {
        let labels = (1..).map_while(|k| Some((k, chip.text(&format!("energy{k}_label"), open)?)));
        let mut cores = 0;
        for (k, label) in labels {
            if label.starts_with("Ecore") {
                cores += 1;
            } else if let Some(socket) = label.strip_prefix("Esocket") {
                let id = format!("{AMD_ENERGY}:socket-{}", number(socket));
                let (mut domain, booking) = counter(id, Scope::Package, SPEC);
                domain.quantum = Some(QUANTUM_J);
                finder.add(domain, booking, microjoules(chip.file(&format!("energy{k}_input")), open));
            } else {
                finder.leave_out(label.clone(), format!("unknown name {label:?}"));
            }
        }
        if cores > 0 {
            finder.leave_out(format!("{cores} cores"), "inside their sockets");
        }
    }
    finder.finish(None)
}

/// `003` → `3`, `0` → `0`.
fn number(digits: &str) -> &str {
    let short = digits.trim_start_matches('0');
    if short.is_empty() { "0" } else { short }
}

#[cfg(all(test, unix))]
#[path = "amd_energy_tests.rs"]
mod tests;
