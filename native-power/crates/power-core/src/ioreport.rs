//! Names and units of Apple's energy channels, as `IOReport` lists them in its group `Energy Model`.
//!
//! Channels are told by their whole names: those of single cores and clusters hold the same words and are parts of the
//! totals. The unit stands beside each channel. Reading the framework itself is left to a source of that platform.

use crate::{Nanos, Scope};

/// What is known of a channel before it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// What it covers.
    pub scope: Scope,
    /// What one count is, µJ.
    pub count_uj: f64,
    /// How often its value is published. Channels in mJ come in batches.
    pub update_period: Nanos,
}

/// A channel of one component's total; None for a part of one, or for a unit that isn't known.
pub fn channel(name: &str, unit: &str) -> Option<Channel> {
    let (count_uj, period_ms) = match unit.trim() {
        "mJ" => (1e3, 2300),
        "uJ" | "\u{b5}J" | "\u{3bc}J" => (1.0, 1),
        "nJ" => (1e-3, 1),
        _ => return None,
    };
    let scope = scope_of(name.trim())?;
    Some(Channel { scope, count_uj, update_period: Nanos::from_millis(period_ms) })
}

fn scope_of(name: &str) -> Option<Scope> {
    let undivided = name.strip_prefix("DIE_").and_then(|rest| {
        let (die, rest) = rest.split_once('_')?;
        is_number(die).then_some(rest)
    });
    match (undivided, name) {
        (Some("CPU Energy"), _) | (None, "CPU Energy") => Some(Scope::Cpu),
        (None, "GPU Energy") => Some(Scope::Gpu),
        (None, _) if is_unit("ANE", name) => Some(Scope::Npu),
        (None, _) if is_unit("DRAM", name) => Some(Scope::Dram),
        _ => None,
    }
}

/// `ANE`, `ANE0`, `ANE0_1`.
fn is_unit(stem: &str, name: &str) -> bool {
    name.strip_prefix(stem)
        .is_some_and(|rest| rest.is_empty() || rest.split('_').count() <= 2 && rest.split('_').all(is_number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Channel, channel};
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
            ("PCPU0_CPU Energy",    None),
            ("ECPU Energy",         None),
            ("CPU Energy Total",    None),
            ("GPU Energy",          Some(Scope::Gpu)),
            ("GPU SRAM0",           None),
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
}
