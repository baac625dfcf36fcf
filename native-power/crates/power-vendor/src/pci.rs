//! What the kernel tells of a device without asking the device.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder of a device on the PCI bus.
#[derive(Clone, Debug)]
pub struct PciDevice(PathBuf);

impl PciDevice {
    /// Under `root`, normally `/`, at a place like `0000:65:00.0`.
    pub fn at(root: &Path, place: &str) -> Self {
        Self(root.join("sys/bus/pci/devices").join(place.to_ascii_lowercase()))
    }

    /// Whether it sleeps: any question would wake it, and it would draw more for being measured.
    pub fn sleeps(&self) -> bool {
        holds(&self.0.join("power/runtime_status"), "suspended")
    }

    /// Whether a CPU shares its chip: only such chips have a north bridge voltage.
    pub fn has_cpu(&self) -> bool {
        let chips = fs::read_dir(self.0.join("hwmon")).into_iter().flatten().filter_map(Result::ok);
        chips.into_iter().any(|chip| holds(&chip.path().join("in1_label"), "vddnb"))
    }
}

fn holds(path: &Path, wanted: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.trim_end() == wanted)
}
