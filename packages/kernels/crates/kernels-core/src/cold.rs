use serde::{Deserialize, Serialize};

use crate::{
    ClockSource, Interval, KernelError, Prepared,
    runner::batch,
    stats::{mean, mean_interval, median},
};

/// Cold launches at least and at most.
const FEWEST: usize = 5;
const MOST: usize = 30;

/// Time that they may take together, ns, emptying the caches not counted.
const ENOUGH_NS: f64 = 5e8;

/// Time of single launches, each after the caches were emptied and nothing else was in flight: what the first launch of
/// a step takes, where the mean of a batch is what one among many does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColdTiming {
    /// Mean, ns.
    pub mean_ns: f64,
    /// Its 95 % interval (Student's t, over launches).
    pub interval: Option<Interval>,
    /// Median, ns.
    pub median_ns: f64,
    /// Launches.
    pub launches: usize,
    /// Which clock timed them.
    pub clock: ClockSource,
    /// Bytes that were written before each.
    pub flushed_bytes: u64,
}

/// Times launches one by one, writing `bytes` over the caches before each; None where the backend can't.
///
/// # Errors
/// What the driver says.
pub(crate) fn cold_launches(
    prepared: &mut dyn Prepared,
    bytes: u64,
) -> Result<Option<ColdTiming>, KernelError> {
    let (mut launches_ns, mut total_ns, mut clock) = (Vec::new(), 0.0, ClockSource::Host);
    while launches_ns.len() < FEWEST || (launches_ns.len() < MOST && total_ns < ENOUGH_NS) {
        if !prepared.flush(bytes)? {
            return Ok(None);
        }
        let timing = batch(prepared, 1)?;
        clock = timing.clock;
        total_ns += timing.batch_ns().max(0.0);
        launches_ns.push(timing.launch_ns());
    }
    let statistics = mean(&launches_ns).zip(median(&launches_ns));
    Ok(statistics.map(|(mean_ns, median_ns)| ColdTiming {
        mean_ns,
        interval: mean_interval(&launches_ns),
        median_ns,
        launches: launches_ns.len(),
        clock,
        flushed_bytes: bytes,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImplId, Ticket, Timing};

    /// A kernel that takes ten times as long where its caches were emptied.
    struct Fake {
        can_flush: bool,
        warm_ns: f64,
        empty: bool,
    }

    impl Prepared for Fake {
        fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
            Ok(Ticket(u64::from(launches)))
        }

        fn wait(&mut self, _ticket: Ticket) -> Result<Timing, KernelError> {
            let host_ns = if std::mem::take(&mut self.empty) { 10.0 } else { 1.0 } * self.warm_ns;
            Ok(Timing { launches: 1, device_ns: None, host_ns, clock: ClockSource::Host })
        }

        fn flush(&mut self, bytes: u64) -> Result<bool, KernelError> {
            self.empty = self.can_flush && bytes == 4096;
            Ok(self.can_flush)
        }

        fn poison(&mut self) -> Result<(), KernelError> {
            Ok(())
        }

        fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
            Ok(Vec::new())
        }

        fn impl_id(&self) -> ImplId {
            ImplId::new("fake", "fake")
        }
    }

    #[test]
    fn each_launch_is_cold_and_there_are_as_many_as_time_allows() -> Result<(), KernelError> {
        for (warm_ns, launches) in [(1e5, MOST), (1e7, FEWEST), (4e6, 13)] {
            let mut fake = Fake { can_flush: true, warm_ns, empty: false };
            let cold = cold_launches(&mut fake, 4096)?;
            let told =
                cold.map(|cold| (cold.launches, (cold.mean_ns / warm_ns).round(), cold.interval.is_some()));
            assert_eq!(told, Some((launches, 10.0, true)), "{warm_ns}");
        }
        Ok(())
    }

    #[test]
    fn a_backend_that_cannot_empty_caches_has_no_cold_launches() -> Result<(), KernelError> {
        let mut fake = Fake { can_flush: false, warm_ns: 1e5, empty: false };
        assert_eq!(cold_launches(&mut fake, 4096)?, None);
        Ok(())
    }
}
