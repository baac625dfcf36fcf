//! Whether the platform's counter can be believed: it holds the packages, so it can't count less than they do.

use crate::{Booking, Domain, Missing, Nanos, Reading, Scope, Value};

/// The flag of a platform that counts less than its packages.
pub const PLATFORM_BELOW_PACKAGES: &str = "psys<package";

/// Energy of the packages below which nothing is concluded, µJ, and time.
const LEAST_UJ: u64 = 1_000_000;
const LEAST_SPAN: Nanos = Nanos::from_millis(500);

/// As many steps of the platform's counter must have passed: some count whole joules.
const LEAST_STEPS: u64 = 20;

/// Compares the platform with the sum of its packages while both are read.
#[derive(Debug, Default)]
pub struct PlatformCheck {
    packages: Vec<u16>,
    platforms: Vec<u16>,
    least_uj: u64,
    since: Option<Counts>,
    failed: bool,
}

#[derive(Debug)]
struct Counts {
    at: Nanos,
    packages: Vec<u64>,
    platforms: Vec<u64>,
}

impl PlatformCheck {
    /// Of these domains.
    pub fn of(domains: &[(Domain, Booking)]) -> Self {
        let with = |scope: Scope| {
            (0..).zip(domains).filter(move |(_, (d, _))| d.scope == scope).map(|(k, _)| k).collect()
        };
        let steps = domains.iter().filter(|(d, _)| d.scope == Scope::System).filter_map(|(_, b)| match b {
            Booking::Counter(spec) => spec.lsb_uj(),
            _ => None,
        });
        Self {
            packages: with(Scope::Package),
            platforms: with(Scope::System),
            least_uj: steps.max().unwrap_or(1).saturating_mul(LEAST_STEPS).max(LEAST_UJ),
            ..Self::default()
        }
    }

    /// Takes in one reading of every domain, and takes the platform's number away once it proved too small.
    pub fn see(&mut self, readings: &mut [Reading]) {
        if self.platforms.is_empty() || self.packages.is_empty() {
            return;
        }
        if !self.failed {
            self.compare(readings);
        }
        if self.failed {
            for reading in readings.iter_mut().filter(|reading| self.platforms.contains(&reading.domain)) {
                reading.value = Value::Missing(Missing::Implausible);
            }
        }
    }

    /// Whether the platform proved too small.
    pub const fn failed(&self) -> bool {
        self.failed
    }

    fn compare(&mut self, readings: &[Reading]) {
        let at = readings.first().map_or(Nanos(0), |reading| reading.before);
        if self.since.as_ref().is_some_and(|since| at - since.at < LEAST_SPAN) {
            return;
        }
        let counts = |of: &[u16]| -> Option<Vec<u64>> {
            let count = |domain: &u16| match readings.iter().find(|r| r.domain == *domain)?.value {
                Value::Counter { uj, .. } => Some(uj),
                _ => None,
            };
            of.iter().map(count).collect()
        };
        let now = counts(&self.packages).zip(counts(&self.platforms)).map(|(packages, platforms)| Counts {
            at,
            packages,
            platforms,
        });
        let grown = now.as_ref().zip(self.since.as_ref()).and_then(|(now, since)| {
            Some((growth(&since.packages, &now.packages)?, growth(&since.platforms, &now.platforms)?))
        });
        match grown {
            Some((packages, _)) if packages < self.least_uj => {}
            Some((packages, platforms)) => {
                self.failed = platforms < packages / 10 * 9;
                self.since = now;
            }
            None => self.since = now,
        }
    }
}

/// What several counters grew by together; None when one of them lapped.
fn growth(before: &[u64], after: &[u64]) -> Option<u64> {
    before
        .iter()
        .zip(after)
        .try_fold(0_u64, |sum, (before, after)| sum.checked_add(after.checked_sub(*before)?))
}

#[cfg(all(test, unix))]
#[path = "platform_tests.rs"]
mod tests;
