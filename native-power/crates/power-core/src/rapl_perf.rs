//! The counters of powercap once more, through the kernel's performance events. They count from 0 in 64 bits, and need a
//! setting instead of a file's mode.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    Booking, CounterSpec, Domain, Kind, Missing, Nanos, PowerError, Provenance, Scope, Sensors, Value,
    file::{Open, ReadAgain, missing_because, open_file, read_count, read_text},
    sysfs::{Finder, Input},
};

/// The source's name.
pub const RAPL_PERF: &str = "rapl-perf";

const UPDATE_PERIOD: Nanos = Nanos::from_millis(1);
const CAP_UW: u64 = 2_000_000_000;
const SYSTEM_CAP_UW: u64 = 10_000_000_000;

/// Opens the event of this kind and configuration on a CPU.
type OpenEvent = fn(u32, u64, u32) -> io::Result<Box<dyn ReadAgain>>;

/// One of the events there may be: its file, what it covers, whether it is part of the total, a remark.
type Event = (&'static str, Scope, bool, Option<&'static str>);

const INSIDE: Option<&str> = Some("lies inside the package; never added to it");
const EVENTS: [Event; 5] = [
    ("pkg", Scope::Package, true, None),
    ("ram", Scope::Dram, true, None),
    ("cores", Scope::Cpu, false, INSIDE),
    ("gpu", Scope::Cpu, false, INSIDE),
    (
        "psys",
        Scope::System,
        false,
        Some("the platform as its maker wired it; holds the package; never added to it"),
    ),
];

/// Opens the energy events that the tree under `root`, normally `/`, names. They are counted by this kernel, whatever
/// the root.
pub fn open_rapl_perf(root: &Path) -> Result<Sensors, PowerError> {
    open_with(root, open_file, |kind, config, cpu| {
        Ok(Box::new(Counter(power_sys::open_cpu_event(kind, config, cpu)?)))
    })
}

struct Counter(File);

impl ReadAgain for Counter {
    fn read_again(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(buffer)
    }
}

fn open_with(root: &Path, open: Open, open_event: OpenEvent) -> Result<Sensors, PowerError> {
    let device = root.join("sys/bus/event_source/devices/power");
    if !device.exists() {
        return Err(PowerError::Module { source_name: RAPL_PERF, path: device, module: "rapl" });
    }
    let kind = number(&device.join("type"), open)?;
    let cpus = cpu_list(&device.join("cpumask"), open)?;
    let places = places(root, &cpus, open);
    let package = device.join("events/energy-pkg");
    if !package.exists() {
        return Err(PowerError::Absent { source_name: RAPL_PERF, path: package });
    }
    let mut finder = Finder::new(RAPL_PERF, Provenance::Counter, package);
    for (name, scope, in_total, note) in EVENTS {
        let file = device.join(format!("events/energy-{name}"));
        if !file.exists() {
            continue;
        }
        let (config, scale) = (config(&file, open)?, scale(&device, name, open)?);
        let cap_uw = if scope == Scope::System { SYSTEM_CAP_UW } else { CAP_UW };
        let spec = CounterSpec { max_uj: None, cap_uw, update_period: UPDATE_PERIOD };
        for (cpu, place) in cpus.iter().zip(&places) {
            let domain = Domain {
                id: format!("{RAPL_PERF}:{place}:{name}"),
                scope,
                kind: Kind::Counter,
                provenance: Provenance::Counter,
                in_total,
                update_period: UPDATE_PERIOD,
                quantum: None,
                scale_error_ratio: None,
                sensing_share: None,
                raw_unit: "counts",
                note: note.map(str::to_owned),
            };
            match open_event(kind, config, *cpu) {
                Ok(event) => finder.add(domain, Booking::Counter(spec), Ok(input(event, scale))),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(forbidden(root, open));
                }
                // Some kernels name memory that the chip doesn't count.
                Err(error) if name == "pkg" => return Err(PowerError::Io { path: file, source: error }),
                Err(error) => finder.leave_out(domain.id, format!("named by the kernel, but {error}")),
            }
        }
    }
    finder.finish(None)
}

