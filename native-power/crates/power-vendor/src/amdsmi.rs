//! AMD GPUs, through AMD SMI.
//!
//! A GPU with an energy counter is metered by it, and its power is shown beside it; one without is metered by integrating
//! its power. Two chips in one package, and the partitions of one chip, are counted once.

mod api;
mod channels;

use std::{collections::BTreeMap, path::Path, time::Duration};

use power_core::{
    Booking, ChannelInfo, ChannelReading, Clock, CounterSpec, Domain, Excluded, GaugeSpec, Kind, Missing,
    Nanos, PowerError, PowerSource, Provenance, Reading, Scope, Speed, Value, Watts,
};

use self::{
    api::{Device, Power, devices, missing},
    channels::{Channel, channels_of},
};
use crate::pci::PciDevice;

/// The source's name.
pub const AMDSMI: &str = "amd-smi";

const GROUPS: &str = "sudo usermod -aG render,video \"$USER\", then log in anew";

const COUNTER_PERIOD: Nanos = Nanos::from_millis(1);
const POWER_PERIOD: Nanos = Nanos::from_millis(100);
const DEFAULT_CAP_UW: u64 = 2_000_000_000;

/// The AMD GPUs of a host.
pub struct AmdSmi {
    domains: Vec<(Domain, Booking)>,
    gpus: Vec<Gpu>,
    left_out: Vec<Excluded>,
    infos: Vec<ChannelInfo>,
    channels: Vec<Channel>,
}

struct Gpu {
    device: Device,
    pci: PciDevice,
    counter: Option<u16>,
    gauge: Option<(u16, Which)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Current,
    Average,
}

impl Which {
    const fn of(self, power: Power) -> Option<u32> {
        match self {
            Self::Current => power.current,
            Self::Average => power.average,
        }
    }
}

/// One processor as it was found.
struct Found {
    bus: Bus,
    device: Device,
    counter: Result<u64, Missing>,
    gauge: Result<(Which, u32), Missing>,
    shared: Shared,
    pci: PciDevice,
}

/// Whether a CPU is on the same chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    No,
    WithCpu,
    WithCountedCpu,
}

const WITH_CPU: &str = "the CPU on the same chip is in it";
const IN_PACKAGE: &str = "the CPU on the same chip is in it; never added to its package";

/// How many times more, or less, a counter may count than the power says before it isn't believed: the load may change
/// meanwhile.
const TRUSTED: f64 = 2.0;

/// A place on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bus {
    domain: u64,
    number: u8,
    device: u8,
    function: u8,
}

impl AmdSmi {
    /// Loads and starts the library at `library` (a path, or a name that the system looks up) and tries what each of
    /// its processors offers.
    ///
    /// `pause` lets counters grow and says for how long: one that doesn't count what its processor draws meanwhile isn't
    /// used. What shares a chip with a CPU whose package is counted, as the tree under `root` (normally `/`) tells, is no
    /// part of the total.
    pub fn open(library: &Path, root: &Path, pause: impl FnOnce() -> Duration) -> Result<Self, PowerError> {
        let mut source = Self {
            domains: Vec::new(),
            gpus: Vec::new(),
            left_out: Vec::new(),
            infos: Vec::new(),
            channels: Vec::new(),
        };
        let mut found = Vec::new();
        for (index, device) in devices(library)?.into_iter().enumerate() {
            match device.bdf() {
                Ok(packed) if PciDevice::at(root, &Bus::unpacked(packed).to_string()).sleeps() => {
                    let asleep = "asleep, and not woken to be measured".to_owned();
                    source.leave_out(Bus::unpacked(packed).to_string(), asleep);
                }
                Ok(packed) => found.push(Found::new(Bus::unpacked(packed), device, root)),
                Err(said) => source.leave_out(format!("GPU {index}"), refusal(missing(said))),
            }
        }
        found.sort_by_key(|one| one.bus);
        let covered = covered(&found);
        for (counter, reason) in distrust(&mut found, pause) {
            source.leave_out(counter, reason);
        }
        let mut refused = false;
        for (index, one) in found.into_iter().enumerate() {
            if let Some(by) = covered.get(&index) {
                source.leave_out(one.bus.to_string(), format!("covered-by {by}"));
            } else if let (Err(of_counter), Err(of_gauge)) = (one.counter, one.gauge) {
                let why = if of_counter == Missing::NotSupported { of_gauge } else { of_counter };
                refused |= why == Missing::Permission;
                source.leave_out(one.bus.to_string(), refusal(why));
            } else {
                source.add(one)?;
            }
        }
        if source.gpus.is_empty() {
            return Err(source.nothing(refused));
        }
        if source.domains.iter().any(|(domain, _)| domain.in_total) {
            return Ok(source);
        }
        let said = source.domains.iter().map(|(domain, _)| format!("{}: {IN_PACKAGE}", domain.id));
        Err(PowerError::Unusable { source_name: AMDSMI, reason: said.collect::<Vec<_>>().join("; ") })
    }

