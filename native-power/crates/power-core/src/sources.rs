//! The sources there are, and what stands in the way of each.

use std::path::{Path, PathBuf};

use crate::{
    ACPI_METER, AMD_ENERGY, AMDGPU, BATTERY, CpuFacts, ESTIMATE, Estimator, INTEL_GPU, JETSON, Nanos,
    PowerError, PowerSource, Provenance, RAPL, RAPL_PERF, Rapl, Sensors, open_acpi_meter, open_amd_energy,
    open_amdgpu, open_battery, open_intel_gpu, open_jetson, open_rapl_perf, sysfs::with_channels,
};

/// What is known of a source without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its name.
    pub name: &'static str,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Sensible time between two readings.
    pub default_period: Nanos,
}

/// Every source, the most trustworthy first.
pub const SOURCES: [SourceInfo; 9] = [
    info(RAPL, Provenance::Counter, 100),
    info(RAPL_PERF, Provenance::Counter, 100),
    info(AMD_ENERGY, Provenance::Counter, 100),
    info(INTEL_GPU, Provenance::Counter, 100),
    info(AMDGPU, Provenance::Integrated, 100),
    info(JETSON, Provenance::Integrated, 100),
    info(ACPI_METER, Provenance::Integrated, 100),
    info(BATTERY, Provenance::Integrated, 5000),
    info(ESTIMATE, Provenance::Estimated, 500),
];

/// Those made of files, with what opens them.
const FILES: [(&str, OpenSensors); 7] = [
    (RAPL_PERF, open_rapl_perf),
    (AMD_ENERGY, open_amd_energy),
    (INTEL_GPU, open_intel_gpu),
    (AMDGPU, open_amdgpu),
    (JETSON, open_jetson),
    (ACPI_METER, open_acpi_meter),
    (BATTERY, open_battery),
];

type OpenSensors = fn(&Path) -> Result<Sensors, PowerError>;

const fn info(name: &'static str, provenance: Provenance, period_ms: i64) -> SourceInfo {
    SourceInfo { name, provenance, default_period: Nanos::from_millis(period_ms) }
}

/// Opens the source of this name on the tree under `root`, normally `/`, with the channels of what it measures.
pub fn open_source(name: &str, root: &Path) -> Result<Box<dyn PowerSource>, PowerError> {
    open_bare(name, root).map(|source| with_channels(source, root))
}

fn open_bare(name: &str, root: &Path) -> Result<Box<dyn PowerSource>, PowerError> {
    match name {
        RAPL => Ok(Box::new(Rapl::open(root)?)),
        ESTIMATE => Ok(Box::new(Estimator::open(root)?)),
        _ => match FILES.iter().find(|(file, _)| *file == name) {
            Some((_, open)) => Ok(Box::new(open(root)?)),
            None => Err(PowerError::UnknownSource { name: name.to_owned() }),
        },
    }
}

/// One source that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProbe {
    /// Its name.
    pub name: &'static str,
    /// Whether it can be read.
    pub usable: bool,
    /// What was found, or why it can't be read: one line.
    pub detail: String,
    /// The step that would enable it; None when it is usable or nothing would.
    pub fix: Option<String>,
}

/// Tries every source on the tree under `root`.
pub fn probe_sources(root: &Path) -> Vec<SourceProbe> {
    let hidden = CpuFacts::read(root).virtual_machine;
    let probe = |info: &SourceInfo| match open_bare(info.name, root) {
        Ok(source) if info.name == ESTIMATE => usable(info.name, notes(&*source)),
        Ok(source) => usable(info.name, describe(&*source)),
        Err(error) => refused(info.name, &error, hidden),
    };
    SOURCES.iter().map(probe).collect()
}

fn usable(name: &'static str, detail: String) -> SourceProbe {
    SourceProbe { name, usable: true, detail, fix: None }
}

/// In a virtual machine the CPU's counters are absent for good: its hypervisor keeps them.
fn refused(name: &'static str, error: &PowerError, virtual_machine: bool) -> SourceProbe {
    let said = chain(error);
    let mut detail = said.strip_prefix(&format!("{name}: ")).unwrap_or(&said).to_owned();
    let absent = matches!(error, PowerError::Absent { .. } | PowerError::Module { .. });
    let hidden = virtual_machine && absent && [RAPL, RAPL_PERF].contains(&name);
    if hidden {
        detail.push_str("; a virtual machine's hypervisor keeps the counters to itself");
    }
    SourceProbe { name, usable: false, detail, fix: if hidden { None } else { fix(name, error) } }
}

fn describe(source: &dyn PowerSource) -> String {
    let ids = |in_total: bool| {
        let ids = source.domains().iter().filter(|(d, _)| d.in_total == in_total).map(|(d, _)| d.id.as_str());
        ids.collect::<Vec<_>>().join(", ")
    };
    let left_out: Vec<_> = source.excluded().iter().map(|e| format!("{} ({})", e.zone, e.reason)).collect();
    let parts = [("", ids(true)), ("beside the total: ", ids(false)), ("left out: ", left_out.join(", "))];
    let said =
        parts.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| format!("{label}{text}"));
    said.collect::<Vec<_>>().join("; ")
}

fn notes(source: &dyn PowerSource) -> String {
    source.domains().iter().filter_map(|(domain, _)| domain.note.clone()).collect::<Vec<_>>().join("; ")
}

/// The step that would enable a source.
fn fix(name: &str, error: &PowerError) -> Option<String> {
    match error {
        PowerError::Permission { paths } => Some(format!("sudo chmod a+r {}", words(paths))),
        PowerError::Forbidden { .. } => Some("sudo sysctl kernel.perf_event_paranoid=0".to_owned()),
        PowerError::Masked { .. } => Some(
            "start the container with `-v /sys:/host/sys:ro -v /proc:/host/proc:ro -e PERWATT_SYSFS_ROOT=/host`".to_owned(),
        ),
        PowerError::Module { module, .. } if cfg!(target_os = "linux") => Some(format!("sudo modprobe {module}")),
        PowerError::Absent { .. } if name == RAPL && cfg!(target_os = "linux") => {
            Some("sudo modprobe intel_rapl_msr".to_owned())
        }
        PowerError::Unusable { .. } if name == BATTERY => Some("unplug the charger".to_owned()),
        _ => None,
    }
}

fn words(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| quoted(&path.display().to_string())).collect::<Vec<_>>().join(" ")
}

/// Quotes what a shell would split or expand.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// An error with its causes, on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}
