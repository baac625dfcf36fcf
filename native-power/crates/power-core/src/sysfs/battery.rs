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
    file::{KeptFile, Open, missing_because, open_file, read_text},
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
        finder.add(domain, booking, input(&dir, &chargers, open));
    }
    finder.finish(None).map(Sensors::on_a_bus)
}

fn input(dir: &Path, chargers: &[PathBuf], open: Open) -> Result<Input, PowerError> {
    let kept = |file: &str| KeptFile::new(dir.join(file), open);
    let mut gauge = Gauge {
        chargers: chargers.iter().map(|path| KeptFile::new(path.clone(), open)).collect(),
        status: kept("status"),
        power: kept("power_now"),
        current: kept("current_now"),
        voltage: kept("voltage_now"),
    };
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
    chargers: Vec<KeptFile>,
    status: KeptFile,
    power: KeptFile,
    current: KeptFile,
    voltage: KeptFile,
}

impl Gauge {
    fn read(&mut self) -> Value {
        let plugged =
            |charger: &mut KeptFile| charger.read_trimmed(&mut [0; 32]).is_ok_and(|text| text != b"0");
        if self.chargers.iter_mut().any(plugged) {
            return Value::Missing(Missing::Inactive);
        }
        let mut buffer = [0; 32];
        let power = self.microwatts();
        match (self.status.read_trimmed(&mut buffer).unwrap_or_default(), power) {
            (b"Discharging", Ok(uw)) => Value::Power { raw: Some(uw), power: Watts::from_micros(uw) },
            // The second battery of two rests while the first is used.
            (b"Not charging" | b"Full" | b"Unknown", Ok(0)) => {
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
    fn microwatts(&mut self) -> Result<u64, PowerError> {
        match magnitude(&mut self.power) {
            Err(PowerError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let (ua, uv) = (magnitude(&mut self.current)?, magnitude(&mut self.voltage)?);
                let uw = u128::from(ua) * u128::from(uv) / 1_000_000;
                Ok(u64::try_from(uw).unwrap_or(u64::MAX))
            }
            power => power,
        }
    }
}

fn magnitude(file: &mut KeptFile) -> Result<u64, PowerError> {
    let mut buffer = [0; 32];
    let text = match file.read_trimmed(&mut buffer) {
        Ok(text) => text,
        Err(error) => return Err(PowerError::io(file.path().to_owned(), error)),
    };
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    number.map(i64::unsigned_abs).ok_or_else(|| PowerError::Malformed {
        path: file.path().to_owned(),
        text: String::from_utf8_lossy(text).into_owned(),
    })
}

#[cfg(all(test, unix))]
#[path = "battery_tests.rs"]
mod tests;
