use std::{thread, time::Duration};

use power_core::{Clock, MonotonicClock};

/// The host's time, on the clock that power samples are stamped with.
pub trait Host: Sync {
    /// Now, ns. Never goes back.
    fn now_ns(&self) -> i64;

    /// Waits for about this long.
    fn sleep_ns(&self, span: i64);
}

/// The real one: `CLOCK_MONOTONIC` on Linux.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    fn now_ns(&self) -> i64 {
        MonotonicClock.now().0
    }

    fn sleep_ns(&self, span: i64) {
        thread::sleep(Duration::from_nanos(u64::try_from(span).unwrap_or(0)));
    }
}

/// A span in ns as f64.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ns, 104 days")]
pub(crate) const fn nanos(span: i64) -> f64 {
    span as f64
}
