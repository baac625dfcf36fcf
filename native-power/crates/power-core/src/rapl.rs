//! Intel and AMD energy counters, through Linux powercap.
//!
//! See <https://docs.kernel.org/power/powercap/powercap.html>. The kernel calls a domain a *zone*, and numbers zones in
//! hexadecimal; both stay in this file. What a zone covers is told by its `name`, never by its number.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    Booking, Clock, CounterSpec, Domain, Joules, Kind, Nanos, PowerError, PowerSource, Provenance, Reading,
    Scope, Value,
    dies::same_counter,
    file::{CountFile, Open, open_file, read_count, read_text},
    platform::{PLATFORM_BELOW_PACKAGES, PlatformCheck},
};

/// The source's name.
pub const RAPL: &str = "rapl-powercap";

const UPDATE_PERIOD: Nanos = Nanos::from_millis(1);
/// Long enough for a counter to be renewed between two looks.
const LOOK: Duration = Duration::from_millis(2);
const LEAST_CAP_UW: u64 = 500_000_000;
const DEFAULT_CAP_UW: u64 = 2_000_000_000;
const SYSTEM_CAP_UW: u64 = 10_000_000_000;

/// The powercap zones of a host.
pub struct Rapl {
    domains: Vec<(Domain, Booking)>,
    counts: Vec<CountFile>,
    excluded: Vec<Excluded>,
    platform: PlatformCheck,
}

/// A zone that is not recorded, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// The zone's folder name, for instance `intel-rapl-mmio:0`.
    pub zone: String,
    /// Why it is left out.
    pub reason: String,
}

#[derive(Clone, Debug)]
struct Zone {
    dir: PathBuf,
    folder: String,
    mmio: bool,
    number: Vec<u32>,
    name: String,
}

impl Rapl {
    /// Opens every zone under `root` (normally `/`) that means something to us.
    pub fn open(root: &Path) -> Result<Self, PowerError> {
        Self::open_with(root, open_file)
    }

    pub(crate) fn open_with(root: &Path, open: Open) -> Result<Self, PowerError> {
        Self::open_paced(root, open, || thread::sleep(LOOK))
    }

    /// `pause` lets counters grow, where it must be found out whether two are one.
    pub(crate) fn open_paced(root: &Path, open: Open, pause: fn()) -> Result<Self, PowerError> {
        let (zones, mut excluded) = without_duplicates(&find_zones(root, open)?);
        let (mut domains, mut counts, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for zone in &zones {
            let Some((scope, in_total, note)) = meaning(&zone.name) else {
                excluded.push(Excluded {
                    zone: zone.folder.clone(),
                    reason: format!("unknown name {:?}", zone.name),
                });
                continue;
            };
            match CountFile::open(zone.dir.join("energy_uj"), open) {
                Ok(count) => {
                    domains.push(zone.describe(scope, in_total, note, open));
                    counts.push(count);
                }
                Err(PowerError::Permission { paths }) => refused.extend(paths),
                Err(other) if in_total => return Err(other),
                Err(other) => {
                    excluded.push(Excluded { zone: zone.folder.clone(), reason: other.to_string() });
                }
            }
        }
        if !refused.is_empty() {
            return Err(PowerError::Permission { paths: refused });
        }
        if !domains.iter().any(|(domain, _)| domain.in_total) {
            return Err(PowerError::Absent { source_name: RAPL, path: class_dir(root) });
        }
        let mut rapl = Self { domains, counts, excluded, platform: PlatformCheck::default() };
        rapl.drop_twin_dies(pause);
        rapl.platform = PlatformCheck::of(&rapl.domains);
        Ok(rapl)
    }

    /// Of dies that show one counter, only the first is kept.
    fn drop_twin_dies(&mut self, pause: fn()) {
        let mut later = 1;
        while later < self.domains.len() {
            let earlier = (0..later).find(|earlier| {
                let alike = self.dies_of_one_package(*earlier, later);
                let (first, second) = self.counts.split_at_mut(later);
                let pair = first.get_mut(*earlier).zip(second.first_mut());
                alike && pair.is_some_and(|(a, b)| same_counter(a, b, pause))
            });
            if let Some(earlier) = earlier {
                let (twin, _) = self.domains.remove(later);
                self.counts.remove(later);
                let reason = format!("duplicate die: counts what {} counts", self.domains[earlier].0.id);
                self.excluded.push(Excluded { zone: twin.id, reason });
            } else {
                later += 1;
            }
        }
    }

    fn dies_of_one_package(&self, a: usize, b: usize) -> bool {
        let package = |k: usize| {
            let (_, name) = self.domains.get(k)?.0.id.rsplit_once(':')?;
            name.split_once("-die-").map(|(package, _)| package)
        };
        package(a).is_some() && package(a) == package(b)
    }

    /// Zones that are not recorded.
    pub fn excluded(&self) -> &[Excluded] {
        &self.excluded
    }
}

impl PowerSource for Rapl {
    fn name(&self) -> &'static str {
        RAPL
    }

    fn provenance(&self) -> Provenance {
        Provenance::Counter
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.domains
    }

    fn excluded(&self) -> &[Excluded] {
        &self.excluded
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        let start = out.len();
        let mut before = clock.now();
        for (domain, count) in (0..).zip(&mut self.counts) {
            let value = match count.read() {
                Ok(uj) => Value::Counter { raw: uj, uj },
                Err(missing) => Value::Missing(missing),
            };
            let after = clock.now();
            out.push(Reading { domain, before, after, value });
            before = after;
        }
        self.platform.see(&mut out[start..]);
        Ok(())
    }

    fn flags(&self) -> Vec<String> {
        self.platform.failed().then(|| PLATFORM_BELOW_PACKAGES.to_owned()).into_iter().collect()
    }
}

