#![expect(clippy::inline_always, reason = "an instruction set reaches only what is inlined into its entry")]

use std::arch::x86_64::{
    __m256, __m256i, _CMP_LT_OQ, _CMP_UNORD_Q, _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_sfence,
    _mm_storeu_si128, _mm_stream_si128, _mm256_add_epi32, _mm256_add_ps, _mm256_and_si256, _mm256_andnot_ps,
    _mm256_blendv_epi8, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmp_ps,
    _mm256_cvtepi32_ps, _mm256_cvtepu16_epi32, _mm256_cvtph_ps, _mm256_cvtps_ph, _mm256_fmadd_ps,
    _mm256_fnmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_mul_ps, _mm256_packus_epi32,
    _mm256_permute4x64_epi64, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setr_epi32, _mm256_slli_epi32,
    _mm256_srli_epi32, _mm256_srlv_epi32, _mm256_storeu_ps, _mm256_stream_ps, _mm256_sub_epi32,
    _mm256_sub_ps,
};

use bytemuck::Pod;
use half::{bf16, f16};

use crate::isa::{ExpConstants, Isa, Work};

/// AVX2 with FMA and F16C; a value of it exists only where they were detected.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// Instructions that need what a value of [`Avx2`] proves.
macro_rules! proven {
    ($body:expr) => {
        // SAFETY: a value of `Avx2` exists only on CPUs that have these instructions; what is read and written through
        // pointers are arrays of the very size of the access, which needs no alignment.
        unsafe { $body }
    };
}

impl Avx2 {
    pub fn detected() -> Option<Self> {
        let all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        all.then_some(Self(()))
    }

    pub fn run<W: Work>(self, work: W) {
        proven!(run_avx2(self, work));
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn run_avx2<W: Work>(isa: Avx2, work: W) {
    work.run(isa);
}

impl Isa for Avx2 {
    type Wide = __m256;

    #[inline(always)]
    fn load(self, from: &[f32; 8]) -> __m256 {
        proven!(_mm256_loadu_ps(from.as_ptr()))
    }

    #[inline(always)]
    fn store(self, of: __m256) -> [f32; 8] {
        let mut to = [0.0; 8];
        proven!(_mm256_storeu_ps(to.as_mut_ptr(), of));
        to
    }

    #[inline(always)]
    fn splat(self, x: f32) -> __m256 {
        proven!(_mm256_set1_ps(x))
    }

    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        proven!(_mm256_add_ps(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        proven!(_mm256_mul_ps(a, b))
    }

    #[inline(always)]
    fn fma(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        proven!(_mm256_fmadd_ps(a, b, c))
    }

    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        proven!(_mm256_max_ps(a, b))
    }

    #[inline(always)]
    fn exp(self, x: __m256) -> __m256 {
        proven!({
            let splat = |x: f32| _mm256_set1_ps(x);
            let (least, round) = (splat(ExpConstants::LEAST), splat(ExpConstants::ROUND));
            let clamped = _mm256_max_ps(x, least);
            let rounded = _mm256_fmadd_ps(clamped, splat(std::f32::consts::LOG2_E), round);
            let power = _mm256_sub_ps(rounded, round);
            let rest = _mm256_fnmadd_ps(power, splat(ExpConstants::LN2_HIGH), clamped);
            let rest = _mm256_fnmadd_ps(power, splat(ExpConstants::LN2_LOW), rest);
            let mut sum = splat(ExpConstants::TAYLOR[0]);
            for coefficient in &ExpConstants::TAYLOR[1..] {
                sum = _mm256_fmadd_ps(sum, rest, splat(*coefficient));
            }
            let mantissa = _mm256_fmadd_ps(sum, rest, splat(1.0));
            let whole = _mm256_sub_epi32(_mm256_castps_si256(rounded), _mm256_castps_si256(round));
            let exponent = _mm256_slli_epi32::<23>(_mm256_add_epi32(whole, _mm256_set1_epi32(127)));
            let result = _mm256_mul_ps(mantissa, _mm256_castsi256_ps(exponent));
            _mm256_andnot_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(x, least), result)
        })
    }

    #[inline(always)]
    fn widen_f16(self, from: &[f16; 8]) -> __m256 {
        proven!(_mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast())))
    }

    #[inline(always)]
    fn widen_bf16(self, from: &[bf16; 8]) -> __m256 {
        proven!({
            let halves = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.as_ptr().cast()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(halves))
        })
    }

    #[inline(always)]
    fn nibbles(self, word: u32) -> __m256 {
        proven!({
            let shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
            let shifted = _mm256_srlv_epi32(_mm256_set1_epi32(word.cast_signed()), shifts);
            _mm256_cvtepi32_ps(_mm256_and_si256(shifted, _mm256_set1_epi32(15)))
        })
    }

    #[inline(always)]
    fn narrow_f16(self, from: __m256) -> [f16; 8] {
        let mut to = [f16::ZERO; 8];
        proven!({
            let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(from);
            _mm_storeu_si128(to.as_mut_ptr().cast(), halves);
        });
        to
    }

    #[inline(always)]
    fn narrow_bf16(self, from: __m256) -> [bf16; 8] {
        let mut to = [bf16::ZERO; 8];
        proven!({
            let bits = _mm256_castps_si256(from);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
            let is_nan: __m256i = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(from, from));
            let kept = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc0_0000), is_nan);
            let packed = _mm256_packus_epi32(_mm256_srli_epi32::<16>(kept), _mm256_srli_epi32::<16>(kept));
            let ordered = _mm256_permute4x64_epi64::<0b1000>(packed);
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm256_castsi256_si128(ordered));
        });
        to
    }

    #[inline(always)]
    fn stream<T: Pod>(self, of: [T; 8], to: &mut [T; 8]) {
        let (from, into) = (of.as_ptr(), to.as_mut_ptr());
        match size_of::<[T; 8]>() {
            32 if into.addr().is_multiple_of(32) => {
                proven!(_mm256_stream_ps(into.cast(), _mm256_loadu_ps(from.cast())));
            }
            16 if into.addr().is_multiple_of(16) => {
                proven!(_mm_stream_si128(into.cast(), _mm_loadu_si128(from.cast())));
            }
            _ => *to = of,
        }
    }

    #[inline(always)]
    fn finish(self) {
        proven!(_mm_sfence());
    }
}
