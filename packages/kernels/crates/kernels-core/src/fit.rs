use serde::{Deserialize, Serialize};

use crate::{conventions::real, stats::student_t};

/// Energy of one launch at one intensity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitPoint {
    /// Useful FLOP.
    pub flop: f64,
    /// Compulsory bytes.
    pub bytes: f64,
    /// Time, s.
    pub duration_s: f64,
    /// Energy, J.
    pub energy_j: f64,
}

/// A coefficient with its two-sided 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// At least 0.
    pub value: f64,
    /// Half the interval's width; None where the coefficient is held at 0, or nothing is left to judge it by.
    pub half_width: Option<f64>,
}

/// Energy = `flop_j`·FLOP + `byte_j`·bytes + `constant_w`·time, by least squares of relative errors without negative
/// coefficients. A description of this sweep, no constants of the hardware: always to be labelled "fit".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyFit {
    /// J per FLOP.
    pub flop_j: Coefficient,
    /// J per byte.
    pub byte_j: Coefficient,
    /// W drawn whatever is computed.
    pub constant_w: Coefficient,
    /// (fitted − measured) / measured of each point, in the points' order.
    pub residual_ratios: Vec<f64>,
    /// Root of their mean square.
    pub rms_ratio: f64,
}

/// A sweep needs so many intensities.
pub const LEAST_INTENSITIES: usize = 8;

const TERMS: usize = 3;

/// Splits energy into per FLOP, per byte and per second, from a sweep of one type over intensities (Choi, Bedard,
/// Fowler and Vuduc, IPDPS 2013).
///
/// # Errors
/// A sentence: too few intensities, a number that isn't finite, or terms that can't be told apart.
pub fn fit_energy(points: &[FitPoint]) -> Result<EnergyFit, String> {
    let whole = |point: &FitPoint| {
        let FitPoint { flop, bytes, duration_s, energy_j } = *point;
        [flop, bytes, duration_s].iter().all(|x| x.is_finite() && *x >= 0.0)
            && energy_j.is_finite()
            && energy_j > 0.0
    };
    if let Some(point) = points.iter().find(|point| !whole(point)) {
        return Err(format!("a point isn't made of finite numbers above 0: {point:?}"));
    }
    let mut intensities: Vec<f64> = points.iter().map(|point| point.flop / point.bytes).collect();
    intensities.sort_by(f64::total_cmp);
    intensities.dedup_by(|a, b| (*a - *b).abs() <= 1e-6 * b.abs());
    if intensities.len() < LEAST_INTENSITIES {
        return Err(format!("{} intensities, and a fit needs {LEAST_INTENSITIES}", intensities.len()));
    }
    let (rows, scales) = scaled(points);
    let best = (1..1usize << TERMS)
        .filter_map(|held| solve(&rows, held))
        .min_by(|a, b| a.squares.total_cmp(&b.squares));
    let best = best.ok_or_else(|| "FLOP, bytes and time can't be told apart in this sweep".to_owned())?;
    let left = points.len().saturating_sub(best.terms());
    let variance = (left > 0).then(|| best.squares / real(left));
    let coefficient = |term: usize| Coefficient {
        value: best.values[term] / scales[term],
        half_width: variance
            .zip(best.unscaled_variance[term])
            .map(|(variance, unscaled)| student_t(left) * (variance * unscaled).sqrt() / scales[term]),
    };
    let residual_ratios: Vec<f64> = rows
        .iter()
        .map(|row| row.iter().zip(&best.values).map(|(x, value)| x * value).sum::<f64>() - 1.0)
        .collect();
    Ok(EnergyFit {
        flop_j: coefficient(0),
        byte_j: coefficient(1),
        constant_w: coefficient(2),
        residual_ratios,
        rms_ratio: (best.squares / real(points.len())).sqrt(),
    })
}

type Row = [f64; TERMS];

/// Each point over its energy, each column over its largest number: the right side is 1 everywhere.
fn scaled(points: &[FitPoint]) -> (Vec<Row>, Row) {
    let mut rows: Vec<Row> = points
        .iter()
        .map(|point| [point.flop, point.bytes, point.duration_s].map(|x| x / point.energy_j))
        .collect();
    let mut scales = [1.0; TERMS];
    for (term, scale) in scales.iter_mut().enumerate() {
        let most = rows.iter().map(|row| row[term]).fold(0.0, f64::max);
        if most > 0.0 {
            *scale = most;
        }
        for row in &mut rows {
            row[term] /= *scale;
        }
    }
    (rows, scales)
}

struct Solution {
    values: Row,
    unscaled_variance: [Option<f64>; TERMS],
    squares: f64,
}

impl Solution {
    fn terms(&self) -> usize {
        self.unscaled_variance.iter().flatten().count()
    }
}

/// Least squares over the terms in the set `used`; None where one comes out negative or they depend on each other. With
/// three terms, the best of all sets is the solution without negative coefficients.
fn solve(rows: &[Row], used: usize) -> Option<Solution> {
    let terms: Vec<usize> = (0..TERMS).filter(|term| used >> term & 1 == 1).collect();
    let count = terms.len();
    // The normal equations beside the identity: elimination leaves the inverse.
    let mut matrix: Vec<Vec<f64>> = terms
        .iter()
        .enumerate()
        .map(|(at, &a)| {
            let products = terms.iter().map(|&b| rows.iter().map(|row| row[a] * row[b]).sum());
            products.chain((0..count).map(|column| if column == at { 1.0 } else { 0.0 })).collect()
        })
        .collect();
    for pivot in 0..count {
        let largest =
            (pivot..count).max_by(|&a, &b| matrix[a][pivot].abs().total_cmp(&matrix[b][pivot].abs()))?;
        matrix.swap(pivot, largest);
        let divisor = matrix[pivot][pivot];
        if divisor.abs() < 1e-10 {
            return None;
        }
        matrix[pivot].iter_mut().for_each(|x| *x /= divisor);
        let chosen = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&chosen).for_each(|(x, c)| *x -= factor * c);
        }
    }
    let right: Vec<f64> = terms.iter().map(|&term| rows.iter().map(|row| row[term]).sum()).collect();
    let (mut values, mut unscaled_variance) = ([0.0; TERMS], [None; TERMS]);
    for (at, &term) in terms.iter().enumerate() {
        let inverse = &matrix[at][count..];
        values[term] = inverse.iter().zip(&right).map(|(x, y)| x * y).sum();
        unscaled_variance[term] = Some(inverse[at]);
    }
    if values.iter().any(|value| *value < 0.0) {
        return None;
    }
    let error = |row: &Row| row.iter().zip(&values).map(|(x, value)| x * value).sum::<f64>() - 1.0;
    Some(Solution { values, unscaled_variance, squares: rows.iter().map(|row| error(row).powi(2)).sum() })
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
