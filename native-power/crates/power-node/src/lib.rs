//! The Node binding: types and conversions only. Anything that decides something is in `power-core`.
#![expect(missing_docs, reason = "napi generates items that have none")]
#![expect(clippy::needless_pass_by_value, reason = "napi hands objects over by value")]

pub mod channels;
pub mod columns;
pub mod feed;
pub mod registry;
pub mod replay;
pub mod vendor_replay;

use std::{
    path::Path,
    sync::{Arc, Weak},
};

use napi::{Env, bindgen_prelude::BigInt};
use napi_derive::napi;
use power_core::{
    Candidate, Clock, Domain, Event, Lateness, MonotonicClock, Nanos, PowerError, Provenance, Sampler, State,
    chain, left_unused,
};

use crate::columns::{SampleColumns, columns};

type Result<T> = napi::Result<T, &'static str>;

/// Now, in nanoseconds (ns) of the host's monotonic clock.
#[napi]
pub fn now_ns() -> BigInt {
    BigInt::from(MonotonicClock.now().0)
}

/// How long this boot has been suspended, ns: boot time less monotonic time. Null where the system doesn't tell.
#[napi]
pub fn suspended_ns() -> Option<f64> {
    power_core::suspended().map(span)
}

/// The identity of this boot, or null where the system has none.
#[napi]
pub fn boot_id(root: String) -> Option<String> {
    power_core::boot_id(Path::new(&root))
}

/// Names of what can become of a reading, in the order that `event` counts.
#[napi]
pub fn event_names() -> Vec<&'static str> {
    Event::ALL.iter().map(|event| event.name()).collect()
}

#[napi(object, object_from_js = false)]
pub struct SourceInfo {
    pub name: &'static str,
    #[napi(ts_type = "'counter' | 'integrated' | 'estimated'")]
    pub provenance: &'static str,
    #[napi(js_name = "default_period_ns")]
    pub default_period_ns: f64,
}

/// Every source this build knows, the most trustworthy first.
#[napi]
pub fn source_infos() -> Vec<SourceInfo> {
    let convert = |info: &power_core::SourceInfo| SourceInfo {
        name: info.name,
        provenance: info.provenance.name(),
        default_period_ns: span(info.default_period),
    };
    registry::source_infos().iter().map(convert).collect()
}

#[napi(object, object_from_js = false)]
pub struct SourceProbe {
    pub name: &'static str,
    pub usable: bool,
    pub detail: String,
    #[napi(ts_type = "string | null")]
    pub fix: Nullable<String>,
    /// Why it isn't used unless it is named; null when it is, or can't be.
    #[napi(ts_type = "string | null")]
    pub unused: Nullable<String>,
}

/// Where vendors' libraries are; what is left out is looked for where its driver puts it.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct Libraries {
    /// NVIDIA's `libnvidia-ml`.
    pub nvml: Option<String>,
    /// AMD's `libamd_smi`.
    pub amdsmi: Option<String>,
    /// Level Zero's loader, `libze_loader`.
    #[napi(js_name = "level_zero")]
    pub level_zero: Option<String>,
}

impl From<Libraries> for power_vendor::Libraries {
    fn from(Libraries { nvml, amdsmi, level_zero }: Libraries) -> Self {
        Self {
            nvml: nvml.map(Into::into),
            amdsmi: amdsmi.map(Into::into),
            level_zero: level_zero.map(Into::into),
        }
    }
}

/// Tries every source, on the tree under `root` or behind a vendor's library.
#[napi]
pub fn probe_sources(root: String, libraries: Option<Libraries>) -> Vec<SourceProbe> {
    let probes = registry::probe_sources(Path::new(&root), &libraries.unwrap_or_default().into());
    let infos = registry::source_infos();
    let provenance = |name| infos.iter().find(|info| info.name == name).map(|info| info.provenance);
    let candidates: Vec<_> = probes
        .iter()
        .map(|probe| Candidate {
            name: probe.name,
            usable: probe.usable,
            provenance: provenance(probe.name).unwrap_or(Provenance::Counter),
        })
        .collect();
    let unused = left_unused(&candidates);
    let convert = |(probe, unused): (power_core::SourceProbe, Option<String>)| SourceProbe {
        name: probe.name,
        usable: probe.usable,
        detail: probe.detail,
        fix: nullable(probe.fix),
        unused: nullable(unused),
    };
    probes.into_iter().zip(unused).map(convert).collect()
}

