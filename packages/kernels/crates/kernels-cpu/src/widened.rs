use gemm::Parallelism;
use rayon::prelude::*;

use crate::{
    buffer::Buffer,
    element::{Element, widen_all},
    isa::{Isa, Work, on_best},
    matmul::MatMul,
};

/// Elements that one core takes at a time.
const PIECE: usize = 1 << 15;

/// out = left · right by the `gemm` crate.
pub(crate) fn multiply(of: &MatMul, left: &[f32], right: &[f32], out: &mut [f32]) {
    let step = |size: usize| isize::try_from(size).unwrap_or(isize::MAX);
    let (right_rows, right_columns) = of.right_strides();
    let (left, right) = (&left[..of.rows * of.depth], &right[..of.depth * of.columns]);
    let out = &mut out[..of.rows * of.columns];
    // SAFETY: the slices are as long as the sizes say, the strides stay within them, and `out` is borrowed alone.
    unsafe {
        gemm::gemm(
            of.rows,
            of.columns,
            of.depth,
            out.as_mut_ptr(),
            1,
            step(of.columns),
            false,
            left.as_ptr(),
            1,
            step(of.depth),
            right.as_ptr(),
            step(right_columns),
            step(right_rows),
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
}

struct Widen<'a, E>(&'a [E], &'a mut [f32]);

impl<E: Element> Work for Widen<'_, E> {
    #[expect(
        clippy::inline_always,
        reason = "an instruction set reaches only what is inlined into its entry"
    )]
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        widen_all(isa, self.0, self.1);
    }
}

/// All elements of a buffer as f32, on all cores.
pub(crate) fn widen<E: Element>(from: &Buffer, to: &mut Vec<f32>) {
    let from: &[E] = from.as_slice();
    to.resize(from.len(), 0.0);
    to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| on_best(Widen(from, to)));
}

/// Whole numbers: out = left · right, exact, the right matrix being copied transposed first unless it is stored so.
pub(crate) fn multiply_int8(of: &MatMul, left: &[i8], right: &[i8], scratch: &mut Vec<i8>, out: &mut [i32]) {
    let right = if of.transposed {
        right
    } else {
        scratch.resize(right.len(), 0);
        scratch.par_chunks_mut(of.depth).enumerate().for_each(|(column, to)| {
            to.iter_mut().enumerate().for_each(|(at, to)| *to = right[at * of.columns + column]);
        });
        scratch
    };
    out.par_chunks_mut(of.columns).zip(left.par_chunks(of.depth)).for_each(|(out, row)| {
        on_best(WholeRow { row, right, out });
    });
}

struct WholeRow<'a> {
    row: &'a [i8],
    right: &'a [i8],
    out: &'a mut [i32],
}

impl Work for WholeRow<'_> {
    #[expect(
        clippy::inline_always,
        reason = "an instruction set reaches only what is inlined into its entry"
    )]
    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        for (column, out) in self.right.chunks_exact(self.row.len()).zip(self.out) {
            *out = self.row.iter().zip(column).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum();
        }
    }
}
