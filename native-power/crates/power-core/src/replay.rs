//! Runs recorded or invented numbers through the rules that live readings go through: same counters, same sources, same
//! ledgers, on times that the caller states.

use std::{
    cell::Cell,
    io,
    path::{Path, PathBuf},
};

use crate::{
    Clock, Counter, CounterSpec, Domain, Event, Excluded, Gauge, GaugeSpec, GaugeTally, Joules, Ledger,
    Missing, Nanos, PowerError, PowerSource, Rapl, Sample, Tally, Value, Watts,
    file::{ReadAgain, open_file},
    open_source,
};

/// What became of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What the reading itself was; never [`Event::Glitch`].
    pub event: Event,
    /// Whether it also proved the number before it to be a one-off.
    pub refuted: bool,
}

impl Step {
    /// The event's name, with `+glitch` where the number before it was refuted.
    pub fn name(self) -> String {
        let name = if self.event == Event::Reset { "reset_confirmed" } else { self.event.name() };
        if self.refuted { format!("{name}+glitch") } else { name.to_owned() }
    }
}

/// What a counter's numbers amount to.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterReplay {
    /// By reading: what it was.
    pub steps: Vec<Step>,
    /// By reading: energy booked so far, its best value and its bounds.
    pub booked: Vec<(Joules, Joules, Joules)>,
    /// At the end, after a number still in doubt has become a gap.
    pub total: (Joules, Joules, Joules),
    /// What happened.
    pub tally: Tally,
}

/// Books the numbers of one counter, µJ; None where there was none.
pub fn replay_counter(spec: CounterSpec, readings: &[(Nanos, Option<u64>)]) -> CounterReplay {
    let mut counter = Counter::new(spec);
    let (mut steps, mut booked) = (Vec::new(), Vec::new());
    for &(at, uj) in readings {
        let (before, so_far) = (counter.tally(), counter.booked().0);
        let event = counter.push(at, uj);
        let (after, now) = (counter.tally(), counter.booked().0);
        let event = match event {
            Event::Glitch if after.wraps > before.wraps => Event::Wrap,
            Event::Glitch if now > so_far => Event::Ok,
            Event::Glitch => Event::Same,
            other => other,
        };
        steps.push(Step { event, refuted: after.glitches > before.glitches });
        booked.push(counter.booked());
    }
    counter.close();
    CounterReplay { steps, booked, total: counter.booked(), tally: counter.tally() }
}

/// What the readings of a power sensor amount to.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeReplay {
    /// By reading: what it was.
    pub events: Vec<Event>,
    /// By reading: energy booked so far, its best value and its bounds.
    pub booked: Vec<(Joules, Joules, Joules)>,
    /// What happened.
    pub tally: GaugeTally,
}

/// Books the readings of one power sensor; None where there was none.
pub fn replay_gauge(spec: GaugeSpec, readings: &[(Nanos, Option<Watts>)]) -> GaugeReplay {
    let mut gauge = Gauge::new(spec);
    let (events, booked) =
        readings.iter().map(|&(at, power)| (gauge.push(at, power), gauge.booked())).unzip();
    GaugeReplay { events, booked, tally: gauge.tally() }
}

/// One moment of a scripted tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// When the source is read.
    pub at: Nanos,
    /// Files, under the root, that hold something new by then.
    pub writes: Vec<(PathBuf, String)>,
}

/// What a source made of a scripted tree.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceReplay {
    /// What it reads.
    pub domains: Vec<Domain>,
    /// What it read, booked; in the order of time.
    pub samples: Vec<Sample>,
    /// By sample: why there was no number; None where there was one.
    pub missing: Vec<Option<Missing>>,
    /// What it leaves out.
    pub excluded: Vec<Excluded>,
}

/// Opens the source of this name on the tree under `root` and reads it at every moment, after that moment's writes.
pub fn replay_source(name: &str, root: &Path, moments: &[Moment]) -> Result<SourceReplay, PowerError> {
    read_all(open_source(name, root)?.as_mut(), root, moments)
}

fn read_all(
    source: &mut dyn PowerSource,
    root: &Path,
    moments: &[Moment],
) -> Result<SourceReplay, PowerError> {
    let period = moments.windows(2).map(|pair| pair[1].at - pair[0].at).max().unwrap_or_default();
    let (domains, mut ledgers): (Vec<_>, Vec<_>) = source
        .domains()
        .iter()
        .map(|(domain, booking)| (domain.clone(), Ledger::every(period, *booking)))
        .unzip();
    let clock = Scripted(Cell::new(Nanos(0)));
    let (mut samples, mut missing) = (Vec::new(), Vec::new());
    for moment in moments {
        for (path, text) in &moment.writes {
            let path = root.join(path);
            std::fs::write(&path, text).map_err(|error| PowerError::io(path, error))?;
        }
        clock.0.set(moment.at);
        let mut readings = Vec::new();
        source.read(&clock, &mut readings)?;
        for reading in &readings {
            let Some(ledger) = ledgers.get_mut(usize::from(reading.domain)) else { continue };
            samples.push(ledger.enter(reading));
            missing.push(match reading.value {
                Value::Missing(why) => Some(why),
                _ => None,
            });
        }
    }
    samples.extend((0..).zip(&mut ledgers).filter_map(|(domain, ledger)| ledger.close(domain)));
    missing.resize(samples.len(), None);
    Ok(SourceReplay { domains, samples, missing, excluded: source.excluded().to_vec() })
}

/// Stands still until it is set.
struct Scripted(Cell<Nanos>);

impl Clock for Scripted {
    fn now(&self) -> Nanos {
        self.0.get()
    }
}

/// How the kernel refuses a counter, for trees on which a privileged user would be refused nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Opening fails for want of permission.
    Permission,
    /// Opening works, reading fails.
    Io,
}

/// Opens the source of this name on the tree under `root`; says why that fails. With a refusal: the counters of powercap,
/// as if the kernel refused their numbers.
pub fn replay_refusal(name: &str, root: &Path, refusal: Option<Refusal>) -> Result<(), PowerError> {
    match refusal {
        None => open_source(name, root).map(|_| ()),
        Some(Refusal::Permission) => Rapl::open_with(root, refuse_counters).map(|_| ()),
        Some(Refusal::Io) => Rapl::open_with(root, break_counters).map(|_| ()),
    }
}

fn refuse_counters(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    if path.ends_with("energy_uj") { Err(io::ErrorKind::PermissionDenied.into()) } else { open_file(path) }
}

fn break_counters(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    if path.ends_with("energy_uj") { Ok(Box::new(Broken)) } else { open_file(path) }
}

struct Broken;

impl ReadAgain for Broken {
    fn read_again(&self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("input/output error"))
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