fn input(event: Box<dyn ReadAgain>, scale: f64) -> Input {
    Box::new(move || {
        let mut bytes = [0; 8];
        match event.read_again(&mut bytes) {
            Ok(8) => {
                let raw = u64::from_ne_bytes(bytes);
                Value::Counter { raw, uj: microjoules(raw, scale) }
            }
            Ok(_) => Value::Missing(Missing::Parse),
            Err(error) => Value::Missing(missing_because(&error)),
        }
    })
}

/// `scale` is joules per count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "exact to a microjoule below 9 GJ, and saturates"
)]
fn microjoules(counts: u64, scale: f64) -> u64 {
    (counts as f64 * scale * 1e6) as u64
}

fn forbidden(root: &Path, open: Open) -> PowerError {
    let path = root.join("proc/sys/kernel/perf_event_paranoid");
    let value = read_text(&path, open).unwrap_or_else(|_| "unknown".to_owned());
    PowerError::Forbidden {
        source_name: RAPL_PERF,
        setting: format!("kernel.perf_event_paranoid is {value}"),
    }
}

pub(crate) fn number(path: &Path, open: Open) -> Result<u32, PowerError> {
    let text = read_text(path, open)?;
    text.parse().map_err(|_| PowerError::Malformed { path: path.to_owned(), text })
}

/// `event=0x02` → 2.
pub(crate) fn config(path: &Path, open: Open) -> Result<u64, PowerError> {
    let text = read_text(path, open)?;
    let code = text.strip_prefix("event=0x").and_then(|code| u64::from_str_radix(code, 16).ok());
    code.ok_or_else(|| PowerError::Malformed { path: path.to_owned(), text })
}

/// Joules per count.
pub(crate) fn scale(device: &Path, name: &str, open: Open) -> Result<f64, PowerError> {
    let path = device.join(format!("events/energy-{name}.scale"));
    let text = read_text(&path, open)?;
    let scale = text.parse().ok().filter(|scale: &f64| *scale > 0.0 && *scale <= 1.0);
    scale.ok_or(PowerError::Malformed { path, text })
}

/// One CPU of each package, or of each die where packages have several: `0,28` or `0-1`.
pub(crate) fn cpu_list(path: &Path, open: Open) -> Result<Vec<u32>, PowerError> {
    const MOST: u32 = 1 << 16;
    let text = read_text(path, open)?;
    let mut cpus = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse::<u32>(), last.parse::<u32>()) {
            (Ok(first), Ok(last)) if last < MOST => cpus.extend(first..=last),
            _ => return Err(PowerError::Malformed { path: path.to_owned(), text }),
        }
    }
    Ok(cpus.into_iter().collect())
}

/// `package-0`, or `package-0-die-1` where two of the CPUs sit in one package.
fn places(root: &Path, cpus: &[u32], open: Open) -> Vec<String> {
    let topology = |cpu: &u32, file: &str| -> Option<u64> {
        let folder: PathBuf = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
        read_count(&folder.join(file), open)
    };
    let packages: Vec<_> = cpus.iter().map(|cpu| topology(cpu, "physical_package_id")).collect();
    let place = |(cpu, package): (&u32, &Option<u64>)| match package {
        None => format!("cpu-{cpu}"),
        Some(number) if packages.iter().filter(|other| *other == package).count() < 2 => {
            format!("package-{number}")
        }
        Some(number) => {
            let die =
                topology(cpu, "die_id").map_or_else(|| format!("cpu-{cpu}"), |die| format!("die-{die}"));
            format!("package-{number}-{die}")
        }
    };
    cpus.iter().zip(&packages).map(place).collect()
}

#[cfg(all(test, unix))]
#[path = "rapl_perf_tests.rs"]
mod tests;
