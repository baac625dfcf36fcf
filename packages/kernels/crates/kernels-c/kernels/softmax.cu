// Softmax of each row of N, a block a row. A row that fits is held in registers (HELD vectors a thread) and read once; a longer
// one is read twice, the first time with a running maximum.
#define NV (N / VEC)

KERNEL(GROUP) softmax(GLOBAL const words* RESTRICT x, GLOBAL words* RESTRICT out) {
    SHARED float scratch[GROUP];
    GLOBAL const words* row = x + (size_t)BX * NV;
    float peak = LOWEST;
    float sum = 0.0f;
#if HELD > 0
    float held[HELD][VEC];
    UNROLL
    for (int i = 0; i < HELD; ++i) {
        if (TID + GROUP * i < NV) {
            unpack(row[TID + GROUP * i], held[i]);
        } else {
            for (int e = 0; e < VEC; ++e) held[i][e] = LOWEST;
        }
        for (int e = 0; e < VEC; ++e) peak = MAX(peak, held[i][e]);
    }
    const float highest = group_max(peak, scratch);
    UNROLL
    for (int i = 0; i < HELD; ++i) {
        for (int e = 0; e < VEC; ++e) {
            held[i][e] = EXP(held[i][e] - highest);
            sum += held[i][e];
        }
    }
    const float scale = 1.0f / group_sum(sum, scratch);
    UNROLL
    for (int i = 0; i < HELD; ++i) {
        if (TID + GROUP * i < NV) {
            for (int e = 0; e < VEC; ++e) held[i][e] *= scale;
            out[(size_t)BX * NV + TID + GROUP * i] = pack(held[i]);
        }
    }
#else
    for (u32 i = TID; i < NV; i += GROUP) {
        float value[VEC];
        unpack(row[i], value);
        float next = peak;
        for (int e = 0; e < VEC; ++e) next = MAX(next, value[e]);
        sum *= EXP(peak - next);
        for (int e = 0; e < VEC; ++e) sum += EXP(value[e] - next);
        peak = next;
    }
    const float highest = group_max(peak, scratch);
    const float scale = 1.0f / group_sum(sum * EXP(peak - highest), scratch);
    for (u32 i = TID; i < NV; i += GROUP) {
        float value[VEC];
        unpack(row[i], value);
        for (int e = 0; e < VEC; ++e) value[e] = EXP(value[e] - highest) * scale;
        out[(size_t)BX * NV + i] = pack(value);
    }
#endif
}