/// Two of these sources that show the same energy, or null.
#[napi(ts_return_type = "[string, string] | null")]
pub fn clash(names: Vec<String>) -> Option<Vec<String>> {
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    power_core::clash(&names).map(|(a, b)| vec![a.to_owned(), b.to_owned()])
}

#[napi(object, object_from_js = false)]
pub struct DomainInfo {
    pub id: String,
    #[napi(ts_type = "'wall' | 'system' | 'package' | 'cpu' | 'dram' | 'gpu' | 'module' | 'soc' | 'npu'")]
    pub scope: &'static str,
    #[napi(ts_type = "'counter' | 'gauge' | 'estimate'")]
    pub kind: &'static str,
    #[napi(ts_type = "'counter' | 'integrated' | 'estimated'")]
    pub provenance: &'static str,
    #[napi(js_name = "in_total")]
    pub in_total: bool,
    #[napi(js_name = "update_period_ns")]
    pub update_period_ns: f64,
    #[napi(ts_type = "number | null")]
    pub quantum: Nullable<f64>,
    #[napi(js_name = "scale_error_ratio", ts_type = "number | null")]
    pub scale_error_ratio: Nullable<f64>,
    #[napi(js_name = "sensing_share_ratio", ts_type = "number | null")]
    pub sensing_share_ratio: Nullable<f64>,
    #[napi(js_name = "raw_unit")]
    pub raw_unit: &'static str,
    #[napi(ts_type = "string | null")]
    pub note: Nullable<String>,
}

#[napi(object, object_from_js = false)]
pub struct RecorderStatus {
    #[napi(ts_type = "'running' | 'stopped' | 'failed'")]
    pub state: &'static str,
    #[napi(ts_type = "string | null")]
    pub reason: Nullable<String>,
    pub reads: f64,
    #[napi(js_name = "missed_deadlines")]
    pub missed_deadlines: f64,
    /// How late readings on schedule began; null before the first.
    #[napi(ts_type = "DeadlineLateness | null")]
    pub lateness: Nullable<DeadlineLateness>,
    #[napi(js_name = "read_ns")]
    pub read_ns: f64,
    pub dropped: f64,
    pub flags: Vec<String>,
    pub observed: Vec<ObservedDomain>,
}

/// How late readings on schedule began after their deadlines; quantiles are told at most an eighth too great.
#[napi(object, object_from_js = false)]
pub struct DeadlineLateness {
    pub readings: f64,
    #[napi(js_name = "p50_ns")]
    pub p50_ns: f64,
    #[napi(js_name = "p99_ns")]
    pub p99_ns: f64,
    #[napi(js_name = "max_ns")]
    pub max_ns: f64,
}

impl From<Lateness> for DeadlineLateness {
    fn from(Lateness { readings, p50, p99, max }: Lateness) -> Self {
        Self { readings: count(readings), p50_ns: span(p50), p99_ns: span(p99), max_ns: span(max) }
    }
}

/// What readings of one domain showed of its sensor.
#[napi(object, object_from_js = false)]
pub struct ObservedDomain {
    pub domain: String,
    #[napi(js_name = "update_period_ns", ts_type = "number | null")]
    pub update_period_ns: Nullable<f64>,
    #[napi(
        ts_type = "'not_changed' | 'too_few_changes' | 'faster_than_read' | 'coarse_counter' | 'not_sensed' | null"
    )]
    pub reason: Nullable<String>,
    #[napi(ts_type = "number | null")]
    pub quantum: Nullable<f64>,
    pub samples: f64,
}

#[napi(object, object_to_js = false)]
pub struct RecorderOptions {
    /// Name of one of `sourceInfos`.
    pub source: String,
    /// Root of the tree to read, normally `/`.
    pub root: String,
    /// Time between two readings, in nanoseconds (ns).
    #[napi(js_name = "period_ns")]
    pub period_ns: f64,
    /// Where vendors' libraries are.
    pub libraries: Option<Libraries>,
}

/// Reads one source on a background thread until stopped.
#[napi]
pub struct Recorder {
    sampler: Arc<Sampler>,
}

#[napi]
impl Recorder {
    #[napi(factory)]
    pub fn start(env: Env, options: RecorderOptions) -> Result<Self> {
        let libraries = options.libraries.unwrap_or_default().into();
        let source =
            registry::open_source(&options.source, Path::new(&options.root), &libraries).map_err(to_js)?;
        let sampler = Sampler::start(source, MonotonicClock, nanos(options.period_ns)).map_err(to_js)?;
        let sampler = Arc::new(sampler);
        stop_with(env, &sampler).map_err(of_engine)?;
        Ok(Self { sampler })
    }

