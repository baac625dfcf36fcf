//! Boards with rails behind INA3221 or INA238 chips, as NVIDIA Jetson has them: power is voltage times current, or what
//! the chip works out itself. Older systems show the chips as industrial I/O, with the power in milliwatts.
//!
//! Where a rail feeds the board, it is the total and the others lie inside it; else the total is the sum of the rails.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    Sensors,
    hwmon::{Chip, chips, class_dir},
    sensors::{Finder, Input, gauge, microwatts, power},
};
use crate::{
    Missing, Nanos, PowerError, Provenance, Scope, Value, Watts,
    file::{CountFile, Open, open_file, read_count, read_text},
};

/// The source's name.
pub const JETSON: &str = "jetson-rails";

const UPDATE_PERIOD_MS: u64 = 100;
const CAP: Watts = Watts::new(2000.0);

/// Rails that feed the whole board.
const INPUTS: [&str; 3] = ["VDD_IN", "POM_5V_IN", "VIN"];

struct Rail {
    label: String,
    chip: Chip,
    files: Files,
}

/// Voltage (mV) and current (mA) of one channel, or its power (µW, or mW).
enum Files {
    Product(PathBuf, PathBuf),
    Power(PathBuf),
    Milliwatts(PathBuf),
}

/// Opens the rails under `root`, normally `/`.
pub fn open_jetson(root: &Path) -> Result<Sensors, PowerError> {
    open_with(root, open_file)
}

pub(super) fn open_with(root: &Path, open: Open) -> Result<Sensors, PowerError> {
    let mut finder = Finder::new(JETSON, Provenance::Integrated, class_dir(root));
    let found = chips(JETSON, root, &["ina3221", "ina238"], open);
    let mut rails: Vec<_> = found.iter().flatten().flat_map(|chip| rails_of(chip, open)).collect();
    if rails.is_empty() {
        rails = industrial_chips(root, open).iter().flat_map(|chip| industrial_rails(chip, open)).collect();
    }
    if rails.is_empty() {
        found?;
    }
    let whole = rails.iter().any(|rail| INPUTS.contains(&rail.label.as_str()));
    for Rail { label, chip, files } in rails {
        let id = format!("{JETSON}:{}:{label}", chip.place);
        let period = read_count(&chip.file("update_interval"), open).filter(|ms| (1..=60_000).contains(ms));
        let period = Nanos::from_millis(i64::try_from(period.unwrap_or(UPDATE_PERIOD_MS)).unwrap_or(100));
        let feeds = INPUTS.contains(&label.as_str());
        let scope = if feeds || !whole { Scope::Module } else { Scope::Soc };
        let (mut domain, booking) = gauge(id, scope, period, CAP);
        if whole && !feeds {
            domain.in_total = false;
            domain.note = Some("fed by the board's input rail; never added to it".to_owned());
        }
        finder.add(domain, booking, input(files, open));
    }
    finder.finish(None).map(Sensors::on_a_bus)
}

/// Channels in use. The fourth and later inputs of an INA3221 are shunt voltages and their sum.
fn rails_of(chip: &Chip, open: Open) -> Vec<Rail> {
    let text = |name: String| chip.text(&name, open);
    if chip.name == "ina3221" {
        let used = |k: &u8| text(format!("in{k}_enable")).is_none_or(|enabled| enabled != "0");
        return (1..=3)
            .filter(used)
            .filter_map(|k| {
                let label = text(format!("in{k}_label")).filter(|label| label != "NC")?;
                let files =
                    Files::Product(chip.file(&format!("in{k}_input")), chip.file(&format!("curr{k}_input")));
                Some(Rail { label, chip: chip.clone(), files })
            })
            .collect();
    }
    let named = ["label", "power1_label", "in1_label"].into_iter().find_map(|name| text(name.to_owned()));
    let label = named.unwrap_or_else(|| chip.name.clone());
    let files = chip
        .first_of(&["power1_input"])
        .map_or_else(|| Files::Product(chip.file("in1_input"), chip.file("curr1_input")), Files::Power);
    vec![Rail { label, chip: chip.clone(), files }]
}

/// Chips of the driver that came before hwmon's, on L4T up to 32.
fn industrial_chips(root: &Path, open: Open) -> Vec<Chip> {
    let Ok(entries) = fs::read_dir(root.join("sys/bus/iio/devices")) else { return Vec::new() };
    let folders: BTreeSet<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    let mut seen = BTreeSet::new();
    let chip = |dir: PathBuf| {
        let name = read_text(&dir.join("name"), open).ok().filter(|name| name.starts_with("ina3221"))?;
        let real = fs::canonicalize(&dir).ok().filter(|real| seen.insert(real.clone()))?;
        let device = real.parent().and_then(Path::file_name).or(dir.file_name())?;
        Some(Chip { place: device.to_string_lossy().into_owned(), name, dir })
    };
    folders.into_iter().filter_map(chip).collect()
}

fn industrial_rails(chip: &Chip, open: Open) -> Vec<Rail> {
    let rail = |k: u8| {
        let label = chip.text(&format!("rail_name_{k}"), open).filter(|label| label != "NC")?;
        let file = chip.first_of(&[&format!("in_power{k}_input")])?;
        Some(Rail { label, chip: chip.clone(), files: Files::Milliwatts(file) })
    };
    (0..3).filter_map(rail).collect()
}

fn input(files: Files, open: Open) -> Result<Input, PowerError> {
    let (volts, amps) = match files {
        Files::Power(path) => return microwatts(path, open),
        Files::Milliwatts(path) => return milliwatts(path, open),
        Files::Product(volts, amps) => (volts, amps),
    };
    let (mut volts, mut amps) = (CountFile::open(volts, open)?, CountFile::open(amps, open)?);
    Ok(Box::new(move || match (volts.read(), amps.read()) {
        (Ok(mv), Ok(ma)) => mv.checked_mul(ma).map_or(Value::Missing(Missing::Implausible), power),
        (Err(missing), _) | (_, Err(missing)) => Value::Missing(missing),
    }))
}

fn milliwatts(path: PathBuf, open: Open) -> Result<Input, PowerError> {
    let mut file = CountFile::open(path, open)?;
    Ok(Box::new(move || match file.read() {
        Ok(mw) => mw.checked_mul(1000).map_or(Value::Missing(Missing::Implausible), power),
        Err(missing) => Value::Missing(missing),
    }))
}

#[cfg(all(test, unix))]
#[path = "jetson_tests.rs"]
mod tests;
