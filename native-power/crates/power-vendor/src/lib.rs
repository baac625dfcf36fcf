//! Power sources behind the vendors' own libraries, loaded at run time, so that a machine without them needs none.
//!
//! Each vendor has one file that declares the library's calls and layouts and holds all code of it that is unsafe; the
//! rest sees plain values. Where a library is looked for is an argument, so that tests bring their own.
#![deny(unsafe_code)]

mod amdsmi;
#[cfg(windows)]
mod emi_port;
mod ioreport;
mod level_zero;
mod library;
mod nvml;
mod pci;
mod sources;

pub use amdsmi::{AMDSMI, AmdSmi, energy_uj};
pub use ioreport::{IOREPORT, IoReport};
pub use level_zero::{LEVEL_ZERO, LevelZero};
pub use nvml::{GpuTrace, GpusReplay, NVML, Nvml, decode_field, replay_gpus};
pub use sources::{Libraries, VENDOR_SOURCES, open_vendor_source, probe_vendor_sources};
