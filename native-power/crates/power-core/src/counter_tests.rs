use super::{Counter, CounterSpec};
use crate::{Event, Joules, Nanos};

const INTEL: u64 = 262_143_328_850;
const AMD: u64 = 65_532_610_987;
const DRAM: u64 = 65_712_999_613;

fn spec(max_uj: Option<u64>, cap_w: u64, update_ms: i64) -> CounterSpec {
    CounterSpec { max_uj, cap_uw: cap_w * 1_000_000, update_period: Nanos::from_millis(update_ms) }
}

fn ms(values: &[(i64, u64)]) -> Vec<(i64, Option<u64>)> {
    values.iter().map(|&(at, uj)| (at, Some(uj))).collect()
}

struct Case {
    why: &'static str,
    spec: CounterSpec,
    series: Vec<(i64, Option<u64>)>,
    events: Vec<Event>,
    booked_j: f64,
    /// What the bug that the case comes from would have said.
    not_j: f64,
    gap_ms: i64,
}

#[expect(clippy::too_many_lines, reason = "a table is read in one piece")]
fn cases() -> Vec<Case> {
    use Event::{Alias, Clock, First, Glitch, Missing, Ok, OutOfRange, Reset, Same, Suspect, Wrap};
    let case = |why, spec, series, events: &[Event], booked_j, not_j, gap_ms| Case {
        why,
        spec,
        series,
        events: events.to_vec(),
        booked_j,
        not_j,
        gap_ms,
    };
    let intel = spec(Some(INTEL), 1000, 1);
    let wide = spec(None, 1000, 1);
    vec![
        case(
            "a wrap",
            intel,
            ms(&[(0, 262_143_000_000), (100, 1_000_000)]),
            &[First, Wrap],
            1.328_911,
            -262_142.0,
            0,
        ),
        case(
            "a wrap read early",
            intel,
            ms(&[(0, 262_143_000_000), (50, 1_000_000)]),
            &[First, Wrap],
            1.328_911,
            -262_142.0,
            0,
        ),
        case(
            "a wrap from the very top is one count",
            intel,
            ms(&[(0, INTEL), (100, 0)]),
            &[First, Wrap],
            0.000_061,
            0.0,
            0,
        ),
        case(
            "a fall without a known range needs a second number",
            wide,
            ms(&[(0, 4_000_000_000), (100, 10_000), (200, 5_010_000), (300, 5_010_000)]),
            &[First, Suspect, Reset, Same],
            5.0,
            -3999.99,
            100,
        ),
        case(
            "memory has a range of its own",
            spec(Some(DRAM), 200, 1),
            ms(&[(0, 65_712_900_000), (10_000, 500_000)]),
            &[First, Wrap],
            0.599_628,
            196_430.0,
            0,
        ),
        case(
            "a fall on a 64-bit counter isn't a lap",
            wide,
            ms(&[(0, 100_000_000), (3000, 50_000_000), (6000, 80_000_000)]),
            &[First, Suspect, Reset],
            30.0,
            1.8e13,
            3000,
        ),
        case(
            "a reset far from the top isn't a wrap",
            intel,
            ms(&[(0, 100_000_000_000), (100, 10_000_000), (200, 20_000_000)]),
            &[First, Suspect, Reset],
            10.0,
            162_163.0,
            100,
        ),
        case(
            "a zero blip loses nothing",
            intel,
            ms(&[(0, 100_000_000_000), (100, 0), (200, 100_020_000_000), (300, 100_025_000_000)]),
            &[First, Suspect, Glitch, Ok],
            25.0,
            100_020.0,
            0,
        ),
        case(
            "a zero blip on a 64-bit counter",
            wide,
            ms(&[(0, 100_000_000_000), (100, 0), (200, 100_020_000_000)]),
            &[First, Suspect, Glitch],
            20.0,
            100_020.0,
            0,
        ),
        case(
            "a jump that comes back",
            spec(Some(AMD), 200, 1),
            ms(&[(0, 5_000_000_000), (1000, 5_006_000_000), (2000, 5_714_000_000), (3000, 5_018_000_000)]),
            &[First, Ok, Suspect, Glitch],
            18.0,
            714.0,
            0,
        ),
        case(
            "one garbage number",
            wide,
            ms(&[(0, 22_543_283_000_000), (1000, 200_000_000), (2000, 22_543_483_000_000)]),
            &[First, Suspect, Glitch],
            200.0,
            22_543_283.0,
            0,
        ),
        case(
            "a driver reload",
            spec(None, 1500, 100),
            ms(&[(0, 900_000_000_000), (100, 900_070_000_000), (200, 1_000_000), (300, 71_000_000)]),
            &[First, Ok, Suspect, Reset],
            140.0,
            1.8e16,
            100,
        ),
        case(
            "a first read that failed isn't 0",
            spec(None, 1500, 100),
            vec![(0, None), (100, Some(900_000_000_000)), (200, Some(900_070_000_000))],
            &[Missing, First, Ok],
            70.0,
            900_070.0,
            0,
        ),
        case(
            "a read that failed isn't 0",
            intel,
            vec![(0, Some(200_000_000_000)), (15_000, None), (30_000, Some(200_001_500_000))],
            &[First, Missing, Ok],
            1.5,
            200_001.5,
            0,
        ),
        case(
            "what was drawn while reads failed is booked by the next",
            intel,
            vec![(0, Some(10_000_000)), (1000, None), (2000, Some(50_000_000))],
            &[First, Missing, Ok],
            40.0,
            50.0,
            0,
        ),
        case(
            "a number above the range is ignored",
            intel,
            ms(&[(0, 10_000_000), (1000, INTEL + 1_000_000), (2000, 30_000_000)]),
            &[First, OutOfRange, Ok],
            20.0,
            262_134.0,
            0,
        ),
        case(
            "the highest value itself is in range",
            intel,
            ms(&[(0, INTEL - 1_000_000), (1000, INTEL)]),
            &[First, Ok],
            1.0,
            0.0,
            0,
        ),
        case(
            "an error value isn't booked, nor does it start a series",
            intel,
            ms(&[(0, 4_294_967_295_000), (1000, 4_294_967_295_000)]),
            &[OutOfRange, OutOfRange],
            0.0,
            4_294_967.0,
            0,
        ),
        case(
            "a stamp that goes back is ignored",
            intel,
            ms(&[(10_000, 1_000_000), (9500, 2_000_000), (10_500, 3_000_000)]),
            &[First, Clock, Ok],
            2.0,
            3.0,
            0,
        ),
        case(
            "a stamp that stands still is ignored",
            intel,
            ms(&[(10_000, 1_000_000), (10_000, 2_000_000)]),
            &[First, Clock],
            0.0,
            1.0,
            0,
        ),
        case(
            "a stamp before the doubtful one is ignored",
            intel,
            ms(&[(0, 100_000_000_000), (200, 0), (100, 1), (300, 1_000_000)]),
            &[First, Suspect, Clock, Reset],
            1.0,
            0.0,
            200,
        ),
        case(
            "a plug loses power",
            spec(None, 10_000, 1000),
            ms(&[(0, 37_800_000_000), (60_000, 38_160_000_000), (120_000, 0), (180_000, 360_000_000)]),
            &[First, Ok, Suspect, Reset],
            720.0,
            38_160.0,
            60_000,
        ),
        case(
            "edges only: the booked energy is but the least",
            spec(Some(INTEL), 400, 1),
            ms(&[(0, 0), (1_795_000, 30_811_000_000)]),
            &[First, Alias],
            30_811.0,
            292_954.33,
            0,
        ),
        case(
            "what the sensor may have held back is believed",
            spec(None, 1000, 1000),
            ms(&[(0, 0), (100, 1_050_000_000)]),
            &[First, Ok],
            1050.0,
            0.0,
            0,
        ),
        case(
            "more than the domain can draw is not",
            spec(None, 1000, 1000),
            ms(&[(0, 0), (100, 1_150_000_000)]),
            &[First, Suspect],
            0.0,
            1150.0,
            0,
        ),
        case(
            "standing still",
            intel,
            ms(&[(0, 5_000_000_000), (1000, 5_000_000_000), (2000, 5_000_000_000)]),
            &[First, Same, Same],
            0.0,
            5000.0,
            0,
        ),
        case(
            "two doubts in a row: the later one is what is confirmed",
            wide,
            ms(&[(0, 9_000_000_000), (100, 1_000_000), (200, 5_000_000_000), (300, 5_001_000_000)]),
            &[First, Suspect, Suspect, Reset],
            1.0,
            5001.0,
            200,
        ),
    ]
}

