use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process,
};

use kernels_core::DeviceId;

use super::*;
use crate::protocol::Places;

/// A tree as powercap shows it: a package, and its cores within.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> io::Result<Self> {
        let root = std::env::temp_dir().join(format!("perwatt-{}-{name}", process::id()));
        let zone = root.join("sys/class/powercap/intel-rapl:0");
        let tree = Self(root);
        Self::write(&zone, "package-0", 1_000_000)?;
        Self::write(&zone.join("intel-rapl:0:0"), "core", 500_000)?;
        Ok(tree)
    }

    fn write(zone: &Path, name: &str, energy_uj: u64) -> io::Result<()> {
        fs::create_dir_all(zone)?;
        fs::write(zone.join("name"), name)?;
        fs::write(zone.join("energy_uj"), energy_uj.to_string())?;
        fs::write(zone.join("max_energy_range_uj"), "262143328850")
    }

    fn package(&self, energy_uj: u64) -> io::Result<()> {
        fs::write(self.0.join("sys/class/powercap/intel-rapl:0/energy_uj"), energy_uj.to_string())
    }

    fn power(&self) -> Power {
        Power {
            root: self.0.clone(),
            libraries: Places { nvml: Some(self.0.join("none.so")), ..Places::default() },
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn device(kind: DeviceKind, hardware_id: Option<&str>) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId("any:0".to_owned()),
        backend: "any".to_owned(),
        name: "any".to_owned(),
        kind,
        driver: None,
        hardware_id: hardware_id.map(str::to_owned),
        memory_bytes: None,
        max_buffer_bytes: None,
        last_level_cache_bytes: None,
        compute_units: None,
        notes: Vec::new(),
        environment: BTreeMap::new(),
    }
}

#[test]
fn a_processor_is_measured_by_its_packages_and_not_twice() -> Result<(), Box<dyn std::error::Error>> {
    let tree = Tree::new("packages")?;
    let mut found = PowerMeters.find(&device(DeviceKind::Cpu, None), &tree.power())?;
    let info = found.counter.info();
    assert_eq!((info.scope.as_str(), info.shared.clone()), ("package", None));
    assert!(!info.domain.contains("core"), "{}", info.domain);
    let first = found.counter.read()?;
    tree.package(1_000_900)?;
    let second = found.counter.read()?;
    assert!((second.energy_j - first.energy_j - 0.0009).abs() < 1e-9, "{first:?} {second:?}");
    assert!(second.at_ns > first.at_ns);
    Ok(())
}

#[test]
fn a_counter_that_is_gone_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
    let tree = Tree::new("gone")?;
    let mut found = PowerMeters.find(&device(DeviceKind::Cpu, None), &tree.power())?;
    found.counter.read()?;
    fs::write(tree.0.join("sys/class/powercap/intel-rapl:0/energy_uj"), "")?;
    let mut read = || (0..4).map(|_| found.counter.read().map_err(|error| error.code())).find(Result::is_err);
    assert_eq!(read().map(|result| result.map(|_| ())), Some(Err("KERNEL_COUNTER")));
    Ok(())
}

#[test]
fn no_other_device_is_taken_for_the_one_that_computes() -> Result<(), Box<dyn std::error::Error>> {
    let tree = Tree::new("others")?;
    for (kind, id) in [
        (DeviceKind::DiscreteGpu, Some("GPU-1")),
        (DeviceKind::DiscreteGpu, None),
        (DeviceKind::Other, Some("")),
    ] {
        let found = PowerMeters.find(&device(kind, id), &tree.power());
        let reason = found.err().unwrap_or_default();
        assert!(reason.contains("no energy counter measures any:0"), "{reason}");
    }
    Ok(())
}
