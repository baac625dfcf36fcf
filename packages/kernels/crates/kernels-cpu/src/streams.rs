#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use kernels_core::{FMA_ADDEND, FMA_FACTOR, TRIAD_SCALAR};
use rayon::prelude::*;

use crate::{
    element::Element,
    isa::{Isa, Work, on_best},
};

/// Elements that one core takes at a time.
const PIECE: usize = 1 << 17;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stores {
    /// As any others.
    Cached,
    /// Past the caches, which is faster where they couldn't hold the result anyway: its lines aren't read first.
    Streaming,
}

/// out = a.
pub(crate) fn copy(stores: Stores, a: &[u8], out: &mut [u8]) {
    let pieces = out.par_chunks_mut(8 * PIECE).zip(a.par_chunks(8 * PIECE));
    pieces.for_each(|(out, a)| match stores {
        Stores::Cached => out.copy_from_slice(a),
        Stores::Streaming => on_best(Copy { a, out }),
    });
}

struct Copy<'a> {
    a: &'a [u8],
    out: &'a mut [u8],
}

impl Work for Copy<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (head, blocks, tail) = bytemuck::pod_align_to_mut::<u8, [u32; 8]>(self.out);
        let (a_head, rest) = self.a.split_at(head.len());
        let (a_blocks, a_tail) = rest.split_at(size_of_val(blocks));
        head.copy_from_slice(a_head);
        for (out, a) in blocks.iter_mut().zip(a_blocks.as_chunks::<32>().0) {
            isa.stream(bytemuck::cast::<[u8; 32], [u32; 8]>(*a), out);
        }
        tail.copy_from_slice(a_tail);
        isa.finish();
    }
}

/// out = a + q·b.
pub(crate) fn triad<E: Element>(stores: Stores, a: &[E], b: &[E], out: &mut [E]) {
    let pieces = out.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE)).zip(b.par_chunks(PIECE));
    pieces.for_each(|((out, a), b)| match stores {
        Stores::Cached => on_best(Triad::<E, false> { a, b, out }),
        Stores::Streaming => on_best(Triad::<E, true> { a, b, out }),
    });
}

struct Triad<'a, E, const STREAMING: bool> {
    a: &'a [E],
    b: &'a [E],
    out: &'a mut [E],
}

impl<E: Element, const STREAMING: bool> Work for Triad<'_, E, STREAMING> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let ((a, a_rest), (b, b_rest)) = (self.a.as_chunks::<8>(), self.b.as_chunks::<8>());
        let (out, out_rest) = self.out.as_chunks_mut::<8>();
        let q = isa.splat(TRIAD_SCALAR);
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            let sum = E::narrow(isa, isa.fma(q, E::widen(isa, b), E::widen(isa, a)));
            if STREAMING {
                isa.stream(sum, out);
            } else {
                *out = sum;
            }
        }
        for ((out, a), b) in out_rest.iter_mut().zip(a_rest).zip(b_rest) {
            *out = E::from_f32(a.to_f32() + TRIAD_SCALAR * b.to_f32());
        }
        if STREAMING {
            isa.finish();
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

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;
    use crate::buffer::Buffer;

    /// Both ways to store a triad, at an offset of so many elements from a cache line, with a poisoned element behind.
    fn both_ways<E: Element + PartialEq>(elements: usize, offset: usize) {
        let number = |index: usize| E::from_f32(f32::from(u8::try_from(index * 7 % 251).unwrap_or(0)) - 99.0);
        let a: Vec<E> = (0..elements).map(number).collect();
        let b: Vec<E> = (0..elements).map(|index| number(index * 3 + 1)).collect();
        let [cached, streamed] = [Stores::Cached, Stores::Streaming].map(|stores| {
            let bytes = size_of::<E>() * (elements + offset + 1);
            let mut room = Buffer::filled("out", bytes, 0xff).unwrap_or_else(|error| unreachable!("{error}"));
            let room = room.as_mut_slice::<E>();
            triad(stores, &a, &b, &mut room[offset..offset + elements]);
            assert!(room[offset + elements].to_f32().is_nan(), "{stores:?} writes {elements} and no more");
            room[offset..offset + elements].to_vec()
        });
        assert!(cached == streamed, "{elements} elements from {offset} on differ");
        assert!(cached.iter().all(|x| x.to_f32().is_finite()));
        for stores in [Stores::Cached, Stores::Streaming] {
            let mut room = vec![0xffu8; size_of::<E>() * elements + offset + 1];
            let from: &[u8] = bytemuck::cast_slice(&a);
            copy(stores, from, &mut room[offset..offset + from.len()]);
            assert!(room[offset..].starts_with(from) && room[offset + from.len()] == 0xff, "{stores:?}");
        }
    }

    #[test]
    fn streaming_stores_write_what_others_do() {
        for (elements, offset) in [(1, 0), (7, 0), (64, 0), (1003, 0), (1003, 1), (1003, 3), (PIECE + 77, 0)]
        {
            both_ways::<f32>(elements, offset);
            both_ways::<f16>(elements, offset);
            both_ways::<bf16>(elements, offset);
        }
    }
}