#[test]
fn books_what_was_drawn_and_nothing_else() {
    for Case { why, spec, series, events, booked_j, not_j, gap_ms } in cases() {
        let mut counter = Counter::new(spec);
        let seen: Vec<_> = series.iter().map(|&(at, uj)| counter.push(Nanos::from_millis(at), uj)).collect();
        let (booked, lo, _) = counter.booked();
        assert_eq!(seen, events, "{why}");
        assert!((booked.get() - booked_j).abs() < 1e-6, "{why}: {} J", booked.get());
        assert!((booked.get() - not_j).abs() > 1e-6, "{why}: the wrong value");
        assert_eq!(lo, booked, "{why}: what was seen is the least that was drawn");
        assert_eq!(counter.tally().gap, Nanos::from_millis(gap_ms), "{why}");
    }
}

#[test]
fn counts_what_happened() {
    let total = |pick: fn(&super::Tally) -> u64| -> u64 {
        cases()
            .iter()
            .map(|case| {
                let mut counter = Counter::new(case.spec);
                for &(at, uj) in &case.series {
                    counter.push(Nanos::from_millis(at), uj);
                }
                pick(&counter.tally())
            })
            .sum()
    };
    let of = |wanted: Event| {
        cases().iter().flat_map(|case| case.events.clone()).filter(|event| *event == wanted).count() as u64
    };
    assert_eq!(total(|t| t.wraps), of(Event::Wrap));
    assert_eq!(total(|t| t.resets), of(Event::Reset));
    assert_eq!(total(|t| t.glitches), of(Event::Glitch));
    assert_eq!(total(|t| t.missing), of(Event::Missing));
    assert_eq!(total(|t| t.out_of_range), of(Event::OutOfRange));
    assert_eq!(total(|t| t.clock), of(Event::Clock));
    assert_eq!(total(|t| t.aliases), of(Event::Alias));
}

