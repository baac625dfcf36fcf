//! How the CPUs of a host fare.

use std::{collections::BTreeSet, fs, path::Path};

use super::{
    Found, Input, chips::temperatures_labelled, info, milli_celsius, number, numbered, scaled, slug,
};
use crate::{
    ChannelUnit, ChannelValue, Missing,
    file::{Open, read_count, read_text},
    sysfs::channels::number::NumberFile,
};

/// To read the clock of a CPU can interrupt it: of many, a few are looked at.
const MOST_CLOCKS: usize = 16;

/// Temperatures, clock and throttling.
pub fn conditions(root: &Path, open: Open) -> Found {
    let mut found = packages(root, open);
    if found.is_empty() {
        found = zones(root, of_cpu, open);
    }
    found.extend(clock(root, open));
    found.extend(throttling(root, open));
    found
}

/// Power limits that powercap states for a package or the platform.
pub fn limits(root: &Path, open: Open) -> Found {
    let class = root.join("sys/class/powercap");
    let mut found = Vec::new();
    for (_, zone) in numbered(&class, "intel-rapl:") {
        let Ok(name) = read_text(&zone.join("name"), open) else { continue };
        for k in 0..4 {
            let Ok(limit) = read_text(&zone.join(format!("constraint_{k}_name")), open) else { continue };
            let about =
                info(&format!("cpu:{name}"), format!("{}_power_limit_w", slug(&limit)), ChannelUnit::Watts);
            let path = zone.join(format!("constraint_{k}_power_limit_uw"));
            found.extend(number(about, &path, open, |uw| scaled(uw, 1e-6)));
        }
    }
    found
}

/// Intel's chip calls a package by its number; of AMD's, one stands in each package.
fn packages(root: &Path, open: Open) -> Found {
    let intel = temperatures_labelled(root, &["coretemp"], open, |_, label| {
        let number: u32 = label.strip_prefix("Package id ")?.parse().ok()?;
        Some(info(&format!("cpu:package-{number}"), "package_temp_c", ChannelUnit::Celsius))
    });
    let amd = temperatures_labelled(root, &["k10temp", "zenpower"], open, |at, label| {
        Some(info(&format!("cpu:package-{at}"), format!("{}_temp_c", slug(label)), ChannelUnit::Celsius))
    });
    [intel, amd].into_iter().flatten().collect()
}

fn of_cpu(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    ["cpu", "pkg", "soc"].iter().any(|part| kind.contains(part))
}

/// Thermal zones whose kind is wanted. Of zones of one kind, the later ones carry their number.
pub fn zones(root: &Path, wanted: impl Fn(&str) -> bool, open: Open) -> Found {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (number_of_zone, zone) in numbered(&root.join("sys/class/thermal"), "thermal_zone") {
        let Ok(kind) = read_text(&zone.join("type"), open) else { continue };
        if !wanted(&kind) {
            continue;
        }
        let name = slug(&kind);
        let name = name.strip_suffix("_temp").unwrap_or(&name).to_owned();
        let name = if seen.insert(name.clone()) { name } else { format!("{name}_{number_of_zone}") };
        let about = info("cpu", format!("{name}_temp_c"), ChannelUnit::Celsius);
        found.extend(number(about, &zone.join("temp"), open, milli_celsius));
    }
    found
}

/// The mean over the policies looked at, spread over all of them.
fn clock(root: &Path, open: Open) -> Found {
    let policies = numbered(&root.join("sys/devices/system/cpu/cpufreq"), "policy");
    let step = policies.len().div_ceil(MOST_CLOCKS).max(1);
    let path = |(_, policy): &(u32, std::path::PathBuf)| policy.join("scaling_cur_freq");
    let mut files: Vec<_> =
        policies.iter().step_by(step).map(|policy| NumberFile::new(path(policy), open)).collect();
    files.retain_mut(|file| file.read().is_ok());
    if files.is_empty() {
        return Vec::new();
    }
    let input: Input = Box::new(move || mean_khz(&mut files));
    vec![(info("cpu", "mean_clock_hz", ChannelUnit::Hertz), input)]
}

/// A policy that gives no number, as of a CPU that is off, leaves the mean to the others.
fn mean_khz(files: &mut [NumberFile]) -> ChannelValue {
    let (mut sum, mut count, mut why) = (0.0, 0.0, Missing::Absent);
    for file in files {
        match file.read() {
            Ok(khz) => (sum, count) = (sum + khz, count + 1.0),
            Err(missing) => why = missing,
        }
    }
    if count > 0.0 { scaled(sum / count, 1e3) } else { ChannelValue::Missing(why) }
}

/// How often each package slowed down for its heat, since the start of the system: asked of one CPU of each.
fn throttling(root: &Path, open: Open) -> Found {
    let cpus = root.join("sys/devices/system/cpu");
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (_, cpu) in numbered(&cpus, "cpu") {
        let count = cpu.join("thermal_throttle/package_throttle_count");
        if fs::metadata(&count).is_err() {
            continue;
        }
        let Some(package) = read_count(&cpu.join("topology/physical_package_id"), open) else { continue };
        if seen.insert(package) {
            let about = info(&format!("cpu:package-{package}"), "thermal_throttle_count", ChannelUnit::One);
            found.extend(number(about, &count, open, |count| scaled(count, 1.0)));
        }
    }
    found
}
