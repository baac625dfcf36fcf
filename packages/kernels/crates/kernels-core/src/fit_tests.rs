use super::*;
use crate::inputs::mix;

const FLOP_J: f64 = 0.5e-12;
const BYTE_J: f64 = 20e-12;
const CONSTANT_W: f64 = 60.0;

/// A sweep of a device with a ridge at 16 FLOP/byte: intensities 1/4 to 256, with a relative noise.
fn sweep(noise: f64, seed: u64) -> Vec<FitPoint> {
    (0..11u32)
        .map(|step| {
            let (bytes, intensity) = (1e9, f64::from(1u32 << step) / 4.0);
            let flop = bytes * intensity;
            let duration_s = (flop / 16e12).max(bytes / 1e12) + flop / 400e12;
            let drawn = f64::from(u32::try_from(mix(mix(seed) ^ u64::from(step)) >> 32).unwrap_or(0))
                / f64::from(u32::MAX);
            let energy_j =
                (FLOP_J * flop + BYTE_J * bytes + CONSTANT_W * duration_s) * (1.0 + noise * (drawn - 0.5));
            FitPoint { flop, bytes, duration_s, energy_j }
        })
        .collect()
}

fn covers(coefficient: Coefficient, truth: f64) -> bool {
    coefficient.half_width.is_some_and(|half| (coefficient.value - truth).abs() <= half)
}

#[test]
fn an_exact_sweep_gives_its_coefficients_back() {
    let fit = fit_energy(&sweep(0.0, 1));
    let near = |got: f64, want: f64| (got / want - 1.0).abs() < 1e-6;
    assert!(
        fit.as_ref().is_ok_and(|fit| near(fit.flop_j.value, FLOP_J)
            && near(fit.byte_j.value, BYTE_J)
            && near(fit.constant_w.value, CONSTANT_W)
            && fit.rms_ratio < 1e-9),
        "{fit:?}"
    );
}

#[test]
fn intervals_cover_the_truth_about_as_often_as_they_say() {
    let fits: Vec<EnergyFit> = (0..200).filter_map(|seed| fit_energy(&sweep(0.04, seed)).ok()).collect();
    assert_eq!(fits.len(), 200);
    let share =
        |covered: &dyn Fn(&EnergyFit) -> bool| real(fits.iter().filter(|fit| covered(fit)).count()) / 200.0;
    for (name, share) in [
        ("flop", share(&|fit| covers(fit.flop_j, FLOP_J))),
        ("byte", share(&|fit| covers(fit.byte_j, BYTE_J))),
        ("constant", share(&|fit| covers(fit.constant_w, CONSTANT_W))),
    ] {
        assert!((0.85..=1.0).contains(&share), "{name}: {share}");
    }
}

#[test]
fn a_coefficient_that_would_be_negative_is_held_at_0_without_an_interval() {
    let points: Vec<FitPoint> = sweep(0.0, 1)
        .into_iter()
        .map(|point| FitPoint { energy_j: FLOP_J * point.flop + BYTE_J * point.bytes * 0.9 + 1e-5, ..point })
        .collect();
    let fit = fit_energy(&points);
    assert!(fit.as_ref().is_ok_and(|fit| fit.constant_w.value >= 0.0 && fit.flop_j.value > 0.0), "{fit:?}");
    let falling: Vec<FitPoint> = sweep(0.0, 1)
        .into_iter()
        .map(|point| FitPoint { energy_j: point.energy_j - 2.0 * FLOP_J * point.flop, ..point })
        .collect();
    let fit = fit_energy(&falling);
    assert!(fit.is_ok_and(|fit| fit.flop_j == Coefficient { value: 0.0, half_width: None }));
}

#[test]
fn a_sweep_that_cannot_be_split_says_why() {
    let few: Vec<FitPoint> = sweep(0.0, 1).into_iter().take(7).collect();
    assert!(fit_energy(&few).is_err_and(|why| why.starts_with("7 intensities")));
    let same = vec![FitPoint { flop: 1.0, bytes: 1.0, duration_s: 1.0, energy_j: 1.0 }; 20];
    assert!(fit_energy(&same).is_err_and(|why| why.starts_with("1 intensities")));
    for energy_j in [f64::NAN, 0.0, -1.0] {
        let mut broken = sweep(0.0, 1);
        broken[3].energy_j = energy_j;
        assert!(fit_energy(&broken).is_err(), "{energy_j}");
    }
}

#[test]
fn no_coefficient_is_ever_negative() {
    for seed in 0..300 {
        let fit = fit_energy(&sweep(1.5, seed));
        assert!(
            fit.as_ref()
                .is_ok_and(|fit| [fit.flop_j, fit.byte_j, fit.constant_w].iter().all(|c| c.value >= 0.0)),
            "seed {seed}: {fit:?}"
        );
    }
}
