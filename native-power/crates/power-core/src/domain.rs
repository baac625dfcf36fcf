use crate::Nanos;

/// What a domain's number covers. Scopes nest, so they must not be summed blindly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The plug: everything behind it.
    Wall,
    /// The whole board or laptop, as far as a sensor reaches.
    System,
    /// One CPU socket: cores, caches, and the graphics on the same die.
    Package,
    /// Cores of the host without what surrounds them.
    Cpu,
    /// Memory attached to one socket.
    Dram,
    /// One graphics processor with its memory.
    Gpu,
    /// CPU, GPU and memory of one module.
    Module,
    /// A system on a chip.
    Soc,
    /// A neural processor.
    Npu,
}

impl Scope {
    /// The name used in files and in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::System => "system",
            Self::Package => "package",
            Self::Cpu => "cpu",
            Self::Dram => "dram",
            Self::Gpu => "gpu",
            Self::Module => "module",
            Self::Soc => "soc",
            Self::Npu => "npu",
        }
    }
}

/// What kind of number a domain has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A growing count of energy: exact over any span, whatever the sampling rate.
    Counter,
    /// Power at a time: must be integrated, and misses what happens between two samples.
    Gauge,
    /// A guess from something else than a sensor.
    Estimate,
}

impl Kind {
    /// The name used in files and in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Estimate => "estimate",
        }
    }
}

/// Where a figure comes from. Different provenances are never summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// An energy counter of the hardware.
    Counter,
    /// Power of a sensor, integrated by us.
    Integrated,
    /// A formula without a sensor.
    Estimated,
}

impl Provenance {
    /// The name used in files and in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Integrated => "integrated",
            Self::Estimated => "estimated",
        }
    }
}

/// What is known of one domain before it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Stable across restarts, unique on its host; for instance `rapl:0:package-0`.
    pub id: String,
    /// What the number covers.
    pub scope: Scope,
    /// What kind of number it is.
    pub kind: Kind,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Whether it is part of the source's total: false for what lies inside another domain, or overlaps it.
    pub in_total: bool,
    /// How often the sensor renews its value.
    pub update_period: Nanos,
    /// Smallest step in joules (counters) or watts (gauges); None when unknown.
    pub quantum: Option<f64>,
    /// Declared relative error, 0…1; None when nobody declares one.
    pub scale_error_ratio: Option<f64>,
    /// Share of each update period that the sensor looks at, 0…1; None when it is all of it, or not known.
    pub sensing_share: Option<f64>,
    /// The vendor's unit of raw numbers.
    pub raw_unit: &'static str,
    /// Formula and constants of an estimate, or another remark.
    pub note: Option<String>,
}

/// What became of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// The first number: sets the start, books nothing.
    First,
    /// Growth, booked.
    Ok,
    /// No growth.
    Same,
    /// The counter passed its highest value; growth booked across it.
    Wrap,
    /// A second number confirmed that the counter had started anew; what lay before is a gap.
    Reset,
    /// A number between two good ones proved to be a one-off and was dropped; nothing is lost.
    Glitch,
    /// An impossible number, held until the next one confirms or refutes it.
    Suspect,
    /// Nothing could be read.
    Missing,
    /// The number is above the counter's highest value; ignored.
    OutOfRange,
    /// The stamp didn't advance; ignored.
    Clock,
    /// The counter may have lapped unseen: what is booked is the lower bound only.
    Alias,
    /// A span nothing is known about; it widens the bounds.
    Gap,
}

impl Event {
    /// Every event, in the order of its code.
    pub const ALL: [Self; 12] = [
        Self::First,
        Self::Ok,
        Self::Same,
        Self::Wrap,
        Self::Reset,
        Self::Glitch,
        Self::Suspect,
        Self::Missing,
        Self::OutOfRange,
        Self::Clock,
        Self::Alias,
        Self::Gap,
    ];

    /// The number that stands for it in columns.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The name used in files and in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Ok => "ok",
            Self::Same => "same",
            Self::Wrap => "wrap",
            Self::Reset => "reset",
            Self::Glitch => "glitch",
            Self::Suspect => "suspect",
            Self::Missing => "missing",
            Self::OutOfRange => "out_of_range",
            Self::Clock => "clock",
            Self::Alias => "alias",
            Self::Gap => "gap",
        }
    }
}
