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
    let unit = EnergyUnit::of(unit)?;
    let scope = scope_of(name.trim())?;
    let (count_uj, period_ms) = match unit {
        EnergyUnit::Milli => (1e3, 2300),
        EnergyUnit::Micro => (1.0, 1),
        EnergyUnit::Nano => (1e-3, 1),
    };
    Some(Channel { scope, count_uj, update_period: Nanos::from_millis(period_ms) })
}

/// The unit of a channel's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyUnit {
    /// Thousandths of a joule.
    Milli,
    /// Millionths.
    Micro,
    /// Billionths.
    Nano,
}

impl EnergyUnit {
    /// By the label that stands beside a channel; None for any other.
    pub fn of(label: &str) -> Option<Self> {
        match label.trim() {
            "mJ" => Some(Self::Milli),
            "uJ" | "\u{b5}J" | "\u{3bc}J" => Some(Self::Micro),
            "nJ" => Some(Self::Nano),
            _ => None,
        }
    }

    /// Its name, as raw numbers carry it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Milli => "mJ",
            Self::Micro => "uJ",
            Self::Nano => "nJ",
        }
    }

    /// A count in µJ, whole; None beyond what 64 bits hold.
    pub const fn microjoules(self, count: u64) -> Option<u64> {
        match self {
            Self::Milli => count.checked_mul(1000),
            Self::Micro => Some(count),
            Self::Nano => Some(count / 1000),
        }
    }
}

/// Of these names, what makes up the totals and what of the rest is a part of it: for each, None when it is no total at
/// all, else the name that covers it, or none when it is to be counted. A name that comes again covers the later ones.
pub fn covered<'a>(names: &[&'a str]) -> Vec<Option<Option<&'a str>>> {
    let one = |(at, name): (usize, &&'a str)| {
        scope_of(name.trim())?;
        let earlier = names.iter().take(at).find(|other| other.trim() == name.trim());
        let outer = names.iter().find(|other| covers(other.trim(), name.trim()));
        Some(earlier.or(outer).copied())
    };
    names.iter().enumerate().map(one).collect()
}

/// Whether a channel's energy is within another's: that of one die, one graphics processor or one engine within the whole.
fn covers(outer: &str, inner: &str) -> bool {
    match outer {
        "CPU Energy" => inner != outer && scope_of(inner) == Some(Scope::Cpu),
        "GPU Energy" => inner != outer && scope_of(inner) == Some(Scope::Gpu),
        _ => {
            let rest = inner.strip_prefix(outer).filter(|_| is_unit("ANE", outer) || is_unit("DRAM", outer));
            let deeper = if outer.ends_with(|last: char| last.is_ascii_digit()) { '_' } else { '0' };
            rest.is_some_and(|rest| match rest.bytes().next() {
                Some(b'_') => deeper == '_',
                Some(byte) => deeper == '0' && byte.is_ascii_digit(),
                None => false,
            })
        }
    }
}

fn scope_of(name: &str) -> Option<Scope> {
    let undivided = name.strip_prefix("DIE_").and_then(|rest| {
        let (die, rest) = rest.split_once('_')?;
        is_number(die).then_some(rest)
    });
    match (undivided, name) {
        (Some("CPU Energy"), _) | (None, "CPU Energy") => Some(Scope::Cpu),
        (None, "GPU Energy") => Some(Scope::Gpu),
        (None, _) if name.strip_prefix("GPU").is_some_and(is_number) => Some(Scope::Gpu),
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
#[path = "ioreport_tests.rs"]
mod tests;
