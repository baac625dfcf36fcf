use super::{PLATFORM_BELOW_PACKAGES, PlatformCheck};
use crate::{
    Missing, Nanos, PowerSource, Rapl, Reading, Value,
    sysfs::tree::{Tree, book, missing},
};

const CLASS: &str = "sys/class/powercap";

fn host(max_psys: &str) -> Tree {
    let tree = Tree::new(&[]);
    for (zone, name, max) in
        [("intel-rapl:0", "package-0", "262143328850"), ("intel-rapl:1", "psys", max_psys)]
    {
        tree.set(&format!("{CLASS}/{zone}/name"), name);
        tree.set(&format!("{CLASS}/{zone}/max_energy_range_uj"), max);
        tree.set(&format!("{CLASS}/{zone}/energy_uj"), "0");
    }
    tree
}

const FINE: &str = "262143328850";
const COARSE: &str = "4294967295000000";

/// Energies at each second, µJ; what is booked at the end, and the flags.
fn run(max_psys: &str, rows: &[(u64, u64)]) -> (Vec<(f64, bool)>, Vec<String>) {
    let tree = host(max_psys);
    let Ok(mut rapl) = Rapl::open(&tree) else { unreachable!("a readable host opens") };
    let seconds: Vec<_> = (0..).take(rows.len()).collect();
    let last = book(&mut rapl, &seconds, |at| {
        let (package, psys) = rows[usize::try_from(at).unwrap_or(0)];
        tree.set(&format!("{CLASS}/intel-rapl:0/energy_uj"), &format!("{package}"));
        tree.set(&format!("{CLASS}/intel-rapl:1/energy_uj"), &format!("{psys}"));
    });
    (last.iter().map(|s| (s.booked.get(), s.raw.is_some())).collect(), rapl.flags())
}

#[test]
fn a_platform_below_its_packages_is_not_believed() {
    let (booked, flags) = run(FINE, &[(0, 0), (99_000_000, 6000)]);
    assert_eq!(booked, [(99.0, true), (0.0, false)], "and not 0.006 J for the whole node");
    assert_eq!(flags, [PLATFORM_BELOW_PACKAGES]);
    let (booked, _) = run(FINE, &[(0, 0), (99_000_000, 6000), (198_000_000, 400_000_000)]);
    assert_eq!(booked[1], (0.0, false), "once found out, it is not asked again");
}

type Row<'a> = (&'a str, &'a str, &'a [(u64, u64)]);

#[test]
fn a_platform_that_holds_its_packages_is_kept() {
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("above them",                            FINE,   &[(0, 0), (3_780_000, 9_610_000)]),
        ("a little below: the two are read apart", FINE,   &[(0, 0), (100_000_000, 91_000_000)]),
        ("too little energy to tell",             FINE,   &[(0, 0), (900_000, 0)]),
        ("whole joules: too few steps to tell",   COARSE, &[(0, 0), (19_000_000, 0)]),
        ("it lapped between two looks",           FINE,   &[(0, 262_143_000_000), (100_000_000, 100_000_000)]),
    ];
    for (why, max, rows) in cases {
        let (booked, flags) = run(max, rows);
        assert!(booked[1].1 && flags.is_empty(), "{why}: {booked:?} {flags:?}");
    }
    let (_, flags) = run(COARSE, &[(0, 0), (21_000_000, 0)]);
    assert_eq!(flags, [PLATFORM_BELOW_PACKAGES], "enough steps");
    let (_, flags) = run(FINE, &[(0, 0), (100_000_000, 89_000_000)]);
    assert_eq!(flags, [PLATFORM_BELOW_PACKAGES], "too far below");
}

#[test]
fn a_moment_is_too_short_to_judge_and_a_missing_number_starts_anew() {
    let tree = host(FINE);
    let Ok(rapl) = Rapl::open(&tree) else { unreachable!("a readable host opens") };
    let mut check = PlatformCheck::of(rapl.domains());
    let mut see = |ms: i64, values: [Value; 2]| {
        let at = Nanos::from_millis(ms);
        let reading = |(domain, value)| Reading { domain, before: at, after: at, value };
        let mut readings: Vec<_> = (0..).zip(values).map(reading).collect();
        check.see(&mut readings);
        readings[1].value == missing(Missing::Implausible)
    };
    let count = |uj| Value::Counter { raw: uj, uj };
    let none = missing(Missing::Io);
    assert!(!see(0, [count(0), count(0)]));
    assert!(!see(400, [count(50_000_000), count(0)]), "one step of a slow counter");
    assert!(!see(600, [none, count(0)]));
    assert!(!see(2000, [count(90_000_000), count(0)]));
    assert!(see(2500, [count(92_000_000), count(0)]));
    assert!(see(2600, [none, none]));
}
