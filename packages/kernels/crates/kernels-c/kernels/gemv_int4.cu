// out = x wᵀ with weights of 4 bits: w = (nibble - zero point) * scale, both per PER columns of a row. Element k of a row is in
// bits 4 (k mod 8) of word k / 8. Otherwise as gemv.cu.
#define KW (K / 8)
#define KV (K / VEC)
#define SCALES (K / PER)

#if defined(SCALES_F32)
typedef float scale_element;
#define SCALE_OF(value) (value)
#elif defined(SCALES_F16)
typedef u16 scale_element;
#define SCALE_OF(value) float_of_half(value)
#else
typedef u16 scale_element;
#define SCALE_OF(value) FLOAT_OF((u32)(value) << 16)
#endif

#if defined(ZEROS)
#define ZERO(at) ((float)((zeros[(at) / 8u] >> (4u * ((at) % 8u))) & 15u))
KERNEL(128) gemv_int4(GLOBAL const u32* RESTRICT w, GLOBAL const scale_element* RESTRICT scales,
    GLOBAL const u32* RESTRICT zeros, GLOBAL const words* RESTRICT x, GLOBAL out_element* RESTRICT out) {
#else
#define ZERO(at) 8.0f
KERNEL(128) gemv_int4(GLOBAL const u32* RESTRICT w, GLOBAL const scale_element* RESTRICT scales,
    GLOBAL const words* RESTRICT x, GLOBAL out_element* RESTRICT out) {
#endif
    SHARED SUM scratch[SCRATCH];
    const u32 row0 = BX * 4u;
    const u32 vector0 = BY * BT;
    SUM sum[4 * BT];
    for (int i = 0; i < 4 * BT; ++i) sum[i] = 0.0f;
    UNROLL_BY(4)
    for (u32 i = TID; i < KW; i += 128u) {
        float rows[4][8];
        UNROLL
        for (int r = 0; r < 4; ++r) {
            const u32 row = row0 + r < M ? row0 + r : M - 1;
            const u32 at = row * SCALES + i * 8u / PER;
            const u32 word = w[(size_t)row * KW + i];
            const float scale = SCALE_OF(scales[at]);
            const float zero = ZERO(at);
            UNROLL
            for (int e = 0; e < 8; ++e) rows[r][e] = ((float)((word >> (4 * e)) & 15u) - zero) * scale;
        }
        UNROLL
        for (int v = 0; v < BT; ++v) {
            const size_t first = (size_t)(vector0 + v < BATCH ? vector0 + v : BATCH - 1) * KV + i * 8u / VEC;
            float vector[8];
            UNROLL
            for (int part = 0; part < 8 / VEC; ++part) unpack(x[first + part], vector + part * VEC);
            UNROLL
            for (int r = 0; r < 4; ++r)
                for (int e = 0; e < 8; ++e) sum[4 * v + r] = FMA(rows[r][e], vector[e], sum[4 * v + r]);
        }
    }
    const SUM total = join(sum, scratch);
    if (TID < 4 * BT && row0 + TID % 4u < M && vector0 + TID / 4u < BATCH)
        out[(size_t)(vector0 + TID / 4u) * M + row0 + TID % 4u] = NARROW_OUT(total);
}
