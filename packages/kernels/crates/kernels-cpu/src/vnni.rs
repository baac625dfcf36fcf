//! Products of nibbles by AVX2, by AVX-VNNI, and by AVX-512's VNNI in vectors of 256 bits.
#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use std::arch::x86_64::{
    __m256, __m256i, _mm_loadu_si128, _mm_srli_epi16, _mm256_add_epi32, _mm256_and_si256, _mm256_cvtepi32_ps,
    _mm256_dpbusd_avx_epi32, _mm256_dpbusd_epi32, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_set_m128i, _mm256_set1_epi8, _mm256_set1_epi16,
};

use crate::{
    avx2::Avx2,
    nibbles::{BLOCK, NibbleWork, Nibbles},
};

/// AVX2 and AVX-512's VNNI for 256 bits; a value of it exists only where they were detected.
#[derive(Clone, Copy)]
pub(crate) struct Avx512Vnni(Avx2);

/// AVX2 and AVX-VNNI; a value of it exists only where they were detected.
#[derive(Clone, Copy)]
pub(crate) struct AvxVnni(Avx2);

/// Nibbles as bytes, the lower ones of each byte first, and the values beside them.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn loaded(from: &[i32; 8], words: &[u32; 4], values: &[i8; BLOCK]) -> (__m256i, __m256i, __m256i) {
    // SAFETY: the caller vouches for AVX2; the arrays have the very size of the accesses, which need no alignment.
    unsafe {
        let bytes = _mm_loadu_si128(words.as_ptr().cast());
        let both = _mm256_set_m128i(_mm_srli_epi16::<4>(bytes), bytes);
        (
            _mm256_loadu_si256(from.as_ptr().cast()),
            _mm256_and_si256(both, _mm256_set1_epi8(15)),
            _mm256_loadu_si256(values.as_ptr().cast()),
        )
    }
}

macro_rules! nibbles {
    ($set:ty, $floats:expr, |$from:ident, $weights:ident, $values:ident| $sum:expr) => {
        impl Nibbles for $set {
            type Floats = Avx2;

            #[inline(always)]
            fn floats(self) -> Avx2 {
                $floats(self)
            }

            #[inline(always)]
            fn products(self, from: &[i32; 8], words: &[u32; 4], values: &[i8; BLOCK]) -> __m256 {
                // SAFETY: a value of this type exists only on CPUs that have these instructions.
                unsafe {
                    let ($from, $weights, $values) = loaded(from, words, values);
                    _mm256_cvtepi32_ps($sum)
                }
            }
        }
    };
}

// Two products of 15 and 127 at most are added in 16 bits: no sum saturates.
nibbles!(Avx2, |set| set, |from, weights, values| {
    let pairs = _mm256_maddubs_epi16(weights, values);
    _mm256_add_epi32(from, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
});
nibbles!(AvxVnni, |set: Self| set.0, |from, weights, values| _mm256_dpbusd_avx_epi32(from, weights, values));
nibbles!(Avx512Vnni, |set: Self| set.0, |from, weights, values| _mm256_dpbusd_epi32(from, weights, values));

impl Avx2 {
    pub fn run_nibbles<W: NibbleWork>(self, work: W) {
        #[target_feature(enable = "avx2,fma,f16c")]
        fn run<W: NibbleWork>(set: Avx2, work: W) {
            work.run(set);
        }
        // SAFETY: a value of `Avx2` exists only on CPUs that have these instructions.
        unsafe { run(self, work) };
    }
}

impl AvxVnni {
    pub fn detected() -> Option<Self> {
        Avx2::detected().filter(|_| is_x86_feature_detected!("avxvnni")).map(Self)
    }

    pub fn run<W: NibbleWork>(self, work: W) {
        #[target_feature(enable = "avx2,fma,f16c,avxvnni")]
        fn run<W: NibbleWork>(set: AvxVnni, work: W) {
            work.run(set);
        }
        // SAFETY: a value of `AvxVnni` exists only on CPUs that have these instructions.
        unsafe { run(self, work) };
    }
}

impl Avx512Vnni {
    pub fn detected() -> Option<Self> {
        let both = || is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl");
        Avx2::detected().filter(|_| both()).map(Self)
    }

    pub fn run<W: NibbleWork>(self, work: W) {
        #[target_feature(enable = "avx2,fma,f16c,avx512vnni,avx512vl")]
        fn run<W: NibbleWork>(set: Avx512Vnni, work: W) {
            work.run(set);
        }
        // SAFETY: a value of `Avx512Vnni` exists only on CPUs that have these instructions.
        unsafe { run(self, work) };
    }
}