#[test]
fn unseen_laps_raise_the_upper_bound_only() {
    let mut counter = Counter::new(spec(Some(INTEL), 400, 1));
    counter.push(Nanos(0), Some(0));
    counter.push(Nanos::from_millis(1_795_000), Some(30_811_000_000));
    let joules = Joules::new;
    assert_eq!(counter.booked(), (joules(30_811.0), joules(30_811.0), joules(555_097.657_822)));
}

#[test]
fn as_many_laps_are_allowed_as_the_power_limit_lets_in() {
    let mut counter = Counter::new(spec(Some(INTEL), 400, 1));
    counter.push(Nanos(0), Some(0));
    counter.push(Nanos::from_millis(1_795_000), Some(250_000_000_000));
    assert_eq!(counter.booked().2, Joules::new(512_143.328_911), "one more lap, not two: at most 718 kJ");
}

#[test]
fn an_alias_is_called_one_even_where_it_refutes_a_doubt() {
    let mut counter = Counter::new(spec(Some(AMD), 200, 1));
    let events: Vec<_> = [(0, 5_000_000_000), (1000, 1_000_000_000), (500_000, 6_000_000_000)]
        .map(|(at, uj)| counter.push(Nanos::from_millis(at), Some(uj)))
        .into();
    assert_eq!(events, [Event::First, Event::Suspect, Event::Alias]);
    assert_eq!((counter.tally().glitches, counter.tally().aliases), (1, 1));
}

#[test]
fn polled_often_enough_the_same_run_is_exact() {
    let mut counter = Counter::new(spec(Some(INTEL), 400, 1));
    for i in 0..180_u64 {
        let uj = i * 10 * 163_206_000 % 262_143_328_911;
        counter.push(Nanos::from_millis(10_000 * i.cast_signed()), Some(uj));
    }
    counter.push(Nanos::from_millis(1_795_000), Some(30_811_000_000));
    let drawn = Joules::new(292_954.328_911);
    assert_eq!(counter.booked(), (drawn, drawn, drawn));
    assert_eq!(counter.tally().wraps, 1);
}

