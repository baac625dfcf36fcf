//! Readings beside power that tell how a device fares: temperatures, clocks, limits, and why it slows down.

use crate::{Missing, Nanos};

/// What a channel's number is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelUnit {
    /// Degrees Celsius.
    Celsius,
    /// Hertz.
    Hertz,
    /// Watts.
    Watts,
    /// A ratio, 0…1, or a count.
    One,
    /// A set of named bits.
    Bits,
}

impl ChannelUnit {
    /// The name used in files and in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Celsius => "°C",
            Self::Hertz => "Hz",
            Self::Watts => "W",
            Self::One => "1",
            Self::Bits => "bits",
        }
    }
}

/// What is known of a channel before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelInfo {
    /// The device that it belongs to, unique on its host; for instance `nvml:GPU-…` or `cpu:package-0`.
    pub device: String,
    /// What it tells, the unit at its end; for instance `gpu_temp_c`.
    pub name: String,
    /// What its number is in.
    pub unit: ChannelUnit,
}

/// What one reading of a channel says.
#[derive(Clone, Debug, PartialEq)]
pub enum ChannelValue {
    /// A finite number in the channel's unit.
    Number(f64),
    /// The bits that are set.
    Bits {
        /// As a number.
        bits: u64,
        /// Their names, separated by blanks.
        names: String,
    },
    /// There was none.
    Missing(Missing),
}

impl ChannelValue {
    /// A temperature in degrees Celsius; implausible beyond −55 °C to 250 °C, where no sensor of a chip works.
    pub fn celsius(degrees: f64) -> Self {
        if (-55.0..=250.0).contains(&degrees) {
            Self::Number(degrees)
        } else {
            Self::Missing(Missing::Implausible)
        }
    }

    /// A share in percent, as a ratio; implausible beyond 0 to 100.
    pub fn percent(percent: f64) -> Self {
        if (0.0..=100.0).contains(&percent) {
            Self::Number(percent / 100.0)
        } else {
            Self::Missing(Missing::Implausible)
        }
    }

    /// Bits with the names of those that have one; the others are called `bit_` and their number.
    pub fn bits(bits: u64, known: &[(u32, &str)]) -> Self {
        let set = (0..u64::BITS).filter(|bit| bits >> bit & 1 == 1);
        let name = |bit: u32| match known.iter().find(|(number, _)| *number == bit) {
            Some((_, name)) => (*name).to_owned(),
            None => format!("bit_{bit}"),
        };
        Self::Bits { bits, names: set.map(name).collect::<Vec<_>>().join(" ") }
    }
}

/// One reading of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelReading {
    /// Index into the source's channels.
    pub channel: u16,
    /// When it was read.
    pub at: Nanos,
    /// What was read.
    pub value: ChannelValue,
}

#[cfg(test)]
mod tests {
    use super::ChannelValue;
    use crate::Missing;

    #[test]
    fn numbers_that_no_chip_shows_are_missing() {
        let implausible = ChannelValue::Missing(Missing::Implausible);
        #[rustfmt::skip]
        let cases = [
            ("a warm chip",            ChannelValue::celsius(64.5),     ChannelValue::Number(64.5)),
            ("frost",                  ChannelValue::celsius(-10.0),    ChannelValue::Number(-10.0)),
            ("millidegrees",           ChannelValue::celsius(64_500.0), implausible.clone()),
            ("no number",              ChannelValue::celsius(f64::NAN), implausible.clone()),
            ("half busy",              ChannelValue::percent(50.0),     ChannelValue::Number(0.5)),
            ("more than all of it",    ChannelValue::percent(101.0),    implausible.clone()),
            ("a negative share",       ChannelValue::percent(-1.0),     implausible),
        ];
        for (why, value, expected) in cases {
            assert_eq!(value, expected, "{why}");
        }
    }

    #[test]
    fn bits_have_names_and_unknown_ones_are_told_all_the_same() {
        let known = [(2, "sw_power_cap"), (5, "sw_thermal_slowdown")];
        #[rustfmt::skip]
        let cases = [
            (0,        ""),
            (4,        "sw_power_cap"),
            (0x24,     "sw_power_cap sw_thermal_slowdown"),
            (0x201,    "bit_0 bit_9"),
            (1 << 63,  "bit_63"),
        ];
        for (bits, names) in cases {
            assert_eq!(
                ChannelValue::bits(bits, &known),
                ChannelValue::Bits { bits, names: names.to_owned() }
            );
        }
    }
}
