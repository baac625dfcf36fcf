//! The battery of a laptop: whole-machine power, slow, and only while the battery is what feeds the machine.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    Sensors,
    sensors::{Finder, Input, gauge},
};
use crate::{
    Missing, Nanos, PowerError, Provenance, Scope, Value, Watts,
    file::{Open, missing_because, open_file, read_text},
};

/// The source's name.
pub const BATTERY: &str = "battery";

/// Firmware renews the numbers every few seconds at best, every half minute at worst.
const UPDATE_PERIOD: Nanos = Nanos::from_millis(30_000);
const CAP: Watts = Watts::new(500.0);

/// Opens the batteries under `root`, normally `/`.
pub fn open_battery(root: &Path) -> Result<Sensors, PowerError> {
    open_with(root, open_file)
}

pub(super) fn open_with(root: &Path, open: Open) -> Result<Sensors, PowerError> {
    let class = root.join("sys/class/power_supply");
    let entries = match fs::read_dir(&class) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(PowerError::Absent { source_name: BATTERY, path: class });
        }
        Err(error) => return Err(PowerError::io(class, error)),
    };
    let folders: BTreeSet<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    let is = |dir: &Path, file: &str, wanted: &str| {
        read_text(&dir.join(file), open).is_ok_and(|text| text == wanted)
    };
    let (batteries, chargers): (Vec<_>, Vec<_>) = folders
        .into_iter()
        .filter(|dir| !is(dir, "scope", "Device"))
        .partition(|dir| is(dir, "type", "Battery"));
    let chargers: Vec<_> =
        chargers.iter().map(|dir| dir.join("online")).filter(|path| path.exists()).collect();

    let mut finder = Finder::new(BATTERY, Provenance::Integrated, class);
    for dir in batteries {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (mut domain, booking) = gauge(format!("{BATTERY}:{name}"), Scope::System, UPDATE_PERIOD, CAP);
        domain.note = Some("the whole machine, while it runs on its battery; seconds late".to_owned());
        finder.add(domain, booking, input(dir, chargers.clone(), open));
    }
    finder.finish(None)
}

fn input(dir: PathBuf, chargers: Vec<PathBuf>, open: Open) -> Result<Input, PowerError> {
    let gauge = Gauge { dir, chargers, open };
    match gauge.read() {
        Value::Missing(Missing::Inactive) => {
            return Err(PowerError::Unusable { source_name: BATTERY, reason: "not discharging".to_owned() });
        }
        Value::Missing(_) => {
            gauge.microwatts()?;
        }
        _ => {}
    }
    Ok(Box::new(move || gauge.read()))
}

struct Gauge {
    dir: PathBuf,
    chargers: Vec<PathBuf>,
    open: Open,
}

impl Gauge {
    fn read(&self) -> Value {
        if self.chargers.iter().any(|path| read_text(path, self.open).is_ok_and(|text| text != "0")) {
            return Value::Missing(Missing::Inactive);
        }
        let status = read_text(&self.dir.join("status"), self.open).unwrap_or_default();
        match (status.as_str(), self.microwatts()) {
            ("Discharging", Ok(uw)) => Value::Power { raw: Some(uw), power: Watts::from_micros(uw) },
            // The second battery of two rests while the first is used.
            ("Not charging" | "Full" | "Unknown", Ok(0)) => {
                Value::Power { raw: Some(0), power: Watts::from_micros(0) }
            }
            (_, Err(PowerError::Permission { .. })) => Value::Missing(Missing::Permission),
            (_, Err(PowerError::Malformed { .. })) => Value::Missing(Missing::Parse),
            (_, Err(PowerError::Io { source, .. })) => Value::Missing(missing_because(&source)),
            (_, Err(_)) => Value::Missing(Missing::Io),
            (_, Ok(_)) => Value::Missing(Missing::Inactive),
        }
    }

    /// Drivers differ in the sign; the status says which way it flows.
    fn microwatts(&self) -> Result<u64, PowerError> {
        let number = |file: &str| {
            let path = self.dir.join(file);
            let text = read_text(&path, self.open)?;
            text.parse::<i64>().map(i64::unsigned_abs).map_err(|_| PowerError::Malformed { path, text })
        };
        match number("power_now") {
            Err(PowerError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let (ua, uv) = (number("current_now")?, number("voltage_now")?);
                let uw = u128::from(ua) * u128::from(uv) / 1_000_000;
                Ok(u64::try_from(uw).unwrap_or(u64::MAX))
            }
            power => power,
        }
    }
}

#[cfg(all(test, unix))]
#[path = "battery_tests.rs"]
mod tests;