    /// What is read, in the order that `SampleColumns.domain` counts.
    #[napi(getter)]
    pub fn domains(&self) -> Vec<DomainInfo> {
        self.sampler.domains().iter().map(DomainInfo::from).collect()
    }

    /// Hands over everything read since the last call. Never waits.
    #[napi]
    pub fn drain<'env>(&self, env: &'env Env) -> napi::Result<SampleColumns<'env>> {
        self.sampler.drain_with(|samples| columns(env, samples))
    }

    /// What is read beside power, in the order that `ChannelColumns.channel` counts.
    #[napi(getter)]
    pub fn channels(&self) -> Vec<channels::RecordedChannel> {
        self.sampler.channels().iter().map(channels::RecordedChannel::from).collect()
    }

    /// Hands over the channel readings since the last call. Never waits.
    #[napi]
    pub fn drain_channels(&self) -> channels::ChannelColumns {
        channels::columns(&self.sampler.drain_channels())
    }

    /// Reads once now and returns when, in nanoseconds (ns).
    #[napi]
    pub fn mark(&self) -> BigInt {
        BigInt::from(self.sampler.mark().0)
    }

    #[napi]
    pub fn status(&self) -> RecorderStatus {
        let status = self.sampler.status();
        let (state, reason) = match status.state {
            State::Running => ("running", None),
            State::Stopped => ("stopped", None),
            State::Failed(reason) => ("failed", Some(reason)),
        };
        RecorderStatus {
            state,
            reason: nullable(reason),
            reads: count(status.reads),
            missed_deadlines: count(status.missed_deadlines),
            lateness: nullable(status.lateness.map(DeadlineLateness::from)),
            read_ns: span(status.read_time),
            dropped: count(status.dropped),
            flags: status.flags,
            observed: self.sampler.domains().iter().zip(&status.observed).map(observed).collect(),
        }
    }

    /// Takes a last reading, then stops.
    #[napi]
    pub fn stop(&self) {
        self.sampler.stop();
    }
}

/// A value that is null, not absent, when there is none.
type Nullable<T> = napi::Either<T, napi::bindgen_prelude::Null>;

fn nullable<T>(value: Option<T>) -> Nullable<T>
where
    T: napi::bindgen_prelude::TypeName,
{
    value.map_or(napi::Either::B(napi::bindgen_prelude::Null), napi::Either::A)
}

/// Stops the sampler when its environment ends: the process, or the worker thread that loaded the addon.
fn stop_with(env: Env, sampler: &Arc<Sampler>) -> napi::Result<()> {
    let stop = |sampler: Weak<Sampler>| {
        if let Some(sampler) = sampler.upgrade() {
            sampler.stop();
        }
    };
    env.add_env_cleanup_hook(Arc::downgrade(sampler), stop).map(|_| ())
}

fn observed((domain, seen): (&Domain, &power_core::Observed)) -> ObservedDomain {
    ObservedDomain {
        domain: domain.id.clone(),
        update_period_ns: nullable(seen.update_period.ok().map(span)),
        reason: nullable(seen.update_period.err().map(|why| why.name().to_owned())),
        quantum: nullable(seen.quantum),
        samples: count(seen.samples),
    }
}

impl From<&Domain> for DomainInfo {
    fn from(domain: &Domain) -> Self {
        Self {
            id: domain.id.clone(),
            scope: domain.scope.name(),
            kind: domain.kind.name(),
            provenance: domain.provenance.name(),
            in_total: domain.in_total,
            update_period_ns: span(domain.update_period),
            quantum: nullable(domain.quantum),
            scale_error_ratio: nullable(domain.scale_error_ratio),
            sensing_share_ratio: nullable(domain.sensing_share),
            raw_unit: domain.raw_unit,
            note: nullable(domain.note.clone()),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
const fn span(span: Nanos) -> f64 {
    span.0 as f64
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
const fn count(count: u64) -> f64 {
    count as f64
}

/// What isn't a number becomes 0, which is refused as a period.
#[expect(clippy::cast_possible_truncation, reason = "saturates; fractions of a nanosecond don't matter")]
const fn nanos(number: f64) -> Nanos {
    Nanos(number as i64)
}

/// The engine refused something: that is no fault of a source.
fn of_engine(error: napi::Error) -> napi::Error<&'static str> {
    napi::Error::new("POWER_IO", error.reason.clone())
}

/// `code` becomes `error.code`; hints are added in TypeScript, next to the other messages.
fn to_js(error: PowerError) -> napi::Error<&'static str> {
    napi::Error::new(error.code(), chain(&error))
}
