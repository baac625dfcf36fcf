//! Channels beside power, read by the sampler's own thread.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
    time::Duration,
};

use power_core::{
    Booking, ChannelInfo, ChannelReading, ChannelUnit, ChannelValue, Clock, Domain, Missing, Nanos,
    PowerError, PowerSource, Provenance, Reading, Sampler, State,
};

/// A clock that a test moves.
#[derive(Clone, Default)]
struct Told(Arc<AtomicI64>);

impl Clock for Told {
    fn now(&self) -> Nanos {
        Nanos(self.0.load(Ordering::SeqCst))
    }
}

/// A source with two channels and no domain; the second gives no number, and panics from `breaks_at` on.
struct Warm {
    channels: [ChannelInfo; 2],
    breaks_at: Nanos,
}

impl Warm {
    fn source(breaks_at: Nanos) -> Box<dyn PowerSource> {
        let channel =
            |name: &str, unit| ChannelInfo { device: "gpu".to_owned(), name: name.to_owned(), unit };
        let channels =
            [channel("gpu_temp_c", ChannelUnit::Celsius), channel("sm_clock_hz", ChannelUnit::Hertz)];
        Box::new(Self { channels, breaks_at })
    }
}

impl PowerSource for Warm {
    fn name(&self) -> &'static str {
        "warm"
    }

    fn provenance(&self) -> Provenance {
        Provenance::Counter
    }

    fn domains(&self) -> &[(Domain, Booking)] {
        &[]
    }

    fn channels(&self) -> &[ChannelInfo] {
        &self.channels
    }

    fn read_channels(&mut self, clock: &dyn Clock, out: &mut Vec<ChannelReading>) {
        let at = clock.now();
        assert!(at < self.breaks_at, "the sensor broke");
        out.push(ChannelReading { channel: 0, at, value: ChannelValue::Number(60.0) });
        out.push(ChannelReading { channel: 1, at, value: ChannelValue::Missing(Missing::Lost) });
    }

    fn read(&mut self, _clock: &dyn Clock, _out: &mut Vec<Reading>) -> Result<(), PowerError> {
        Ok(())
    }
}

const NEVER: Nanos = Nanos(i64::MAX);

fn start(clock: &Told, breaks_at: Nanos) -> Sampler {
    match Sampler::start(Warm::source(breaks_at), clock.clone(), Nanos::from_millis(1)) {
        Ok(sampler) => sampler,
        Err(error) => unreachable!("{error}"),
    }
}

/// Waits until the sampler's thread has read as often again.
fn read_more(sampler: &Sampler) {
    let seen = sampler.status().reads;
    while sampler.status().reads < seen + 3 && sampler.status().state == State::Running {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn channels_are_read_at_the_start_and_then_once_a_second_however_fast_power_is() {
    let clock = Told::default();
    let sampler = start(&clock, NEVER);
    assert_eq!(sampler.channels().len(), 2);
    let times = |sampler: &Sampler| {
        let drained = sampler.drain_channels();
        assert!(drained.iter().all(|reading| match reading.channel {
            0 => reading.value == ChannelValue::Number(60.0),
            _ => reading.value == ChannelValue::Missing(Missing::Lost),
        }));
        drained.iter().map(|reading| (reading.channel, reading.at.0)).collect::<Vec<_>>()
    };
    assert_eq!(times(&sampler), [(0, 0), (1, 0)]);
    clock.0.store(999_999_999, Ordering::SeqCst);
    read_more(&sampler);
    sampler.mark();
    assert_eq!(times(&sampler), [], "less than a second");
    clock.0.store(1_000_000_000, Ordering::SeqCst);
    read_more(&sampler);
    assert_eq!(times(&sampler), [(0, 1_000_000_000), (1, 1_000_000_000)]);
    clock.0.store(2_500_000_000, Ordering::SeqCst);
    sampler.stop();
    assert_eq!(times(&sampler).len(), 2, "a last reading stays to be drained");
    sampler.stop();
    assert_eq!(times(&sampler), []);
}

#[test]
fn a_mark_reads_no_channels() {
    let clock = Told::default();
    let Ok(sampler) = Sampler::start(Warm::source(NEVER), clock.clone(), Nanos::from_millis(3_600_000))
    else {
        unreachable!("the source opens")
    };
    sampler.drain_channels();
    clock.0.store(5_000_000_000, Ordering::SeqCst);
    sampler.mark();
    assert_eq!(sampler.drain_channels(), []);
}

#[test]
fn channels_that_break_end_the_sampler_and_not_the_process() {
    let clock = Told::default();
    let sampler = start(&clock, Nanos::from_millis(500));
    clock.0.store(1_000_000_000, Ordering::SeqCst);
    read_more(&sampler);
    while sampler.status().state == State::Running {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(sampler.status().state, State::Failed("the reader panicked: the sensor broke".to_owned()));
    assert_eq!(sampler.drain_channels().len(), 2, "what was read before");
}
