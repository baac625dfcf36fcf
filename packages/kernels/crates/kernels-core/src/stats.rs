use serde::{Deserialize, Serialize};

use crate::{conventions::real, inputs::normal_quantile};

/// A mean with its two-sided 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The mean of at least 2 finite values with Student's t-interval; None for fewer.
pub fn mean_interval(values: &[f64]) -> Option<Interval> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mean = mean(values)?;
    let half = student_t(values.len() - 1) * deviation(values)? / real(values.len()).sqrt();
    Some(Interval { mean, low: mean - half, high: mean + half })
}

/// The mean; None of no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len()))
}

/// The sample standard deviation (n − 1); None of fewer than 2 values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / real(values.len() - 1)).sqrt())
}

/// The standard deviation over the mean; None of fewer than 2 values or a mean of 0.
pub fn relative_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    deviation(values).map(|deviation| deviation / mean).filter(|ratio| ratio.is_finite())
}

/// The quantile `p` of 0 to 1, between neighbours by proportion (type 7); None of no values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "p is clamped, so it is an index"
)]
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = p.clamp(0.0, 1.0) * real(last);
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    Some(sorted[below] + (at - real(below)) * (sorted[above] - sorted[below]))
}

/// The median; None of no values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Student's t at 97.5 %: a table up to 10 degrees of freedom, then Cornish and Fisher's expansion (to 1e-4).
pub(crate) fn student_t(degrees: usize) -> f64 {
    const FEW: [f64; 10] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157,
        2.228_139,
    ];
    if let Some(t) = degrees.checked_sub(1).and_then(|index| FEW.get(index)) {
        return *t;
    }
    let (z, n) = (normal_quantile(0.975), real(degrees.max(1)));
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * n)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_students() {
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let half = 2.776_445 * 2.5f64.sqrt() / 5f64.sqrt();
        assert!(
            interval
                .is_some_and(|got| (got.mean - 3.0).abs() < 1e-12 && (got.high - 3.0 - half).abs() < 1e-6)
        );
    }

    #[test]
    fn too_few_or_broken_values_have_no_statistic() {
        for values in [&[][..], &[1.0], &[1.0, f64::NAN]] {
            assert_eq!(mean_interval(values), None, "{values:?}");
        }
        assert_eq!(
            (mean(&[]), deviation(&[1.0]), quantile(&[], 0.5), relative_deviation(&[0.0, 0.0])),
            (None, None, None, None)
        );
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        for (values, p, want) in [
            (&[3.0, 1.0, 2.0][..], 0.5, 2.0),
            (&[4.0, 1.0, 2.0, 3.0], 0.5, 2.5),
            (&[1.0, 2.0], 0.0, 1.0),
            (&[1.0, 2.0], 1.0, 2.0),
            (&[7.0], 0.9, 7.0),
            (&[1.0, 1.0, 1.0], 0.3, 1.0),
        ] {
            assert!(quantile(values, p).is_some_and(|got| (got - want).abs() < 1e-12), "{values:?} {p}");
        }
    }

    #[test]
    fn t_of_many_degrees_agrees_with_tables() {
        for (degrees, want) in
            [(1, 12.706), (10, 2.228), (11, 2.200_985), (20, 2.085_963), (60, 2.000_298), (1000, 1.962_339)]
        {
            assert!((student_t(degrees) - want).abs() < 3e-4, "{degrees}: {}", student_t(degrees));
        }
    }
}
