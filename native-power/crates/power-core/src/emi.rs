//! Windows' energy meters, which show a CPU's counters as Windows reads them. The devices are reached through a port, so
//! that all of it but the port itself can be tested anywhere.

use std::{collections::BTreeSet, io};

use crate::{
    Booking, Clock, CounterSpec, Domain, Excluded, Kind, Missing, Nanos, PowerError, PowerSource, Provenance,
    Reading, Scope, Speed, Value,
    emi_layout::{COUNT_BYTES, EmiChannel, channels, code, count, metadata_size, microjoules, version},
    file::missing_because,
};

/// The source's name.
pub const EMI: &str = "emi";

const UPDATE_PERIOD: Nanos = Nanos::from_millis(100);
const CAP_UW: u64 = 2_000_000_000;
/// More than any description is long: beyond it, the length isn't believed.
const MOST_BYTES: u32 = 1 << 20;

/// Packages further apart, µJ, aren't copies of each other; and they must grow alike this often, within so many looks.
const NEAR_UJ: u64 = 500_000;
const STEPS: u32 = 3;
const LOOKS: u32 = 40;

/// An energy meter of Windows that was opened.
pub trait EmiPort: Send {
    /// Asks it by a control code; fills `answer` and returns how much there was.
    fn ask(&self, code: u32, answer: &mut [u8]) -> io::Result<usize>;
}

/// A meter that was found: where it is, and itself or why it can't be opened.
pub type FoundMeter = (String, io::Result<Box<dyn EmiPort>>);

/// The energy meters of a host.
pub struct Emi {
    domains: Vec<(Domain, Booking)>,
    meters: Vec<Meter>,
    left_out: Vec<Excluded>,
}

struct Meter {
    port: Box<dyn EmiPort>,
    answer: Vec<u8>,
    /// Domains, by the place of their counts.
    counts: Vec<(u16, usize)>,
}

/// What a channel covers: its domain's name and scope, and why it isn't in the total.
type Meaning = (String, Scope, Option<&'static str>);

impl Emi {
    /// Takes what these meters count. `pause` lets counters grow, where it must be found out whether two are one.
    pub fn open(found: Vec<FoundMeter>, pause: fn()) -> Result<Self, PowerError> {
        let mut source = Self { domains: Vec::new(), meters: Vec::new(), left_out: Vec::new() };
        let (mut refused, mut names) = (false, BTreeSet::new());
        for (place, port) in found {
            match port.and_then(|port| described(&*port).map(|channels| (port, channels))) {
                Ok((port, channels)) => source.take(port, &channels, &mut names)?,
                Err(error) => {
                    refused |= error.kind() == io::ErrorKind::PermissionDenied;
                    source.leave_out(place, error.to_string());
                }
            }
        }
        if !source.domains.iter().any(|(domain, _)| domain.in_total) {
            return Err(source.nothing(refused));
        }
        source.drop_copies(pause);
        Ok(source)
    }

    fn take(
        &mut self,
        port: Box<dyn EmiPort>,
        channels: &[EmiChannel],
        names: &mut BTreeSet<String>,
    ) -> Result<(), PowerError> {
        let mut meter = Meter { port, answer: vec![0; channels.len() * COUNT_BYTES], counts: Vec::new() };
        for (at, EmiChannel { name, known_unit }) in channels.iter().enumerate() {
            let Some((id, scope, beside)) = meaning(name) else {
                if !is_core(name) {
                    self.leave_out(name.clone(), "unknown name".to_owned());
                }
                continue;
            };
            if !names.insert(name.clone()) {
                self.leave_out(name.clone(), "another meter shows it already".to_owned());
                continue;
            }
            if !known_unit {
                return Err(unusable(format!("{name} counts in a unit that isn't known"), false));
            }
            let domain = u16::try_from(self.domains.len())
                .map_err(|_| unusable("more channels than can be numbered".to_owned(), false))?;
            self.domains.push(describe(id, scope, beside));
            meter.counts.push((domain, at));
        }
        self.meters.push(meter);
        Ok(())
    }

    /// Of packages of one meter whose counts are near each other and grow alike, the first is kept: on some chips each die
    /// shows the counter of the whole socket.
    fn drop_copies(&mut self, pause: fn()) {
        let packages: BTreeSet<_> = (0_u16..)
            .zip(&self.domains)
            .filter(|(_, (domain, _))| domain.scope == Scope::Package)
            .map(|(k, _)| k)
            .collect();
        let mut copies = Vec::new();
        for meter in &mut self.meters {
            let ours: Vec<_> = meter.counts.iter().copied().filter(|(d, _)| packages.contains(d)).collect();
            for (later, (domain, at)) in ours.iter().enumerate().skip(1) {
                let earlier = ours.iter().take(later).find(|(first, place)| {
                    !copies.iter().any(|(copy, _)| copy == first) && meter.same(*place, *at, pause)
                });
                copies.extend(earlier.map(|(first, _)| (*domain, *first)));
            }
        }
        for (copy, first) in copies {
            let ids = [copy, first].map(|k| self.domains.get(usize::from(k)).map(|(d, _)| d.id.clone()));
            let [Some(copy_id), Some(first_id)] = ids else { continue };
            if let Some((domain, _)) = self.domains.get_mut(usize::from(copy)) {
                domain.in_total = false;
                domain.note = Some(format!("counts what {first_id} counts; never added to it"));
            }
            self.leave_out(copy_id, format!("duplicate die: counts what {first_id} counts"));
        }
    }

    fn leave_out(&mut self, zone: String, reason: String) {
        self.left_out.push(Excluded { zone, reason });
    }

    fn nothing(&self, refused: bool) -> PowerError {
        let said: Vec<_> =
            self.left_out.iter().map(|left| format!("{}: {}", left.zone, left.reason)).collect();
        unusable(
            if said.is_empty() {
                "Windows shows no energy meter".to_owned()
            } else {
                format!("no energy meter counts a CPU ({})", said.join("; "))
            },
            refused,
        )
    }
}

fn unusable(said: String, refused: bool) -> PowerError {
    let fix = refused.then(|| "run it as administrator".to_owned());
    PowerError::Vendor { source_name: EMI, said, fix, refused }
}

/// The channels of a meter, which must be able to count them now.
fn described(port: &dyn EmiPort) -> io::Result<Vec<EmiChannel>> {
    let malformed =
        |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("no {what} in its answer"));
    let mut answer = [0; 2];
    let length = port.ask(code::VERSION, &mut answer)?;
    let version = answer.get(..length).and_then(version).ok_or_else(|| malformed("version"))?;
    let mut answer = [0; 4];
    let length = port.ask(code::METADATA_SIZE, &mut answer)?;
    let size = answer.get(..length).and_then(metadata_size).filter(|size| *size <= MOST_BYTES);
    let mut answer = vec![0; size.ok_or_else(|| malformed("length"))? as usize];
    let length = port.ask(code::METADATA, &mut answer)?;
    let found = answer.get(..length).and_then(|description| channels(version, description));
    let found = found.ok_or_else(|| malformed(&format!("description of version {version}")))?;
    port.ask(code::MEASUREMENT, &mut vec![0; found.len() * COUNT_BYTES])?;
    Ok(found)
}

