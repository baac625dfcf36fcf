//! Recorded answers of vendors' libraries on their way through the real rules.

use napi::bindgen_prelude::{BigInt, Uint8Array};
use napi_derive::napi;
use power_core::{Excluded, Joules, Missing};
use power_vendor::{decode_field, energy_uj, replay_gpus as gpus_replay};

use crate::{Nullable, Result, nanos, nullable, replay::ExcludedInfo, to_js};

/// A device as NVIDIA's library shows it, with its energy counter at both ends of a span.
#[napi(object, object_to_js = false)]
pub struct GpuTrace {
    pub uuid: String,
    /// The GPU that it is an instance of.
    pub parent: Option<String>,
    /// At the start, mJ.
    #[napi(js_name = "start_mj")]
    pub start_mj: BigInt,
    /// At the end, mJ.
    #[napi(js_name = "end_mj")]
    pub end_mj: BigInt,
}

/// Energy of one GPU in the total.
#[napi(object, object_from_js = false)]
pub struct GpuBooking {
    pub id: String,
    #[napi(js_name = "energy_j")]
    pub energy_j: f64,
}

/// What recorded devices amount to.
#[napi(object, object_from_js = false)]
pub struct GpusBooking {
    pub gpus: Vec<GpuBooking>,
    pub excluded: Vec<ExcludedInfo>,
}

/// Counts the energy of recorded NVIDIA devices over `span_ns`, as the source counts that of live ones.
#[napi]
pub fn replay_gpus(gpus: Vec<GpuTrace>, span_ns: f64) -> Result<GpusBooking> {
    let traces: Vec<_> = gpus
        .into_iter()
        .map(|gpu| power_vendor::GpuTrace {
            uuid: gpu.uuid,
            parent: gpu.parent,
            start_mj: gpu.start_mj.get_u64().1,
            end_mj: gpu.end_mj.get_u64().1,
        })
        .collect();
    let found = gpus_replay(&traces, nanos(span_ns)).map_err(to_js)?;
    let info = |left: Excluded| ExcludedInfo { zone: left.zone, reason: left.reason };
    let booking = |(id, energy): (String, Joules)| GpuBooking { id, energy_j: energy.get() };
    Ok(GpusBooking {
        gpus: found.gpus.into_iter().map(booking).collect(),
        excluded: found.excluded.into_iter().map(info).collect(),
    })
}

/// A whole number, or in one word why there is none.
#[napi(object, object_from_js = false)]
pub struct Decoded {
    #[napi(ts_type = "bigint | null")]
    pub value: Nullable<BigInt>,
    #[napi(ts_type = "string | null")]
    pub missing: Nullable<String>,
}

/// What an answer of NVIDIA's library to one field says: the field's own status and type, and the eight bytes of its value.
#[napi]
pub fn decode_nvml_field(status: i32, kind: i32, value: Uint8Array) -> Decoded {
    let bytes = <[u8; 8]>::try_from(value.as_ref()).map_err(|_| Missing::Parse);
    decoded(bytes.and_then(|bytes| decode_field(status, kind, bytes)))
}

/// Counts of AMD SMI in µJ; `resolution_uj` is what the library says that one is.
#[napi]
pub fn decode_amdsmi_energy(count: BigInt, resolution_uj: f64) -> Decoded {
    let (negative, count, exact) = count.get_u64();
    #[expect(clippy::cast_possible_truncation, reason = "the library's type")]
    let resolution = resolution_uj as f32;
    decoded(if negative || !exact { Err(Missing::Parse) } else { energy_uj(count, resolution) })
}

fn decoded(found: std::result::Result<u64, Missing>) -> Decoded {
    let missing = found.err().map(|why| word(why).to_owned());
    Decoded { value: nullable(found.ok().map(BigInt::from)), missing: nullable(missing) }
}

const fn word(why: Missing) -> &'static str {
    match why {
        Missing::Absent => "absent",
        Missing::Permission => "permission",
        Missing::Io => "io",
        Missing::Parse => "parse",
        Missing::NotSupported => "not-supported",
        Missing::Lost => "lost",
        Missing::Sentinel => "sentinel",
        Missing::Implausible => "implausible",
        Missing::Inactive => "inactive",
    }
}
