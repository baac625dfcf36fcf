#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use bytemuck::Pod;
use half::{bf16, f16};

use crate::isa::{Isa, sum};

/// A floating type that loops read and write; they compute in f32.
pub trait Element: Pod + Send + Sync {
    /// Eight of them, exactly.
    fn widen<I: Isa>(isa: I, from: &[Self; 8]) -> I::Wide;

    /// Eight, to nearest with ties to even.
    fn narrow<I: Isa>(isa: I, from: I::Wide) -> [Self; 8];

    /// One, exactly.
    fn to_f32(self) -> f32;

    /// One, to nearest with ties to even.
    fn from_f32(value: f32) -> Self;

    /// All as f32, in `scratch` (of the same length) unless they are that already.
    #[inline(always)]
    fn as_f32<'a, I: Isa>(isa: I, from: &'a [Self], scratch: &'a mut [f32]) -> &'a [f32] {
        widen_all(isa, from, scratch);
        scratch
    }
}

impl Element for f32 {
    #[inline(always)]
    fn widen<I: Isa>(isa: I, from: &[Self; 8]) -> I::Wide {
        isa.load(from)
    }

    #[inline(always)]
    fn narrow<I: Isa>(isa: I, from: I::Wide) -> [Self; 8] {
        isa.store(from)
    }

    fn to_f32(self) -> f32 {
        self
    }

    fn from_f32(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn as_f32<'a, I: Isa>(_isa: I, from: &'a [Self], _scratch: &'a mut [f32]) -> &'a [f32] {
        from
    }
}

impl Element for f16 {
    #[inline(always)]
    fn widen<I: Isa>(isa: I, from: &[Self; 8]) -> I::Wide {
        isa.widen_f16(from)
    }

    #[inline(always)]
    fn narrow<I: Isa>(isa: I, from: I::Wide) -> [Self; 8] {
        isa.narrow_f16(from)
    }

    fn to_f32(self) -> f32 {
        Self::to_f32(self)
    }

    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

impl Element for bf16 {
    #[inline(always)]
    fn widen<I: Isa>(isa: I, from: &[Self; 8]) -> I::Wide {
        isa.widen_bf16(from)
    }

    #[inline(always)]
    fn narrow<I: Isa>(isa: I, from: I::Wide) -> [Self; 8] {
        isa.narrow_bf16(from)
    }

    fn to_f32(self) -> f32 {
        Self::to_f32(self)
    }

    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

/// All of `from` as f32 in `to`, which is as long.
#[inline(always)]
pub(crate) fn widen_all<I: Isa, E: Element>(isa: I, from: &[E], to: &mut [f32]) {
    let ((blocks, rest), (wide, wide_rest)) = (from.as_chunks::<8>(), to.as_chunks_mut::<8>());
    for (block, wide) in blocks.iter().zip(wide) {
        *wide = isa.store(E::widen(isa, block));
    }
    for (x, wide) in rest.iter().zip(wide_rest) {
        *wide = x.to_f32();
    }
}

/// All of `from`, rounded, in `to`, which is as long.
#[inline(always)]
pub(crate) fn narrow_all<I: Isa, E: Element>(isa: I, from: &[f32], to: &mut [E]) {
    let ((blocks, rest), (narrow, narrow_rest)) = (from.as_chunks::<8>(), to.as_chunks_mut::<8>());
    for (block, narrow) in blocks.iter().zip(narrow) {
        *narrow = E::narrow(isa, isa.load(block));
    }
    for (x, narrow) in rest.iter().zip(narrow_rest) {
        *narrow = E::from_f32(*x);
    }
}

/// Multiplies all of them.
#[inline(always)]
pub(crate) fn scale_all<I: Isa>(isa: I, row: &mut [f32], factor: f32) {
    let (blocks, rest) = row.as_chunks_mut::<8>();
    let wide = isa.splat(factor);
    for block in blocks {
        *block = isa.store(isa.mul(isa.load(block), wide));
    }
    for x in rest {
        *x *= factor;
    }
}

/// Σ a·b in 32 sums.
#[inline(always)]
pub(crate) fn dot<I: Isa, E: Element>(isa: I, a: &[E], b: &[f32]) -> f32 {
    let mut sums = [isa.splat(0.0); 4];
    let ((blocks, rest), (others, other_rest)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    for (block, other) in blocks.iter().zip(others) {
        let (parts, other_parts) = (block.as_chunks::<8>().0, other.as_chunks::<8>().0);
        for ((sum, part), other) in sums.iter_mut().zip(parts).zip(other_parts) {
            *sum = isa.fma(E::widen(isa, part), isa.load(other), *sum);
        }
    }
    let ((blocks, rest), (others, other_rest)) = (rest.as_chunks::<8>(), other_rest.as_chunks::<8>());
    for (block, other) in blocks.iter().zip(others) {
        sums[0] = isa.fma(E::widen(isa, block), isa.load(other), sums[0]);
    }
    let whole = sum(isa, isa.add(isa.add(sums[0], sums[1]), isa.add(sums[2], sums[3])));
    rest.iter().zip(other_rest).fold(whole, |total, (a, b)| total + a.to_f32() * b)
}
