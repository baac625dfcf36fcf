//! The sources of this crate, and what stands in the way of each.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use power_core::{Nanos, PowerError, PowerSource, Provenance, SourceInfo, SourceProbe, chain};

use crate::{AMDSMI, AmdSmi, LEVEL_ZERO, LevelZero, NVML, Nvml};

/// Where the vendors' libraries are; None for where their drivers put them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Libraries {
    /// NVIDIA's `libnvidia-ml`.
    pub nvml: Option<PathBuf>,
    /// AMD's `libamd_smi`.
    pub amdsmi: Option<PathBuf>,
    /// Level Zero's loader, `libze_loader`.
    pub level_zero: Option<PathBuf>,
}

/// Every source of this crate.
pub const VENDOR_SOURCES: &[SourceInfo] = &[
    info(NVML, 100),
    info(AMDSMI, 100),
    info(LEVEL_ZERO, 100),
    #[cfg(target_os = "macos")]
    info(crate::IOREPORT, 500),
    #[cfg(windows)]
    info(power_core::EMI, 100),
];

const fn info(name: &'static str, period_ms: i64) -> SourceInfo {
    SourceInfo { name, provenance: Provenance::Counter, default_period: Nanos::from_millis(period_ms) }
}

/// Opens the source of this name; None when it is none of this crate's. The tree under `root`, normally `/`, tells which
/// devices sleep, and which share a chip with a CPU.
pub fn open_vendor_source(
    name: &str,
    root: &Path,
    libraries: &Libraries,
) -> Option<Result<Box<dyn PowerSource>, PowerError>> {
    match name {
        NVML => Some(nvml(root, libraries).map(|source| Box::new(source) as _)),
        AMDSMI => Some(amdsmi(root, libraries).map(|source| Box::new(source) as _)),
        LEVEL_ZERO => Some(level_zero(libraries).map(|source| Box::new(source) as _)),
        #[cfg(target_os = "macos")]
        crate::IOREPORT => Some(ioreport().map(|source| Box::new(source) as _)),
        #[cfg(windows)]
        power_core::EMI => Some(crate::emi_port::open().map(|source| Box::new(source) as _)),
        _ => None,
    }
}

/// Tries every source of this crate. Devices that a tree under `root` shows tell whether a missing library is missed.
pub fn probe_vendor_sources(root: &Path, libraries: &Libraries) -> Vec<SourceProbe> {
    vec![
        match nvml(root, libraries) {
            Ok(source) => usable(NVML, &source),
            Err(error) => refused(NVML, &error, || nvidia_fix(root)),
        },
        match amdsmi(root, libraries) {
            Ok(source) => usable(AMDSMI, &source),
            Err(error) => refused(AMDSMI, &error, || amd_fix(root)),
        },
        match level_zero(libraries) {
            Ok(source) => usable(LEVEL_ZERO, &source),
            Err(error) => refused(LEVEL_ZERO, &error, || intel_fix(root)),
        },
        #[cfg(target_os = "macos")]
        match ioreport() {
            Ok(source) => usable(crate::IOREPORT, &source),
            Err(error) => refused(crate::IOREPORT, &error, || None),
        },
        #[cfg(windows)]
        match crate::emi_port::open() {
            Ok(source) => usable(power_core::EMI, &source),
            Err(error) => refused(power_core::EMI, &error, || None),
        },
    ]
}

fn nvml(root: &Path, libraries: &Libraries) -> Result<Nvml, PowerError> {
    let usual = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };
    Nvml::open(libraries.nvml.as_deref().unwrap_or(Path::new(usual)), root)
}

fn amdsmi(root: &Path, libraries: &Libraries) -> Result<AmdSmi, PowerError> {
    let open = |path: &Path| AmdSmi::open(path, root, half_a_second);
    if let Some(path) = &libraries.amdsmi {
        return open(path);
    }
    let cannot_load = |opened: &Result<_, _>| matches!(opened, Err(PowerError::Library { .. }));
    let opened = open(Path::new("libamd_smi.so"));
    if !cannot_load(&opened) {
        return opened;
    }
    let places = ["libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24", "/opt/rocm/lib/libamd_smi.so"];
    let found = places.iter().map(|place| open(Path::new(place))).find(|opened| !cannot_load(opened));
    found.unwrap_or(opened)
}