#[test]
fn a_gap_raises_the_upper_bound_by_what_it_may_have_held() {
    let mut confirmed = Counter::new(spec(None, 1000, 1));
    for (at, uj) in [(0, 4_000_000_000), (100, 10_000), (200, 5_010_000)] {
        confirmed.push(Nanos::from_millis(at), Some(uj));
    }
    assert_eq!(confirmed.booked().2, Joules::new(105.0), "5 J and 0.1 s at 1000 W");

    let mut open = Counter::new(spec(None, 1000, 1));
    open.push(Nanos(0), Some(4_000_000_000));
    open.push(Nanos::from_millis(100), Some(10_000));
    assert_eq!(open.booked().2, Joules::new(0.0));
    assert!(open.close());
    assert_eq!(open.booked().2, Joules::new(100.0));
    assert!(!open.close(), "closing twice adds nothing");
    assert_eq!(open.booked().2, Joules::new(100.0));
}

#[test]
fn one_count_follows_from_the_range() {
    #[rustfmt::skip]
    let cases = [
        (Some(INTEL), Some(61)), (Some(262_143_999_938), Some(61)), (Some(AMD), Some(15)), (Some(DRAM), Some(15)),
        (Some(4_294_967_295_000_000), Some(1_000_000)), (Some(1000), Some(1)), (None, None),
    ];
    for (max, expected) in cases {
        assert_eq!(spec(max, 1000, 1).lsb_uj(), expected, "{max:?}");
    }
}

/// A small generator (`SplitMix64`), so that the series are the same everywhere.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }
}

#[test]
fn where_on_its_dial_a_counter_starts_makes_no_difference() {
    let mut random = Seeded(20_261_129);
    let mut wraps = 0;
    for series in 0..20_000_u64 {
        let max = [INTEL, AMD, DRAM][usize::try_from(series % 3).unwrap_or(0)];
        let spec = spec(Some(max), 1000, 1);
        let lsb = spec.lsb_uj().unwrap_or(1);
        let modulus = max + lsb;
        let near_the_top = series % 2 == 0;
        let start = if near_the_top { max - random.within(0, 2_000_000_000) } else { random.within(0, max) };
        let mut counter = Counter::new(spec);
        let (mut at_ms, mut drawn) = (0, 0);
        counter.push(Nanos(0), Some(start));
        for _ in 0..random.within(1, 40) {
            let step_ms = random.within(10, 5000);
            at_ms += step_ms.cast_signed();
            drawn += random.within(100, 900_000) * step_ms;
            let shown = ((start + drawn) % modulus).min(max);
            let event = counter.push(Nanos::from_millis(at_ms), Some(shown));
            assert!(matches!(event, Event::Ok | Event::Wrap), "series {series}: {event:?}");
        }
        let booked_uj = counter.booked_uj;
        assert!(booked_uj.abs_diff(drawn) <= lsb, "series {series}: {booked_uj} for {drawn} µJ");
        assert_eq!((counter.lo_uj, counter.hi_uj), (booked_uj, booked_uj), "series {series}");
        wraps += counter.tally().wraps;
    }
    assert!(wraps > 1000, "the series must wrap to prove anything: {wraps}");
}

type Standing<'a> = (&'a str, CounterSpec, &'a [(i64, u64)], bool);

#[test]
fn a_counter_that_stands_still_too_long_is_stale() {
    let fast = spec(None, 1000, 1);
    let slow = spec(None, 1000, 1000);
    #[rustfmt::skip]
    let cases: &[Standing] = &[
        ("almost five seconds",               fast, &[(0, 7), (4999, 7)],                          false),
        ("five seconds",                      fast, &[(0, 7), (2500, 7), (5000, 7)],               true),
        ("it moves now and then",             fast, &[(0, 7), (4000, 8), (8000, 9), (12_000, 10)], false),
        ("what was stale once stays flagged", fast, &[(0, 7), (5000, 7), (5100, 8)],               true),
        ("a slow one gets fifty updates",     slow, &[(0, 7), (49_000, 7)],                        false),
        ("but no more",                       slow, &[(0, 7), (50_000, 7)],                        true),
        ("not read is not still",             fast, &[(0, 7), (9000, 8)],                          false),
        ("one reading",                       fast, &[(60_000, 7)],                                false),
    ];
    for (why, spec, series, expected) in cases {
        let mut counter = Counter::new(*spec);
        for (at, uj) in *series {
            counter.push(Nanos::from_millis(*at), Some(*uj));
        }
        assert_eq!(counter.tally().stale, *expected, "{why}");
    }
}
