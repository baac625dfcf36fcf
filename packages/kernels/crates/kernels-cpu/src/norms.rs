#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use kernels_core::RMSNORM_EPSILON;
use rayon::prelude::*;

use crate::{
    element::{Element, dot, narrow_all, scale_all, widen_all},
    isa::{Isa, Work, exp, on_best, sum},
};

/// out = x / √(mean(x²) + ε) · w, by row.
pub(crate) fn rms_norm<E: Element>(x: &[E], w: &[E], out: &mut [E]) {
    let rows = out.par_chunks_mut(w.len()).zip(x.par_chunks(w.len()));
    rows.for_each_init(|| vec![0.0; 2 * w.len()], |scratch, (out, x)| on_best(Norm { x, w, out, scratch }));
}

struct Norm<'a, E> {
    x: &'a [E],
    w: &'a [E],
    out: &'a mut [E],
    scratch: &'a mut [f32],
}

impl<E: Element> Work for Norm<'_, E> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (x, w) = self.scratch.split_at_mut(self.w.len());
        widen_all(isa, self.x, x);
        let w = E::as_f32(isa, self.w, w);
        let mean = dot(isa, x, x) / real(x.len());
        let scale = 1.0 / (mean + RMSNORM_EPSILON).sqrt();
        scale_all(isa, x, scale);
        multiply_all(isa, x, w);
        narrow_all(isa, x, self.out);
    }
}

/// Softmax by row of `width`.
pub(crate) fn softmax<E: Element>(x: &[E], width: usize, out: &mut [E]) {
    let rows = out.par_chunks_mut(width).zip(x.par_chunks(width));
    rows.for_each_init(|| vec![0.0; width], |scratch, (out, x)| on_best(Softmax { x, out, scratch }));
}

struct Softmax<'a, E> {
    x: &'a [E],
    out: &'a mut [E],
    scratch: &'a mut [f32],
}

impl<E: Element> Work for Softmax<'_, E> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let row = self.scratch;
        widen_all(isa, self.x, row);
        let most = largest(isa, row);
        let total = exp_all(isa, row, most);
        scale_all(isa, row, 1.0 / total);
        narrow_all(isa, row, self.out);
    }
}

/// Multiplies each of `row` by that of `by`.
#[inline(always)]
fn multiply_all<I: Isa>(isa: I, row: &mut [f32], by: &[f32]) {
    let ((blocks, rest), (others, other_rest)) = (row.as_chunks_mut::<8>(), by.as_chunks::<8>());
    for (block, other) in blocks.iter_mut().zip(others) {
        *block = isa.store(isa.mul(isa.load(block), isa.load(other)));
    }
    for (x, by) in rest.iter_mut().zip(other_rest) {
        *x *= by;
    }
}

/// The largest element; −∞ of none.
#[inline(always)]
pub(crate) fn largest<I: Isa>(isa: I, row: &[f32]) -> f32 {
    let (blocks, rest) = row.as_chunks::<8>();
    let mut most = isa.splat(f32::NEG_INFINITY);
    for block in blocks {
        most = isa.max(isa.load(block), most);
    }
    let most = isa.store(most).into_iter().fold(f32::NEG_INFINITY, f32::max);
    rest.iter().fold(most, |most, x| most.max(*x))
}

/// Replaces each x by e^(x − most) and gives their sum.
#[inline(always)]
pub(crate) fn exp_all<I: Isa>(isa: I, row: &mut [f32], most: f32) -> f32 {
    let (blocks, rest) = row.as_chunks_mut::<8>();
    let (shift, mut sums) = (isa.splat(-most), isa.splat(0.0));
    for block in blocks {
        let power = isa.exp(isa.add(isa.load(block), shift));
        sums = isa.add(sums, power);
        *block = isa.store(power);
    }
    let mut total = sum(isa, sums);
    for x in rest {
        *x = exp(*x - most);
        total += *x;
    }
    total
}

#[expect(clippy::cast_precision_loss, reason = "rows are shorter than 2^24, or their mean is not so exact")]
pub(crate) const fn real(size: usize) -> f32 {
    size as f32
}
