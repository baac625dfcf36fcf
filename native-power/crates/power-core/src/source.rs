use crate::{
    ChannelInfo, ChannelReading, CounterSpec, Domain, Event, Excluded, GaugeSpec, Joules, Nanos, PowerError,
    Provenance, Since, Watts,
};

/// What one reading of one domain says.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// An energy counter, in the vendor's unit and in µJ.
    Counter {
        /// As read.
        raw: u64,
        /// The same in microjoules.
        uj: u64,
    },
    /// The power of a sensor at this time.
    Power {
        /// As read, in the vendor's unit, where that is a whole number.
        raw: Option<u64>,
        /// The power.
        power: Watts,
    },
    /// A mean power since the last reading.
    MeanPower {
        /// What it was made of, in the vendor's unit.
        raw: u64,
        /// The power.
        since: Since,
    },
    /// There was no number.
    Missing(Missing),
}

/// Why there was no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It is gone.
    Absent,
    /// It may not be read any more.
    Permission,
    /// Reading it failed.
    Io,
    /// It isn't a number.
    Parse,
    /// The device doesn't offer it.
    NotSupported,
    /// The device fell off its bus, or waits for a reset.
    Lost,
    /// A number that the vendor uses to say that there is none.
    Sentinel,
    /// It contradicts another domain, or what such a domain can do.
    Implausible,
    /// The sensor says that it isn't measuring now.
    Inactive,
}

impl Missing {
    /// Its name in files and in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Permission => "permission",
            Self::Io => "io",
            Self::Parse => "parse",
            Self::NotSupported => "not-supported",
            Self::Lost => "lost",
            Self::Sentinel => "sentinel",
            Self::Implausible => "implausible",
            Self::Inactive => "inactive",
        }
    }
}

/// One reading, not yet booked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Index into the source's domains.
    pub domain: u16,
    /// Just before the read.
    pub before: Nanos,
    /// Just after it.
    pub after: Nanos,
    /// What was read.
    pub value: Value,
}

/// One reading with what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Middle of the read.
    pub at: Nanos,
    /// How long the read took.
    pub took: Nanos,
    /// Index into the source's domains.
    pub domain: u16,
    /// The number as read; None when there was none.
    pub raw: Option<i64>,
    /// What became of it.
    pub event: Event,
    /// Energy since the recorder's start.
    pub booked: Joules,
    /// Its lower bound.
    pub lo: Joules,
    /// Its upper bound.
    pub hi: Joules,
    /// Power of a gauge or an estimate.
    pub power: Option<Watts>,
}

/// How the readings of a domain become energy.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Booking {
    /// By the counter's rules.
    Counter(CounterSpec),
    /// By integrating the powers of a sensor.
    Gauge(GaugeSpec),
    /// By summing mean powers.
    MeanPower,
}

/// How long a reading may take, which decides what it may delay: sources of one speed are read one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speed {
    /// Microseconds: the kernel has the number, or asks the CPU.
    #[default]
    Fast,
    /// Milliseconds at most: the kernel asks firmware, or a chip on a slow bus.
    Bus,
    /// It may wait for a device, a library or a network, and has a thread to itself.
    Waits,
}

/// Somewhere energy can be read: a kernel interface, a vendor library, or a script in a test.
///
/// Constructors do all discovery and permission checks, so that a source that exists can be read.
pub trait PowerSource: Send {
    /// Its name in files and on the command line.
    fn name(&self) -> &'static str;

    /// Where its numbers come from.
    fn provenance(&self) -> Provenance;

    /// What is read, in a fixed order, and how it is booked. Frozen: a domain that vanishes goes on as missing.
    fn domains(&self) -> &[(Domain, Booking)];

    /// What was found but isn't recorded, and why.
    fn excluded(&self) -> &[Excluded] {
        &[]
    }

    /// The longest time between two readings that loses nothing; None when there is no such limit.
    fn slowest_period(&self) -> Option<Nanos> {
        None
    }

    /// How long a reading may take.
    fn speed(&self) -> Speed {
        Speed::Fast
    }

    /// What a reader of the numbers should know and that only reading them could show, for instance `psys<package`.
    fn flags(&self) -> Vec<String> {
        Vec::new()
    }

    /// What is read beside power, in a fixed order. Frozen, as domains are.
    fn channels(&self) -> &[ChannelInfo] {
        &[]
    }

    /// Appends one reading per channel to `out`, a missing one where a channel gave no number.
    fn read_channels(&mut self, _clock: &dyn crate::Clock, _out: &mut Vec<ChannelReading>) {}

    /// Appends one reading per domain to `out`, a missing one where a domain gave no number.
    ///
    /// # Errors
    /// Only for what ends the whole recording.
    fn read(&mut self, clock: &dyn crate::Clock, out: &mut Vec<Reading>) -> Result<(), PowerError>;
}
