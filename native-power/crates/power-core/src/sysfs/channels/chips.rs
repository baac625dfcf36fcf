//! What stands beside the power of a chip: its temperatures, clocks, limit and load.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Found, Input, info, milli_celsius, number, numbered, scaled, slug, unread};
use crate::{
    ChannelInfo, ChannelUnit, ChannelValue, Missing,
    file::{KeptFile, Open, read_text},
    sysfs::hwmon::{Chip, chips},
};

/// Channels of every chip with one of these names. Reading one that sleeps would wake it, so that is left out.
pub fn of(source_name: &'static str, root: &Path, names: &[&str], open: Open) -> Found {
    let chips = chips(source_name, root, names, open).unwrap_or_default();
    let channels = chips.iter().flat_map(|chip| {
        let device = format!("{source_name}:{}", chip.place);
        let found = [
            temperatures(chip, &device, open),
            clocks(chip, &device, open),
            limit(chip, &device, open),
            loads(chip, &device, open),
            throttling(chip, &device, open),
        ];
        found.into_iter().flatten().map(|(info, input)| (info, unless_asleep(chip, input, open)))
    });
    channels.collect()
}

fn temperatures(chip: &Chip, device: &str, open: Open) -> Found {
    let one = |k: u32| {
        let label = chip.text(&format!("temp{k}_label"), open);
        let name = label.map_or_else(|| format!("temp{k}_c"), |label| format!("{}_temp_c", slug(&label)));
        let path = chip.file(&format!("temp{k}_input"));
        of_chip(chip, info(device, name, ChannelUnit::Celsius), (&path, open), milli_celsius)
    };
    (1..=16).filter_map(one).collect()
}

/// Clocks of the chip's own files (Hz), or of the folders that Intel's drivers keep (MHz).
fn clocks(chip: &Chip, device: &str, open: Open) -> Found {
    let labelled = |k: u32| {
        let label = chip.text(&format!("freq{k}_label"), open).unwrap_or_else(|| format!("freq{k}"));
        let about = info(device, format!("{}_clock_hz", slug(&label)), ChannelUnit::Hertz);
        of_chip(chip, about, (&chip.file(&format!("freq{k}_input")), open), |hz| scaled(hz, 1.0))
    };
    let engine = |(name, folder): &(String, PathBuf)| {
        let files = ["rps_act_freq_mhz", "freq0/act_freq"].map(|file| folder.join(file));
        let about = info(device, format!("{name}_clock_hz"), ChannelUnit::Hertz);
        let path = files.iter().find(|path| path.exists())?;
        of_chip(chip, about, (path, open), |mhz| scaled(mhz, 1e6))
    };
    let own = (1..=8).filter_map(labelled);
    own.chain(engines(chip).iter().filter_map(engine)).collect()
}

fn limit(chip: &Chip, device: &str, open: Open) -> Found {
    let Some(path) = chip.first_of(&["power1_cap", "power1_max"]) else { return Vec::new() };
    let about = info(device, "power_limit_w", ChannelUnit::Watts);
    of_chip(chip, about, (&path, open), |uw| scaled(uw, 1e-6)).into_iter().collect()
}

fn loads(chip: &Chip, device: &str, open: Open) -> Found {
    let files =
        [("gpu_busy_percent", "gpu_utilization_ratio"), ("mem_busy_percent", "memory_utilization_ratio")];
    let one = |(file, name)| {
        let path = chip.file("device").join(file);
        of_chip(chip, info(device, name, ChannelUnit::One), (&path, open), ChannelValue::percent)
    };
    files.into_iter().filter_map(one).collect()
}

