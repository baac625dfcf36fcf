//! Instruction sets: loops are written once, over eight numbers at a time, and run with the best set that the CPU has.
#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use bytemuck::Pod;
use half::{bf16, f16};

/// Eight f32 and what loops do with them.
pub trait Isa: Copy + Send + Sync {
    /// Eight f32.
    type Wide: Copy;

    /// From memory.
    fn load(self, from: &[f32; 8]) -> Self::Wide;

    /// To memory.
    fn store(self, of: Self::Wide) -> [f32; 8];

    /// Eight times the same.
    fn splat(self, x: f32) -> Self::Wide;

    /// a + b.
    fn add(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;

    /// a·b.
    fn mul(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;

    /// a·b + c.
    fn fma(self, a: Self::Wide, b: Self::Wide, c: Self::Wide) -> Self::Wide;

    /// The larger of each.
    fn max(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;

    /// e^x of each, for x ≤ 88, to about 2 units in the last place; 0 below −87.
    fn exp(self, x: Self::Wide) -> Self::Wide;

    /// Exact.
    fn widen_f16(self, from: &[f16; 8]) -> Self::Wide;

    /// Exact.
    fn widen_bf16(self, from: &[bf16; 8]) -> Self::Wide;

    /// The nibbles of a word, lowest first.
    fn nibbles(self, word: u32) -> Self::Wide;

    /// To nearest, ties to even.
    fn narrow_f16(self, from: Self::Wide) -> [f16; 8];

    /// To nearest, ties to even; a NaN stays one.
    fn narrow_bf16(self, from: Self::Wide) -> [bf16; 8];

    /// To memory past the caches: lines that are overwritten as a whole aren't read first, and push none out. As any store
    /// where the set has no such instruction or `to` doesn't begin at a multiple of its size.
    #[inline(always)]
    fn stream<T: Pod>(self, of: [T; 8], to: &mut [T; 8]) {
        *to = of;
    }

    /// Orders what [`Isa::stream`] wrote before whatever is written next.
    #[inline(always)]
    fn finish(self) {}
}

/// A piece of work that can be compiled for any set.
pub(crate) trait Work {
    /// Does it; always to be inlined.
    fn run<I: Isa>(self, isa: I);
}

/// Only what the target promises.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

fn each(a: [f32; 8], b: [f32; 8], with: impl Fn(f32, f32) -> f32) -> [f32; 8] {
    std::array::from_fn(|lane| with(a[lane], b[lane]))
}

impl Isa for Plain {
    type Wide = [f32; 8];

    fn load(self, from: &[f32; 8]) -> [f32; 8] {
        *from
    }

    fn store(self, of: [f32; 8]) -> [f32; 8] {
        of
    }

    fn splat(self, x: f32) -> [f32; 8] {
        [x; 8]
    }

    fn add(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        each(a, b, |a, b| a + b)
    }

    fn mul(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        each(a, b, |a, b| a * b)
    }

    fn fma(self, a: [f32; 8], b: [f32; 8], c: [f32; 8]) -> [f32; 8] {
        self.add(self.mul(a, b), c)
    }

    fn max(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        each(a, b, |a, b| if a > b { a } else { b })
    }

    fn exp(self, x: [f32; 8]) -> [f32; 8] {
        x.map(exp)
    }

    fn widen_f16(self, from: &[f16; 8]) -> [f32; 8] {
        from.map(f16::to_f32)
    }

    fn widen_bf16(self, from: &[bf16; 8]) -> [f32; 8] {
        from.map(bf16::to_f32)
    }

    fn nibbles(self, word: u32) -> [f32; 8] {
        std::array::from_fn(|lane| f32::from(u8::try_from((word >> (4 * lane)) & 15).unwrap_or(0)))
    }

    fn narrow_f16(self, from: [f32; 8]) -> [f16; 8] {
        from.map(f16::from_f32)
    }

    fn narrow_bf16(self, from: [f32; 8]) -> [bf16; 8] {
        from.map(bf16::from_f32)
    }
}

/// Runs work with the best set of this CPU.
pub(crate) fn on_best<W: Work>(work: W) {
    #[cfg(target_arch = "x86_64")]
    if let Some(isa) = crate::avx2::Avx2::detected() {
        return isa.run(work);
    }
    work.run(Plain);
}

/// The name of the set that [`on_best`] uses.
pub(crate) fn best_isa() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if crate::avx2::Avx2::detected().is_some() {
        return "avx2";
    }
    if cfg!(target_arch = "aarch64") { "neon" } else { "baseline" }
}

/// Whether that set's [`Isa::stream`] passes the caches.
pub(crate) fn streams() -> bool {
    best_isa() == "avx2"
}

/// The numbers that e^x = 2^n·e^r is made of, with |r| ≤ ln 2 / 2.
pub(crate) struct ExpConstants;

impl ExpConstants {
    /// Adding it rounds to a whole number, which is then in the low bits.
    pub const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts, the first with so few bits that n times it is exact.
    pub const LN2_HIGH: f32 = 0.693_359_4;
    /// What is missing of it.
    pub const LN2_LOW: f32 = -2.121_944_4e-4;
    /// 1/n!, from n = 6 down to 1.
    pub const TAYLOR: [f32; 6] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];
    /// Below, e^x is taken as 0.
    pub const LEAST: f32 = -87.0;
}

/// e^x as [`Isa::exp`] has it, of one number.
pub(crate) fn exp(x: f32) -> f32 {
    let clamped = x.max(ExpConstants::LEAST);
    let rounded = clamped * std::f32::consts::LOG2_E + ExpConstants::ROUND;
    let power = rounded - ExpConstants::ROUND;
    let rest = clamped - power * ExpConstants::LN2_HIGH - power * ExpConstants::LN2_LOW;
    let sum = ExpConstants::TAYLOR.iter().fold(0.0, |sum, coefficient| sum * rest + coefficient);
    let exponent = rounded.to_bits().wrapping_sub(ExpConstants::ROUND.to_bits()).wrapping_add(127) << 23;
    if x < ExpConstants::LEAST { 0.0 } else { (sum * rest + 1.0) * f32::from_bits(exponent) }
}

/// The sum of eight.
#[inline(always)]
pub(crate) fn sum<I: Isa>(isa: I, of: I::Wide) -> f32 {
    let eight = isa.store(of);
    let (low, high) = eight.split_at(4);
    let pair = |lane: usize| low[lane] + high[lane];
    (pair(0) + pair(2)) + (pair(1) + pair(3))
}

#[cfg(test)]
#[path = "isa_tests.rs"]
mod tests;
