// The attention of attention.cu on matrix units, in f16 or bf16 with f32 sums: four warps take 16 query rows each, against BK
// keys at a time. Products are m16n8k16; a thread (g, t) = (lane / 4, lane % 4) holds rows g and g + 8, and columns 2t and
// 2t + 1 of each tile of eight. Weights are rounded to the inputs' type before they multiply the values.
#define BQ 64
#define DV (D / VEC)
#define D_STEPS (D / 16)
#define D_TILES (D / 8)
#define KEY_TILES (BK / 8)
#define KEY_PITCH (D / 2 + 4)
#define VALUE_PITCH (D + 8)
#define PAIR(low, high) (NARROW(low) | (NARROW(high) << 16))

#if defined(WARP)
#if defined(IN_F16)
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#else
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#endif
#define MULTIPLY(c, a, b0, b1) multiply(c, a, b0, b1)
#define QUAD_MAX(value) quad_max(value)
#define QUAD_SUM(value) quad_sum(value)

FUNC void multiply(float* c, const u32* a, u32 b0, u32 b1) {
    asm(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

FUNC float quad_max(float value) {
    value = MAX(value, __shfl_xor_sync(0xffffffffu, value, 1));
    return MAX(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

FUNC float quad_sum(float value) {
    value += __shfl_xor_sync(0xffffffffu, value, 1);
    return value + __shfl_xor_sync(0xffffffffu, value, 2);
}
#else
#define MULTIPLY(c, a, b0, b1) multiply(c, a, b0, b1, exchange)
#define QUAD_MAX(value) quad_max(value, exchange)
#define QUAD_SUM(value) quad_sum(value, exchange)

FUNC float half_word(u32 word, u32 high) {
    return high ? HIGH(word) : LOW(word);
}

// What the matrix unit does, from the registers of a warp as the instruction lays them out.
FUNC void multiply(float* c, const u32* a, u32 b0, u32 b1, SHARED_POINTER u32* exchange) {
    SHARED_POINTER u32* warp = exchange + (TID / 32u) * 32u * 6u;
    const u32 g = TID % 32u / 4u;
    const u32 t = TID % 4u;
    for (int r = 0; r < 4; ++r) warp[(TID % 32u) * 6u + r] = a[r];
    warp[(TID % 32u) * 6u + 4] = b0;
    warp[(TID % 32u) * 6u + 5] = b1;
    BAR;
    for (u32 at = 0; at < 4; ++at) {
        const u32 column = 2 * t + at % 2;
        for (u32 k = 0; k < 16; ++k) {
            const u32 left = warp[(g * 4 + k % 8 / 2) * 6 + at / 2 + (k / 8) * 2];
            const u32 right = warp[(column * 4 + k % 8 / 2) * 6 + 4 + k / 8];
            c[at] = FMA(half_word(left, k % 2), half_word(right, k % 2), c[at]);
        }
    }
    BAR;
}

FUNC float quad_max(float value, SHARED_POINTER u32* exchange) {
    exchange[TID] = BITS_OF(value);
    BAR;
    for (u32 other = 0; other < 4; ++other) value = MAX(value, FLOAT_OF(exchange[TID / 4u * 4u + other]));
    BAR;
    return value;
}

FUNC float quad_sum(float value, SHARED_POINTER u32* exchange) {
    exchange[TID] = BITS_OF(value);
    BAR;
    value = 0.0f;
    for (u32 other = 0; other < 4; ++other) value += FLOAT_OF(exchange[TID / 4u * 4u + other]);
    BAR;
    return value;
}
#endif

// Where a query row is, in words of 32 bits.
FUNC size_t query_at(u32 row) {
#if defined(PARTIAL)
    return ((size_t)(row / SHARE) * HEADS + BY * SHARE + row % SHARE) * (D / 2);
#else
    return (((size_t)BZ * HEADS + BY) * ROWS + row) * (D / 2);
#endif
}

#if defined(PARTIAL)
KERNEL(128) attention_mma(GLOBAL const u32* RESTRICT q, GLOBAL const words* RESTRICT k, GLOBAL const words* RESTRICT v,
    GLOBAL float* RESTRICT part, GLOBAL float* RESTRICT lse) {
#else
KERNEL(128) attention_mma(GLOBAL const u32* RESTRICT q, GLOBAL const words* RESTRICT k, GLOBAL const words* RESTRICT v,
    GLOBAL u32* RESTRICT out) {
#endif
    SHARED u32 keys[BK * KEY_PITCH];
    SHARED u32 values[BK / 2 * VALUE_PITCH];
#if !defined(WARP)
    SHARED u32 exchange[128 * 6];
#endif
    const u32 g = TID % 32u / 4u;
    const u32 t = TID % 4u;
    const u32 row0 = BX * BQ + TID / 32u * 16u + g;
#if defined(PARTIAL)
    const size_t key_base = (size_t)BY * KEYS * DV;
    const u32 first = BZ * SPAN;
    const u32 end = first + SPAN < KEYS ? first + SPAN : KEYS;
#else
    const size_t key_base = ((size_t)BZ * KV_HEADS + BY / SHARE) * KEYS * DV;
    const u32 first = 0;
    const u32 end = CAUSAL && BX * BQ + BQ < KEYS ? BX * BQ + BQ : KEYS;
#endif
    u32 query[D_STEPS][4];
    float held[D_TILES][4];
    float highest[2], sum[2];
    UNROLL
    for (int d = 0; d < D_STEPS; ++d) {
        UNROLL
        for (int r = 0; r < 4; ++r) {
            const u32 row = row0 + 8 * (r % 2);
            query[d][r] = row < ROWS ? q[query_at(row) + 8 * d + t + 4 * (r / 2)] : 0u;
        }
    }
    UNROLL
    for (int n = 0; n < D_TILES; ++n)
        for (int e = 0; e < 4; ++e) held[n][e] = 0.0f;
    highest[0] = LOWEST;
    highest[1] = LOWEST;
    sum[0] = 0.0f;
    sum[1] = 0.0f;
    for (u32 k0 = first; k0 < end; k0 += BK) {
        for (u32 i = TID; i < BK * DV; i += 128u) {
            const words from = k0 + i / DV < end ? k[key_base + (size_t)(k0 + i / DV) * DV + i % DV] : no_words();
            const u32 at = (i / DV) * KEY_PITCH + (i % DV) * 4u;
            keys[at] = from.x;
            keys[at + 1] = from.y;
            keys[at + 2] = from.z;
            keys[at + 3] = from.w;
        }
        // Two keys' values side by side, as the right operand wants them.
        for (u32 i = TID; i < BK / 2 * DV; i += 128u) {
            const u32 key = k0 + i / DV * 2u;
            const words even = key < end ? v[key_base + (size_t)key * DV + i % DV] : no_words();
            const words odd = key + 1u < end ? v[key_base + (size_t)(key + 1u) * DV + i % DV] : no_words();
            const u32 at = (i / DV) * VALUE_PITCH + (i % DV) * 8u;
            values[at] = (even.x & 0xffffu) | (odd.x << 16);
            values[at + 1] = (even.x >> 16) | (odd.x & 0xffff0000u);
            values[at + 2] = (even.y & 0xffffu) | (odd.y << 16);
            values[at + 3] = (even.y >> 16) | (odd.y & 0xffff0000u);
            values[at + 4] = (even.z & 0xffffu) | (odd.z << 16);
            values[at + 5] = (even.z >> 16) | (odd.z & 0xffff0000u);
            values[at + 6] = (even.w & 0xffffu) | (odd.w << 16);
            values[at + 7] = (even.w >> 16) | (odd.w & 0xffff0000u);
        }
        BAR;
        float score[KEY_TILES][4];
        float next[2], keep[2];
        next[0] = highest[0];
        next[1] = highest[1];
        UNROLL
        for (int j = 0; j < KEY_TILES; ++j) {
            for (int e = 0; e < 4; ++e) score[j][e] = 0.0f;
            UNROLL
            for (int d = 0; d < D_STEPS; ++d) {
                const u32 at = (8 * j + g) * KEY_PITCH + 8 * d + t;
                MULTIPLY(score[j], query[d], keys[at], keys[at + 4]);
            }
            UNROLL
            for (int e = 0; e < 4; ++e) {
                const u32 key = k0 + 8 * j + 2 * t + e % 2;
                const int hidden = key >= end || (CAUSAL && key > row0 + 8 * (e / 2));
                score[j][e] = hidden ? LOWEST : score[j][e] * SCALE;
                next[e / 2] = MAX(next[e / 2], score[j][e]);
            }
        }
        UNROLL
        for (int r = 0; r < 2; ++r) {
            next[r] = QUAD_MAX(next[r]);
            keep[r] = EXP(highest[r] - next[r]);
            highest[r] = next[r];
            sum[r] *= keep[r];
        }
        UNROLL
        for (int n = 0; n < D_TILES; ++n)
            for (int e = 0; e < 4; ++e) held[n][e] *= keep[e / 2];
        UNROLL
        for (int s = 0; s < BK / 16; ++s) {
            UNROLL
            for (int e = 0; e < 8; ++e) {
                const int j = 2 * s + e / 4;
                score[j][e % 4] = EXP(score[j][e % 4] - next[e % 4 / 2]);
                sum[e % 4 / 2] += score[j][e % 4];
            }
            u32 weight[4];
            weight[0] = PAIR(score[2 * s][0], score[2 * s][1]);
            weight[1] = PAIR(score[2 * s][2], score[2 * s][3]);
            weight[2] = PAIR(score[2 * s + 1][0], score[2 * s + 1][1]);
            weight[3] = PAIR(score[2 * s + 1][2], score[2 * s + 1][3]);
            UNROLL
            for (int n = 0; n < D_TILES; ++n) {
                const u32 at = (8 * s + t) * VALUE_PITCH + 8 * n + g;
                MULTIPLY(held[n], weight, values[at], values[at + 4 * VALUE_PITCH]);
            }
        }
        BAR;
    }
    sum[0] = QUAD_SUM(sum[0]);
    sum[1] = QUAD_SUM(sum[1]);
    UNROLL
    for (int r = 0; r < 2; ++r) {
        const u32 row = row0 + 8 * r;
        const float total = sum[r];
        if (row < ROWS) {
#if defined(PARTIAL)
            const size_t slot = ((size_t)(row / SHARE) * HEADS + BY * SHARE + row % SHARE) * SLOTS + SLOT + BZ;
            if (t == 0u) lse[slot] = highest[r] + LOG(total);
            UNROLL
            for (int n = 0; n < D_TILES; ++n) {
                part[slot * D + 8 * n + 2 * t] = held[n][2 * r] / total;
                part[slot * D + 8 * n + 2 * t + 1] = held[n][2 * r + 1] / total;
            }
#else
            UNROLL
            for (int n = 0; n < D_TILES; ++n)
                out[query_at(row) + 4 * n + t] = PAIR(held[n][2 * r] / total, held[n][2 * r + 1] / total);
#endif
        }
    }
}