    fn nothing(&self, refused: bool) -> PowerError {
        let reasons: Vec<_> =
            self.left_out.iter().map(|left| format!("{}: {}", left.zone, left.reason)).collect();
        PowerError::Vendor {
            source_name: AMDSMI,
            said: if reasons.is_empty() {
                "the library shows no GPU".to_owned()
            } else {
                format!("no GPU tells its energy or power, as in a virtual machine ({})", reasons.join("; "))
            },
            fix: refused.then(|| GROUPS.to_owned()),
            refused,
        }
    }

    fn add(&mut self, found: Found) -> Result<(), PowerError> {
        let too_many = |_| PowerError::Vendor {
            source_name: AMDSMI,
            said: "more GPUs than can be numbered".to_owned(),
            fix: None,
            refused: false,
        };
        let first = u16::try_from(self.domains.len()).map_err(too_many)?;
        let counter = found.counter.ok().map(|_| first);
        let behind = first + u16::from(counter.is_some());
        let gauge = found.gauge.ok().map(|(which, _)| (behind, which));
        self.domains.extend(found.describe());
        for (info, channel) in channels_of(&found.bus.to_string(), self.gpus.len(), &found.device) {
            self.infos.push(info);
            self.channels.push(channel);
        }
        self.gpus.push(Gpu { device: found.device, counter, gauge, pci: found.pci });
        Ok(())
    }

    fn leave_out(&mut self, device: String, reason: String) {
        self.left_out.push(Excluded { zone: device, reason });
    }
}

fn counted(device: &Device) -> Result<u64, Missing> {
    device.energy().map_err(missing).and_then(|(count, resolution)| energy_uj(count, resolution))
}

/// Compares every counter with the power beside it over a moment, and gives up those that disagree; which, and why.
fn distrust(found: &mut [Found], pause: impl FnOnce() -> Duration) -> Vec<(String, String)> {
    let both = |one: &Found| Some((one.counter.ok()?, one.gauge.ok().filter(|(_, watts)| *watts > 0)?));
    if !found.iter().any(|one| both(one).is_some()) {
        return Vec::new();
    }
    let before: Vec<_> = found.iter().map(both).collect();
    let starts: Vec<_> = found.iter().map(|one| counted(&one.device).ok()).collect();
    let seconds = pause().as_secs_f64();
    let mut given_up = Vec::new();
    for ((one, before), start) in found.iter_mut().zip(before).zip(starts) {
        let (Some((_, (which, earlier))), Some(start)) = (before, start) else { continue };
        let (Ok(end), Ok(power)) = (counted(&one.device), one.device.power()) else { continue };
        let Some(later) = which.of(power) else { continue };
        let joules = watts_of(end.saturating_sub(start)).get();
        let [least, most] = [earlier.min(later), earlier.max(later)].map(|watts| f64::from(watts) * seconds);
        if joules < least / TRUSTED || joules > most * TRUSTED {
            let zone = format!("amd-smi:{}:energy", one.bus);
            let said = format!("counted {joules:.1} J while the power was {least:.1} to {most:.1} J");
            given_up.push((zone, said));
            one.counter = Err(Missing::Implausible);
        }
    }
    given_up
}

/// Who is covered by whom. Functions of one device are partitions of one chip, which reports for all of them. Of two
/// chips in a package, one after the other on the bus, the second shows 0 or nothing and the first reports for both.
fn covered(found: &[Found]) -> BTreeMap<usize, String> {
    let mut covered = BTreeMap::new();
    let mut chips: Vec<&Found> = Vec::new();
    for (index, one) in found.iter().enumerate() {
        let whole = chips.last().filter(|chip| chip.bus.of_chip() == one.bus.of_chip());
        if let Some(whole) = whole {
            covered.insert(index, whole.bus.to_string());
            continue;
        }
        let before = chips.last().filter(|_| chips.len() % 2 == 1);
        if let Some(before) = before.filter(|before| one.is_mute() && !before.is_mute()) {
            covered.insert(index, before.bus.to_string());
        }
        chips.push(one);
    }
    covered
}

