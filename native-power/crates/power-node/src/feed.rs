//! Readings that JavaScript takes, booked by the core.

use std::sync::{Mutex, PoisonError};

use napi::{Env, bindgen_prelude::BigInt};
use napi_derive::napi;
use power_core::{Booking, CounterSpec, GaugeSpec, Missing, Nanos, Reading, Value, Watts};

use crate::{
    columns::{SampleColumns, columns},
    count, nanos,
};

/// How the readings of one domain are booked.
#[napi(object, object_to_js = false)]
pub struct FeedDomain {
    #[napi(ts_type = "'counter' | 'gauge'")]
    pub kind: String,
    /// How often the meter renews its value, in nanoseconds (ns).
    #[napi(js_name = "update_period_ns")]
    pub update_period_ns: f64,
    /// More than the domain can draw, in watts (W).
    #[napi(js_name = "max_power_w")]
    pub max_power_w: f64,
}

/// A recorder without a thread: JavaScript reads, the core books.
#[napi]
pub struct Feed {
    inner: Mutex<power_core::Feed>,
}

#[napi]
impl Feed {
    /// `period_ns` is the time between two readings.
    #[napi(constructor)]
    pub fn new(domains: Vec<FeedDomain>, period_ns: f64) -> Self {
        let feed = power_core::Feed::new(nanos(period_ns), domains.iter().map(booking));
        Self { inner: Mutex::new(feed) }
    }

    /// Books a count of energy in µJ. False when it isn't taken: no such domain, or after the end.
    #[napi]
    pub fn push_energy(&self, domain: u32, before_ns: BigInt, after_ns: BigInt, energy_uj: BigInt) -> bool {
        let (negative, uj, exact) = energy_uj.get_u64();
        let value =
            if negative || !exact { Value::Missing(Missing::Parse) } else { Value::Counter { raw: uj, uj } };
        self.push(domain, before_ns, after_ns, value)
    }

    /// Books a power in W.
    #[napi]
    pub fn push_power(&self, domain: u32, before_ns: BigInt, after_ns: BigInt, power_w: f64) -> bool {
        let value = Value::Power { raw: microwatts(power_w), power: Watts::new(power_w) };
        self.push(domain, before_ns, after_ns, value)
    }

    /// Books that there was no number.
    #[napi]
    pub fn push_missing(&self, domain: u32, before_ns: BigInt, after_ns: BigInt) -> bool {
        self.push(domain, before_ns, after_ns, Value::Missing(Missing::Io))
    }

    /// Hands over everything booked since the last call.
    #[napi]
    pub fn drain<'env>(&self, env: &'env Env) -> napi::Result<SampleColumns<'env>> {
        columns(env, &self.lock().drain())
    }

    /// Samples that were never drained and had to make room.
    #[napi(getter)]
    pub fn dropped(&self) -> f64 {
        count(self.lock().dropped())
    }

    /// Ends the series.
    #[napi]
    pub fn close(&self) {
        self.lock().close();
    }
}

impl Feed {
    fn push(&self, domain: u32, before_ns: BigInt, after_ns: BigInt, value: Value) -> bool {
        let Ok(domain) = u16::try_from(domain) else { return false };
        let [before, after] = [before_ns, after_ns].map(|at| Nanos(at.get_i64().0));
        self.lock().push(&Reading { domain, before, after, value })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, power_core::Feed> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn booking(domain: &FeedDomain) -> Booking {
    let update_period = nanos(domain.update_period_ns);
    if domain.kind == "counter" {
        let cap_uw = microwatts(domain.max_power_w).unwrap_or(0);
        return Booking::Counter(CounterSpec { max_uj: None, cap_uw, update_period });
    }
    Booking::Gauge(GaugeSpec::new(update_period, Watts::new(domain.max_power_w)))
}

/// None for what isn't a power.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked; saturates")]
fn microwatts(power_w: f64) -> Option<u64> {
    (power_w.is_finite() && power_w >= 0.0).then(|| (power_w * 1e6).round() as u64)
}
