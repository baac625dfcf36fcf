//! NVIDIA GPUs, through the driver's own library.
//!
//! A GPU with an energy counter is metered by it, and its power is shown beside it, so that the two can be compared; one
//! without is metered by integrating its power. Which field and which scope answers is tried once, when it is opened.

mod api;
mod channels;
mod decode;
mod describe;
mod replay;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use power_core::{
    Booking, ChannelInfo, ChannelReading, Clock, Domain, Excluded, Missing, PowerError, PowerSource,
    Provenance, Reading, Speed, Value, Watts,
};

use self::{
    api::{Device, FieldValue, Gpu, devices, field, missing},
    channels::{Channel, channels_of},
    decode::{from_u32, from_u64, whole},
    describe::{Meters, describe},
};

use crate::pci::PciDevice;

/// The source's name.
pub const NVML: &str = "nvml";

pub use replay::{GpuTrace, GpusReplay, decode_field, replay_gpus};

/// The NVIDIA GPUs of a host.
pub struct Nvml(Board<Device>);

/// GPUs, the library's or recorded ones.
struct Board<D> {
    root: PathBuf,
    domains: Vec<(Domain, Booking)>,
    gpus: Vec<Metered<D>>,
    left_out: Vec<Excluded>,
    infos: Vec<ChannelInfo>,
    channels: Vec<Channel>,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// One field of one scope.
    Field { field: u32, scope: u32 },
    /// The older call that gives this one number.
    Call,
}

/// One number of a device, and the domain that it belongs to.
#[derive(Clone, Copy, Debug)]
struct Meter {
    by: By,
    domain: u16,
}

struct Metered<D> {
    device: D,
    counter: Option<Meter>,
    gauge: Option<Meter>,
    /// Where the kernel tells whether it sleeps.
    pci: Option<PciDevice>,
    /// Whether the last power was 0, which is believed only when it is said twice.
    zero: bool,
}

impl Nvml {
    /// Loads and starts the library at `library` (a path, or a name that the system looks up) and tries what each of
    /// its devices offers. One that sleeps, as the tree under `root` (normally `/`) tells, isn't woken for it.
    pub fn open(library: &Path, root: &Path) -> Result<Self, PowerError> {
        Board::of(devices(library)?, root).map(Self)
    }
}

impl<D: Gpu> Board<D> {
    fn of(shown: Vec<Result<D, i32>>, root: &Path) -> Result<Self, PowerError> {
        let mut board = Self {
            root: root.to_owned(),
            domains: Vec::new(),
            gpus: Vec::new(),
            left_out: Vec::new(),
            infos: Vec::new(),
            channels: Vec::new(),
        };
        let mut seen = BTreeSet::new();
        let any = !shown.is_empty();
        for (index, device) in shown.into_iter().enumerate() {
            match device {
                Ok(device) => board.take(device, &mut seen)?,
                Err(said) => board.leave_out(format!("GPU {index}"), refusal(missing(said))),
            }
        }
        if board.gpus.is_empty() { Err(board.nothing(any)) } else { Ok(board) }
    }

    fn nothing(&self, any: bool) -> PowerError {
        let refused = self.left_out.iter().any(|left| left.reason == refusal(Missing::Permission));
        let reasons: Vec<_> =
            self.left_out.iter().map(|left| format!("{}: {}", left.zone, left.reason)).collect();
        PowerError::Vendor {
            source_name: NVML,
            said: if any {
                format!("no GPU tells its energy or power ({})", reasons.join("; "))
            } else {
                "the driver shows no GPU".to_owned()
            },
            fix: refused.then(|| "let this user read and write /dev/nvidiactl and /dev/nvidia*".to_owned()),
            refused,
        }
    }

    /// Every instance of a split GPU reports the whole of it, so that the GPU itself is counted, once.
    fn take(&mut self, device: D, seen: &mut BTreeSet<String>) -> Result<(), PowerError> {
        let uuid = match device.uuid() {
            Ok(uuid) => uuid,
            Err(said) => {
                self.leave_out("a GPU without an identity".to_owned(), refusal(missing(said)));
                return Ok(());
            }
        };
        if !seen.insert(uuid.clone()) {
            return Ok(());
        }
        if !uuid.starts_with("MIG-") {
            return self.add(uuid, device, seen);
        }
        let parent = device.parent().and_then(|parent| Ok((parent.uuid()?, parent)));
        let Ok((parent_uuid, parent)) = parent else {
            self.leave_out(uuid, "an instance of a GPU that is not shown".to_owned());
            return Ok(());
        };
        self.leave_out(uuid, format!("covered-by {parent_uuid}"));
        if seen.insert(parent_uuid.clone()) { self.add(parent_uuid, parent, seen) } else { Ok(()) }
    }

    fn add(&mut self, uuid: String, device: D, seen: &mut BTreeSet<String>) -> Result<(), PowerError> {
        let pci = device.place().ok().map(|place| PciDevice::at(&self.root, &place));
        if pci.as_ref().is_some_and(PciDevice::sleeps) {
            self.leave_out(uuid, "asleep, and not woken to be measured".to_owned());
            return Ok(());
        }
        let instances = if device.is_split() { device.instances() } else { Vec::new() };
        let instances: Vec<_> = instances.iter().filter_map(|instance| instance.uuid().ok()).collect();
        for instance in instances.iter().filter(|instance| seen.insert((*instance).clone())) {
            self.leave_out(instance.clone(), format!("covered-by {uuid}"));
        }
        match Meters::of(&device) {
            Ok(meters) => {
                let too_many = || PowerError::Vendor {
                    source_name: NVML,
                    said: "more GPUs than can be numbered".to_owned(),
                    fix: None,
                    refused: false,
                };
                let first = u16::try_from(self.domains.len()).map_err(|_| too_many())?;
                let domains = describe(&uuid, &device, &meters, &instances);
                let counter = meters.counter.map(|by| Meter { by, domain: first });
                let behind = first + u16::from(counter.is_some());
                let gauge = meters.gauge.map(|by| Meter { by, domain: behind });
                self.domains.extend(domains);
                for (info, channel) in channels_of(&uuid, self.gpus.len(), &device) {
                    self.infos.push(info);
                    self.channels.push(channel);
                }
                self.gpus.push(Metered { device, counter, gauge, pci, zero: false });
            }
            Err(why) => self.leave_out(uuid, refusal(why)),
        }
        Ok(())
    }

