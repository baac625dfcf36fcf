//! Intel GPUs, through Level Zero's system management.
//!
//! Domains of a device nest: the card holds its package, which holds its stacks. The outermost one that counts is the
//! total; where only stacks count, all of them together are.

mod api;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use power_core::{
    Booking, Clock, CounterSpec, Domain, Excluded, Kind, Missing, Nanos, PowerError, PowerSource, Provenance,
    Reading, Scope, Speed, Value,
};

use self::api::{About, Covers, PowerDomain, devices, missing};

/// The source's name.
pub const LEVEL_ZERO: &str = "level-zero";

const GROUPS: &str = "sudo usermod -aG render,video \"$USER\", then log in anew";

const UPDATE_PERIOD: Nanos = Nanos::from_millis(1);
/// The driver extends a register of 32 bits only when it is read.
const SLOWEST: Nanos = Nanos::from_millis(60_000);
const DEFAULT_CAP_UW: u64 = 2_000_000_000;

/// The Intel GPUs of a host.
pub struct LevelZero {
    domains: Vec<(Domain, Booking)>,
    meters: Vec<PowerDomain>,
    left_out: Vec<Excluded>,
}

impl LevelZero {
    /// Loads and starts the library at `library` (a path, or a name that the system looks up) and tries every power
    /// domain of its devices.
    pub fn open(library: &Path) -> Result<Self, PowerError> {
        let mut source = Self { domains: Vec::new(), meters: Vec::new(), left_out: Vec::new() };
        let (mut seen, mut refused) = (BTreeSet::new(), false);
        for (index, device) in devices(library)?.into_iter().enumerate() {
            let found = device.about().and_then(|about| Ok((about, device.power_domains()?)));
            match found {
                Ok((about, domains)) => {
                    if seen.insert(about.place.clone()) {
                        refused |= source.take(&about, domains);
                    }
                }
                Err(said) => {
                    refused |= missing(said) == Missing::Permission;
                    source.leave_out(format!("GPU {index}"), missing(said));
                }
            }
        }
        if source.domains.iter().any(|(domain, _)| domain.in_total) {
            Ok(source)
        } else {
            Err(source.nothing(refused))
        }
    }

    /// Takes the domains of one device that count; whether this user may not read one of them.
    fn take(&mut self, about: &About, mut domains: Vec<PowerDomain>) -> bool {
        let device = format!("{LEVEL_ZERO}:{}", about.place);
        domains.sort_by_key(|domain| (domain.part.is_some(), domain.covers, domain.part));
        if domains.is_empty() {
            self.left_out.push(Excluded { zone: device, reason: "shows no power domain".to_owned() });
            return false;
        }
        let first = self.domains.len();
        let (mut refused, mut incomplete) = (false, false);
        let (mut names, mut outer) = (BTreeSet::new(), Outer::default());
        for domain in domains {
            let id = unique(&mut names, format!("{device}:{}", name(&domain)));
            match counted(&domain) {
                Ok(_) => {
                    let place = outer.place(about, &domain, &id);
                    self.domains.push(describe(id, about, &domain, place));
                    self.meters.push(domain);
                }
                Err(why) => {
                    refused |= why == Missing::Permission;
                    incomplete |= domain.part.is_some() && domain.holds_all();
                    self.leave_out(id, why);
                }
            }
        }
        if incomplete && outer.whole.is_none() {
            for (domain, _) in self.domains.iter_mut().skip(first) {
                domain.in_total = false;
                domain.note = Some("another part of the card gives no number".to_owned());
            }
        }
        refused
    }

    fn leave_out(&mut self, zone: String, why: Missing) {
        let reason = match why {
            Missing::NotSupported => "not supported by this GPU or driver",
            Missing::Permission => "no permission",
            Missing::Lost => "the GPU is lost",
            _ => "the driver gives no number",
        };
        self.left_out.push(Excluded { zone, reason: reason.to_owned() });
    }

