//! Readings beside power, by column.

use napi::bindgen_prelude::{BigInt64Array, Float64Array, Uint8Array, Uint16Array};
use napi_derive::napi;
use power_core::{ChannelReading, ChannelValue};

use crate::{Nullable, nullable};

/// What is read beside power.
#[napi(object, object_from_js = false)]
pub struct RecordedChannel {
    pub device: String,
    pub channel: String,
    #[napi(ts_type = "'°C' | 'Hz' | 'W' | '1' | 'bits'")]
    pub unit: &'static str,
}

impl From<&power_core::ChannelInfo> for RecordedChannel {
    fn from(info: &power_core::ChannelInfo) -> Self {
        Self { device: info.device.clone(), channel: info.name.clone(), unit: info.unit.name() }
    }
}

/// Channel readings by column: entry `i` of every array belongs to one reading of one channel.
#[napi(object, object_from_js = false)]
pub struct ChannelColumns {
    #[napi(js_name = "at_ns")]
    pub at_ns: BigInt64Array,
    pub channel: Uint16Array,
    pub value: Float64Array,
    #[napi(js_name = "value_valid")]
    pub value_valid: Uint8Array,
    #[napi(ts_type = "Array<string | null>")]
    pub text: Vec<Nullable<String>>,
    #[napi(js_name = "missing_reason", ts_type = "Array<string | null>")]
    pub missing_reason: Vec<Nullable<String>>,
}

pub fn columns(readings: &[ChannelReading]) -> ChannelColumns {
    ChannelColumns {
        at_ns: column(readings, |r| r.at.0).into(),
        channel: column(readings, |r| r.channel).into(),
        value: column(readings, |r| number(&r.value).unwrap_or(0.0)).into(),
        value_valid: column(readings, |r| u8::from(number(&r.value).is_some())).into(),
        text: column(readings, |r| match &r.value {
            ChannelValue::Bits { names, .. } => nullable(Some(names.clone())),
            _ => nullable(None),
        }),
        missing_reason: column(readings, |r| match &r.value {
            ChannelValue::Missing(why) => nullable(Some(why.name().to_owned())),
            _ => nullable(None),
        }),
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53; the names tell all bits")]
const fn number(value: &ChannelValue) -> Option<f64> {
    match value {
        ChannelValue::Number(number) => Some(*number),
        ChannelValue::Bits { bits, .. } => Some(*bits as f64),
        ChannelValue::Missing(_) => None,
    }
}

fn column<T>(readings: &[ChannelReading], of: impl Fn(&ChannelReading) -> T) -> Vec<T> {
    readings.iter().map(of).collect()
}
