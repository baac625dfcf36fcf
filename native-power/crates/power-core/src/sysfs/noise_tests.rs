//! Whatever bytes a sensor's file holds: no panic, and a number or none.

use std::{cell::Cell, io, path::Path};

use super::{
    Sensors,
    tree::{Tree, values},
};
use crate::{
    PowerError, Value,
    file::{Open, ReadAgain, open_file},
};

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(20_261_129) };
    static NOISY: Cell<bool> = const { Cell::new(false) };
}

fn random(below: u64) -> u64 {
    let seed = SEED.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    SEED.set(seed);
    (seed >> 33) % below
}

/// A real file that holds noise while it is noisy: digits and what stands around them, seldom any byte.
struct Noise(Box<dyn ReadAgain>);

impl ReadAgain for Noise {
    fn read_again(&self, buffer: &mut [u8]) -> io::Result<usize> {
        const LIKELY: &[u8] = b"0123456789-+.%, \nDischargingeEx";
        if !NOISY.get() {
            return self.0.read_again(buffer);
        }
        if random(50) == 0 {
            return Err(io::Error::from_raw_os_error(
                [2, 5, 13, 19][usize::try_from(random(4)).unwrap_or(0)],
            ));
        }
        let length = usize::try_from(random(24)).unwrap_or(0).min(buffer.len());
        for byte in &mut buffer[..length] {
            let any = u8::try_from(random(256)).unwrap_or(0);
            let pick = usize::try_from(random(LIKELY.len() as u64)).unwrap_or(0);
            *byte = if random(40) == 0 { any } else { LIKELY[pick] };
        }
        Ok(length)
    }
}

fn noisy(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    Ok(Box::new(Noise(open_file(path)?)))
}

/// Folder, name and files.
type Chip<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn host() -> Tree {
    let tree = Tree::new(&[]);
    let chips: [Chip; 5] = [
        ("hwmon0", "amd_energy", &[("energy1_label", "Esocket0"), ("energy1_input", "1")]),
        ("hwmon1", "xe", &[("energy1_input", "1"), ("power1_crit", "300000000")]),
        ("hwmon2", "amdgpu", &[("power1_average", "1"), ("in1_label", "vddgfx")]),
        ("hwmon3", "power_meter", &[("power1_average", "1"), ("power1_accuracy", "95.00%")]),
        ("hwmon4", "ina3221", &[("in1_label", "VDD_IN"), ("in1_input", "1"), ("curr1_input", "1")]),
    ];
    for (folder, name, files) in chips {
        tree.chip(folder, name, &format!("platform/{folder}"), files);
    }
    for (file, text) in [("type", "Battery"), ("status", "Discharging"), ("power_now", "1")] {
        tree.set(&format!("sys/class/power_supply/BAT0/{file}"), text);
    }
    tree
}

/// Of each source: a sixth of what the environment asks for, or a few.
fn readings() -> u32 {
    let inputs = std::env::var("PERWATT_FUZZ_INPUTS").ok().and_then(|inputs| inputs.parse::<u32>().ok());
    inputs.unwrap_or(180_000).div_ceil(6)
}

type OpenAny = fn(&Path, Open) -> Result<Sensors, PowerError>;

const SOURCES: [(&str, OpenAny); 6] = [
    ("amd_energy", super::amd_energy::open_with),
    ("intel_gpu", super::intel_gpu::open_with),
    ("amdgpu", super::amdgpu::open_with),
    ("acpi_meter", super::acpi_meter::open_with),
    ("jetson", super::jetson::open_with),
    ("battery", super::battery::open_with),
];

#[test]
fn noise_in_a_number_is_no_number_or_one_in_range() {
    let tree = host();
    for (name, open) in SOURCES {
        NOISY.set(false);
        let Ok(mut source) = open(&tree, noisy) else { unreachable!("{name} opens on a sound host") };
        NOISY.set(true);
        let (mut numbers, mut none) = (0_u32, 0_u32);
        for _ in 0..readings() {
            for value in values(&mut source) {
                match value {
                    Value::Counter { raw, uj } => {
                        assert_eq!(raw, uj, "{name}");
                        numbers += 1;
                    }
                    Value::Power { raw, power } => {
                        assert!(raw.is_some() && power.get().is_finite() && power.get() >= 0.0, "{name}");
                        numbers += 1;
                    }
                    Value::Missing(_) => none += 1,
                    Value::MeanPower { .. } => unreachable!("{name} guesses"),
                }
            }
        }
        assert!(none > readings() / 30, "{name}: noise must be refused to prove anything: {numbers} {none}");
    }
}

#[test]
fn noise_everywhere_opens_or_is_refused() {
    let tree = host();
    NOISY.set(true);
    for (_, open) in SOURCES {
        for _ in 0..300 {
            if let Ok(mut source) = open(&tree, noisy) {
                values(&mut source);
            }
        }
    }
}