    fn nothing(&self, refused: bool) -> PowerError {
        let beside =
            self.domains.iter().map(|(d, _)| (&d.id, d.note.as_deref().unwrap_or("beside the total")));
        let left_out = self.left_out.iter().map(|left| (&left.zone, left.reason.as_str()));
        let said: Vec<_> = beside.chain(left_out).map(|(id, why)| format!("{id}: {why}")).collect();
        PowerError::Vendor {
            source_name: LEVEL_ZERO,
            said: if said.is_empty() {
                "the driver shows no GPU".to_owned()
            } else {
                format!("no GPU tells its energy ({})", said.join("; "))
            },
            fix: refused.then(|| GROUPS.to_owned()),
            refused,
        }
    }
}

fn name(domain: &PowerDomain) -> String {
    let covers = match domain.covers {
        Covers::Card => "card",
        Covers::Package => "package",
        Covers::Unknown => "device",
        Covers::Stack => "stack",
        Covers::Gpu => "gpu",
        Covers::Memory => "memory",
    };
    domain.part.map_or_else(|| covers.to_owned(), |part| format!("{covers}-{part}"))
}

fn unique(names: &mut BTreeSet<String>, name: String) -> String {
    let with_number = |k: usize| if k == 1 { name.clone() } else { format!("{name}-{k}") };
    let found =
        (1..=names.len() + 1).map(with_number).find(|candidate| !names.contains(candidate)).unwrap_or(name);
    names.insert(found.clone());
    found
}

/// The domains of a device that hold others: one for the whole of it, or one for each of its parts.
#[derive(Default)]
struct Outer {
    whole: Option<String>,
    parts: BTreeMap<u32, String>,
}

impl Outer {
    /// Why a domain isn't part of the total; None when it is. Those that hold others must come first.
    fn place(&mut self, about: &About, domain: &PowerDomain, id: &str) -> Option<String> {
        if about.integrated {
            return Some("graphics of the CPU: lies inside its package; never added to it".to_owned());
        }
        let of_part = domain.part.and_then(|part| self.parts.get(&part));
        if let Some(outer) = self.whole.as_ref().or(of_part) {
            return Some(format!("lies inside {outer}; never added to it"));
        }
        if !domain.holds_all() {
            return Some("a part of the card; never added to its other parts".to_owned());
        }
        match domain.part {
            None => self.whole = Some(id.to_owned()),
            Some(part) => _ = self.parts.insert(part, id.to_owned()),
        }
        None
    }
}

impl PowerDomain {
    /// Whether nothing of the device, or of the part that it is about, draws power elsewhere.
    const fn holds_all(&self) -> bool {
        !matches!(self.covers, Covers::Memory | Covers::Gpu)
    }
}

fn describe(id: String, about: &About, domain: &PowerDomain, place: Option<String>) -> (Domain, Booking) {
    let cap_uw = domain.max_limit_mw.map_or(DEFAULT_CAP_UW, |limit| limit.saturating_mul(2000));
    let in_total = place.is_none();
    let model = Some(about.model.clone()).filter(|model| !model.is_empty());
    let note: Vec<_> = model.into_iter().chain(place).collect();
    let described = Domain {
        id,
        scope: Scope::Gpu,
        kind: Kind::Counter,
        provenance: Provenance::Counter,
        in_total,
        update_period: UPDATE_PERIOD,
        quantum: None,
        scale_error_ratio: None,
        sensing_share: None,
        raw_unit: "uJ",
        note: Some(note.join("; ")).filter(|note| !note.is_empty()),
    };
    (described, Booking::Counter(CounterSpec { max_uj: None, cap_uw, update_period: UPDATE_PERIOD }))
}

fn counted(domain: &PowerDomain) -> Result<u64, Missing> {
    match domain.energy_uj().map_err(missing)? {
        u64::MAX => Err(Missing::Sentinel),
        uj => Ok(uj),
    }
}

impl PowerSource for LevelZero {
    fn name(&self) -> &'static str {
        LEVEL_ZERO
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

    fn slowest_period(&self) -> Option<Nanos> {
        Some(SLOWEST)
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        for (domain, meter) in (0..).zip(&self.meters) {
            let before = clock.now();
            let uj = counted(meter);
            let value = uj.map_or_else(Value::Missing, |uj| Value::Counter { raw: uj, uj });
            out.push(Reading { domain, before, after: clock.now(), value });
        }
        Ok(())
    }
}
