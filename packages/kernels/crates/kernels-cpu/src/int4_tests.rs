use super::*;
use crate::nibbles::on_best_nibbles;

fn nibble(words: &[u32], index: usize) -> u8 {
    (words[index / 8] >> (4 * (index % 8))).to_le_bytes()[0] & 15
}

/// Random numbers, the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::from_le_bytes(self.0.to_le_bytes()[2..6].try_into().unwrap_or_default())
    }

    fn float(&mut self) -> f32 {
        f32::from(i16::from_le_bytes([self.next().to_le_bytes()[0], self.next().to_le_bytes()[1]])) / 1e4
    }

    fn words<const N: usize>(&mut self) -> [u32; N] {
        std::array::from_fn(|_| self.next())
    }
}

/// The products of one block by any instructions, as floats.
struct Products<'a> {
    from: [i32; 8],
    words: [u32; 4],
    values: [i8; BLOCK],
    out: &'a mut [f32; 8],
}

impl NibbleWork for Products<'_> {
    #[inline(always)]
    fn run<N: Nibbles>(self, nibbles: N) {
        *self.out = nibbles.floats().store(nibbles.products(&self.from, &self.words, &self.values));
    }
}

fn everywhere(from: [i32; 8], words: [u32; 4], values: [i8; BLOCK]) -> Vec<(&'static str, [f32; 8])> {
    type On = fn(Products<'_>);
    let mut sets: Vec<(&str, On)> =
        vec![("plain", |work| work.run(crate::isa::Plain)), ("best", |work| on_best_nibbles(work))];
    #[cfg(target_arch = "x86_64")]
    {
        use crate::avx2::Avx2;
        if Avx2::detected().is_some() {
            sets.push(("avx2", |work| {
                if let Some(set) = Avx2::detected() {
                    set.run_nibbles(work);
                }
            }));
        }
    }
    let run = |(name, on): (&'static str, On)| {
        let mut out = [f32::NAN; 8];
        on(Products { from, words, values, out: &mut out });
        (name, out)
    };
    sets.into_iter().map(run).collect()
}

#[test]
fn all_instructions_give_the_same_whole_numbers() {
    let mut random = Random(7);
    let extremes = [
        ([0; 8], [u32::MAX; 4], [127; BLOCK]),
        ([-7620; 8], [u32::MAX; 4], [-127; BLOCK]),
        ([7620; 8], [0; 4], [127; BLOCK]),
    ];
    let drawn = (0..200).map(|_| {
        let values = std::array::from_fn(|_| random.next().to_le_bytes()[0].cast_signed().max(-127));
        (std::array::from_fn(|_| i32::from(random.next().to_le_bytes()[0])), random.words::<4>(), values)
    });
    for (from, words, values) in extremes.into_iter().chain(drawn.collect::<Vec<_>>()) {
        let nibble = |k: usize| i32::from(nibble(&words, k));
        let expected: [i32; 8] = std::array::from_fn(|lane| {
            let (first, odd) = (4 * lane % 16, lane / 4);
            from[lane]
                + (0..4)
                    .map(|at| nibble(2 * (first + at) + odd) * i32::from(values[4 * lane + at]))
                    .sum::<i32>()
        });
        for (set, found) in everywhere(from, words, values) {
            assert!(
                found
                    .iter()
                    .zip(expected)
                    .all(|(found, want)| (f64::from(*found) - f64::from(want)).abs() < 0.5),
                "{set}: {found:?}"
            );
        }
    }
}

#[test]
fn rounding_moves_no_element_by_more_than_half_a_step() {
    let mut random = Random(11);
    let x: Vec<f32> = (0..20 * BLOCK).map(|_| random.float()).collect();
    let mut rounded = Rounded::default();
    rounded.set(&x);
    for (block, x) in x.chunks_exact(BLOCK).enumerate() {
        let largest = x.iter().fold(0f32, |most, x| most.max(x.abs()));
        let scale = rounded.scales[block];
        assert!((scale * 127.0 - largest).abs() <= largest * 1e-6);
        for (at, x) in x.iter().enumerate() {
            let value = rounded.values[block][at / 2 + BLOCK / 2 * (at % 2)];
            assert!((f32::from(value) * scale - x).abs() <= scale * 0.5001, "{x} became {value}");
        }
        let eights: i32 = rounded.eights[block].iter().sum();
        let sum: i32 = rounded.values[block].iter().map(|value| i32::from(*value)).sum();
        assert_eq!(eights, -8 * sum);
        assert!((f64::from(rounded.sums[block]) - f64::from(sum) * f64::from(scale)).abs() < 1e-3);
    }
}

#[test]
fn what_is_no_number_stays_none_and_zeros_stay_zeros() {
    for (what, bad) in [(f32::NAN, true), (f32::INFINITY, true), (0.0, false), (1e-40, false)] {
        let mut x = [0f32; BLOCK];
        x[5] = what;
        let mut rounded = Rounded::default();
        rounded.set(&x);
        let w = Int4 { words: &[0x9999_9999; 4], scales: &[1f32], zeros: None, group: BLOCK };
        let mut out = [0.0];
        gemv_int4_rounded(&w, &rounded, 1, &mut out);
        assert_eq!(out[0].is_nan(), bad, "{what} gives {}", out[0]);
        assert!(bad || out[0].abs() < 1e-37);
    }
}

/// Both kernels against f64, the rounded one on its rounded vectors too.
#[test]
fn products_agree_with_f64() {
    let mut random = Random(23);
    for (rows, depth, group, batch, with_zeros) in
        [(5, 64, 32, 1, false), (33, 192, 64, 3, true), (40, 320, 32, 2, true), (67, 96, 96, 1, false)]
    {
        let words: Vec<u32> = (0..rows * depth / 8).map(|_| random.next()).collect();
        let scales: Vec<f32> = (0..rows * depth / group).map(|_| random.float()).collect();
        let points: Vec<u32> = (0..usize::div_ceil(rows * depth / group, 8)).map(|_| random.next()).collect();
        let x: Vec<f32> = (0..batch * depth).map(|_| random.float()).collect();
        let zeros = with_zeros.then_some(points.as_slice());
        let w = Int4 { words: &words, scales: &scales, zeros, group };
        let mut rounded = Rounded::default();
        rounded.set(&x);
        let back: Vec<f32> = (0..x.len())
            .map(|index| {
                let (block, at) = (index / BLOCK, index % BLOCK);
                f32::from(rounded.values[block][at / 2 + BLOCK / 2 * (at % 2)]) * rounded.scales[block]
            })
            .collect();
        let reference = |x: &[f32]| -> Vec<f64> {
            let element = |row: usize, k: usize| {
                let shared = (row * depth + k) / group;
                let zero = zeros.map_or(8, |zeros| nibble(zeros, shared));
                (f64::from(nibble(&words, row * depth + k)) - f64::from(zero)) * f64::from(scales[shared])
            };
            let product = |row: usize, vector: usize| {
                (0..depth).map(|k| element(row, k) * f64::from(x[vector * depth + k])).sum()
            };
            (0..rows * batch).map(|at| product(at / batch, at % batch)).collect()
        };
        let error = |found: &[f32], wanted: &[f64]| {
            let off: f64 = found.iter().zip(wanted).map(|(got, want)| (f64::from(*got) - want).powi(2)).sum();
            (off / wanted.iter().map(|want| want * want).sum::<f64>()).sqrt()
        };
        let mut products = vec![f32::NAN; rows * batch];
        gemv_int4(&w, &x, batch, &mut products);
        let found = error(&products, &reference(&x));
        assert!(found < 2e-6, "{rows}×{depth} by {group}: {found}");
        products.fill(f32::NAN);
        gemv_int4_rounded(&w, &rounded, batch, &mut products);
        let found = error(&products, &reference(&back));
        assert!(found < 1e-6, "{rows}×{depth} by {group}, rounded: {found}");
    }
}
