//! Sources that are small files of Linux, beside powercap.

pub(crate) mod acpi_meter;
mod amd_energy;
mod amdgpu;
mod battery;
mod channels;
mod hwmon;
mod intel_gpu;
mod jetson;
#[cfg(all(test, unix))]
mod noise_tests;
mod sensors;
#[cfg(all(test, unix))]
pub(crate) mod tree;

pub use acpi_meter::{ACPI_METER, open_acpi_meter};
pub use amd_energy::{AMD_ENERGY, open_amd_energy};
pub use amdgpu::{AMDGPU, open_amdgpu};
pub use battery::{BATTERY, open_battery};
pub(crate) use channels::with_channels;
pub use intel_gpu::{INTEL_GPU, open_intel_gpu};
pub use jetson::{JETSON, open_jetson};
pub use sensors::Sensors;
pub(crate) use sensors::{Finder, Input};
