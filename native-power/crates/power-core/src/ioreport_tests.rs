use super::{Channel, EnergyUnit, channel, covered};
use crate::{Nanos, Scope};

#[test]
fn a_total_is_told_by_its_whole_name() {
    #[rustfmt::skip]
    let cases = [
        ("CPU Energy",          Some(Scope::Cpu)),
        ("DIE_0_CPU Energy",    Some(Scope::Cpu)),
        ("DIE_12_CPU Energy",   Some(Scope::Cpu)),
        ("DIE__CPU Energy",     None),
        ("DIE_x_CPU Energy",    None),
        ("DIE_0_GPU Energy",    None),
        ("PCPU0_CPU Energy",    None),
        ("ECPU Energy",         None),
        ("CPU Energy Total",    None),
        ("GPU Energy",          Some(Scope::Gpu)),
        ("GPU0",                Some(Scope::Gpu)),
        ("GPU",                 None),
        ("GPU SRAM0",           None),
        ("GPU SRAM",            None),
        ("GPU0 SRAM",           None),
        ("ANE",                 Some(Scope::Npu)),
        ("ANE0",                Some(Scope::Npu)),
        ("ANE0_1",              Some(Scope::Npu)),
        ("ANE0_1_2",            None),
        ("ANE_",                None),
        ("DRAM",                Some(Scope::Dram)),
        ("DRAM0",               Some(Scope::Dram)),
        ("DRAM BW",             None),
        ("",                    None),
    ];
    for (name, scope) in cases {
        assert_eq!(channel(name, "mJ").map(|found| found.scope), scope, "{name:?}");
    }
}

#[test]
fn the_unit_stands_beside_each_channel() {
    let batched = Channel { scope: Scope::Cpu, count_uj: 1e3, update_period: Nanos::from_millis(2300) };
    assert_eq!(channel("CPU Energy", "mJ"), Some(batched));
    let count = |unit| channel("GPU Energy", unit).map(|found| found.count_uj);
    assert_eq!(count("nJ"), Some(1e-3));
    assert_eq!(count("uJ"), Some(1.0));
    assert_eq!(count("\u{b5}J "), Some(1.0));
    assert_eq!(count("kJ"), None);
}

#[test]
fn counts_become_whole_microjoules() {
    #[rustfmt::skip]
    let cases = [
        ("mJ",  80_000,                     Some(80_000_000)),
        ("mJ",  u64::MAX / 1000,            Some(u64::MAX / 1000 * 1000)),
        ("mJ",  u64::MAX / 1000 + 1,        None),
        ("uJ",  u64::MAX,                   Some(u64::MAX)),
        ("nJ",  1_999,                      Some(1)),
        ("nJ",  9_007_199_254_740_993_000,  Some(9_007_199_254_740_993)),
    ];
    for (unit, count, expected) in cases {
        let unit = EnergyUnit::of(unit);
        assert_eq!(unit.and_then(|unit| unit.microjoules(count)), expected, "{count} {unit:?}");
    }
    assert_eq!(EnergyUnit::of("\u{3bc}J").map(EnergyUnit::name), Some("uJ"));
    assert_eq!(EnergyUnit::of(""), None);
}

/// What is counted, and the others with what covers them.
fn counted<'a>(names: &[&'a str]) -> (Vec<&'a str>, Vec<(&'a str, &'a str)>) {
    let (mut total, mut parts) = (Vec::new(), Vec::new());
    for (name, place) in names.iter().zip(covered(names)) {
        match place {
            Some(None) => total.push(*name),
            Some(Some(by)) => parts.push((*name, by)),
            None => {}
        }
    }
    (total, parts)
}

type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [(&'a str, &'a str)]);

#[test]
fn the_subset_that_is_summed_counts_nothing_twice() {
    #[rustfmt::skip]
    let cases: &[Row] = &[
        ("one die: cores and clusters are parts",
            &["EACC_CPU0", "PACC0_CPU", "CPU Energy", "GPU SRAM0", "GPU Energy", "ANE0", "DRAM0", "DCS0", "AVE0"],
            &["CPU Energy", "GPU Energy", "ANE0", "DRAM0"], &[]),
        ("several dies, each by itself",
            &["DIE_0_CPU Energy", "DIE_1_CPU Energy", "GPU Energy", "ANE0_0", "ANE0_1", "DRAM0_0", "DRAM0_1"],
            &["DIE_0_CPU Energy", "DIE_1_CPU Energy", "GPU Energy", "ANE0_0", "ANE0_1", "DRAM0_0", "DRAM0_1"], &[]),
        ("dies beside their sum",
            &["DIE_0_CPU Energy", "CPU Energy", "DIE_1_CPU Energy"],
            &["CPU Energy"], &[("DIE_0_CPU Energy", "CPU Energy"), ("DIE_1_CPU Energy", "CPU Energy")]),
        ("graphics by number, without a sum",
            &["GPU0", "GPU1"], &["GPU0", "GPU1"], &[]),
        ("graphics by number, beside their sum",
            &["GPU0", "GPU Energy"], &["GPU Energy"], &[("GPU0", "GPU Energy")]),
        ("engines inside an engine",
            &["ANE0_0", "ANE0", "ANE1_0", "ANE10"], &["ANE0", "ANE1_0", "ANE10"], &[("ANE0_0", "ANE0")]),
        ("engines inside the whole",
            &["ANE", "ANE0", "ANE0_1", "DRAM", "DRAM3"],
            &["ANE", "DRAM"], &[("ANE0", "ANE"), ("ANE0_1", "ANE"), ("DRAM3", "DRAM")]),
        ("one name twice",
            &["CPU Energy", "CPU Energy "], &["CPU Energy"], &[("CPU Energy ", "CPU Energy")]),
        ("nothing of ours",
            &["DISP0", "PCIe Port 0 Energy"], &[], &[]),
    ];
    for (why, names, total, parts) in cases {
        assert_eq!(counted(names), (total.to_vec(), parts.to_vec()), "{why}");
    }
}