/// Lets counters grow; returns how long it took.
fn half_a_second() -> Duration {
    let before = Instant::now();
    thread::sleep(Duration::from_millis(500));
    before.elapsed()
}

/// Where macOS keeps both; they lie in its shared cache and not as files.
#[cfg(target_os = "macos")]
fn ioreport() -> Result<crate::IoReport, PowerError> {
    crate::IoReport::open(
        Path::new("/usr/lib/libIOReport.dylib"),
        Path::new("/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"),
    )
}

fn level_zero(libraries: &Libraries) -> Result<LevelZero, PowerError> {
    let usual = if cfg!(windows) { "ze_loader.dll" } else { "libze_loader.so.1" };
    LevelZero::open(libraries.level_zero.as_deref().unwrap_or(Path::new(usual)))
}

fn usable(name: &'static str, source: &dyn PowerSource) -> SourceProbe {
    let ids = |in_total: bool| {
        let ids = source.domains().iter().filter(|(d, _)| d.in_total == in_total).map(|(d, _)| d.id.as_str());
        ids.collect::<Vec<_>>().join(", ")
    };
    let left: Vec<_> =
        source.excluded().iter().map(|left| format!("{} ({})", left.zone, left.reason)).collect();
    let parts = [("", ids(true)), ("beside the total: ", ids(false)), ("left out: ", left.join(", "))];
    let said =
        parts.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| format!("{label}{text}"));
    SourceProbe { name, usable: true, detail: said.collect::<Vec<_>>().join("; "), fix: None }
}

fn refused(name: &'static str, error: &PowerError, missing: impl FnOnce() -> Option<String>) -> SourceProbe {
    let said = chain(error);
    let detail = said.strip_prefix(&format!("{name}: ")).unwrap_or(&said).to_owned();
    let fix = match error {
        PowerError::Library { .. } => missing(),
        PowerError::Vendor { fix, .. } => fix.clone(),
        _ => None,
    };
    SourceProbe { name, usable: false, detail, fix }
}

fn nvidia_fix(root: &Path) -> Option<String> {
    if root.join("dev/nvidiactl").exists() || root.join("proc/driver/nvidia").exists() {
        return Some(
            "install the libnvidia-ml.so.1 of the driver's version (Debian: libnvidia-ml1, Ubuntu: libnvidia-compute-<version>), or start the container with `--gpus all`; PERWATT_NVML_LIB names another place"
                .to_owned(),
        );
    }
    has_nvidia_card(root).then(|| {
        "install NVIDIA's driver, which brings libnvidia-ml.so.1 (Debian: `apt install nvidia-driver`, Ubuntu: `ubuntu-drivers install`)"
            .to_owned()
    })
}

/// Whether the bus shows graphics or an accelerator of NVIDIA's, with or without a driver.
fn has_nvidia_card(root: &Path) -> bool {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let devices = root.join("sys/bus/pci/devices").read_dir().ok();
    devices.into_iter().flatten().flatten().any(|entry| {
        let device = entry.path();
        read(&device.join("vendor")).trim() == "0x10de" && read(&device.join("class")).starts_with("0x03")
    })
}

/// Missed only where a driver shows a card: what is part of a CPU is counted with it.
fn intel_fix(root: &Path) -> Option<String> {
    let drivers = ["sys/bus/pci/drivers/i915", "sys/bus/pci/drivers/xe"].map(|driver| root.join(driver));
    let addresses = drivers.iter().filter_map(|driver| driver.read_dir().ok()).flatten().flatten();
    let card = |name: &str| name.contains(':') && name != "0000:00:02.0";
    addresses.into_iter().any(|entry| card(&entry.file_name().to_string_lossy())).then(|| {
        "install the Level Zero loader and Intel's driver for it (Debian, Ubuntu: libze1 and libze-intel-gpu1, before: intel-level-zero-gpu); PERWATT_LEVEL_ZERO_LIB names another place than libze_loader.so.1"
            .to_owned()
    })
}

fn amd_fix(root: &Path) -> Option<String> {
    root.join("dev/kfd").exists().then(|| {
        "install ROCm's AMD SMI (Debian, Ubuntu, RHEL: amd-smi-lib of AMD's repository, Fedora: amdsmi); PERWATT_AMDSMI_LIB names another place than /opt/rocm/lib/libamd_smi.so".to_owned()
    })
}
