use std::collections::VecDeque;

use crate::{Booking, Ledger, Nanos, Reading, Sample};

/// Samples that wait to be drained; beyond it the oldest go. What they booked stays in those that follow.
const CAPACITY: usize = 1 << 18;

/// Books readings that others take, for instance from a meter across the network: a sampler without a thread.
#[derive(Debug)]
pub struct Feed {
    ledgers: Vec<Ledger>,
    samples: VecDeque<Sample>,
    closed: bool,
    dropped: u64,
}

impl Feed {
    /// An empty book for each domain, for readings that come every `period`.
    pub fn new(period: Nanos, bookings: impl IntoIterator<Item = Booking>) -> Self {
        Self {
            ledgers: bookings.into_iter().map(|booking| Ledger::every(period, booking)).collect(),
            samples: VecDeque::new(),
            closed: false,
            dropped: 0,
        }
    }

    /// Books one reading and says whether it was taken: not when its domain doesn't exist, nor after the end.
    pub fn push(&mut self, reading: &Reading) -> bool {
        let Some(ledger) = self.ledgers.get_mut(usize::from(reading.domain)) else { return false };
        if self.closed {
            return false;
        }
        let sample = ledger.enter(reading);
        self.keep(sample);
        true
    }

    /// Everything booked since the last call.
    pub fn drain(&mut self) -> Vec<Sample> {
        self.samples.drain(..).collect()
    }

    /// Ends the series; what is still in doubt becomes one last sample each. Does nothing the second time.
    pub fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let last: Vec<_> =
            (0..).zip(&mut self.ledgers).filter_map(|(domain, ledger)| ledger.close(domain)).collect();
        for sample in last {
            self.keep(sample);
        }
    }

    /// Samples that were never drained and had to make room.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    fn keep(&mut self, sample: Sample) {
        self.samples.push_back(sample);
        if self.samples.len() > CAPACITY {
            self.samples.pop_front();
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, Feed};
    use crate::{Booking, CounterSpec, Event, GaugeSpec, Joules, Missing, Nanos, Reading, Value, Watts};

    fn feed() -> Feed {
        let period = Nanos::from_millis(1000);
        let bookings = [
            Booking::Counter(CounterSpec { max_uj: None, cap_uw: 10_000_000_000, update_period: period }),
            Booking::Gauge(GaugeSpec::new(period, Watts::new(1000.0))),
        ];
        Feed::new(period, bookings)
    }

    fn reading(domain: u16, ms: i64, value: Value) -> Reading {
        let at = Nanos::from_millis(ms);
        Reading { domain, before: at, after: at, value }
    }

    fn counter(ms: i64, uj: u64) -> Reading {
        reading(0, ms, Value::Counter { raw: uj, uj })
    }

    fn gauge(ms: i64, watts: f64) -> Reading {
        reading(1, ms, Value::Power { raw: None, power: Watts::new(watts) })
    }

    #[test]
    fn counters_and_gauges_are_booked_by_their_rules() {
        let mut feed = feed();
        for pushed in [
            counter(0, 5_000_000),
            gauge(0, 10.0),
            counter(1000, 7_000_000),
            gauge(1000, 30.0),
            reading(0, 1500, Value::Missing(Missing::Io)),
        ] {
            assert!(feed.push(&pushed));
        }
        let samples = feed.drain();
        let booked: Vec<_> = samples.iter().map(|s| (s.domain, s.event, s.booked)).collect();
        assert_eq!(
            booked,
            [
                (0, Event::First, Joules::ZERO),
                (1, Event::First, Joules::ZERO),
                (0, Event::Ok, Joules::new(2.0)),
                (1, Event::Ok, Joules::new(20.0)),
                (0, Event::Missing, Joules::new(2.0)),
            ]
        );
        assert_eq!(samples[3].power, Some(Watts::new(30.0)));
        assert!(feed.drain().is_empty(), "handed over once");
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_missing() {
        let mut feed = feed();
        feed.push(&reading(0, 0, Value::Power { raw: None, power: Watts::new(1.0) }));
        feed.push(&reading(1, 0, Value::Counter { raw: 1, uj: 1 }));
        assert!(feed.drain().iter().all(|s| s.event == Event::Missing && s.power.is_none()));
    }

    #[test]
    fn unknown_domains_and_what_comes_after_the_end_are_refused() {
        let mut feed = feed();
        assert!(!feed.push(&reading(2, 0, Value::Missing(Missing::Io))));
        feed.push(&counter(0, 9_000_000_000));
        feed.push(&counter(1000, 0));
        feed.close();
        feed.close();
        assert!(!feed.push(&counter(2000, 1)));
        let events: Vec<_> = feed.drain().iter().map(|s| s.event).collect();
        assert_eq!(events, [Event::First, Event::Suspect, Event::Gap], "an open doubt is settled once");
    }

    #[test]
    fn what_is_never_drained_makes_room() {
        let mut feed = feed();
        for ms in 0..i64::try_from(CAPACITY).unwrap_or(0) + 3 {
            feed.push(&gauge(ms, 1.0));
        }
        assert_eq!(feed.dropped(), 3);
        assert_eq!(feed.drain().len(), CAPACITY);
    }
}
