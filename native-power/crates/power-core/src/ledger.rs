use crate::{Booking, Counter, Event, Gauge, Joules, MeanPower, Nanos, Reading, Sample, Since, Value};

/// Turns the readings of one domain into samples with booked energy.
#[derive(Debug)]
pub struct Ledger {
    book: Book,
    last_at: Option<Nanos>,
    numbers: Option<(Nanos, Nanos)>,
}

/// Energy that nothing is unknown of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certain {
    /// When it was first read.
    pub first: Nanos,
    /// When it was last read.
    pub last: Nanos,
    /// Energy between the two.
    pub energy: Joules,
}

#[derive(Debug)]
enum Book {
    Counter(Counter),
    Gauge(Gauge),
    MeanPower(MeanPower),
}

impl Ledger {
    /// An empty ledger for readings that come as often as the sensor renews its value.
    pub fn new(booking: Booking) -> Self {
        Self::every(Nanos::default(), booking)
    }

    /// An empty ledger for readings that come every `period`.
    pub fn every(period: Nanos, booking: Booking) -> Self {
        let book = match booking {
            Booking::Counter(spec) => Book::Counter(Counter::new(spec)),
            Booking::Gauge(spec) => Book::Gauge(Gauge::new(spec.read_every(period))),
            Booking::MeanPower => Book::MeanPower(MeanPower::default()),
        };
        Self { book, last_at: None, numbers: None }
    }

    /// Whether a counter stood still for so long that it can't have been counting. Gauges never do.
    pub const fn stale(&self) -> bool {
        match &self.book {
            Book::Counter(counter) => counter.tally().stale,
            _ => false,
        }
    }

    /// The host slept, or something else came between the last reading and the next: what lies between them stays
    /// unknown. An estimate goes by the time that the host was awake, and goes on.
    pub const fn interrupt(&mut self) {
        match &mut self.book {
            Book::Counter(counter) => counter.interrupt(),
            Book::Gauge(gauge) => gauge.interrupt(),
            Book::MeanPower(_) => {}
        }
    }

    /// The sensor proved to renew its value every `update_period`. A shorter one than was declared changes nothing.
    pub fn renewed_every(&mut self, update_period: Nanos) {
        match &mut self.book {
            Book::Counter(counter) => counter.renewed_every(update_period),
            Book::Gauge(gauge) => gauge.renewed_every(update_period),
            Book::MeanPower(_) => {}
        }
    }

    /// What was booked since the first reading; None before it, and when the bounds leave room for more or less.
    pub(crate) fn certain(&self) -> Option<Certain> {
        let (first, last) = self.numbers?;
        let (energy, lo, hi) = self.booked();
        (lo == energy && hi == energy).then_some(Certain { first, last, energy })
    }

    /// Energy since the first reading, and its bounds.
    pub(crate) const fn booked(&self) -> (Joules, Joules, Joules) {
        match &self.book {
            Book::Counter(counter) => counter.booked(),
            Book::Gauge(gauge) => gauge.booked(),
            Book::MeanPower(sum) => sum.booked(),
        }
    }

    /// Books one reading.
    pub fn enter(&mut self, reading: &Reading) -> Sample {
        let at = reading.before.midpoint(reading.after);
        self.last_at = Some(at);
        let (raw, event) = match (&mut self.book, reading.value) {
            (Book::Counter(counter), Value::Counter { raw, uj }) => (Some(raw), counter.push(at, Some(uj))),
            (Book::Counter(counter), _) => (None, counter.push(at, None)),
            (Book::Gauge(gauge), Value::Power { raw, power }) => (raw, gauge.push(at, Some(power))),
            (Book::Gauge(gauge), _) => (None, gauge.push(at, None)),
            (Book::MeanPower(sum), Value::MeanPower { raw, since }) => (Some(raw), sum.push(at, since)),
            (Book::MeanPower(_), _) => (None, Event::Missing),
        };
        if !matches!(event, Event::Missing | Event::OutOfRange | Event::Clock | Event::Suspect) {
            self.numbers = Some((self.numbers.map_or(at, |(first, _)| first), at));
        }
        let power = match reading.value {
            Value::MeanPower { since: Since::Settled(band) | Since::Held(band), .. }
                if event != Event::First =>
            {
                Some(band.point)
            }
            Value::Power { power, .. } if matches!(event, Event::First | Event::Ok | Event::Gap) => {
                Some(power)
            }
            _ => None,
        };
        let raw = raw.and_then(|raw| i64::try_from(raw).ok());
        self.sample(reading, raw, event, power)
    }

    /// Ends the series; a doubt that is still open becomes one last sample.
    pub fn close(&mut self, domain: u16) -> Option<Sample> {
        let at = self.last_at?;
        let open = match &mut self.book {
            Book::Counter(counter) => counter.close(),
            Book::Gauge(gauge) => gauge.close(at),
            Book::MeanPower(_) => false,
        };
        let reading =
            Reading { domain, before: at, after: at, value: Value::Missing(crate::Missing::Absent) };
        open.then(|| self.sample(&reading, None, Event::Gap, None))
    }

    fn sample(
        &self,
        reading: &Reading,
        raw: Option<i64>,
        event: Event,
        power: Option<crate::Watts>,
    ) -> Sample {
        let (booked, lo, hi) = self.booked();
        Sample {
            at: reading.before.midpoint(reading.after),
            took: reading.after - reading.before,
            domain: reading.domain,
            raw,
            event,
            booked,
            lo,
            hi,
            power,
        }
    }
}
