#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use std::{iter::repeat_n, ops::Range};

use crate::{
    element::{Element, dot, widen_all},
    gemv::{ROWS, by_rows},
    isa::{Isa, Work, on_best, sum},
    nibbles::{BLOCK, NibbleWork, Nibbles, on_best_nibbles},
};

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

/// What the columns of some rows share, by blocks or, where groups are none, by groups.
struct Shared {
    /// Row by row.
    scales: Vec<f32>,
    /// Zero point times scale; empty where all points are 8.
    shifts: Vec<f32>,
}

impl Shared {
    /// Of rows that begin at a multiple of [`ROWS`], of so many groups, each of so many units.
    #[inline(always)]
    fn of<I: Isa, S: Element>(
        isa: I,
        w: &Int4<'_, S>,
        rows: Range<usize>,
        groups: usize,
        units: usize,
    ) -> Self {
        const { assert!(ROWS.is_multiple_of(8), "zero points of a piece begin on a word") };
        let (first, after) = (rows.start * groups, rows.end * groups);
        let (mut scales, mut shifts) = (vec![0.0; after - first], Vec::new());
        widen_all(isa, &w.scales[first..after], &mut scales);
        if let Some(zeros) = w.zeros {
            let words = &zeros[first / 8..after.div_ceil(8)];
            shifts.resize(8 * words.len(), 0.0);
            for (eight, word) in shifts.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *eight = isa.store(isa.nibbles(*word));
            }
            shifts.truncate(after - first);
            for (shift, scale) in shifts.iter_mut().zip(&scales) {
                *shift *= scale;
            }
        }
        if units == 1 {
            Self { scales, shifts }
        } else {
            let repeated = |of: Vec<f32>| of.into_iter().flat_map(|x| repeat_n(x, units)).collect();
            Self { scales: repeated(scales), shifts: repeated(shifts) }
        }
    }
}

/// Dequantising weights (M×K) times vectors (batch×K) in f32, as M×batch: scale·(Σ nibble·x − zero·Σ x) by group, or by
/// block where groups are made of them.
pub(crate) fn gemv_int4<S: Element>(w: &Int4<'_, S>, x: &[f32], batch: usize, products: &mut [f32]) {
    let depth = x.len() / batch;
    let unit = if w.group.is_multiple_of(BLOCK) { BLOCK } else { w.group };
    let sums: Vec<f32> = x.chunks_exact(unit).map(|unit| unit.iter().sum()).collect();
    by_rows(products, batch, |first, out| on_best(Rows { w, x, sums: &sums, unit, depth, first, out }));
}

struct Rows<'a, S> {
    w: &'a Int4<'a, S>,
    x: &'a [f32],
    sums: &'a [f32],
    unit: usize,
    depth: usize,
    first: usize,
    out: &'a mut [f32],
}

impl<S: Element> Work for Rows<'_, S> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Rows { w, x, sums, unit, depth, first, out } = self;
        let (batch, units) = (x.len() / depth, depth / unit);
        let rows = first..first + out.len() / batch;
        let Shared { scales, shifts } = Shared::of(isa, w, rows.clone(), depth / w.group, w.group / unit);
        let words = w.words[rows.start * depth / 8..rows.end * depth / 8].chunks_exact(depth / 8);
        let rows = words.zip(scales.chunks_exact(units)).zip(out.chunks_exact_mut(batch));
        for (row, ((words, scales), out)) in rows.enumerate() {
            for ((x, sums), out) in x.chunks_exact(depth).zip(sums.chunks_exact(units)).zip(out) {
                let total = if unit == BLOCK {
                    blocks_dot(isa, words.as_chunks().0, x.as_chunks().0, scales)
                } else {
                    groups_dot(isa, words, x, scales)
                };
                let shift = match shifts.get(row * units..(row + 1) * units) {
                    Some(shifts) => dot(isa, shifts, sums),
                    None => 8.0 * dot(isa, scales, sums),
                };
                *out = total - shift;
            }
        }
    }
}

/// Σ scale·nibble·x, a scale for each block.
#[inline(always)]
fn blocks_dot<I: Isa>(isa: I, words: &[[u32; 4]], x: &[[f32; BLOCK]], scales: &[f32]) -> f32 {
    let mut totals = (isa.splat(0.0), isa.splat(0.0));
    for (([first, second, third, fourth], x), scale) in words.iter().zip(x).zip(scales) {
        let x = x.as_chunks::<8>().0;
        let low = isa.mul(isa.nibbles(*first), isa.load(&x[0]));
        let low = isa.fma(isa.nibbles(*second), isa.load(&x[1]), low);
        let high = isa.mul(isa.nibbles(*third), isa.load(&x[2]));
        let high = isa.fma(isa.nibbles(*fourth), isa.load(&x[3]), high);
        totals = (totals.1, isa.fma(isa.add(low, high), isa.splat(*scale), totals.0));
    }
    sum(isa, isa.add(totals.0, totals.1))
}

/// Σ scale·nibble·x, a scale for each group of any size.
#[inline(always)]
fn groups_dot<I: Isa>(isa: I, words: &[u32], x: &[f32], scales: &[f32]) -> f32 {
    let mut total = isa.splat(0.0);
    let group = words.len() / scales.len();
    for ((words, x), scale) in words.chunks_exact(group).zip(x.chunks_exact(8 * group)).zip(scales) {
        let mut sum = isa.splat(0.0);
        for (word, x) in words.iter().zip(x.as_chunks::<8>().0) {
            sum = isa.fma(isa.nibbles(*word), isa.load(x), sum);
        }
        total = isa.fma(sum, isa.splat(*scale), total);
    }
    sum(isa, total)
}

