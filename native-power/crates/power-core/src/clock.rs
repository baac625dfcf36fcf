use std::{fs, path::Path};

use crate::Nanos;

/// Where time comes from.
pub trait Clock: Send {
    /// The time now. Never goes back.
    fn now(&self) -> Nanos;

    /// How long the host has slept so far; None where that isn't known, or can't be told exactly at this moment.
    fn slept(&self) -> Option<Nanos> {
        None
    }

    /// The time of day less `now`; None where that isn't known, or can't be told exactly at this moment.
    fn wall_offset(&self) -> Option<Nanos> {
        None
    }
}

/// The host's monotonic clock. On Linux it is `CLOCK_MONOTONIC` in absolute terms, so that every process of one boot
/// reads the same clock; elsewhere it counts from the first look, within this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> Nanos {
        monotonic()
    }

    #[cfg(target_os = "linux")]
    fn slept(&self) -> Option<Nanos> {
        offset(|| Some(nanos(rustix::time::clock_gettime(rustix::time::ClockId::Boottime))))
    }

    fn wall_offset(&self) -> Option<Nanos> {
        offset(wall_time)
    }
}

/// Two looks further apart than this say nothing exact of what was looked at in between.
const TIGHT: Nanos = Nanos::from_millis(1);

/// Another clock less the monotonic one.
fn offset(other: impl FnOnce() -> Option<Nanos>) -> Option<Nanos> {
    let before = monotonic();
    let seen = other()?;
    let after = monotonic();
    (after - before <= TIGHT).then(|| seen - before.midpoint(after))
}

fn wall_time() -> Option<Nanos> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok().map(Nanos)
}

#[cfg(target_os = "linux")]
fn monotonic() -> Nanos {
    nanos(rustix::time::clock_gettime(rustix::time::ClockId::Monotonic))
}

#[cfg(not(target_os = "linux"))]
fn monotonic() -> Nanos {
    use std::{sync::LazyLock, time::Instant};
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    Nanos(i64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(i64::MAX))
}

/// How long this boot has been suspended, ns: boot time less monotonic time. A step between two looks means that the
/// host slept in between. None where the system doesn't tell.
#[cfg(target_os = "linux")]
pub fn suspended() -> Option<Nanos> {
    use rustix::time::{ClockId, clock_gettime};
    let before = nanos(clock_gettime(ClockId::Monotonic));
    let boot = nanos(clock_gettime(ClockId::Boottime));
    let after = nanos(clock_gettime(ClockId::Monotonic));
    Some(boot - before.midpoint(after))
}

/// How long this boot has been suspended, ns; None where the system doesn't tell.
#[cfg(not(target_os = "linux"))]
pub const fn suspended() -> Option<Nanos> {
    None
}

#[cfg(target_os = "linux")]
const fn nanos(time: rustix::time::Timespec) -> Nanos {
    Nanos(time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec))
}

/// The identity of this boot, or None where the system has none. Stamps of two boots must not be compared.
pub fn boot_id(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("proc/sys/kernel/random/boot_id")).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}
