//! Products of 4-bit weights with 8-bit values, by the best instructions that the CPU has for them.

use crate::isa::{Isa, Plain};

/// Elements that are multiplied at a time, and that share a scale of their values.
pub(crate) const BLOCK: usize = 32;

/// Instructions for products of nibbles.
pub(crate) trait Nibbles: Copy {
    /// What floats are computed with beside them.
    type Floats: Isa;

    /// A value of it.
    fn floats(self) -> Self::Floats;

    /// 32 nibbles of words, lowest first, times values (those of even elements first, then of odd ones); the sum of each four
    /// products and one of `from`, exactly.
    fn products(self, from: &[i32; 8], words: &[u32; 4], values: &[i8; BLOCK])
    -> <Self::Floats as Isa>::Wide;
}

/// A piece of work that can be compiled for any of them.
pub(crate) trait NibbleWork {
    /// Does it; always to be inlined.
    fn run<N: Nibbles>(self, nibbles: N);
}

impl Nibbles for Plain {
    type Floats = Self;

    fn floats(self) -> Self {
        self
    }

    fn products(self, from: &[i32; 8], words: &[u32; 4], values: &[i8; BLOCK]) -> [f32; 8] {
        let nibble = |element: usize| (words[element / 8] >> (4 * (element % 8))).to_le_bytes()[0] & 15;
        let element = |at: usize| if at < BLOCK / 2 { 2 * at } else { 2 * at - BLOCK + 1 };
        let product = |at: usize| i32::from(nibble(element(at))) * i32::from(values[at]);
        std::array::from_fn(|lane| {
            let sum = from[lane] + (4 * lane..4 * lane + 4).map(product).sum::<i32>();
            i16::try_from(sum).map_or(f32::NAN, f32::from)
        })
    }
}

/// Runs work with the best instructions of this CPU.
pub(crate) fn on_best_nibbles<W: NibbleWork>(work: W) {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::{avx2::Avx2, vnni};
        if let Some(nibbles) = vnni::Avx512Vnni::detected() {
            return nibbles.run(work);
        }
        if let Some(nibbles) = vnni::AvxVnni::detected() {
            return nibbles.run(work);
        }
        if let Some(nibbles) = Avx2::detected() {
            return nibbles.run_nibbles(work);
        }
    }
    work.run(Plain);
}

/// The name of the instructions that [`on_best_nibbles`] uses.
pub(crate) fn best_nibbles() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::{avx2::Avx2, vnni};
        if vnni::Avx512Vnni::detected().is_some() {
            return "avx512-vnni";
        }
        if vnni::AvxVnni::detected().is_some() {
            return "avx-vnni";
        }
        if Avx2::detected().is_some() {
            return "avx2";
        }
    }
    "baseline"
}
