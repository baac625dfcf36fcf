//! Physical quantities, in SI units without prefixes.

use std::ops::{Add, Mul, Sub};

/// Energy in joules (J).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Joules(f64);

impl Joules {
    /// No energy.
    pub const ZERO: Self = Self(0.0);

    /// From a number of joules.
    pub const fn new(joules: f64) -> Self {
        Self(joules)
    }

    /// From a count of microjoules (µJ), the unit of Linux powercap.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 µJ, 9 GJ")]
    pub const fn from_micros(microjoules: u64) -> Self {
        Self(microjoules as f64 / 1e6)
    }

    /// The number of joules.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The greater of two energies.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

impl Add for Joules {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// Power in watts (W).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Watts(f64);

impl Watts {
    /// From a number of watts.
    pub const fn new(watts: f64) -> Self {
        Self(watts)
    }

    /// From a count of microwatts (µW), the unit of Linux sensors.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 µW, 9 GW")]
    pub const fn from_micros(microwatts: u64) -> Self {
        Self(microwatts as f64 / 1e6)
    }

    /// The number of watts.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Mul<f64> for Watts {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

/// A span of time acts on a power: energy.
impl Mul<Nanos> for Watts {
    type Output = Joules;
    fn mul(self, span: Nanos) -> Joules {
        Joules(self.0 * span.seconds())
    }
}

/// A point on a [`Clock`](crate::Clock), or a span between two, in nanoseconds (ns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub i64);

impl Nanos {
    /// A whole number of milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis * 1_000_000)
    }

    /// The span in seconds.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ns, 104 days")]
    pub const fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The point halfway between two.
    #[must_use]
    pub const fn midpoint(self, later: Self) -> Self {
        Self(self.0.midpoint(later.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}