/// Vectors rounded to whole numbers of 8 bits, in blocks that share a scale: the largest element of a block becomes 127.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rounded {
    /// By block: the elements of even index, then those of odd index, as nibbles are unpacked.
    values: Vec<[i8; BLOCK]>,
    /// By block: −8 times the sum of each four values, what products of nibbles whose zero is 8 begin with.
    eights: Vec<[i32; 8]>,
    scales: Vec<f32>,
    /// By block: the sum of its values times its scale.
    sums: Vec<f32>,
}

/// Adding it rounds to a whole number, ties to even, whose low byte is then the lowest.
const ROUND: f32 = 12_582_912.0;

impl Rounded {
    /// Rounds vectors of whole blocks. A block that holds a NaN or an infinity becomes a NaN.
    pub fn set(&mut self, x: &[f32]) {
        let blocks = x.as_chunks::<BLOCK>().0;
        self.values.resize(blocks.len(), [0; BLOCK]);
        self.eights.resize(blocks.len(), [0; 8]);
        self.scales.resize(blocks.len(), 0.0);
        self.sums.resize(blocks.len(), 0.0);
        on_best(Round { blocks, to: self });
    }
}

struct Round<'a> {
    blocks: &'a [[f32; BLOCK]],
    to: &'a mut Rounded,
}

impl Work for Round<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let Rounded { values, eights, scales, sums } = self.to;
        let blocks = self.blocks.iter().zip(values).zip(eights).zip(scales.iter_mut().zip(sums));
        for (((block, values), eights), (scale, sum)) in blocks {
            let mut largest = 0;
            for x in block {
                largest = (x.to_bits() & (u32::MAX >> 1)).max(largest);
            }
            let largest = f32::from_bits(largest);
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            for (at, pair) in block.as_chunks::<2>().0.iter().enumerate() {
                values[at] = (pair[0] * inverse + ROUND).to_bits().to_le_bytes()[0].cast_signed();
                values[BLOCK / 2 + at] = (pair[1] * inverse + ROUND).to_bits().to_le_bytes()[0].cast_signed();
            }
            let mut total = 0;
            for (four, eight) in values.as_chunks::<4>().0.iter().zip(eights) {
                let sum: i16 = four.iter().map(|value| i16::from(*value)).sum();
                total += sum;
                *eight = -8 * i32::from(sum);
            }
            *scale = largest / 127.0;
            *sum = f32::from(total) * *scale;
        }
    }
}

/// Weights of 4 bits (M×K) times rounded vectors (batch×K), as M×batch: by block scale·scale·Σ (nibble − zero)·value, the
/// products added in whole numbers. Groups are whole blocks.
pub(crate) fn gemv_int4_rounded<S: Element>(
    w: &Int4<'_, S>,
    x: &Rounded,
    batch: usize,
    products: &mut [f32],
) {
    let blocks = x.values.len() / batch;
    by_rows(products, batch, |first, out| on_best_nibbles(RoundedRows { w, x, blocks, first, out }));
}

struct RoundedRows<'a, S> {
    w: &'a Int4<'a, S>,
    x: &'a Rounded,
    blocks: usize,
    first: usize,
    out: &'a mut [f32],
}

impl<S: Element> NibbleWork for RoundedRows<'_, S> {
    #[inline(always)]
    fn run<N: Nibbles>(self, nibbles: N) {
        let RoundedRows { w, x, blocks, first, out } = self;
        let (isa, batch, units) = (nibbles.floats(), x.values.len() / blocks, w.group / BLOCK);
        let rows = first..first + out.len() / batch;
        let Shared { scales, shifts } = Shared::of(isa, w, rows.clone(), blocks / units, units);
        let words = w.words[rows.start * blocks * BLOCK / 8..rows.end * blocks * BLOCK / 8].as_chunks().0;
        let rows =
            words.chunks_exact(blocks).zip(scales.chunks_exact(blocks)).zip(out.chunks_exact_mut(batch));
        for (row, ((words, scales), out)) in rows.enumerate() {
            for (vector, out) in out.iter_mut().enumerate() {
                let part = vector * blocks..(vector + 1) * blocks;
                let (values, of_vector) = (&x.values[part.clone()], &x.scales[part.clone()]);
                let parts = words.iter().zip(values).zip(scales.iter().zip(of_vector));
                let mut sums = (isa.splat(0.0), isa.splat(0.0));
                let mut shift = 0.0;
                if let Some(shifts) = shifts.get(row * blocks..(row + 1) * blocks) {
                    for ((words, values), (of_row, of_vector)) in parts {
                        let products = nibbles.products(&[0; 8], words, values);
                        sums = (sums.1, isa.fma(products, isa.splat(of_row * of_vector), sums.0));
                    }
                    shift = dot(isa, shifts, &x.sums[part]);
                } else {
                    for (((words, values), (of_row, of_vector)), eights) in parts.zip(&x.eights[part]) {
                        let products = nibbles.products(eights, words, values);
                        sums = (sums.1, isa.fma(products, isa.splat(of_row * of_vector), sums.0));
                    }
                }
                *out = sum(isa, isa.add(sums.0, sums.1)) - shift;
            }
        }
    }
}

#[cfg(test)]
#[path = "int4_tests.rs"]
mod tests;
