#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use kernels_core::{FMA_ADDEND, FMA_FACTOR, TRIAD_SCALAR};
use rayon::prelude::*;

use crate::{
    element::Element,
    isa::{Isa, Work, on_best},
};

/// Elements that one core takes at a time.
const PIECE: usize = 1 << 17;

/// out = a.
pub(crate) fn copy(a: &[u8], out: &mut [u8]) {
    let pieces = out.par_chunks_mut(8 * PIECE).zip(a.par_chunks(8 * PIECE));
    pieces.for_each(|(out, a)| out.copy_from_slice(a));
}

/// out = a + q·b.
pub(crate) fn triad<E: Element>(a: &[E], b: &[E], out: &mut [E]) {
    let pieces = out.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE)).zip(b.par_chunks(PIECE));
    pieces.for_each(|((out, a), b)| on_best(Triad { a, b, out }));
}

struct Triad<'a, E> {
    a: &'a [E],
    b: &'a [E],
    out: &'a mut [E],
}

impl<E: Element> Work for Triad<'_, E> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let ((a, a_rest), (b, b_rest)) = (self.a.as_chunks::<8>(), self.b.as_chunks::<8>());
        let (out, out_rest) = self.out.as_chunks_mut::<8>();
        let q = isa.splat(TRIAD_SCALAR);
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = E::narrow(isa, isa.fma(q, E::widen(isa, b), E::widen(isa, a)));
        }
        for ((out, a), b) in out_rest.iter_mut().zip(a_rest).zip(b_rest) {
            *out = E::from_f32(a.to_f32() + TRIAD_SCALAR * b.to_f32());
        }
    }
}

/// out = a after `steps` multiply-adds of each element.
pub(crate) fn multiply_add<E: Element>(a: &[E], steps: usize, out: &mut [E]) {
    let pieces = out.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE));
    pieces.for_each(|(out, a)| on_best(MultiplyAdd { a, steps, out }));
}

struct MultiplyAdd<'a, E> {
    a: &'a [E],
    steps: usize,
    out: &'a mut [E],
}

impl<E: Element> Work for MultiplyAdd<'_, E> {
    /// 64 elements at a time, so that eight chains hide each other's latency.
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (p, q) = (isa.splat(FMA_FACTOR), isa.splat(FMA_ADDEND));
        let (a, a_rest) = self.a.as_chunks::<64>();
        let (out, out_rest) = self.out.as_chunks_mut::<64>();
        for (out, a) in out.iter_mut().zip(a) {
            let mut chains = [q; 8];
            for (x, part) in chains.iter_mut().zip(a.as_chunks::<8>().0) {
                *x = E::widen(isa, part);
            }
            for _ in 0..self.steps {
                for x in &mut chains {
                    *x = isa.fma(*x, p, q);
                }
            }
            for (part, x) in out.as_chunks_mut::<8>().0.iter_mut().zip(chains) {
                *part = E::narrow(isa, x);
            }
        }
        for (out, a) in out_rest.iter_mut().zip(a_rest) {
            *out = E::from_f32((0..self.steps).fold(a.to_f32(), |x, _| FMA_FACTOR * x + FMA_ADDEND));
        }
    }
}
