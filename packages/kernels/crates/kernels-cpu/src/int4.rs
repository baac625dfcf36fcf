#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use crate::{
    element::{Element, dot, widen_all},
    gemv::by_rows,
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

fn nibble(words: &[u32], index: usize) -> u8 {
    (words[index / 8] >> (4 * (index % 8))).to_le_bytes()[0] & 15
}

/// Dequantising weights (M×K) times vectors (batch×K) in f32, as M×batch: scale·(Σ nibble·x − zero·Σ x) by group.
pub(crate) fn gemv_int4<S: Element>(w: &Int4<'_, S>, x: &[f32], batch: usize, products: &mut [f32]) {
    let depth = x.len() / batch;
    let sums: Vec<f32> = x.chunks_exact(w.group).map(|group| group.iter().sum()).collect();
    by_rows(products, batch, |first, out| on_best(Rows { w, x, sums: &sums, depth, first, out }));
}

struct Rows<'a, S> {
    w: &'a Int4<'a, S>,
    x: &'a [f32],
    sums: &'a [f32],
    depth: usize,
    first: usize,
    out: &'a mut [f32],
}

impl<S: Element> Work for Rows<'_, S> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Rows { w, x, sums, depth, first, out } = self;
        let (batch, groups) = (x.len() / depth, depth / w.group);
        let mut scales = vec![0.0; groups];
        for (index, out) in out.chunks_exact_mut(batch).enumerate() {
            let row = first + index;
            let words = &w.words[row * depth / 8..(row + 1) * depth / 8];
            widen_all(isa, &w.scales[row * groups..(row + 1) * groups], &mut scales);
            for ((x, sums), out) in x.chunks_exact(depth).zip(sums.chunks_exact(groups)).zip(out) {
                let mut total = isa.splat(0.0);
                let parts = words.chunks_exact(w.group / 8).zip(x.chunks_exact(w.group)).zip(&scales);
                for ((words, x), scale) in parts {
                    total = isa.fma(nibbles_dot(isa, words, x), isa.splat(*scale), total);
                }
                let shift = match w.zeros {
                    None => 8.0 * dot(isa, &scales, sums),
                    Some(zeros) => {
                        let shared = scales.iter().zip(sums).enumerate();
                        let shift = |(group, (scale, sum)): (usize, (&f32, &f32))| {
                            f32::from(nibble(zeros, row * groups + group)) * scale * sum
                        };
                        shared.map(shift).sum()
                    }
                };
                *out = sum(isa, total) - shift;
            }
        }
    }
}

#[inline(always)]
fn nibbles_dot<I: Isa>(isa: I, words: &[u32], x: &[f32]) -> I::Wide {
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
    isa.add(sums[0], sums[1])
}

/// Vectors rounded to whole numbers of 8 bits, in blocks that share a scale: the largest element of a block becomes 127.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rounded {
    /// By block: the elements of even index, then those of odd index, as nibbles are unpacked.
    values: Vec<[i8; BLOCK]>,
    /// By block: minus the sum of each four values, times what a zero point is without any.
    zeros: Vec<[i32; 8]>,
    scales: Vec<f32>,
}

/// Adding it rounds to a whole number, ties to even, whose low byte is then the lowest.
const ROUND: f32 = 12_582_912.0;

impl Rounded {
    /// Rounds vectors of whole blocks. A block that holds a NaN or an infinity becomes a NaN.
    pub fn set(&mut self, x: &[f32], zero: i32) {
        let blocks = x.as_chunks::<BLOCK>().0;
        self.values.resize(blocks.len(), [0; BLOCK]);
        self.zeros.resize(blocks.len(), [0; 8]);
        self.scales.resize(blocks.len(), 0.0);
        on_best(Round { blocks, to: self, zero });
    }
}

struct Round<'a> {
    blocks: &'a [[f32; BLOCK]],
    to: &'a mut Rounded,
    zero: i32,
}

impl Work for Round<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let Rounded { values, zeros, scales } = self.to;
        for (((block, values), zeros), scale) in self.blocks.iter().zip(values).zip(zeros).zip(scales) {
            let largest = block.iter().fold(0, |most, x| (x.to_bits() & (u32::MAX >> 1)).max(most));
            let largest = f32::from_bits(largest);
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            let rounded = block.map(|x| (x * inverse + ROUND).to_bits().to_le_bytes()[0].cast_signed());
            for (at, pair) in rounded.as_chunks::<2>().0.iter().enumerate() {
                (values[at], values[BLOCK / 2 + at]) = (pair[0], pair[1]);
            }
            for (four, zero) in values.as_chunks::<4>().0.iter().zip(zeros) {
                *zero = -self.zero * four.iter().map(|value| i32::from(*value)).sum::<i32>();
            }
            *scale = largest / 127.0;
        }
    }
}

/// Weights of 4 bits (M×K) times rounded vectors (batch×K), as M×batch: by block scale·scale·Σ (nibble − zero)·value, the
/// sum in whole numbers. Groups are whole blocks.
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
        let isa = nibbles.floats();
        let (batch, groups) = (x.values.len() / blocks, blocks * BLOCK / w.group);
        let (mut scales, mut shared) = (vec![0.0; blocks], vec![0.0; groups]);
        for (index, out) in out.chunks_exact_mut(batch).enumerate() {
            let row = first + index;
            let words = w.words[row * blocks * BLOCK / 8..].as_chunks::<4>().0;
            let stored = &w.scales[row * groups..(row + 1) * groups];
            if groups == blocks {
                widen_all(isa, stored, &mut scales);
            } else {
                widen_all(isa, stored, &mut shared);
                let of_groups = scales.chunks_exact_mut(w.group / BLOCK).zip(&shared);
                of_groups.for_each(|(scales, scale)| scales.fill(*scale));
            }
            for (vector, out) in out.iter_mut().enumerate() {
                let part = vector * blocks..(vector + 1) * blocks;
                let (values, zeros) = (&x.values[part.clone()], &x.zeros[part.clone()]);
                let parts = words.iter().zip(values).zip(zeros).zip(scales.iter().zip(&x.scales[part]));
                let mut sums = (isa.splat(0.0), isa.splat(0.0));
                for (block, (((words, values), zeros), (of_row, of_vector))) in parts.enumerate() {
                    let from = match w.zeros {
                        None => *zeros,
                        Some(points) => {
                            let point = nibble(points, row * groups + block * BLOCK / w.group);
                            zeros.map(|zero| zero * i32::from(point))
                        }
                    };
                    let products = nibbles.products(&from, words, values);
                    sums = (sums.1, isa.fma(products, isa.splat(of_row * of_vector), sums.0));
                }
                *out = sum(isa, isa.add(sums.0, sums.1));
            }
        }
    }
}

#[cfg(test)]
#[path = "int4_tests.rs"]
mod tests;
