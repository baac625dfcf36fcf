//! Recorded or invented numbers on their way through the real rules.

use std::path::{Path, PathBuf};

use napi::{Env, bindgen_prelude::Float64Array};
use napi_derive::napi;
use power_core::{
    CounterReplay, CounterSpec, GaugeSpec, Joules, Moment, Refusal, Watts, replay_counter as counter_replay,
    replay_gauge as gauge_replay, replay_refusal as refusal_of, replay_source as source_replay,
};

use crate::{
    DomainInfo, Nullable, Result,
    columns::{SampleColumns, columns},
    count, nanos, nullable, of_engine, span, to_js,
};

#[napi(object, object_to_js = false)]
pub struct CounterTrace {
    /// Highest value shown, µJ; left out where it can't be read, or for a counter of 64 bits.
    #[napi(js_name = "max_uj")]
    pub max_uj: Option<f64>,
    /// More than any such domain can draw, in watts (W).
    #[napi(js_name = "cap_w")]
    pub cap_w: f64,
    /// How often the hardware renews its value, ns.
    #[napi(js_name = "update_period_ns")]
    pub update_period_ns: f64,
    /// When it was read, ns.
    #[napi(js_name = "at_ns")]
    pub at_ns: Vec<f64>,
    /// What was read, µJ, exact below 2^53; left out where there was no number.
    #[napi(js_name = "raw_uj")]
    pub raw_uj: Vec<Option<f64>>,
}

/// What a counter's numbers amount to, in joules (J) and nanoseconds (ns).
#[napi(object, object_from_js = false)]
pub struct CounterBooking {
    #[napi(js_name = "energy_j")]
    pub energy_j: f64,
    #[napi(js_name = "lo_j")]
    pub lo_j: f64,
    #[napi(js_name = "hi_j")]
    pub hi_j: f64,
    pub wraps: f64,
    pub resets: f64,
    pub glitches: f64,
    pub missing: f64,
    #[napi(js_name = "out_of_range")]
    pub out_of_range: f64,
    pub clock: f64,
    pub aliases: f64,
    #[napi(js_name = "gap_ns")]
    pub gap_ns: f64,
    /// By reading: what it was.
    pub events: Vec<String>,
    /// By reading: energy booked so far.
    #[napi(js_name = "booked_j")]
    pub booked_j: Float64Array,
    #[napi(js_name = "booked_lo_j")]
    pub booked_lo_j: Float64Array,
    #[napi(js_name = "booked_hi_j")]
    pub booked_hi_j: Float64Array,
}

/// Books the numbers of one counter by the rules that live ones go through.
#[napi]
pub fn replay_counter(trace: CounterTrace) -> CounterBooking {
    let spec = CounterSpec {
        max_uj: trace.max_uj.map(whole),
        cap_uw: whole(trace.cap_w * 1e6),
        update_period: nanos(trace.update_period_ns),
    };
    let readings: Vec<_> =
        trace.at_ns.into_iter().map(nanos).zip(trace.raw_uj.into_iter().map(|uj| uj.map(whole))).collect();
    counter_replay(spec, &readings).into()
}

/// One column of what was booked, in joules (J).
fn joules(booked: &[(Joules, Joules, Joules)], of: fn(&(Joules, Joules, Joules)) -> Joules) -> Float64Array {
    booked.iter().map(|booked| of(booked).get()).collect::<Vec<_>>().into()
}

impl From<CounterReplay> for CounterBooking {
    fn from(replay: CounterReplay) -> Self {
        let (energy, lo, hi) = replay.total;
        let tally = replay.tally;
        Self {
            energy_j: energy.get(),
            lo_j: lo.get(),
            hi_j: hi.get(),
            wraps: count(tally.wraps),
            resets: count(tally.resets),
            glitches: count(tally.glitches),
            missing: count(tally.missing),
            out_of_range: count(tally.out_of_range),
            clock: count(tally.clock),
            aliases: count(tally.aliases),
            gap_ns: span(tally.gap),
            events: replay.steps.iter().map(|step| step.name()).collect(),
            booked_j: joules(&replay.booked, |booked| booked.0),
            booked_lo_j: joules(&replay.booked, |booked| booked.1),
            booked_hi_j: joules(&replay.booked, |booked| booked.2),
        }
    }
}

#[napi(object, object_to_js = false)]
pub struct GaugeTrace {
    /// The longest span between two readings that is integrated, ns.
    #[napi(js_name = "max_gap_ns")]
    pub max_gap_ns: f64,
    /// More than any such domain can draw, in watts (W).
    #[napi(js_name = "cap_w")]
    pub cap_w: f64,
    /// When it was read, ns.
    #[napi(js_name = "at_ns")]
    pub at_ns: Vec<f64>,
    /// What was read, in watts (W); left out where there was no number.
    #[napi(js_name = "power_w")]
    pub power_w: Vec<Option<f64>>,
}

