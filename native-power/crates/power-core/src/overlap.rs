//! Which of the readable sources are used together when none is named.
//!
//! Several interfaces show one counter, and some sensors see what others see in part. To add them up would count energy
//! twice, and energy of counters is never added to integrated power; so the most trustworthy of each kind is taken, and
//! of the others it is said why they are not.

use crate::{ACPI_METER, AMD_ENERGY, AMDGPU, BATTERY, EMI, INTEL_GPU, JETSON, Provenance, RAPL, RAPL_PERF};

/// A source that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Whether it can be read.
    pub usable: bool,
}

/// For each candidate, of two equal ones the more trustworthy first: why it is not used unless it is named. None for those that are used, and for those that can't be
/// read at all.
pub fn left_unused(candidates: &[Candidate]) -> Vec<Option<String>> {
    let mut reasons = vec![None; candidates.len()];
    let mut order: Vec<_> = candidates.iter().zip(&mut reasons).filter(|(c, _)| c.usable).collect();
    order.sort_by_key(|(candidate, _)| rank(candidate));
    let mut used = Vec::new();
    for (candidate, place) in order {
        *place = reason(candidate, &used);
        if place.is_none() {
            used.push(*candidate);
        }
    }
    reasons
}

/// Two of these sources that must not be used together, for their energy would be counted twice.
pub fn clash<'a>(names: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let later = |(k, a): (usize, &&'a str)| {
        names.iter().skip(k + 1).find(|b| same_sensor(a, b) || a == *b).map(|b| (*a, *b))
    };
    names.iter().enumerate().find_map(later)
}

/// Parts before what holds them, counters before sensors, guesses last.
fn rank(candidate: &Candidate) -> (bool, bool, bool) {
    let estimated = candidate.provenance == Provenance::Estimated;
    (estimated, holds_others(candidate.name), candidate.provenance != Provenance::Counter)
}

fn reason(candidate: &Candidate, used: &[Candidate]) -> Option<String> {
    let measured = || used.iter().find(|other| other.provenance != Provenance::Estimated);
    if let Some(other) = used.iter().find(|other| same_sensor(other.name, candidate.name)) {
        return Some(format!("shows again what {} shows", other.name));
    }
    let first = measured()?;
    if candidate.provenance == Provenance::Estimated {
        return Some(format!("a guess isn't needed beside {}", first.name));
    }
    if holds_others(candidate.name) {
        return Some(format!("holds what {} shows", first.name));
    }
    let tier = |other: &&Candidate| other.provenance == candidate.provenance;
    if used.iter().any(|other| tier(&other)) {
        return None;
    }
    Some(format!("integrated power isn't added to the energy of {}", first.name))
}

/// The counters of a CPU by several interfaces; AMD's and Intel's graphics by two.
fn same_sensor(a: &str, b: &str) -> bool {
    let kinds: [&[&str]; 3] =
        [&[RAPL, RAPL_PERF, AMD_ENERGY, EMI], &["amd-smi", AMDGPU], &[INTEL_GPU, "level-zero"]];
    kinds.iter().any(|kind| kind.contains(&a) && kind.contains(&b))
}

/// What sees a whole host or board.
fn holds_others(name: &str) -> bool {
    [JETSON, ACPI_METER, BATTERY].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::{Candidate, clash, left_unused};
    use crate::{Provenance, SOURCES};

    /// Names of the sources that are used when those in `readable` can be read.
    fn used(readable: &[&str]) -> Vec<&'static str> {
        let mut candidates: Vec<_> = SOURCES
            .iter()
            .map(|info| Candidate {
                name: info.name,
                provenance: info.provenance,
                usable: readable.contains(&info.name),
            })
            .collect();
        let vendors = ["nvml", "amd-smi", "level-zero"].map(|name| Candidate {
            name,
            provenance: Provenance::Counter,
            usable: readable.contains(&name),
        });
        candidates.extend(vendors);
        let unused = left_unused(&candidates);
        let is_used =
            |(candidate, unused): &(&Candidate, &Option<String>)| candidate.usable && unused.is_none();
        candidates.iter().zip(&unused).filter(is_used).map(|(candidate, _)| candidate.name).collect()
    }

    #[test]
    fn no_energy_is_counted_twice_and_no_tiers_are_mixed() {
        #[rustfmt::skip]
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("nothing",                          &[],                                                   &[]),
            ("four doors to one counter",        &["rapl-powercap", "rapl-perf", "amd-energy"],         &["rapl-powercap"]),
            ("the first door is shut",           &["rapl-perf", "amd-energy"],                          &["rapl-perf"]),
            ("the last door",                    &["amd-energy"],                                       &["amd-energy"]),
            ("CPU and GPU by counters",          &["rapl-perf", "nvml", "intel-gpu-hwmon"],             &["rapl-perf", "intel-gpu-hwmon", "nvml"]),
            ("a GPU by two doors",               &["amd-smi", "amdgpu-hwmon"],                          &["amd-smi"]),
            ("Intel's GPU by two doors",         &["intel-gpu-hwmon", "level-zero"],                   &["intel-gpu-hwmon"]),
            ("Intel's GPU by the other door",    &["rapl-powercap", "level-zero", "nvml"],             &["rapl-powercap", "nvml", "level-zero"]),
            ("a GPU by power alone",             &["amdgpu-hwmon"],                                     &["amdgpu-hwmon"]),
            ("power beside a counter",           &["rapl-powercap", "amdgpu-hwmon"],                    &["rapl-powercap"]),
            ("the host beside its parts",        &["rapl-powercap", "acpi-power-meter", "battery"],     &["rapl-powercap"]),
            ("the host by two meters",           &["acpi-power-meter", "battery"],                      &["acpi-power-meter"]),
            ("a laptop without counters",        &["battery", "estimate-cpu-load"],                     &["battery"]),
            ("a host and its GPU, by power",     &["amdgpu-hwmon", "acpi-power-meter"],                 &["amdgpu-hwmon"]),
            ("a board and a laptop's battery",   &["jetson-rails", "battery"],                          &["jetson-rails"]),
            ("the guess, last",                  &["estimate-cpu-load"],                                &["estimate-cpu-load"]),
        ];
        for (why, readable, expected) in cases {
            assert_eq!(&used(readable), expected, "{why}");
        }
    }

    #[test]
    fn named_sources_must_not_show_the_same() {
        assert_eq!(clash(&["rapl-powercap", "nvml", "rapl-perf"]), Some(("rapl-powercap", "rapl-perf")));
        assert_eq!(clash(&["battery", "battery"]), Some(("battery", "battery")));
        assert_eq!(clash(&["rapl-powercap", "nvml", "amdgpu-hwmon", "battery"]), None);
        assert_eq!(clash(&[]), None);
    }

    #[test]
    fn says_why_a_source_is_not_used() {
        let candidate = |name, provenance| Candidate { name, provenance, usable: true };
        let unused = left_unused(&[
            candidate("rapl-powercap", Provenance::Counter),
            candidate("rapl-perf", Provenance::Counter),
            candidate("amdgpu-hwmon", Provenance::Integrated),
            candidate("battery", Provenance::Integrated),
            candidate("estimate-cpu-load", Provenance::Estimated),
        ]);
        let said: Vec<_> = unused.iter().map(|reason| reason.as_deref().unwrap_or("used")).collect();
        assert_eq!(
            said,
            [
                "used",
                "shows again what rapl-powercap shows",
                "integrated power isn't added to the energy of rapl-powercap",
                "holds what rapl-powercap shows",
                "a guess isn't needed beside rapl-powercap",
            ]
        );
    }
}
