//! A guess at CPU power from how busy the CPU is, for machines without a sensor. Labelled as such everywhere.
//!
//! Power at a given load differs by more than a factor of two between CPUs, so two curves bound it and a third is
//! stated between them. Load is what `/proc/stat` counts, in ticks of 10 ms.

use std::path::{Path, PathBuf};

use crate::{
    Band, Booking, Clock, CpuFacts, DesignPower, Domain, Kind, Missing, Nanos, PowerError, PowerSource,
    Provenance, Reading, Scope, Since, Value,
    file::{ReadAgain, missing_because, open_file},
};

/// The source's name.
pub const ESTIMATE: &str = "estimate-cpu-load";

/// Share of design power drawn when idle: by the lower curve, the stated one, and the upper one.
const IDLE: (f64, f64, f64) = (0.1, 0.2, 0.5);

/// Fewer ticks than this span holds say too little about load.
const LEAST_SPAN: Nanos = Nanos::from_millis(50);
const TICK: Nanos = Nanos::from_millis(10);

/// The estimator of one host.
pub struct Estimator {
    domains: [(Domain, Booking); 1],
    path: PathBuf,
    file: Box<dyn ReadAgain>,
    power: DesignPower,
    settled: Option<(Nanos, Ticks)>,
    load: f64,
}

/// CPU time since boot, in ticks: spent working, and all there was to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    busy: u64,
    all: u64,
}

impl Estimator {
    /// Opens `/proc/stat` under `root` and looks the CPU up.
    pub fn open(root: &Path) -> Result<Self, PowerError> {
        let path = root.join("proc/stat");
        let file = open_file(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => PowerError::Absent { source_name: ESTIMATE, path: path.clone() },
            _ => PowerError::io(path.clone(), error),
        })?;
        let facts = CpuFacts::read(root);
        let power = facts.design_power();
        let domain = Domain {
            id: format!("{ESTIMATE}:cpu"),
            scope: Scope::Cpu,
            kind: Kind::Estimate,
            provenance: Provenance::Estimated,
            in_total: true,
            update_period: TICK,
            quantum: None,
            scale_error_ratio: None,
            sensing_share: None,
            raw_unit: "ticks",
            note: Some(note(&facts, &power)),
        };
        let domains = [(domain, Booking::MeanPower)];
        let mut estimator = Self { domains, path, file, power, settled: None, load: 0.0 };
        estimator.ticks().map_err(|missing| estimator.refusal(missing))?;
        Ok(estimator)
    }

    fn ticks(&mut self) -> Result<Ticks, Missing> {
        let mut buffer = [0; 512];
        let length = self.file.read_again(&mut buffer).map_err(|error| missing_because(&error))?;
        parse_ticks(&buffer[..length]).ok_or(Missing::Parse)
    }

    fn refusal(&self, missing: Missing) -> PowerError {
        let path = self.path.clone();
        match missing {
            Missing::Parse => PowerError::Malformed { path, text: "no line of CPU times".to_owned() },
            _ => PowerError::Io { path, source: std::io::Error::other("the kernel refused") },
        }
    }

    fn since(&mut self, at: Nanos, now: Ticks) -> Since {
        let Some((then, before)) = self.settled else {
            self.settled = Some((at, now));
            return Since::Held(self.band(self.load));
        };
        if now.busy < before.busy || now.all < before.all {
            self.settled = Some((at, now));
            return Since::Unknown(self.band(1.0).hi);
        }
        let (busy, all) = (now.busy - before.busy, now.all - before.all);
        if at - then < LEAST_SPAN || all == 0 {
            return Since::Held(self.unsure());
        }
        self.settled = Some((at, now));
        self.load = ratio(busy, all);
        Since::Settled(self.band(self.load))
    }

    /// Power at `load` (0…1) by the three curves.
    fn band(&self, load: f64) -> Band {
        let (tdp, (low, high)) = (self.power.tdp, self.power.band);
        Band {
            lo: tdp * (low * curve(IDLE.0, load.powi(3))),
            point: tdp * curve(IDLE.1, load),
            hi: tdp * (high * curve(IDLE.2, load)),
        }
    }

    /// The last load goes on, but anything between idle and full may be true.
    fn unsure(&self) -> Band {
        Band { lo: self.band(0.0).lo, point: self.band(self.load).point, hi: self.band(1.0).hi }
    }
}

impl PowerSource for Estimator {
    fn name(&self) -> &'static str {
        ESTIMATE
    }

    fn provenance(&self) -> Provenance {
        Provenance::Estimated
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &self.domains
    }

    fn read(&mut self, clock: &dyn Clock, out: &mut Vec<Reading>) -> Result<(), PowerError> {
        let before = clock.now();
        let ticks = self.ticks();
        let after = clock.now();
        let value = match ticks {
            Ok(ticks) => {
                Value::MeanPower { raw: ticks.busy, since: self.since(before.midpoint(after), ticks) }
            }
            Err(missing) => Value::Missing(missing),
        };
        out.push(Reading { domain: 0, before, after, value });
        Ok(())
    }
}

fn curve(idle: f64, load: f64) -> f64 {
    idle + (1.0 - idle) * load
}

#[expect(clippy::cast_precision_loss, reason = "ticks of one span are few")]
fn ratio(part: u64, whole: u64) -> f64 {
    (part as f64 / whole as f64).clamp(0.0, 1.0)
}

/// The first line of `/proc/stat`. Waiting for a disk counts as idle, a guest is in `user` already, and time stolen by the
/// hypervisor is nobody's here.
pub(crate) fn parse_ticks(text: &[u8]) -> Option<Ticks> {
    let line = std::str::from_utf8(text).ok()?.lines().next()?;
    let mut fields = line.strip_prefix("cpu ")?.split_ascii_whitespace().map(|field| field.parse().ok());
    let mut next = || fields.next()?;
    let [user, nice, system, idle, iowait, irq, softirq]: [u64; 7] =
        [next()?, next()?, next()?, next()?, next()?, next()?, next()?];
    if fields.any(|field| field.is_none()) {
        return None;
    }
    let busy = [user, nice, system, irq, softirq].into_iter().try_fold(0_u64, u64::checked_add)?;
    Some(Ticks { busy, all: busy.checked_add(idle)?.checked_add(iowait)? })
}

fn note(facts: &CpuFacts, power: &DesignPower) -> String {
    let (low, high) = power.band;
    let formula = format!(
        "estimated, not measured: P = TDP*({:.1} + {:.1}*u), between {low}*TDP*({:.1} + {:.1}*u^3) and {high}*TDP*({:.1} + {:.1}*u); \
         u = busy share of /proc/stat; TDP = {:.1} W = {}",
        IDLE.1,
        1.0 - IDLE.1,
        IDLE.0,
        1.0 - IDLE.0,
        IDLE.2,
        1.0 - IDLE.2,
        power.tdp.get(),
        power.basis
    );
    if facts.virtual_machine {
        format!(
            "{formula}; a virtual machine: its share by threads, the host's real power can't be known from here"
        )
    } else {
        formula
    }
}

#[cfg(test)]
#[path = "estimator_tests.rs"]
mod tests;