/// Names of channels: `RAPL_Package0_PKG`.
fn meaning(name: &str) -> Option<Meaning> {
    let (package, part) = name.strip_prefix("RAPL_Package")?.split_once('_')?;
    let package: u32 = package.parse().ok()?;
    let inside = Some("lies inside the package; never added to it");
    let (what, scope, beside) = match part {
        "PKG" => ("package", Scope::Package, None),
        "DRAM" => ("dram", Scope::Dram, None),
        "PP0" => ("cores", Scope::Cpu, inside),
        "PP1" => ("graphics", Scope::Cpu, inside),
        _ => return None,
    };
    Some((format!("{EMI}:{what}-{package}"), scope, beside))
}

/// One of many parts of a package.
fn is_core(name: &str) -> bool {
    name.starts_with("RAPL_Package") && name.ends_with("_CORE")
}

fn describe(id: String, scope: Scope, beside: Option<&str>) -> (Domain, Booking) {
    let domain = Domain {
        id,
        scope,
        kind: Kind::Counter,
        provenance: Provenance::Counter,
        in_total: beside.is_none(),
        update_period: UPDATE_PERIOD,
        quantum: None,
        scale_error_ratio: None,
        sensing_share: None,
        raw_unit: "pWh",
        note: beside.map(str::to_owned),
    };
    (domain, Booking::Counter(CounterSpec { max_uj: None, cap_uw: CAP_UW, update_period: UPDATE_PERIOD }))
}

impl Meter {
    /// Reads every count at once; how much of the answer holds.
    fn ask(&mut self) -> Result<usize, Missing> {
        let length = self.port.ask(code::MEASUREMENT, &mut self.answer);
        length.map_err(|error| missing_because(&error))
    }

    fn value(&self, length: usize, at: usize) -> Result<Value, Missing> {
        let answer = self.answer.get(..length).unwrap_or_default();
        match count(answer, at).ok_or(Missing::Absent)? {
            u64::MAX => Err(Missing::Sentinel),
            raw => Ok(Value::Counter { raw, uj: microjoules(raw).ok_or(Missing::Implausible)? }),
        }
    }

    fn pair(&mut self, a: usize, b: usize) -> Option<(u64, i128)> {
        let length = self.ask().ok()?;
        let [a, b] = [a, b].map(|at| match self.value(length, at) {
            Ok(Value::Counter { uj, .. }) => Some(uj),
            _ => None,
        });
        Some((a?, i128::from(b?) - i128::from(a?)))
    }

    fn same(&mut self, a: usize, b: usize, pause: fn()) -> bool {
        let Some((mut last, apart)) = self.pair(a, b) else { return false };
        let mut steps = 0;
        for _ in 0..LOOKS {
            if apart.unsigned_abs() >= u128::from(NEAR_UJ) || steps >= STEPS {
                break;
            }
            pause();
            match self.pair(a, b) {
                Some((now, still)) if still == apart => {
                    steps += u32::from(now != last);
                    last = now;
                }
                _ => return false,
            }
        }
        steps >= STEPS
    }
}

impl PowerSource for Emi {
    fn name(&self) -> &'static str {
        EMI
    }

    fn provenance(&self) -> Provenance {
        Provenance::Counter
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

    /// One question holds every channel of a meter.
    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        for meter in &mut self.meters {
            let before = clock.now();
            let length = meter.ask();
            let after = clock.now();
            for (domain, at) in &meter.counts {
                let value = length.and_then(|length| meter.value(length, *at));
                let value = value.unwrap_or_else(Value::Missing);
                out.push(Reading { domain: *domain, before, after, value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "emi_tests.rs"]
mod tests;
