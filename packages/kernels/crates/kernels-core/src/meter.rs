//! Reads a counter on a thread of its own while the device works on this one.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::{CounterReading, EnergyCounter, Host, KernelError};

/// The counter is looked at so many times per update period, and at most once per ms.
const LOOKS_PER_PERIOD: i64 = 50;
const SHORTEST_LOOK_NS: i64 = 1_000_000;
const LONGEST_LOOK_NS: i64 = 10_000_000;

/// Runs `work` while noting every change of the counter, with the time of the first look that saw it. The value that
/// the counter had at first is no change.
///
/// # Errors
/// What `work` or the counter says.
pub(crate) fn metered<T>(
    counter: &mut dyn EnergyCounter,
    host: &dyn Host,
    work: impl FnOnce() -> Result<T, KernelError>,
) -> Result<(T, Vec<CounterReading>), KernelError> {
    let done = AtomicBool::new(false);
    let first = counter.start()?;
    thread::scope(|scope| {
        let reader = scope.spawn(|| ticks(counter, first, host, &done));
        let result = work();
        done.store(true, Ordering::Relaxed);
        let ticks = reader.join().map_err(|_| KernelError::Counter {
            counter: "the counter".to_owned(),
            reason: "its reader panicked".to_owned(),
        })?;
        Ok((result?, ticks?))
    })
}

/// Every change since `first`; the last look comes after the work.
fn ticks(
    counter: &mut dyn EnergyCounter,
    first: CounterReading,
    host: &dyn Host,
    done: &AtomicBool,
) -> Result<Vec<CounterReading>, KernelError> {
    let look_ns =
        (counter.info().update_period_ns / LOOKS_PER_PERIOD).clamp(SHORTEST_LOOK_NS, LONGEST_LOOK_NS);
    let (mut last, mut ticks) = (first, Vec::new());
    loop {
        let ended = done.load(Ordering::Relaxed);
        let now = counter.read()?;
        if now.energy_j > last.energy_j {
            ticks.push(now);
            last = now;
        }
        if ended {
            return Ok(ticks);
        }
        host.sleep_ns(look_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CounterInfo, SystemHost};

    /// 20 W, renewed every 5 ms of the host's time.
    struct Steady {
        info: CounterInfo,
        reads: usize,
        fails_at: usize,
    }

    impl Steady {
        fn new(fails_at: usize) -> Self {
            let [source, domain, scope] = ["test", "package", "cpu-package"].map(str::to_owned);
            let info = CounterInfo {
                source,
                domain,
                scope,
                update_period_ns: 5_000_000,
                systematic_ratio: None,
                shared: None,
            };
            Self { info, reads: 0, fails_at }
        }
    }

    impl EnergyCounter for Steady {
        fn info(&self) -> &CounterInfo {
            &self.info
        }

        fn read(&mut self) -> Result<CounterReading, KernelError> {
            self.reads += 1;
            if self.reads > self.fails_at {
                return Err(KernelError::Counter { counter: "test".to_owned(), reason: "gone".to_owned() });
            }
            let at_ns = SystemHost.now_ns();
            Ok(CounterReading { at_ns, energy_j: crate::host::nanos(at_ns / 5_000_000) * 0.1 })
        }
    }

    #[test]
    fn changes_are_noted_while_work_runs() -> Result<(), KernelError> {
        let ((), ticks) = metered(&mut Steady::new(usize::MAX), &SystemHost, || {
            SystemHost.sleep_ns(120_000_000);
            Ok(())
        })?;
        assert!(!ticks.is_empty() && ticks.len() <= 60, "{} ticks", ticks.len());
        assert!(
            ticks.windows(2).all(|pair| pair[0].energy_j < pair[1].energy_j && pair[0].at_ns < pair[1].at_ns)
        );
        Ok(())
    }

    #[test]
    fn a_counter_that_goes_away_is_an_error_after_the_work() {
        let mut worked = false;
        let result = metered(&mut Steady::new(1), &SystemHost, || {
            SystemHost.sleep_ns(30_000_000);
            worked = true;
            Ok(())
        });
        assert_eq!(result.map(|_| ()).map_err(|error| error.code()), Err("KERNEL_COUNTER"));
        assert!(worked);
    }
}