/// What the readings of a power sensor amount to, in joules (J) and nanoseconds (ns).
#[napi(object, object_from_js = false)]
pub struct GaugeBooking {
    pub missing: f64,
    pub clock: f64,
    #[napi(js_name = "gap_ns")]
    pub gap_ns: f64,
    /// By reading: what it was.
    pub events: Vec<&'static str>,
    /// By reading: energy booked so far.
    #[napi(js_name = "booked_j")]
    pub booked_j: Float64Array,
    #[napi(js_name = "booked_lo_j")]
    pub booked_lo_j: Float64Array,
    #[napi(js_name = "booked_hi_j")]
    pub booked_hi_j: Float64Array,
}

/// Books the readings of one power sensor by the rules that live ones go through.
#[napi]
pub fn replay_gauge(trace: GaugeTrace) -> GaugeBooking {
    let spec = GaugeSpec { max_gap: nanos(trace.max_gap_ns), cap: Watts::new(trace.cap_w) };
    let powers = trace.power_w.into_iter().map(|power| power.map(Watts::new));
    let readings: Vec<_> = trace.at_ns.into_iter().map(nanos).zip(powers).collect();
    let replay = gauge_replay(spec, &readings);
    GaugeBooking {
        missing: count(replay.tally.missing),
        clock: count(replay.tally.clock),
        gap_ns: span(replay.tally.gap),
        events: replay.events.iter().map(|event| event.name()).collect(),
        booked_j: joules(&replay.booked, |booked| booked.0),
        booked_lo_j: joules(&replay.booked, |booked| booked.1),
        booked_hi_j: joules(&replay.booked, |booked| booked.2),
    }
}

#[napi(object, object_to_js = false)]
pub struct FileWrite {
    /// Below the root.
    pub path: String,
    pub text: String,
}

#[napi(object, object_to_js = false)]
pub struct ScriptedMoment {
    /// When the source is read, ns.
    #[napi(js_name = "at_ns")]
    pub at_ns: f64,
    /// Files that hold something new by then.
    pub writes: Vec<FileWrite>,
}

#[napi(object, object_from_js = false)]
pub struct ExcludedInfo {
    pub zone: String,
    pub reason: String,
}

/// What a source made of a scripted tree.
#[napi(object, object_from_js = false)]
pub struct SourceBooking<'env> {
    pub domains: Vec<DomainInfo>,
    pub samples: SampleColumns<'env>,
    /// By sample: why there was no number; null where there was one.
    #[napi(ts_type = "Array<string | null>")]
    pub missing: Vec<Nullable<String>>,
    pub excluded: Vec<ExcludedInfo>,
}

/// Opens a source on the tree under `root` and reads it at every moment, after that moment's writes.
#[napi]
pub fn replay_source(
    env: &Env,
    source: String,
    root: String,
    moments: Vec<ScriptedMoment>,
) -> Result<SourceBooking<'_>> {
    let moments: Vec<_> = moments
        .into_iter()
        .map(|moment| Moment {
            at: nanos(moment.at_ns),
            writes: moment.writes.into_iter().map(|w| (PathBuf::from(w.path), w.text)).collect(),
        })
        .collect();
    let replay = source_replay(&source, Path::new(&root), &moments).map_err(to_js)?;
    Ok(SourceBooking {
        domains: replay.domains.iter().map(DomainInfo::from).collect(),
        samples: columns(env, &replay.samples).map_err(of_engine)?,
        missing: replay
            .missing
            .into_iter()
            .map(|why| nullable(why.map(|why| why.name().to_owned())))
            .collect(),
        excluded: replay
            .excluded
            .into_iter()
            .map(|excluded| ExcludedInfo { zone: excluded.zone, reason: excluded.reason })
            .collect(),
    })
}

/// Why a source can't be opened on the tree under `root`, in one word; null when it can.
/// `refusal` plays a kernel that refuses the numbers of powercap: `permission` or `io`.
#[napi(ts_return_type = "string | null")]
pub fn replay_refusal(source: String, root: String, refusal: Option<String>) -> Nullable<String> {
    let refusal = match refusal.as_deref() {
        Some("permission") => Some(Refusal::Permission),
        Some("io") => Some(Refusal::Io),
        _ => None,
    };
    nullable(refusal_of(&source, Path::new(&root), refusal).err().map(|error| error.reason().to_owned()))
}

/// What is known of one of Apple's energy channels.
#[napi(object, object_from_js = false)]
pub struct ChannelInfo {
    pub scope: &'static str,
    /// What one count is, in microjoules (µJ).
    #[napi(js_name = "count_uj")]
    pub count_uj: f64,
    #[napi(js_name = "update_period_ns")]
    pub update_period_ns: f64,
}

/// Tells a channel by its name and unit; nothing for a part of a total, or for a unit that isn't known.
#[napi]
pub fn ioreport_channel(name: String, unit: String) -> Option<ChannelInfo> {
    power_core::ioreport_channel(&name, &unit).map(|found| ChannelInfo {
        scope: found.scope.name(),
        count_uj: found.count_uj,
        update_period_ns: span(found.update_period),
    })
}

/// What isn't a number, or is negative, becomes 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
const fn whole(number: f64) -> u64 {
    number as u64
}
