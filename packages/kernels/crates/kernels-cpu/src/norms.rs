#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use kernels_core::RMSNORM_EPSILON;
use rayon::prelude::*;

use crate::{
    element::{Element, dot, narrow_all, widen_all},
    isa::{Isa, Work, exp, on_best},
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
        for (x, w) in x.iter_mut().zip(w) {
            *x *= scale * w;
        }
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
        let most = largest(row);
        let sum = exp_all(isa, row, most);
        let scale = 1.0 / sum;
        for x in row.iter_mut() {
            *x *= scale;
        }
        narrow_all(isa, row, self.out);
    }
}

/// The largest element; −∞ of none.
#[inline(always)]
pub(crate) fn largest(row: &[f32]) -> f32 {
    let (blocks, rest) = row.as_chunks::<8>();
    let mut most = [f32::NEG_INFINITY; 8];
    for block in blocks {
        for lane in 0..8 {
            most[lane] = if block[lane] > most[lane] { block[lane] } else { most[lane] };
        }
    }
    most.iter().chain(rest).fold(f32::NEG_INFINITY, |most, x| most.max(*x))
}

/// Replaces each x by e^(x − most) and gives their sum.
#[inline(always)]
pub(crate) fn exp_all<I: Isa>(isa: I, row: &mut [f32], most: f32) -> f32 {
    let (blocks, rest) = row.as_chunks_mut::<8>();
    let mut sums = [0f32; 8];
    for block in blocks {
        for lane in 0..8 {
            block[lane] = exp(isa, block[lane] - most);
            sums[lane] += block[lane];
        }
    }
    for x in rest.iter_mut() {
        *x = exp(isa, *x - most);
    }
    sums.iter().chain(rest.iter()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "rows are shorter than 2^24, or their mean is not so exact")]
pub(crate) const fn real(size: usize) -> f32 {
    size as f32
}
