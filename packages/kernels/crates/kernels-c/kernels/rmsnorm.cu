// out = x / sqrt(mean(x²) + EPSILON) * weight, a block a row. A row that fits is held in registers (HELD vectors a thread) and
// read once.
#define DV (D / VEC)

KERNEL(GROUP) rmsnorm(GLOBAL const words* RESTRICT x, GLOBAL const words* RESTRICT weight, GLOBAL words* RESTRICT out) {
    SHARED float scratch[GROUP];
    GLOBAL const words* row = x + (size_t)BX * DV;
    float squares = 0.0f;
#if HELD > 0
    float held[HELD][VEC];
    UNROLL
    for (int i = 0; i < HELD; ++i) {
        unpack(TID + GROUP * i < DV ? row[TID + GROUP * i] : no_words(), held[i]);
        for (int e = 0; e < VEC; ++e) squares = FMA(held[i][e], held[i][e], squares);
    }
#else
    for (u32 i = TID; i < DV; i += GROUP) {
        float value[VEC];
        unpack(row[i], value);
        for (int e = 0; e < VEC; ++e) squares = FMA(value[e], value[e], squares);
    }
#endif
    const float scale = RSQRT(group_sum(squares, scratch) / (float)D + EPSILON);
#if HELD > 0
    UNROLL
    for (int i = 0; i < HELD; ++i) {
        const u32 at = TID + GROUP * i;
        if (at < DV) {
            float factor[VEC];
            unpack(weight[at], factor);
            for (int e = 0; e < VEC; ++e) factor[e] *= held[i][e] * scale;
            out[(size_t)BX * DV + at] = pack(factor);
        }
    }
#else
    for (u32 i = TID; i < DV; i += GROUP) {
        float value[VEC], factor[VEC];
        unpack(row[i], value);
        unpack(weight[i], factor);
        for (int e = 0; e < VEC; ++e) factor[e] *= value[e] * scale;
        out[(size_t)BX * DV + i] = pack(factor);
    }
#endif
}