/// Reasons are files that hold 0 or 1; their bits count in the order of their names.
fn throttling(chip: &Chip, device: &str, open: Open) -> Found {
    let one = |(name, folder): (String, PathBuf)| {
        let reasons = [(folder.clone(), "throttle_reason_"), (folder.join("freq0/throttle"), "reason_")];
        let files = reasons.into_iter().map(|(folder, stem)| reasons_in(&folder, stem));
        let files = files.into_iter().find(|files| !files.is_empty())?;
        let about = info(device, format!("{name}_throttle_reasons"), ChannelUnit::Bits);
        let kept = |(name, path)| (name, KeptFile::new(path, open));
        let mut files: Vec<_> = files.into_iter().map(kept).collect();
        let input: Input = Box::new(move || reasons_now(&mut files));
        Some((about, input))
    };
    engines(chip).into_iter().filter_map(one).collect()
}

fn reasons_in(folder: &Path, stem: &str) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().strip_prefix(stem)?.to_owned();
            (name != "status").then(|| (name, entry.path()))
        })
        .collect();
    found.sort();
    found.truncate(u64::BITS as usize);
    found
}

fn reasons_now(files: &mut [(String, KeptFile)]) -> ChannelValue {
    let (mut bits, mut set) = (0_u64, Vec::new());
    for (bit, (name, file)) in files.iter_mut().enumerate() {
        match file.read_trimmed(&mut [0; 32]) {
            Ok(b"0") => {}
            Ok(b"1") => {
                bits |= 1 << bit;
                set.push(name.as_str());
            }
            Ok(_) => return ChannelValue::Missing(Missing::Parse),
            Err(_) => return ChannelValue::Missing(Missing::Io),
        }
    }
    ChannelValue::Bits { bits, names: set.join(" ") }
}

/// Folders of an Intel card's engines: `gt0` of i915's `drm/card0/gt`, or of xe's `tile0`.
fn engines(chip: &Chip) -> Vec<(String, PathBuf)> {
    let device = chip.file("device");
    let cards = numbered(&device.join("drm"), "card").into_iter().map(|(_, card)| card.join("gt"));
    let tiles = numbered(&device, "tile").into_iter().map(|(_, tile)| tile);
    let engine = |folder: PathBuf| numbered(&folder, "gt");
    let found = cards.chain(tiles).flat_map(engine);
    found.map(|(k, path)| (format!("gt{k}"), path)).collect()
}

/// A channel of a chip; of one that sleeps it is believed that what is there can be read.
fn of_chip(
    chip: &Chip,
    about: ChannelInfo,
    (path, open): (&Path, Open),
    convert: impl Fn(f64) -> ChannelValue + Send + 'static,
) -> Option<(ChannelInfo, Input)> {
    if is_asleep(&state_file(chip), open) {
        return path.exists().then(|| (about, unread(path, open, convert)));
    }
    number(about, path, open, convert)
}

fn unless_asleep(chip: &Chip, mut input: Input, open: Open) -> Input {
    let state = state_file(chip);
    if !state.exists() {
        return input;
    }
    let mut state = KeptFile::new(state, open);
    Box::new(
        move || if state.holds("suspended") { ChannelValue::Missing(Missing::Inactive) } else { input() },
    )
}

fn state_file(chip: &Chip) -> PathBuf {
    chip.file("device/power/runtime_status")
}

fn is_asleep(state: &Path, open: Open) -> bool {
    read_text(state, open).is_ok_and(|state| state == "suspended")
}

/// Temperatures of chips that stand in a CPU, by their labels.
pub fn temperatures_labelled(
    root: &Path,
    names: &'static [&'static str],
    open: Open,
    about: impl Fn(usize, &str) -> Option<ChannelInfo>,
) -> Found {
    let chips = chips("cpu", root, names, open).unwrap_or_default();
    let of_chip = |(at, chip): (usize, &Chip)| {
        let one = |k: u32| {
            let label = chip.text(&format!("temp{k}_label"), open)?;
            number(about(at, &label)?, &chip.file(&format!("temp{k}_input")), open, milli_celsius)
        };
        (1..=16).filter_map(one).collect::<Vec<_>>()
    };
    chips.iter().enumerate().flat_map(of_chip).collect()
}
