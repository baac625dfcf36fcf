use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Counts, DType, KernelSpec, Shape};

/// What a device reached in this session, by measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// The best copy or triad, bytes/s. None where none was measured.
    pub bytes_per_s: Option<f64>,
    /// The best GEMM of each input type, FLOP/s.
    pub flop_per_s: BTreeMap<DType, f64>,
}

/// What holds a kernel back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Its bytes.
    Memory,
    /// Its FLOP.
    Compute,
}

/// The least time that the ceilings allow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// ns.
    pub ns: f64,
    /// Which ceiling it is.
    pub bound: Bound,
}

impl Ceilings {
    /// Takes one measurement in: the time of one launch, ns. Only copy, triad and GEMM make ceilings.
    pub fn observe(&mut self, spec: &KernelSpec, counts: Counts, launch_ns: f64) {
        let rate =
            |amount: f64| Some(amount / (launch_ns * 1e-9)).filter(|rate| rate.is_finite() && *rate > 0.0);
        match spec.shape {
            Shape::Copy { .. } | Shape::Triad { .. } => {
                self.bytes_per_s = rate(counts.bytes).into_iter().chain(self.bytes_per_s).reduce(f64::max);
            }
            Shape::Gemm { .. } => {
                let known = self.flop_per_s.get(&spec.dtype).copied();
                if let Some(best) = rate(counts.flop).into_iter().chain(known).reduce(f64::max) {
                    self.flop_per_s.insert(spec.dtype, best);
                }
            }
            _ => {}
        }
    }

    /// max(FLOP / peak, bytes / bandwidth). None while a ceiling that could be the higher one isn't known.
    pub fn roof(&self, dtype: DType, counts: Counts) -> Option<Roof> {
        let memory = counts.bytes / self.bytes_per_s? * 1e9;
        if counts.flop == 0.0 {
            return Some(Roof { ns: memory, bound: Bound::Memory });
        }
        let compute = counts.flop / self.flop_per_s.get(&dtype)? * 1e9;
        let bound = if compute > memory { Bound::Compute } else { Bound::Memory };
        Some(Roof { ns: memory.max(compute), bound })
    }

    /// FLOP per byte at which both ceilings meet.
    pub fn ridge(&self, dtype: DType) -> Option<f64> {
        Some(self.flop_per_s.get(&dtype)? / self.bytes_per_s?)
    }

    /// The share of the roofline that a launch of `launch_ns` reached. Above 1 it says that the ceilings are too low
    /// (a cache, a better kernel), and isn't clamped.
    pub fn fraction(&self, dtype: DType, counts: Counts, launch_ns: f64) -> Option<f64> {
        self.roof(dtype, counts).map(|roof| roof.ns / launch_ns).filter(|fraction| fraction.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KernelError, counts};

    fn h200() -> Ceilings {
        Ceilings { bytes_per_s: Some(4.3e12), flop_per_s: BTreeMap::from([(DType::Bf16, 788e12)]) }
    }

    #[test]
    fn the_higher_time_is_the_roof() -> Result<(), KernelError> {
        let of = |batch| {
            let spec = KernelSpec::new(Shape::Gemv { m: 14336, k: 4096, batch }, DType::Bf16)?;
            Ok::<_, KernelError>(h200().roof(DType::Bf16, counts(&spec)))
        };
        assert!(of(16)?.is_some_and(|roof| roof.bound == Bound::Memory && (roof.ns - 27_448.9).abs() < 1.0));
        assert!(
            of(256)?.is_some_and(|roof| roof.bound == Bound::Compute && (roof.ns - 38_153.3).abs() < 1.0)
        );
        assert!(h200().ridge(DType::Bf16).is_some_and(|ridge| (ridge - 183.26).abs() < 0.01));
        Ok(())
    }

    #[test]
    fn a_fraction_above_one_stays() {
        let fraction = h200().fraction(DType::F32, Counts { flop: 0.0, bytes: 4.3e6 }, 500.0);
        assert!(fraction.is_some_and(|fraction| (fraction - 2.0).abs() < 1e-9));
    }

    #[test]
    fn a_ceiling_that_was_not_measured_gives_no_roof() {
        let none = Ceilings::default();
        assert_eq!(none.roof(DType::F32, Counts { flop: 0.0, bytes: 1.0 }), None);
        assert_eq!(h200().roof(DType::F16, Counts { flop: 1.0, bytes: 1.0 }), None);
    }

    #[test]
    fn the_best_measurement_is_the_ceiling() -> Result<(), KernelError> {
        let mut ceilings = Ceilings::default();
        let copy = KernelSpec::new(Shape::Copy { n: 1000 }, DType::F32)?;
        let gemm = KernelSpec::new(Shape::Gemm { m: 10, n: 10, k: 10 }, DType::Bf16)?;
        for launch_ns in [200.0, 100.0, 400.0, 0.0, f64::NAN] {
            ceilings.observe(&copy, counts(&copy), launch_ns);
            ceilings.observe(&gemm, counts(&gemm), launch_ns);
        }
        assert!(ceilings.bytes_per_s.is_some_and(|rate| (rate - 8e10).abs() < 1.0));
        assert!(ceilings.flop_per_s.get(&DType::Bf16).is_some_and(|rate| (rate - 2e10).abs() < 1.0));
        Ok(())
    }
}
