//! ACPI power meters, through the driver `acpi_power_meter`. On most hosts the one meter stands for the whole machine; on
//! NVIDIA Grace there are several, told apart by a text of the maker's.

use std::path::Path;

use super::{
    Sensors,
    hwmon::{Chip, chips, class_dir},
    sensors::{Finder, gauge, microwatts},
};
use crate::{
    Nanos, PowerError, Provenance, Scope, Watts,
    file::{Open, open_file, read_count},
};

/// The source's name.
pub const ACPI_METER: &str = "acpi-power-meter";

const UPDATE_PERIOD_MS: u64 = 1000;
const CAP: Watts = Watts::new(10_000.0);

/// Opens the meters under `root`, normally `/`.
pub fn open_acpi_meter(root: &Path) -> Result<Sensors, PowerError> {
    open_with(root, open_file)
}

pub(super) fn open_with(root: &Path, open: Open) -> Result<Sensors, PowerError> {
    let mut finder = Finder::new(ACPI_METER, Provenance::Integrated, class_dir(root));
    let meters = chips(ACPI_METER, root, &["power_meter"], open)?;
    let texts: Vec<_> =
        meters.iter().map(|chip| chip.text("power1_oem_info", open).unwrap_or_default()).collect();
    let mut nameless = 0;
    for (chip, text) in meters.iter().zip(&texts) {
        let place = Place::of(text);
        let alone = texts.iter().filter(|other| *other == text).count() == 1;
        let name = text.replace(char::is_whitespace, "-");
        let id = match (name.is_empty(), alone) {
            (true, _) => format!("{ACPI_METER}:{}", chip.place),
            (false, true) => format!("{ACPI_METER}:{name}"),
            (false, false) => format!("{ACPI_METER}:{}:{name}", chip.place),
        };
        let Some(file) = chip.first_of(&["power1_average", "power1_input"]) else {
            finder.leave_out(id, "shows no power");
            continue;
        };
        let (mut domain, booking) = gauge(id, place.scope(), update_period(chip, open), CAP);
        domain.scale_error_ratio = chip.text("power1_accuracy", open).and_then(|text| error_ratio(&text));
        let beside = match place {
            Place::Host => {
                nameless += 1;
                (nameless > 1).then_some("one of several meters without a name; only the first is counted")
            }
            Place::Module => None,
            inner => texts
                .iter()
                .any(|other| Place::of(other).holds(inner))
                .then_some("lies inside another meter's domain; never added to it"),
        };
        domain.in_total = beside.is_none();
        let averaged = file.ends_with("power1_average").then_some("averaged by the meter");
        let notes: Vec<_> = averaged.into_iter().chain(beside).collect();
        domain.note = Some(notes.join("; ")).filter(|note| !note.is_empty());
        finder.add(domain, booking, microwatts(file, open));
    }
    finder.finish(None).map(Sensors::on_a_bus)
}

/// What a meter measures, by the maker's text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Host,
    Module,
    Grace,
    Cpu,
    SysIo,
}

impl Place {
    fn of(text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        match text.split(' ').next() {
            Some("module") => Self::Module,
            Some("grace") => Self::Grace,
            Some("cpu") => Self::Cpu,
            Some("sysio") => Self::SysIo,
            _ => Self::Host,
        }
    }

    const fn scope(self) -> Scope {
        match self {
            Self::Host => Scope::System,
            Self::Module => Scope::Module,
            Self::Grace => Scope::Package,
            Self::Cpu | Self::SysIo => Scope::Cpu,
        }
    }

    /// The module holds the Grace chip, which holds its cores and its input and output.
    const fn holds(self, inner: Self) -> bool {
        match self {
            Self::Module => !matches!(inner, Self::Host | Self::Module),
            Self::Grace => matches!(inner, Self::Cpu | Self::SysIo),
            _ => false,
        }
    }
}

fn update_period(chip: &Chip, open: Open) -> Nanos {
    let declared =
        read_count(&chip.file("power1_average_interval"), open).filter(|ms| (1..=3_600_000).contains(ms));
    Nanos::from_millis(i64::try_from(declared.unwrap_or(UPDATE_PERIOD_MS)).unwrap_or(1000))
}

/// `95.00%` of accuracy is an error of 0.05.
pub(crate) fn error_ratio(accuracy: &str) -> Option<f64> {
    let percent: f64 = accuracy.trim_end_matches('%').parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then_some((100.0 - percent) / 100.0)
}

#[cfg(all(test, unix))]
#[path = "acpi_meter_tests.rs"]
mod tests;
