use super::{Gauge, GaugeSpec};
use crate::{Booking, Event, Joules, Ledger, Nanos, Reading, Value, Watts};

const SPEC: GaugeSpec = GaugeSpec::new(Nanos::from_millis(100), Watts::new(1000.0));

type Readings<'a> = &'a [(i64, Option<f64>)];

/// Books readings of (ms, W) that are taken every `period`.
fn run(period_ms: i64, readings: Readings) -> (Gauge, Vec<Event>) {
    let mut gauge = Gauge::new(SPEC.read_every(Nanos::from_millis(period_ms)));
    let push = |&(ms, w): &(i64, Option<f64>)| gauge.push(Nanos::from_millis(ms), w.map(Watts::new));
    let events = readings.iter().map(push).collect();
    (gauge, events)
}

fn joules(gauge: &Gauge) -> [f64; 3] {
    let (booked, lo, hi) = gauge.booked();
    [booked, lo, hi].map(Joules::get)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

type Row<'a> = (&'a str, i64, Readings<'a>, &'a [Event], [f64; 3], f64);

#[test]
fn books_by_trapezoid_and_never_across_a_long_gap() {
    use Event::{Clock, First, Gap, Missing, Ok};
    let w = Some;
    // The last column is what a known mistake would book instead.
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("falling power counts like rising power",      1000, &[(0, w(100.)), (1000, w(90.)), (2000, w(80.))],             &[First, Ok, Ok],        [180., 180., 180.],   0.),
        ("rising power",                                1000, &[(0, w(80.)), (1000, w(90.)), (2000, w(100.))],             &[First, Ok, Ok],        [180., 180., 180.],   190.),
        ("equal values are readings",                   1000, &[(0, w(100.)), (1000, w(100.)), (2000, w(100.))],           &[First, Ok, Ok],        [200., 200., 200.],   0.),
        ("uneven steps: stamps, not the period",        1000, &[(0, w(100.)), (500, w(100.)), (2000, w(100.))],            &[First, Ok, Ok],        [200., 200., 200.],   300.),
        ("one reading books nothing",                   1000, &[(0, w(100.))],                                             &[First],                [0., 0., 0.],         100.),
        ("true 0 W is a number",                        1000, &[(0, w(0.)), (1000, w(0.)), (2000, w(10.))],                &[First, Ok, Ok],        [5., 5., 5.],         10.),
        ("a short hole is drawn through",               1000, &[(0, w(100.)), (1000, None), (2000, w(100.))],              &[First, Missing, Ok],   [200., 200., 200.],   100.),
        ("a gap of exactly the longest is integrated",  1000, &[(0, w(100.)), (3000, w(100.))],                            &[First, Ok],            [300., 300., 300.],   0.),
        ("a gap just above it is not",                  1000, &[(0, w(100.)), (3001, w(100.)), (4001, w(100.))],           &[First, Gap, Ok],       [100., 100., 3101.],  400.1),
        ("a slow sensor has a longer gap",              10,   &[(0, w(100.)), (300, w(100.))],                             &[First, Ok],            [30., 30., 30.],      0.),
        ("and it ends there, too",                      10,   &[(0, w(100.)), (301, w(100.))],                             &[First, Gap],           [0., 0., 301.],       30.1),
        ("a stamp that doesn't advance is ignored",     1000, &[(0, w(100.)), (0, w(900.)), (1000, w(100.))],              &[First, Clock, Ok],     [100., 100., 100.],   500.),
        ("not a number, endless, negative",             1000, &[(0, w(f64::NAN)), (1, w(f64::INFINITY)), (2, w(-1.)), (3, w(5.))], &[Missing, Missing, Missing, First], [0., 0., 0.], f64::NAN),
        ("more than it can draw is not believed",       1000, &[(0, w(100.)), (1000, w(4_294_967.295)), (2000, w(100.))],  &[First, Missing, Ok],   [200., 200., 200.],   4_295_167.295),
    ];
    for (why, period, readings, expected, [booked, lo, hi], wrong) in cases {
        let (gauge, events) = run(*period, readings);
        assert_eq!(&events, expected, "{why}");
        let got = joules(&gauge);
        assert!(close(got[0], *booked) && close(got[1], *lo) && close(got[2], *hi), "{why}: {got:?}");
        assert!(!close(got[0], *wrong), "{why}: books the known mistake");
    }
}