    fn leave_out(&mut self, device: String, reason: String) {
        self.left_out.push(Excluded { zone: device, reason });
    }
}

fn refusal(why: Missing) -> String {
    match why {
        Missing::NotSupported => "not supported by this GPU or driver",
        Missing::Permission => "no permission",
        Missing::Lost => "the GPU is lost or must be reset",
        _ => "the driver gives no number",
    }
    .to_owned()
}

impl PowerSource for Nvml {
    fn name(&self) -> &'static str {
        NVML
    }

    fn provenance(&self) -> Provenance {
        let counted = self.0.gpus.iter().any(|gpu| gpu.counter.is_some());
        if counted { Provenance::Counter } else { Provenance::Integrated }
    }

    fn speed(&self) -> Speed {
        Speed::Waits
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.0.domains
    }

    fn excluded(&self) -> &[Excluded] {
        &self.0.left_out
    }

    /// `averaged_1s:` before the id of every power that is a mean of the last second.
    fn flags(&self) -> Vec<String> {
        let averaged = |meter: &Meter| matches!(meter.by, By::Field { field: field::POWER_AVERAGE, .. });
        let meters = self.0.gpus.iter().filter_map(|gpu| gpu.gauge).filter(averaged);
        let domains = meters.filter_map(|meter| self.0.domains.get(usize::from(meter.domain)));
        domains.map(|(domain, _)| format!("averaged_1s:{}", domain.id)).collect()
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        self.0.read(clock, out);
        Ok(())
    }

    fn channels(&self) -> &[ChannelInfo] {
        &self.0.infos
    }

    fn read_channels(&mut self, clock: &dyn Clock, out: &mut Vec<ChannelReading>) {
        channels::read(&self.0.gpus, &self.0.channels, clock, out);
    }
}

impl<D: Gpu> Board<D> {
    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) {
        for gpu in &mut self.gpus {
            gpu.read(clock, out);
        }
    }
}

impl<D: Gpu> Metered<D> {
    fn sleeps(&self) -> bool {
        self.pci.as_ref().is_some_and(PciDevice::sleeps)
    }

    /// All fields of a device are asked for in one call.
    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) {
        if self.sleeps() {
            let at = clock.now();
            let value = Value::Missing(Missing::Inactive);
            let meters = [self.counter, self.gauge].into_iter().flatten();
            out.extend(meters.map(|meter| Reading { domain: meter.domain, before: at, after: at, value }));
            return;
        }
        let asked = |meter: Option<Meter>| match meter?.by {
            By::Field { field, scope } => Some(FieldValue::ask(field, scope)),
            By::Call => None,
        };
        let mut answers = [FieldValue::ask(0, 0); 2];
        let mut count = 0;
        for field in [asked(self.counter), asked(self.gauge)].into_iter().flatten() {
            answers[count] = field;
            count += 1;
        }
        let before = clock.now();
        let said = if count == 0 { Ok(()) } else { self.device.ask(&mut answers[..count]) };
        let after = clock.now();
        let mut answers = answers.into_iter();
        let mut next = || said.map_err(missing).and_then(|()| whole(&answers.next().ok_or(Missing::Io)?));
        if let Some(Meter { by, domain }) = self.counter {
            let (stamps, mj) = match by {
                By::Field { .. } => ((before, after), next()),
                By::Call => timed(clock, || energy_by_call(&self.device)),
            };
            let value = mj.and_then(counted).unwrap_or_else(Value::Missing);
            out.push(Reading { domain, before: stamps.0, after: stamps.1, value });
        }
        if let Some(Meter { by, domain }) = self.gauge {
            let (stamps, mw) = match by {
                By::Field { .. } => ((before, after), next()),
                By::Call => timed(clock, || power_by_call(&self.device)),
            };
            let zero = std::mem::replace(&mut self.zero, mw == Ok(0));
            let value = match mw {
                Ok(0) if !zero => Value::Missing(Missing::Implausible),
                Ok(mw) => Value::Power { raw: Some(mw), power: watts(mw) },
                Err(why) => Value::Missing(why),
            };
            out.push(Reading { domain, before: stamps.0, after: stamps.1, value });
        }
    }
}

fn timed<T>(clock: &dyn Clock, call: impl FnOnce() -> T) -> ((power_core::Nanos, power_core::Nanos), T) {
    let before = clock.now();
    let value = call();
    ((before, clock.now()), value)
}

fn energy_by_call(device: &impl Gpu) -> Result<u64, Missing> {
    device.energy_mj().map_err(missing).and_then(from_u64)
}

fn power_by_call(device: &impl Gpu) -> Result<u64, Missing> {
    device.power_mw().map_err(missing).and_then(from_u32)
}

fn counted(mj: u64) -> Result<Value, Missing> {
    let uj = mj.checked_mul(1000).ok_or(Missing::Sentinel)?;
    Ok(Value::Counter { raw: mj, uj })
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 mW, 9 TW")]
fn watts(mw: u64) -> Watts {
    Watts::new(mw as f64 / 1e3)
}