impl Found {
    fn new(bus: Bus, device: Device, root: &Path) -> Self {
        let counter = counted(&device);
        let power = device.power().map_err(missing);
        let gauge = power.and_then(|power| {
            let current = power.current.map(|watts| (Which::Current, watts));
            let average = power.average.map(|watts| (Which::Average, watts));
            current.or(average).ok_or(Missing::NotSupported)
        });
        let pci = PciDevice::at(root, &bus.to_string());
        let shared = match pci.has_cpu() {
            true if root.join("sys/class/powercap/intel-rapl:0").exists() => Shared::WithCountedCpu,
            true => Shared::WithCpu,
            false => Shared::No,
        };
        Self { bus, device, counter, gauge, shared, pci }
    }

    /// Whether it tells nothing: an idle GPU draws power, so that 0 W is no number.
    fn is_mute(&self) -> bool {
        let power = self.gauge.is_ok_and(|(_, watts)| watts > 0);
        let energy = self.counter.is_ok_and(|uj| uj > 0);
        !power && !energy
    }

    fn describe(&self) -> Vec<(Domain, Booking)> {
        let cap_uw = self.device.max_limit_uw().map_or(DEFAULT_CAP_UW, |limit| limit.saturating_mul(2));
        let domain = |kind: Kind, note: &[&str]| Domain {
            id: format!("amd-smi:{}:{}", self.bus, if kind == Kind::Counter { "energy" } else { "power" }),
            scope: if self.shared == Shared::No { Scope::Gpu } else { Scope::Soc },
            kind,
            provenance: if kind == Kind::Counter { Provenance::Counter } else { Provenance::Integrated },
            in_total: (kind == Kind::Counter || self.counter.is_err())
                && self.shared != Shared::WithCountedCpu,
            update_period: if kind == Kind::Counter { COUNTER_PERIOD } else { POWER_PERIOD },
            quantum: Some(if kind == Kind::Counter { EXACT_UJ / 1e6 } else { 1.0 }),
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: if kind == Kind::Counter { "2^-16 J" } else { "W" },
            note: Some(note.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; "))
                .filter(|note| !note.is_empty()),
        };
        let shared = match self.shared {
            Shared::No => "",
            Shared::WithCpu => WITH_CPU,
            Shared::WithCountedCpu => IN_PACKAGE,
        };
        let counter = self.counter.ok().map(|_| {
            let spec = CounterSpec { max_uj: None, cap_uw, update_period: COUNTER_PERIOD };
            (domain(Kind::Counter, &[shared]), Booking::Counter(spec))
        });
        let beside = if self.counter.is_ok() { "checks the counter; never added to it" } else { "" };
        let gauge = self.gauge.ok().map(|(which, _)| {
            let mean =
                if which == Which::Average { "a mean of the last moments, which smears edges" } else { "" };
            let spec = GaugeSpec::new(POWER_PERIOD, watts_of(cap_uw));
            (domain(Kind::Gauge, &[mean, beside, shared]), Booking::Gauge(spec))
        });
        counter.into_iter().chain(gauge).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 µW, 9 GW")]
fn watts_of(uw: u64) -> Watts {
    Watts::new(uw as f64 / 1e6)
}

impl Bus {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the bits beyond are masked or belong to the next part"
    )]
    const fn unpacked(packed: u64) -> Self {
        Self {
            domain: packed >> 16,
            number: (packed >> 8) as u8,
            device: (packed >> 3) as u8 & 0x1f,
            function: packed as u8 & 0x7,
        }
    }

    const fn of_chip(self) -> (u64, u8, u8) {
        (self.domain, self.number, self.device)
    }
}

impl std::fmt::Display for Bus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{}", self.domain, self.number, self.device, self.function)
    }
}

/// What one count is, µJ: 2^-16 J. Some versions round it to 15.3.
const EXACT_UJ: f64 = 15.258_789_062_5;

