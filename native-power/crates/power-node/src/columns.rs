//! Samples by column. All columns of one call lie in one buffer, which costs a tenth of one each.

use napi::{
    Env, Result,
    bindgen_prelude::{
        ArrayBuffer, BigInt64ArraySlice, Float64ArraySlice, Uint8ArraySlice, Uint16ArraySlice,
    },
};
use napi_derive::napi;
use power_core::{Sample, Watts};

use crate::span;

/// Samples by column: entry `i` of every array belongs to one reading of one domain. The arrays share one buffer.
#[napi(object, object_from_js = false)]
pub struct SampleColumns<'env> {
    #[napi(js_name = "at_ns")]
    pub at_ns: BigInt64ArraySlice<'env>,
    #[napi(js_name = "read_ns")]
    pub read_ns: Float64ArraySlice<'env>,
    pub domain: Uint16ArraySlice<'env>,
    pub raw: BigInt64ArraySlice<'env>,
    #[napi(js_name = "raw_valid")]
    pub raw_valid: Uint8ArraySlice<'env>,
    pub event: Uint8ArraySlice<'env>,
    #[napi(js_name = "booked_energy_j")]
    pub booked_energy_j: Float64ArraySlice<'env>,
    #[napi(js_name = "booked_lo_j")]
    pub booked_lo_j: Float64ArraySlice<'env>,
    #[napi(js_name = "booked_hi_j")]
    pub booked_hi_j: Float64ArraySlice<'env>,
    #[napi(js_name = "power_w")]
    pub power_w: Float64ArraySlice<'env>,
    #[napi(js_name = "power_valid")]
    pub power_valid: Uint8ArraySlice<'env>,
}

/// Bytes of one sample in all columns: seven of 8, one of 2, three of 1.
const BYTES: usize = 61;

/// The widest columns come first, so that each begins where its numbers may lie.
pub fn columns<'env>(env: &'env Env, samples: &[Sample]) -> Result<SampleColumns<'env>> {
    let mut bytes = Vec::with_capacity(samples.len() * BYTES);
    let at_ns = put(&mut bytes, samples, |s| s.at.0.to_ne_bytes());
    let read_ns = put(&mut bytes, samples, |s| span(s.took).to_ne_bytes());
    let raw = put(&mut bytes, samples, |s| s.raw.unwrap_or(0).to_ne_bytes());
    let booked = put(&mut bytes, samples, |s| s.booked.get().to_ne_bytes());
    let lo = put(&mut bytes, samples, |s| s.lo.get().to_ne_bytes());
    let hi = put(&mut bytes, samples, |s| s.hi.get().to_ne_bytes());
    let power = put(&mut bytes, samples, |s| s.power.map_or(0.0, Watts::get).to_ne_bytes());
    let domain = put(&mut bytes, samples, |s| s.domain.to_ne_bytes());
    let raw_valid = put(&mut bytes, samples, |s| [u8::from(s.raw.is_some())]);
    let event = put(&mut bytes, samples, |s| [s.event.code()]);
    let power_valid = put(&mut bytes, samples, |s| [u8::from(s.power.is_some())]);
    let all = ArrayBuffer::copy_from(env, bytes)?;
    let count = samples.len();
    Ok(SampleColumns {
        at_ns: BigInt64ArraySlice::from_arraybuffer(&all, at_ns, count)?,
        read_ns: Float64ArraySlice::from_arraybuffer(&all, read_ns, count)?,
        domain: Uint16ArraySlice::from_arraybuffer(&all, domain, count)?,
        raw: BigInt64ArraySlice::from_arraybuffer(&all, raw, count)?,
        raw_valid: Uint8ArraySlice::from_arraybuffer(&all, raw_valid, count)?,
        event: Uint8ArraySlice::from_arraybuffer(&all, event, count)?,
        booked_energy_j: Float64ArraySlice::from_arraybuffer(&all, booked, count)?,
        booked_lo_j: Float64ArraySlice::from_arraybuffer(&all, lo, count)?,
        booked_hi_j: Float64ArraySlice::from_arraybuffer(&all, hi, count)?,
        power_w: Float64ArraySlice::from_arraybuffer(&all, power, count)?,
        power_valid: Uint8ArraySlice::from_arraybuffer(&all, power_valid, count)?,
    })
}

/// Appends a column; where it begins.
fn put<const WIDTH: usize>(
    bytes: &mut Vec<u8>,
    samples: &[Sample],
    of: impl Fn(&Sample) -> [u8; WIDTH],
) -> usize {
    let begins = bytes.len();
    bytes.extend(samples.iter().flat_map(of));
    begins
}
