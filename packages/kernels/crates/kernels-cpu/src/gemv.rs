#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use bytemuck::Pod;
use rayon::prelude::*;

use crate::{
    element::{Element, dot},
    isa::{Isa, Work, on_best, sum},
};

/// Rows of weights that one core takes at a time.
const ROWS: usize = 32;

/// Products of M rows with `batch` vectors, as M×batch: each row is read once for all vectors.
fn by_rows<T: Send>(products: &mut [T], batch: usize, rows: impl Fn(usize, &mut [T]) + Sync) {
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

/// Weights of 4 bits as they are stored.
pub(crate) struct Int4<'a, S> {
    /// Eight nibbles per word, M×K.
    pub words: &'a [u32],
    /// M×K/group.
    pub scales: &'a [S],
    /// As `scales`, eight per word; None where it is 8.
    pub zeros: Option<&'a [u32]>,
    /// Columns per scale.
    pub group: usize,
}

/// Dequantising weights (M×K) times vectors (batch×K) in f32, as M×batch: scale·(Σ nibble·x − zero·Σ x) by group.
pub(crate) fn gemv_int4<S: Element>(w: &Int4<'_, S>, x: &[f32], batch: usize, products: &mut [f32]) {
    let depth = x.len() / batch;
    let sums: Vec<f32> = x.chunks_exact(w.group).map(|group| group.iter().sum()).collect();
    by_rows(products, batch, |first, out| on_best(Int4Rows { w, x, sums: &sums, depth, first, out }));
}

struct Int4Rows<'a, S> {
    w: &'a Int4<'a, S>,
    x: &'a [f32],
    sums: &'a [f32],
    depth: usize,
    first: usize,
    out: &'a mut [f32],
}

impl<S: Element> Work for Int4Rows<'_, S> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (batch, groups) = (self.x.len() / self.depth, self.depth / self.w.group);
        for (index, out) in self.out.chunks_exact_mut(batch).enumerate() {
            let row = self.first + index;
            let words = &self.w.words[row * self.depth / 8..(row + 1) * self.depth / 8];
            let scales = &self.w.scales[row * groups..(row + 1) * groups];
            let vectors = self.x.chunks_exact(self.depth).zip(self.sums.chunks_exact(groups));
            for ((x, sums), out) in vectors.zip(out) {
                let shared = scales.iter().zip(sums).enumerate();
                let parts =
                    words.chunks_exact(self.w.group / 8).zip(x.chunks_exact(self.w.group)).zip(shared);
                *out = 0.0;
                for ((words, x), (group, (scale, total))) in parts {
                    let zero = self.w.zeros.map_or(8.0, |zeros| nibble(zeros, row * groups + group));
                    *out += scale.to_f32() * (nibbles_dot(isa, words, x) - zero * total);
                }
            }
        }
    }
}

fn nibble(words: &[u32], index: usize) -> f32 {
    f32::from(u8::try_from((words[index / 8] >> (4 * (index % 8))) & 15).unwrap_or(0))
}

#[inline(always)]
fn nibbles_dot<I: Isa>(isa: I, words: &[u32], x: &[f32]) -> f32 {
    let mut sums = [isa.splat(0.0); 2];
    let (pairs, rest) = words.as_chunks::<2>();
    let blocks = x.as_chunks::<8>().0;
    for (pair, x) in pairs.iter().zip(blocks.as_chunks::<2>().0) {
        for ((sum, word), x) in sums.iter_mut().zip(pair).zip(x) {
            *sum = isa.fma(isa.nibbles(*word), isa.load(x), *sum);
        }
    }
    if let ([word], Some(x)) = (rest, blocks.last()) {
        sums[0] = isa.fma(isa.nibbles(*word), isa.load(x), sums[0]);
    }
    sum(isa, isa.add(sums[0], sums[1]))
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
