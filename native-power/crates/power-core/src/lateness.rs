//! How late readings came after their deadlines, in a small logarithmic histogram.

use std::time::Duration;

use crate::Nanos;

/// Buckets to each power of two: a quantile is told at most an eighth too great.
const PARTS_BITS: u32 = 3;
const PARTS: usize = 1 << PARTS_BITS;
const BUCKETS: usize = (u64::BITS as usize - PARTS_BITS as usize + 1) * PARTS;

/// How late readings on schedule began after their deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// Readings behind it.
    pub readings: u64,
    /// Half of them were at most as late; told at most an eighth too great.
    pub p50: Nanos,
    /// 99 of 100 were at most as late; told at most an eighth too great.
    pub p99: Nanos,
    /// The latest of all, exactly.
    pub max: Nanos,
}

/// Counts readings by their lateness.
#[derive(Clone, Debug)]
pub struct LatenessLog {
    counts: [u64; BUCKETS],
    readings: u64,
    max_ns: u64,
}

impl Default for LatenessLog {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], readings: 0, max_ns: 0 }
    }
}

impl LatenessLog {
    /// Counts one reading.
    pub fn note(&mut self, late: Duration) {
        let ns = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        if let Some(count) = self.counts.get_mut(bucket(ns)) {
            *count += 1;
        }
        self.readings += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    /// What was counted; None when nothing was.
    pub fn told(&self) -> Option<Lateness> {
        (self.readings > 0).then(|| Lateness {
            readings: self.readings,
            p50: self.quantile(50),
            p99: self.quantile(99),
            max: nanos(self.max_ns),
        })
    }

    fn quantile(&self, percent: u64) -> Nanos {
        let rank = (self.readings.saturating_mul(percent)).div_ceil(100);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        nanos(found.map_or(self.max_ns, |bucket| greatest(bucket).min(self.max_ns)))
    }
}

fn nanos(ns: u64) -> Nanos {
    Nanos(i64::try_from(ns).unwrap_or(i64::MAX))
}

#[expect(clippy::cast_possible_truncation, reason = "at most three bits are kept")]
const fn bucket(ns: u64) -> usize {
    if ns < PARTS as u64 {
        return ns as usize & (PARTS - 1);
    }
    let power = ns.ilog2() - PARTS_BITS;
    let part = (ns >> power) as usize & (PARTS - 1);
    (power as usize + 1) * PARTS + part
}

/// The greatest number of a bucket.
const fn greatest(bucket: usize) -> u64 {
    let (row, part) = (bucket / PARTS, bucket % PARTS);
    if row == 0 {
        return part as u64;
    }
    let least = (PARTS + part) as u64;
    (least << (row - 1)) | ((1 << (row - 1)) - 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BUCKETS, Lateness, LatenessLog, bucket, greatest};
    use crate::Nanos;

    #[test]
    fn buckets_follow_one_another_without_a_hole() {
        for at in 0..BUCKETS {
            assert_eq!(bucket(greatest(at)), at);
            let next = greatest(at).checked_add(1).map(bucket);
            assert_eq!(next, (at + 1 < BUCKETS).then_some(at + 1), "after {at}");
        }
        assert_eq!(greatest(BUCKETS - 1), u64::MAX);
    }

    #[test]
    fn quantiles_are_never_too_small_and_at_most_an_eighth_too_great() {
        let mut log = LatenessLog::default();
        assert_eq!(log.told(), None);
        for us in 1..=1000 {
            log.note(Duration::from_micros(us));
        }
        let Some(Lateness { readings, p50, p99, max }) = log.told() else { unreachable!("counted") };
        assert_eq!((readings, max), (1000, Nanos(1_000_000)));
        assert!((500_000..=562_500).contains(&p50.0), "{p50:?}");
        assert!((990_000..=1_000_000).contains(&p99.0), "{p99:?}");
        log.note(Duration::MAX);
        assert_eq!(log.told().map(|told| told.max), Some(Nanos(i64::MAX)));
    }

    #[test]
    fn one_reading_is_all_of_them() {
        let mut log = LatenessLog::default();
        log.note(Duration::from_nanos(77));
        let all = Nanos(77);
        assert_eq!(log.told(), Some(Lateness { readings: 1, p50: all, p99: all, max: all }));
    }
}
