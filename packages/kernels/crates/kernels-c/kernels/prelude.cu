// One source for CUDA (NVRTC or nvcc, without any header), HIP and OpenCL C. Sizes and types come as definitions before it.
// What only CUDA has (shuffles, PTX) has a twin for the others.
#if defined(__OPENCL_VERSION__)
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void
#define FUNC static inline __attribute__((always_inline))
#define GLOBAL __global
#define SHARED __local
#define SHARED_POINTER __local
#define RESTRICT restrict
#define TID ((u32)get_local_id(0))
#define BX ((u32)get_group_id(0))
#define BY ((u32)get_group_id(1))
#define BZ ((u32)get_group_id(2))
#define GX ((u32)get_num_groups(0))
#define BAR barrier(CLK_LOCAL_MEM_FENCE)
#define FLOAT_OF(bits) as_float(bits)
#define BITS_OF(value) as_uint(value)
#define RSQRT(value) (1.0f / sqrt(value))
#define EXP(value) exp(value)
#define LOG(value) log(value)
#define MAX(a, b) fmax(a, b)
#define FMA(a, b, c) fma(a, b, c)
#define UNROLL
#define UNROLL_BY(times)
#else
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define FUNC static __device__ __forceinline__
#define GLOBAL
#define SHARED __shared__
#define SHARED_POINTER
#define RESTRICT __restrict__
#define TID (threadIdx.x)
#define BX (blockIdx.x)
#define BY (blockIdx.y)
#define BZ (blockIdx.z)
#define GX (gridDim.x)
#define BAR __syncthreads()
#define FLOAT_OF(bits) __uint_as_float(bits)
#define BITS_OF(value) __float_as_uint(value)
#define RSQRT(value) (1.0f / sqrtf(value))
#define EXP(value) expf(value)
#define LOG(value) logf(value)
#define MAX(a, b) fmaxf(a, b)
#define FMA(a, b, c) fmaf(a, b, c)
#define PRAGMA(text) _Pragma(#text)
#define UNROLL PRAGMA(unroll)
#define UNROLL_BY(times) PRAGMA(unroll times)
#if !defined(__HIP__)
#define WARP 1
#define PTX 1
#endif
#endif

typedef unsigned int u32;
typedef unsigned short u16;
typedef uint4 words;

#define LOWEST (-3.0e38f)
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

FUNC words no_words(void) {
    words value;
    value.x = 0u;
    value.y = 0u;
    value.z = 0u;
    value.w = 0u;
    return value;
}

FUNC float float_of_half(u32 half_bits) {
#if defined(PTX)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((u16)half_bits));
    return value;
#else
    const u32 sign = (half_bits & 0x8000u) << 16;
    const u32 rest = half_bits & 0x7fffu;
    if (rest >= 0x7c00u) return FLOAT_OF(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
    if (rest < 0x400u) {
        const float tiny = (float)rest * 5.9604644775390625e-8f;
        return FLOAT_OF(sign | BITS_OF(tiny));
    }
    return FLOAT_OF(sign | ((rest << 13) + 0x38000000u));
#endif
}

// Nearest, ties to even; what is too large is infinite.
FUNC u32 half_of_float(float value) {
#if defined(PTX)
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    const u32 bits = BITS_OF(value);
    const u32 sign = (bits >> 16) & 0x8000u;
    const u32 rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return sign | 0x7e00u;
    if (rest >= 0x477ff000u) return sign | 0x7c00u;
    if (rest >= 0x38800000u) return sign | ((rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13);
    // Below the smallest normal half: adding 0.5 leaves steps of 2^-24 in the mantissa, rounded as wanted.
    const float shifted = FLOAT_OF(rest) + 0.5f;
    return sign | (BITS_OF(shifted) - 0x3f000000u);
#endif
}

FUNC u32 bf16_of_float(float value) {
    const u32 bits = BITS_OF(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

// VEC elements of the inputs' type are 16 bytes.
#if defined(IN_F32)
#define VEC 4
#elif defined(IN_F16) || defined(IN_BF16)
#define VEC 8
#endif

#if defined(VEC)
FUNC void unpack(words from, float* to) {
#if defined(IN_F32)
    to[0] = FLOAT_OF(from.x);
    to[1] = FLOAT_OF(from.y);
    to[2] = FLOAT_OF(from.z);
    to[3] = FLOAT_OF(from.w);
#else
#if defined(IN_F16)
#define LOW(word) float_of_half((word) & 0xffffu)
#define HIGH(word) float_of_half((word) >> 16)
#else
#define LOW(word) FLOAT_OF((word) << 16)
#define HIGH(word) FLOAT_OF((word) & 0xffff0000u)
#endif
    to[0] = LOW(from.x);
    to[1] = HIGH(from.x);
    to[2] = LOW(from.y);
    to[3] = HIGH(from.y);
    to[4] = LOW(from.z);
    to[5] = HIGH(from.z);
    to[6] = LOW(from.w);
    to[7] = HIGH(from.w);
#endif
}

// For kernels whose output has the inputs' type.
FUNC words pack(const float* from) {
    words to;
#if defined(IN_F32)
    to.x = BITS_OF(from[0]);
    to.y = BITS_OF(from[1]);
    to.z = BITS_OF(from[2]);
    to.w = BITS_OF(from[3]);
#else
#if defined(IN_F16)
#define NARROW(value) half_of_float(value)
#else
#define NARROW(value) bf16_of_float(value)
#endif
    to.x = NARROW(from[0]) | (NARROW(from[1]) << 16);
    to.y = NARROW(from[2]) | (NARROW(from[3]) << 16);
    to.z = NARROW(from[4]) | (NARROW(from[5]) << 16);
    to.w = NARROW(from[6]) | (NARROW(from[7]) << 16);
#endif
    return to;
}
#endif

// One element of the output's type.
#if defined(OUT_F32)
typedef float out_element;
#define NARROW_OUT(value) (value)
#elif defined(OUT_F16)
typedef u16 out_element;
#define NARROW_OUT(value) ((u16)half_of_float(value))
#elif defined(OUT_BF16)
typedef u16 out_element;
#define NARROW_OUT(value) ((u16)bf16_of_float(value))
#elif defined(OUT_I32)
typedef int out_element;
#define NARROW_OUT(value) (value)
#endif

// Four products of signed bytes, added.
FUNC int dot4(u32 a, u32 b, int sum) {
#if defined(WARP)
    return __dp4a((int)a, (int)b, sum);
#else
    int at;
    for (at = 0; at < 32; at += 8) {
        const int left = ((int)(a << (24 - at))) >> 24;
        const int right = ((int)(b << (24 - at))) >> 24;
        sum += left * right;
    }
    return sum;
#endif
}
