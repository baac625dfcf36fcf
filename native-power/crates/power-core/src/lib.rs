//! Reading energy and power, without any knowledge of Node.
//!
//! All of it is plain Rust that can be tested anywhere: sources take the root of the tree they read as an argument,
//! time comes from a [`Clock`], counters are pure values, and every joule is booked in one place.
#![forbid(unsafe_code)]

mod channel;
mod clock;
mod clock_watch;
mod counter;
mod cpu;
mod cross_check;
mod dies;
mod domain;
mod emi;
mod emi_layout;
mod engine;
mod error;
mod estimator;
mod feed;
mod file;
mod gauge;
mod ioreport;
mod lanes;
mod lateness;
mod ledger;
mod mean_power;
mod observed;
mod overlap;
#[cfg(test)]
mod parser_fuzz;
mod platform;
mod rapl;
mod rapl_perf;
mod replay;
mod ring;
mod sampler;
mod source;
mod sources;
mod standstill;
mod sysfs;
mod units;
mod watch;

pub use channel::{ChannelInfo, ChannelReading, ChannelUnit, ChannelValue};
pub use clock::{Clock, MonotonicClock, boot_id, suspended};
pub use counter::{Counter, CounterSpec, Tally};
pub use cpu::{CpuFacts, DesignPower};
pub use domain::{Domain, Event, Kind, Provenance, Scope};
pub use emi::{EMI, Emi, EmiPort, FoundMeter};
pub use error::PowerError;
pub use estimator::{ESTIMATE, Estimator};
pub use feed::Feed;
pub use file::{KeptFile, open_file};
pub use gauge::{Gauge, GaugeSpec, GaugeTally};
pub use ioreport::{Channel, EnergyUnit, channel as ioreport_channel, covered as ioreport_covered};
pub use lateness::Lateness;
pub use ledger::Ledger;
pub use mean_power::{Band, MeanPower, Since};
pub use observed::{Observed, Unobserved};
pub use overlap::{Candidate, clash, left_unused};
pub use rapl::{Excluded, RAPL, Rapl};
pub use rapl_perf::{RAPL_PERF, open_rapl_perf};
pub use replay::{
    CounterReplay, GaugeReplay, Moment, Refusal, SourceReplay, Step, replay_counter, replay_gauge,
    replay_refusal, replay_source,
};
pub use sampler::{Sampler, SamplerStatus, State};
pub use source::{Booking, Missing, PowerSource, Reading, Sample, Speed, Value};
pub use sources::{SOURCES, SourceInfo, SourceProbe, chain, open_source, probe_sources};
pub use sysfs::{
    ACPI_METER, AMD_ENERGY, AMDGPU, BATTERY, INTEL_GPU, JETSON, Sensors, open_acpi_meter, open_amd_energy,
    open_amdgpu, open_battery, open_intel_gpu, open_jetson,
};
pub use units::{Joules, Nanos, Watts};