impl Zone {
    fn describe(&self, scope: Scope, in_total: bool, note: Option<&str>, open: Open) -> (Domain, Booking) {
        let cap_uw = if scope == Scope::System { SYSTEM_CAP_UW } else { self.cap_uw(open) };
        let max_uj = read_count(&self.dir.join("max_energy_range_uj"), open).filter(|max| *max > 0);
        let spec = CounterSpec { max_uj, cap_uw, update_period: UPDATE_PERIOD };
        let interface = if self.mmio { "rapl-mmio" } else { "rapl" };
        let number: Vec<_> = self.number.iter().map(|n| format!("{n:x}")).collect();
        let domain = Domain {
            id: format!("{interface}:{}:{}", number.join(":"), self.name),
            scope,
            kind: Kind::Counter,
            provenance: Provenance::Counter,
            in_total,
            update_period: UPDATE_PERIOD,
            quantum: spec.lsb_uj().map(|lsb| Joules::from_micros(lsb).get()),
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: "uJ",
            note: note.map(str::to_owned),
        };
        (domain, Booking::Counter(spec))
    }

    /// Twice the greatest power that the zone can be limited to.
    fn cap_uw(&self, open: Open) -> u64 {
        let greatest = (0..10)
            .filter_map(|k| read_count(&self.dir.join(format!("constraint_{k}_max_power_uw")), open))
            .max()
            .filter(|power| *power > 0);
        greatest.map_or(DEFAULT_CAP_UW, |power| power.saturating_mul(2).max(LEAST_CAP_UW))
    }

    /// The name of the zone it lies in: two sockets both have a `dram`.
    fn place<'a>(&'a self, all: &'a [Self]) -> (Option<&'a str>, &'a str) {
        let parent = all.iter().find(|zone| {
            zone.mmio == self.mmio
                && zone.number.len() + 1 == self.number.len()
                && self.number.starts_with(&zone.number)
        });
        (parent.map(|zone| zone.name.as_str()), &self.name)
    }
}

/// What a zone covers, whether it is part of the total, and what a reader should know.
/// `package-0-die-1` is one die of a package; `core` and `uncore` lie inside it, `psys` around it.
pub(crate) fn meaning(name: &str) -> Option<(Scope, bool, Option<&'static str>)> {
    match name.split('-').next()? {
        "package" => Some((Scope::Package, true, None)),
        "dram" => Some((Scope::Dram, true, None)),
        "core" | "uncore" => Some((Scope::Cpu, false, Some("lies inside the package; never added to it"))),
        "psys" => Some((
            Scope::System,
            false,
            Some("the platform as its maker wired it; holds the package; never added to it"),
        )),
        _ => None,
    }
}

fn class_dir(root: &Path) -> PathBuf {
    root.join("sys/class/powercap")
}

fn find_zones(root: &Path, open: Open) -> Result<Vec<Zone>, PowerError> {
    let class = class_dir(root);
    let entries = match fs::read_dir(&class) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(PowerError::Absent { source_name: RAPL, path: class });
        }
        Err(error) => return Err(PowerError::io(class, error)),
    };
    let folders: BTreeSet<String> =
        entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    if folders.is_empty() {
        return Err(PowerError::Masked { source_name: RAPL, path: class });
    }
    let (mut zones, mut seen) = (Vec::new(), BTreeSet::new());
    for folder in folders {
        let Some((mmio, number)) = zone_number(&folder) else { continue };
        let dir = class.join(&folder);
        let real = match fs::canonicalize(&dir) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(PowerError::Masked { source_name: RAPL, path: dir });
            }
            Err(error) => return Err(PowerError::io(dir, error)),
        };
        if seen.insert(real) {
            let name = read_text(&dir.join("name"), open)?;
            zones.push(Zone { dir, folder, mmio, number, name });
        }
    }
    zones.sort_by(|a, b| (a.mmio, &a.number).cmp(&(b.mmio, &b.number)));
    if zones.is_empty() {
        return Err(PowerError::Absent { source_name: RAPL, path: class.join("intel-rapl:0") });
    }
    Ok(zones)
}

/// `intel-rapl:a:1` → not mmio, [10, 1]. None for control types and other drivers.
pub(crate) fn zone_number(folder: &str) -> Option<(bool, Vec<u32>)> {
    let (mmio, numbers) = match folder.strip_prefix("intel-rapl-mmio:") {
        Some(rest) => (true, rest),
        None => (false, folder.strip_prefix("intel-rapl:")?),
    };
    let numbers: Option<Vec<u32>> = numbers.split(':').map(|n| u32::from_str_radix(n, 16).ok()).collect();
    Some((mmio, numbers?))
}

/// The memory-mapped interface shows packages a second time; it is dropped by name, for the two are read at different
/// moments and need not be equal.
fn without_duplicates(zones: &[Zone]) -> (Vec<Zone>, Vec<Excluded>) {
    let direct: BTreeSet<(Option<String>, String)> = zones
        .iter()
        .filter(|zone| !zone.mmio)
        .map(|zone| {
            let (parent, name) = zone.place(zones);
            (parent.map(str::to_owned), name.to_owned())
        })
        .collect();
    let twice = |zone: &Zone| {
        let (parent, name) = zone.place(zones);
        zone.mmio && direct.contains(&(parent.map(str::to_owned), name.to_owned()))
    };
    let excluded = zones
        .iter()
        .filter(|zone| twice(zone))
        .map(|zone| Excluded {
            zone: zone.folder.clone(),
            reason: format!("duplicate interface: intel-rapl has {} already", zone.name),
        })
        .collect();
    (zones.iter().filter(|zone| !twice(zone)).cloned().collect(), excluded)
}

#[cfg(test)]
#[path = "rapl_tests.rs"]
mod tests;
