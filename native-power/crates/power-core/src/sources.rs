//! The sources there are, and what stands in the way of each.

use std::path::{Path, PathBuf};

use crate::{CpuFacts, ESTIMATE, Estimator, Nanos, PowerError, PowerSource, Provenance, RAPL, Rapl};

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
pub const SOURCES: [SourceInfo; 2] = [
    SourceInfo { name: RAPL, provenance: Provenance::Counter, default_period: Nanos::from_millis(100) },
    SourceInfo { name: ESTIMATE, provenance: Provenance::Estimated, default_period: Nanos::from_millis(500) },
];

/// Opens the source of this name on the tree under `root`, normally `/`.
pub fn open_source(name: &str, root: &Path) -> Result<Box<dyn PowerSource>, PowerError> {
    match name {
        RAPL => Ok(Box::new(Rapl::open(root)?)),
        ESTIMATE => Ok(Box::new(Estimator::open(root)?)),
        _ => Err(PowerError::UnknownSource { name: name.to_owned() }),
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
    vec![
        match Rapl::open(root) {
            Ok(rapl) => usable(RAPL, describe(&rapl)),
            Err(error) => refused_rapl(&error, root),
        },
        match Estimator::open(root) {
            Ok(estimator) => usable(ESTIMATE, notes(&estimator)),
            Err(error) => refused(ESTIMATE, &error, None),
        },
    ]
}

fn usable(name: &'static str, detail: String) -> SourceProbe {
    SourceProbe { name, usable: true, detail, fix: None }
}

fn refused(name: &'static str, error: &PowerError, fix: Option<String>) -> SourceProbe {
    let said = chain(error);
    let detail = said.strip_prefix(&format!("{name}: ")).unwrap_or(&said).to_owned();
    SourceProbe { name, usable: false, detail, fix }
}

/// In a virtual machine counters are absent for good: its hypervisor keeps them.
fn refused_rapl(error: &PowerError, root: &Path) -> SourceProbe {
    let mut probe = refused(RAPL, error, rapl_fix(error, root));
    if matches!(error, PowerError::Absent { .. }) && CpuFacts::read(root).virtual_machine {
        probe.detail.push_str("; a virtual machine's hypervisor keeps the counters to itself");
    }
    probe
}

fn describe(rapl: &Rapl) -> String {
    let ids = |in_total: bool| {
        let ids = rapl.domains().iter().filter(|(d, _)| d.in_total == in_total).map(|(d, _)| d.id.as_str());
        ids.collect::<Vec<_>>().join(", ")
    };
    let left_out: Vec<_> = rapl.excluded().iter().map(|e| format!("{} ({})", e.zone, e.reason)).collect();
    let parts = [("", ids(true)), ("beside the total: ", ids(false)), ("left out: ", left_out.join(", "))];
    let said =
        parts.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| format!("{label}{text}"));
    said.collect::<Vec<_>>().join("; ")
}

fn notes(source: &dyn PowerSource) -> String {
    source.domains().iter().filter_map(|(domain, _)| domain.note.clone()).collect::<Vec<_>>().join("; ")
}

fn rapl_fix(error: &PowerError, root: &Path) -> Option<String> {
    match error {
        PowerError::Permission { paths } => Some(format!("sudo chmod a+r {}", words(paths))),
        PowerError::Masked { .. } => Some(
            "start the container with `-v /sys:/host/sys:ro -v /proc:/host/proc:ro -e PERWATT_SYSFS_ROOT=/host`".to_owned(),
        ),
        PowerError::Absent { .. } if !CpuFacts::read(root).virtual_machine && cfg!(target_os = "linux") => {
            Some("sudo modprobe intel_rapl_msr".to_owned())
        }
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
