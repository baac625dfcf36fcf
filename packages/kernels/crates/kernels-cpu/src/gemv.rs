#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use bytemuck::Pod;
use rayon::prelude::*;

use crate::{
    element::{Element, dot},
    isa::{Isa, Work, on_best},
};

/// Rows of weights that one core takes at a time.
pub(crate) const ROWS: usize = 32;

/// Products of M rows with `batch` vectors, as M×batch: each row is read once for all vectors.
pub(crate) fn by_rows<T: Send>(products: &mut [T], batch: usize, rows: impl Fn(usize, &mut [T]) + Sync) {
    let pieces = products.par_chunks_mut(ROWS * batch).enumerate();
    pieces.for_each(|(piece, out)| rows(piece * ROWS, out));
}

/// Floating weights (M×K) times vectors (batch×K) in f32, as M×batch.
pub(crate) fn gemv<E: Element>(w: &[E], x: &[f32], batch: usize, products: &mut [f32]) {
    let depth = x.len() / batch;
    by_rows(products, batch, |first, out| {
        let rows = &w[first * depth..(first + out.len() / batch) * depth];
        on_best(Rows { weights: rows, x, depth, out });
    });
}

struct Rows<'a, E> {
    weights: &'a [E],
    x: &'a [f32],
    depth: usize,
    out: &'a mut [f32],
}

impl<E: Element> Work for Rows<'_, E> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let batch = self.x.len() / self.depth;
        for (row, out) in self.weights.chunks_exact(self.depth).zip(self.out.chunks_exact_mut(batch)) {
            for (x, out) in self.x.chunks_exact(self.depth).zip(out) {
                *out = dot(isa, row, x);
            }
        }
    }
}

/// Whole-number weights (M×K) times vectors (batch×K), exact, as M×batch.
pub(crate) fn gemv_int8(w: &[i8], x: &[i8], batch: usize, products: &mut [i32]) {
    let depth = x.len() / batch;
    by_rows(products, batch, |first, out| {
        let rows = &w[first * depth..(first + out.len() / batch) * depth];
        on_best(WholeRows { rows, x, depth, out });
    });
}

struct WholeRows<'a> {
    rows: &'a [i8],
    x: &'a [i8],
    depth: usize,
    out: &'a mut [i32],
}

impl Work for WholeRows<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let batch = self.x.len() / self.depth;
        for (row, out) in self.rows.chunks_exact(self.depth).zip(self.out.chunks_exact_mut(batch)) {
            for (x, out) in self.x.chunks_exact(self.depth).zip(out) {
                *out = row.iter().zip(x).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum();
            }
        }
    }
}

/// From M×batch, where rows are computed, to batch×M, rounded by `round`.
pub(crate) fn transpose_into<T: Copy + Sync, O: Pod + Send>(
    products: &[T],
    batch: usize,
    out: &mut [O],
    round: impl Fn(T) -> O + Sync,
) {
    let rows = products.len() / batch;
    for (column, out) in out.chunks_exact_mut(rows).enumerate() {
        for (row, out) in out.iter_mut().enumerate() {
            *out = round(products[row * batch + column]);
        }
    }
}
