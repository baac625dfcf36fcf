//! Every source of this build: those of the core, which read files, and those behind vendors' libraries.

use std::path::Path;

use power_core::{PowerError, PowerSource, Provenance, SourceInfo, SourceProbe};
use power_vendor::{Libraries, VENDOR_SOURCES, open_vendor_source, probe_vendor_sources};

/// The most trustworthy first: counters before power that is integrated, a guess last.
pub fn source_infos() -> Vec<SourceInfo> {
    merged(&power_core::SOURCES, VENDOR_SOURCES)
}

/// Opens the source of this name.
pub fn open_source(
    name: &str,
    root: &Path,
    libraries: &Libraries,
) -> Result<Box<dyn PowerSource>, PowerError> {
    open_vendor_source(name, root, libraries).unwrap_or_else(|| power_core::open_source(name, root))
}

/// Tries every source, in the order of `source_infos`.
pub fn probe_sources(root: &Path, libraries: &Libraries) -> Vec<SourceProbe> {
    merged(&power_core::probe_sources(root), &probe_vendor_sources(root, libraries))
}

/// Vendors' counters come behind the core's.
fn merged<T: Clone>(core: &[T], vendors: &[T]) -> Vec<T> {
    let counters =
        power_core::SOURCES.iter().take_while(|info| info.provenance == Provenance::Counter).count();
    let (first, rest) = core.split_at(counters.min(core.len()));
    [first, vendors, rest].concat()
}
