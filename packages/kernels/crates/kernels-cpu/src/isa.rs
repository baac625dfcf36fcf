//! Instruction sets: loops are written once, as functions of a set, and run with the best that the CPU has.
#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use half::f16;

/// What loops need beside plain arithmetic.
pub trait Isa: Copy + Send + Sync {
    /// a·b + c.
    fn fma(self, a: f32, b: f32, c: f32) -> f32;

    /// Exact.
    fn widen_f16(self, from: &[f16; 8]) -> [f32; 8];

    /// To nearest, ties to even.
    fn narrow_f16(self, from: &[f32; 8]) -> [f16; 8];
}

/// A piece of work that can be compiled for any set.
pub(crate) trait Work {
    /// Does it; always to be inlined.
    fn run<I: Isa>(self, isa: I);
}

/// Only what the target promises.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Isa for Plain {
    #[inline(always)]
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }

    #[inline(always)]
    fn widen_f16(self, from: &[f16; 8]) -> [f32; 8] {
        from.map(f16::to_f32)
    }

    #[inline(always)]
    fn narrow_f16(self, from: &[f32; 8]) -> [f16; 8] {
        from.map(f16::from_f32)
    }
}

/// Runs work with the best set of this CPU.
pub(crate) fn on_best<W: Work>(work: W) {
    #[cfg(target_arch = "x86_64")]
    if let Some(isa) = x86::Avx2::detected() {
        return isa.run(work);
    }
    work.run(Plain);
}

/// The name of the set that [`on_best`] uses.
pub(crate) fn best_isa() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if x86::Avx2::detected().is_some() {
        return "avx2";
    }
    if cfg!(target_arch = "aarch64") { "neon" } else { "baseline" }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps, _mm256_cvtps_ph,
        _mm256_loadu_ps, _mm256_storeu_ps,
    };

    use half::f16;

    use super::{Isa, Work};

    /// AVX2 with FMA and F16C; a value of it exists only where they were detected.
    #[derive(Clone, Copy)]
    pub struct Avx2(());

    impl Avx2 {
        pub fn detected() -> Option<Self> {
            let all = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c");
            all.then_some(Self(()))
        }

        pub fn run<W: Work>(self, work: W) {
            // SAFETY: a value of this type proves that the CPU has these features.
            unsafe { run_avx2(self, work) }
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    fn run_avx2<W: Work>(isa: Avx2, work: W) {
        work.run(isa);
    }

    impl Isa for Avx2 {
        #[inline(always)]
        fn fma(self, a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }

        #[inline(always)]
        fn widen_f16(self, from: &[f16; 8]) -> [f32; 8] {
            // SAFETY: a value of this type proves that the CPU has these features.
            unsafe { widen(from) }
        }

        #[inline(always)]
        fn narrow_f16(self, from: &[f32; 8]) -> [f16; 8] {
            // SAFETY: a value of this type proves that the CPU has these features.
            unsafe { narrow(from) }
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn widen(from: &[f16; 8]) -> [f32; 8] {
        let mut to = [0.0; 8];
        // SAFETY: both arrays are as long as what is loaded and stored, and neither access needs alignment.
        unsafe {
            let halves = _mm_loadu_si128(from.as_ptr().cast());
            _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(halves));
        }
        to
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn narrow(from: &[f32; 8]) -> [f16; 8] {
        let mut to = [f16::ZERO; 8];
        // SAFETY: both arrays are as long as what is loaded and stored, and neither access needs alignment.
        unsafe {
            let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from.as_ptr()));
            _mm_storeu_si128(to.as_mut_ptr().cast(), halves);
        }
        to
    }
}

/// e^x for x ≤ 88 to about 2 units in the last place; 0 below −87. No branches, so that loops of it become vectors.
#[inline(always)]
pub(crate) fn exp<I: Isa>(isa: I, x: f32) -> f32 {
    /// Adding it rounds to a whole number, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    const TAYLOR: [f32; 6] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];
    let clamped = x.max(-87.0);
    let rounded = isa.fma(clamped, std::f32::consts::LOG2_E, ROUND);
    let power = rounded - ROUND;
    let rest = isa.fma(power, -LN2_LOW, isa.fma(power, -LN2_HIGH, clamped));
    let mut sum = TAYLOR[0];
    for coefficient in &TAYLOR[1..] {
        sum = isa.fma(sum, rest, *coefficient);
    }
    let mantissa = isa.fma(sum, rest, 1.0);
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    if x < -87.0 { 0.0 } else { mantissa * f32::from_bits(exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Exp<'a>(&'a [f32], &'a mut [f32]);

    impl Work for Exp<'_> {
        fn run<I: Isa>(self, isa: I) {
            self.0.iter().zip(self.1).for_each(|(x, y)| *y = exp(isa, *x));
        }
    }

    #[test]
    fn exp_agrees_with_the_library_on_every_set() {
        let inputs: Vec<f32> = (-8800..=1000u16.cast_signed()).map(|step| f32::from(step) / 100.0).collect();
        let (mut best, mut plain) = (vec![0.0; inputs.len()], vec![0.0; inputs.len()]);
        on_best(Exp(&inputs, &mut best));
        Exp(&inputs, &mut plain).run(Plain);
        for (&x, outputs) in inputs.iter().zip(best.iter().zip(&plain)) {
            for &got in [outputs.0, outputs.1] {
                let want = if x < -87.0 { 0.0 } else { f64::from(x).exp() };
                assert!((f64::from(got) - want).abs() <= 5e-7 * want, "e^{x}: {got}, not {want}");
            }
        }
    }

    struct Halves<'a>(&'a [f32; 8], &'a mut [f16; 8], &'a mut [f32; 8]);

    impl Work for Halves<'_> {
        fn run<I: Isa>(self, isa: I) {
            *self.1 = isa.narrow_f16(self.0);
            *self.2 = isa.widen_f16(self.1);
        }
    }

    #[test]
    fn halves_are_rounded_alike_on_every_set() {
        for step in 0..4000u16 {
            let base = f32::from(step) * 0.013 - 20.0;
            let from =
                [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|offset: f32| base * (1.0 + offset / 8192.0));
            let (mut best, mut plain) = (([f16::ZERO; 8], [0.0; 8]), ([f16::ZERO; 8], [0.0; 8]));
            on_best(Halves(&from, &mut best.0, &mut best.1));
            Halves(&from, &mut plain.0, &mut plain.1).run(Plain);
            assert_eq!(best, plain);
        }
    }
}