/// A count in µJ, to the last one: in binary fractions of the resolution, which holds 2^-16 J exactly.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
pub fn energy_uj(count: u64, resolution: f32) -> Result<u64, Missing> {
    const FRACTION: f64 = 4_294_967_296.0;
    let given = f64::from(resolution);
    if count == u64::MAX {
        return Err(Missing::Sentinel);
    }
    if !(1e-3..=1e9).contains(&given) {
        return Err(Missing::Parse);
    }
    let uj = if (given - EXACT_UJ).abs() < 0.05 { EXACT_UJ } else { given };
    let scaled = (uj * FRACTION).round() as u128;
    u64::try_from((u128::from(count) * scaled) >> 32).map_err(|_| Missing::Implausible)
}

fn refusal(why: Missing) -> String {
    match why {
        Missing::NotSupported => "not supported by this GPU, or hidden from a guest",
        Missing::Permission => "no permission",
        Missing::Lost => "the GPU is gone",
        _ => "the library gives no number",
    }
    .to_owned()
}

impl PowerSource for AmdSmi {
    fn name(&self) -> &'static str {
        AMDSMI
    }

    fn provenance(&self) -> Provenance {
        let counted = self.gpus.iter().any(|gpu| gpu.counter.is_some());
        if counted { Provenance::Counter } else { Provenance::Integrated }
    }

    fn speed(&self) -> Speed {
        Speed::Waits
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.domains
    }

    fn excluded(&self) -> &[Excluded] {
        &self.left_out
    }

    fn channels(&self) -> &[ChannelInfo] {
        &self.infos
    }

    fn read_channels(&mut self, clock: &dyn Clock, out: &mut Vec<ChannelReading>) {
        channels::read(&self.gpus, &self.channels, clock, out);
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        for gpu in &self.gpus {
            if gpu.pci.sleeps() {
                let at = clock.now();
                let value = Value::Missing(Missing::Inactive);
                let domains = gpu.counter.into_iter().chain(gpu.gauge.map(|(domain, _)| domain));
                out.extend(domains.map(|domain| Reading { domain, before: at, after: at, value }));
                continue;
            }
            if let Some(domain) = gpu.counter {
                let before = clock.now();
                let read = gpu.device.energy().map_err(missing);
                let after = clock.now();
                let value = read.and_then(|(count, resolution)| {
                    Ok(Value::Counter { raw: count, uj: energy_uj(count, resolution)? })
                });
                out.push(Reading { domain, before, after, value: value.unwrap_or_else(Value::Missing) });
            }
            if let Some((domain, which)) = gpu.gauge {
                let before = clock.now();
                let read = gpu.device.power().map_err(missing);
                let after = clock.now();
                let value = read.and_then(|power| {
                    let watts = which.of(power).ok_or(Missing::Sentinel)?;
                    let power = Watts::new(f64::from(watts));
                    Ok(Value::Power { raw: Some(u64::from(watts)), power })
                });
                out.push(Reading { domain, before, after, value: value.unwrap_or_else(Value::Missing) });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use power_core::Missing;

    use super::{Bus, energy_uj};

    #[test]
    fn a_count_becomes_microjoules_by_its_resolution() {
        const EXACT: f32 = 1e6 / 65_536.0;
        #[rustfmt::skip]
        let cases: &[(&str, u64, f32, Result<u64, Missing>)] = &[
            ("2^-16 J a count",                      65_536,              EXACT, Ok(1_000_000)),
            ("rounded by the library",               65_536,              15.3,             Ok(1_000_000)),
            ("another resolution is believed",       1_000,               10.0,             Ok(10_000)),
            ("exact where a double isn't",           (1 << 60) + 65_536,  EXACT, Ok((1 << 44) * 1_000_000 + 1_000_000)),
            ("all bits set",                         u64::MAX,            EXACT, Err(Missing::Sentinel)),
            ("no resolution",                        65_536,              0.0,              Err(Missing::Parse)),
            ("a resolution that isn't a number",     65_536,              f32::NAN,         Err(Missing::Parse)),
            ("more than can be told in µJ",          u64::MAX - 1,        EXACT, Err(Missing::Implausible)),
        ];
        for (why, count, resolution, expected) in cases {
            assert_eq!(energy_uj(*count, *resolution), *expected, "{why}");
        }
    }

    #[test]
    fn a_place_on_the_bus_is_unpacked() {
        let bus = Bus::unpacked(0x0001_c100 | (0x1f << 3) | 5);
        assert_eq!(bus.to_string(), "0001:c1:1f.5");
        assert_eq!(Bus::unpacked(0x2_0000_2900).to_string(), "20000:29:00.0");
    }
}
