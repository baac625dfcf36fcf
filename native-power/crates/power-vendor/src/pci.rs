//! What the kernel tells of a device without asking the device.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
};

use power_core::{KeptFile, open_file};

/// The folder of a device on the PCI bus.
pub struct PciDevice {
    folder: PathBuf,
    /// Kept open; None where the kernel doesn't tell.
    state: Option<RefCell<KeptFile>>,
}

impl PciDevice {
    /// Under `root`, normally `/`, at a place like `0000:65:00.0`.
    pub fn at(root: &Path, place: &str) -> Self {
        let folder = root.join("sys/bus/pci/devices").join(place.to_ascii_lowercase());
        let state = Some(folder.join("power/runtime_status")).filter(|path| path.exists());
        let state = state.map(|path| RefCell::new(KeptFile::new(path, open_file)));
        Self { folder, state }
    }

    /// Whether it sleeps: any question would wake it, and it would draw more for being measured.
    pub fn sleeps(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.borrow_mut().holds("suspended"))
    }

    /// Whether a CPU shares its chip: only such chips have a north bridge voltage.
    pub fn has_cpu(&self) -> bool {
        let chips = fs::read_dir(self.folder.join("hwmon")).into_iter().flatten().filter_map(Result::ok);
        chips.into_iter().any(|chip| holds(&chip.path().join("in1_label"), "vddnb"))
    }
}

fn holds(path: &Path, wanted: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.trim_end() == wanted)
}