#[test]
fn a_steady_hundred_watts_for_ten_seconds_are_a_thousand_joules() {
    let readings: Vec<_> = (0..=100).map(|k| (k * 100, Some(100.0))).collect();
    let (gauge, _) = run(100, &readings);
    assert!(close(joules(&gauge)[0], 1000.0), "{:?}", joules(&gauge));
}

#[test]
fn samples_that_end_halfway_leave_the_rest_open() {
    let mut readings: Vec<_> = (0..=50).map(|k| (k * 100, Some(100.0))).collect();
    readings.extend((51..=100).map(|k| (k * 100, None)));
    let (mut gauge, _) = run(100, &readings);
    assert!(gauge.close(Nanos::from_millis(10_000)), "five seconds are a gap");
    assert_eq!(gauge.tally().gap, Nanos::from_millis(5000));
    let [booked, lo, hi] = joules(&gauge);
    assert!(close(booked, 500.0) && close(lo, 500.0), "{booked} {lo}: neither 0 nor 1000 J");
    assert!(close(hi, 500.0 + 5000.0), "{hi}: up to the cap in the rest");
    assert!(!gauge.close(Nanos::from_millis(10_000)), "told once");

    let (mut whole, _) = run(100, &readings[..51]);
    assert!(!whole.close(Nanos::from_millis(5300)), "an end within the longest gap is an edge, not a gap");
}

#[test]
fn only_what_lies_between_two_readings_is_their_energy() {
    let watts = |s: i64| if (5..=15).contains(&s) { 720.0 } else { 160.0 };
    let readings: Vec<_> = (0..=21).map(|s| (s * 1000, Some(watts(s)))).collect();
    let (until, _) = run(1000, &readings[..6]);
    let (whole, _) = run(1000, &readings[..16]);
    let window = joules(&whole)[0] - joules(&until)[0];
    assert!(close(window, 7200.0), "{window} J in [5, 15] s");
    let mean_of_all = readings.iter().filter_map(|(_, w)| *w).sum::<f64>() / 22.0;
    assert!(
        close(mean_of_all, 440.0) && !close(window / 10.0, mean_of_all),
        "not the mean of the whole file"
    );
}

#[test]
fn energy_adds_up_and_never_falls_whatever_comes() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..500 {
        let mut gauge = Gauge::new(SPEC);
        let (mut at, mut before) = (0, [0.0; 3]);
        for _ in 0..60 {
            at += i64::try_from(random(600)).unwrap_or(0);
            let watts = [Some(f64::from(u32::try_from(random(1200)).unwrap_or(0))), None, Some(f64::NAN)];
            let pick = if random(5) < 4 { 0 } else { usize::try_from(1 + random(2)).unwrap_or(1) };
            gauge.push(Nanos::from_millis(at), watts[pick].map(Watts::new));
            let now = joules(&gauge);
            assert!(now.iter().zip(before).all(|(now, before)| *now >= before), "{before:?} then {now:?}");
            assert!(now[1] <= now[0] && now[0] <= now[2], "{now:?}");
            before = now;
        }
    }
}

#[test]
fn a_ledger_shows_the_power_beside_the_energy() {
    let booking = Booking::Gauge(SPEC);
    let mut ledger = Ledger::every(Nanos::from_millis(1000), booking);
    let at = |ms: i64, value| Reading {
        domain: 0,
        before: Nanos::from_millis(ms),
        after: Nanos::from_millis(ms),
        value,
    };
    let power = |w: u32| Value::Power { raw: Some(u64::from(w) * 1000), power: Watts::new(f64::from(w)) };
    let mut enter = |ms, value| {
        let sample = ledger.enter(&at(ms, value));
        (sample.event, sample.raw, sample.power.map(Watts::get), sample.booked.get())
    };
    assert_eq!(enter(0, power(10)), (Event::First, Some(10_000), Some(10.0), 0.0));
    assert_eq!(enter(1000, power(30)), (Event::Ok, Some(30_000), Some(30.0), 20.0));
    assert_eq!(enter(2000, Value::Missing(crate::Missing::Sentinel)), (Event::Missing, None, None, 20.0));
    assert_eq!(enter(2500, power(2000)), (Event::Missing, Some(2_000_000), None, 20.0), "raw is kept");
    assert_eq!(enter(2600, Value::Counter { raw: 1, uj: 1 }), (Event::Missing, None, None, 20.0));
    assert_eq!(enter(9000, power(30)), (Event::Gap, Some(30_000), Some(30.0), 20.0));
}
