//! Channels that are small files of Linux, and the source that they are read beside.

mod chips;
mod cpu;
mod number;

use std::{fs, path::Path};

use self::number::NumberFile;
use crate::{
    ACPI_METER, AMD_ENERGY, AMDGPU, Booking, ChannelInfo, ChannelReading, ChannelUnit, ChannelValue, Clock,
    Domain, ESTIMATE, Excluded, INTEL_GPU, JETSON, Missing, Nanos, PowerError, PowerSource, Provenance, RAPL,
    RAPL_PERF, Reading, Speed,
    file::{Open, open_file},
};

/// Reads one channel.
type Input = Box<dyn FnMut() -> ChannelValue + Send>;

/// Channels as they are found.
type Found = Vec<(ChannelInfo, Input)>;

/// A source with the channels of what it measures.
struct WithChannels {
    source: Box<dyn PowerSource>,
    channels: Vec<ChannelInfo>,
    inputs: Vec<Input>,
}

/// The source with what the tree under `root` tells beside it; the source itself where that is nothing.
pub fn with_channels(source: Box<dyn PowerSource>, root: &Path) -> Box<dyn PowerSource> {
    let found = channels_of(source.name(), root, open_file);
    if found.is_empty() {
        return source;
    }
    let (channels, inputs) = found.into_iter().unzip();
    Box::new(WithChannels { source, channels, inputs })
}

fn channels_of(source_name: &str, root: &Path, open: Open) -> Found {
    match source_name {
        RAPL => [cpu::limits(root, open), cpu::conditions(root, open)].into_iter().flatten().collect(),
        RAPL_PERF | AMD_ENERGY | ESTIMATE => cpu::conditions(root, open),
        AMDGPU => chips::of(AMDGPU, root, &["amdgpu"], open),
        INTEL_GPU => chips::of(INTEL_GPU, root, &["i915", "xe"], open),
        ACPI_METER => chips::of(ACPI_METER, root, &["power_meter"], open),
        JETSON => cpu::zones(root, |_| true, open),
        _ => Vec::new(),
    }
}

impl PowerSource for WithChannels {
    fn name(&self) -> &'static str {
        self.source.name()
    }

    fn provenance(&self) -> Provenance {
        self.source.provenance()
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        self.source.domains()
    }

    fn excluded(&self) -> &[Excluded] {
        self.source.excluded()
    }

    fn slowest_period(&self) -> Option<Nanos> {
        self.source.slowest_period()
    }

    fn speed(&self) -> Speed {
        self.source.speed()
    }

    fn flags(&self) -> Vec<String> {
        self.source.flags()
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        self.source.read(clock, out)
    }

    fn channels(&self) -> &[ChannelInfo] {
        &self.channels
    }

    fn read_channels(&mut self, clock: &dyn Clock, out: &mut Vec<ChannelReading>) {
        for (channel, input) in (0..).zip(&mut self.inputs) {
            out.push(ChannelReading { channel, at: clock.now(), value: input() });
        }
    }
}

fn info(device: &str, name: impl Into<String>, unit: ChannelUnit) -> ChannelInfo {
    ChannelInfo { device: device.to_owned(), name: name.into(), unit }
}

/// A channel whose file holds a number; None where it can't be read now, unless it is only that it may not be.
fn number(
    info: ChannelInfo,
    path: &Path,
    open: Open,
    convert: impl Fn(f64) -> ChannelValue + Send + 'static,
) -> Option<(ChannelInfo, Input)> {
    let mut file = NumberFile::new(path.to_owned(), open);
    match file.read() {
        Ok(_) | Err(Missing::Permission) => {}
        Err(_) => return None,
    }
    Some((info, unread(path, open, convert)))
}

/// Reads the number of a file, which is opened when it is first asked for.
fn unread(path: &Path, open: Open, convert: impl Fn(f64) -> ChannelValue + Send + 'static) -> Input {
    let mut file = NumberFile::new(path.to_owned(), open);
    Box::new(move || file.read().map_or_else(ChannelValue::Missing, &convert))
}

fn milli_celsius(value: f64) -> ChannelValue {
    ChannelValue::celsius(value / 1e3)
}

fn scaled(value: f64, factor: f64) -> ChannelValue {
    if value < 0.0 {
        return ChannelValue::Missing(Missing::Implausible);
    }
    ChannelValue::Number(value * factor)
}

/// A label as a part of a name: lower case, everything but letters and digits an underscore.
fn slug(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    label.trim().chars().map(plain).collect()
}

/// What a folder holds whose names start so, in the order of the number behind it.
fn numbered(folder: &Path, stem: &str) -> Vec<(u32, std::path::PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let number = |name: &str| name.strip_prefix(stem).and_then(|rest| rest.parse().ok());
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some((number(&entry.file_name().to_string_lossy())?, entry.path())))
        .collect();
    found.sort();
    found
}

#[cfg(all(test, unix))]
#[path = "channels_tests.rs"]
mod tests;
