// Attention of 16 query rows against all their keys, BK at a time through shared memory, with a running maximum and sum (online
// softmax). Eight threads share a row: each scores BK / 8 of the keys and owns every eighth four elements of the output.
//
// Without PARTIAL: prefill. Block = (tile of rows, query head, sequence); CAUSAL hides later keys.
// With PARTIAL: the queries of all sequences that share a prefix, against one span of it. Block = (tile of rows, key head, span);
// row r is sequence r / SHARE, head r % SHARE of the key head's SHARE.
#define BQ 16
#define DV (D / VEC)
#define DQ (D / 4)
#define PITCH (D + 4)
#define SCORES (BK + 1)
#define OWNED DIV_UP(DQ, 8)
#define OWNED_KEYS (BK / 8)

FUNC size_t query_at(u32 row) {
#if defined(PARTIAL)
    return ((size_t)(row / SHARE) * HEADS + BY * SHARE + row % SHARE) * DV;
#else
    return (((size_t)BZ * HEADS + BY) * ROWS + row) * DV;
#endif
}

#if defined(PARTIAL)
KERNEL(128) attention(GLOBAL const words* RESTRICT q, GLOBAL const words* RESTRICT k, GLOBAL const words* RESTRICT v,
    GLOBAL float* RESTRICT part, GLOBAL float* RESTRICT lse) {
#else
KERNEL(128) attention(GLOBAL const words* RESTRICT q, GLOBAL const words* RESTRICT k, GLOBAL const words* RESTRICT v,
    GLOBAL out_element* RESTRICT out) {
#endif
    SHARED float query[BQ * PITCH];
    SHARED float tile[BK * PITCH];
    SHARED float score[BQ * SCORES];
    const u32 row0 = BX * BQ;
    const u32 mine = TID / 8u;
    const u32 eighth = TID % 8u;
    const u32 row = row0 + mine;
#if defined(PARTIAL)
    const size_t key_base = (size_t)BY * KEYS * DV;
    const u32 first = BZ * SPAN;
    const u32 end = first + SPAN < KEYS ? first + SPAN : KEYS;
#else
    const size_t key_base = ((size_t)BZ * KV_HEADS + BY / SHARE) * KEYS * DV;
    const u32 first = 0;
    const u32 end = CAUSAL && row0 + BQ < KEYS ? row0 + BQ : KEYS;
#endif
    float highest = LOWEST;
    float sum = 0.0f;
    float held[OWNED][4];
    for (int i = 0; i < OWNED; ++i)
        for (int e = 0; e < 4; ++e) held[i][e] = 0.0f;
    for (u32 i = TID; i < BQ * DV; i += 128u) {
        float value[VEC];
        unpack(row0 + i / DV < ROWS ? q[query_at(row0 + i / DV) + i % DV] : no_words(), value);
        for (int e = 0; e < VEC; ++e) query[(i / DV) * PITCH + (i % DV) * VEC + e] = value[e] * SCALE;
    }
    for (u32 k0 = first; k0 < end; k0 += BK) {
        float mark[OWNED_KEYS];
        for (u32 i = TID; i < BK * DV; i += 128u) {
            float value[VEC];
            unpack(k0 + i / DV < end ? k[key_base + (size_t)(k0 + i / DV) * DV + i % DV] : no_words(), value);
            for (int e = 0; e < VEC; ++e) tile[(i / DV) * PITCH + (i % DV) * VEC + e] = value[e];
        }
        BAR;
        for (int j = 0; j < OWNED_KEYS; ++j) mark[j] = 0.0f;
        for (int c = 0; c < D; ++c) {
            const float value = query[mine * PITCH + c];
            UNROLL
            for (int j = 0; j < OWNED_KEYS; ++j) mark[j] = FMA(value, tile[(eighth + 8 * j) * PITCH + c], mark[j]);
        }
        UNROLL
        for (int j = 0; j < OWNED_KEYS; ++j) {
            const u32 key = k0 + eighth + 8 * j;
            if (key >= end || (CAUSAL && key > row)) mark[j] = LOWEST;
            score[mine * SCORES + eighth + 8 * j] = mark[j];
        }
        BAR;
        for (u32 i = TID; i < BK * DV; i += 128u) {
            float value[VEC];
            unpack(k0 + i / DV < end ? v[key_base + (size_t)(k0 + i / DV) * DV + i % DV] : no_words(), value);
            for (int e = 0; e < VEC; ++e) tile[(i / DV) * PITCH + (i % DV) * VEC + e] = value[e];
        }
        float next = highest;
        for (int j = 0; j < BK; ++j) next = MAX(next, score[mine * SCORES + j]);
        BAR;
        for (int j = 0; j < OWNED_KEYS; ++j) score[mine * SCORES + eighth + 8 * j] = EXP(mark[j] - next);
        BAR;
        const float keep = EXP(highest - next);
        highest = next;
        sum *= keep;
        for (int i = 0; i < OWNED; ++i)
            for (int e = 0; e < 4; ++e) held[i][e] *= keep;
        for (int j = 0; j < BK; ++j) {
            const float weight = score[mine * SCORES + j];
            sum += weight;
            UNROLL
            for (int i = 0; i < OWNED; ++i) {
                const int quad = eighth + 8 * i < DQ ? eighth + 8 * i : DQ - 1;
                for (int e = 0; e < 4; ++e) held[i][e] = FMA(weight, tile[j * PITCH + quad * 4 + e], held[i][e]);
            }
        }
        BAR;
    }
    if (row >= ROWS) return;
#if defined(PARTIAL)
    const size_t slot = ((size_t)(row / SHARE) * HEADS + BY * SHARE + row % SHARE) * SLOTS + SLOT + BZ;
    if (eighth == 0u) lse[slot] = highest + LOG(sum);
#endif
    for (int i = 0; i < OWNED; ++i) {
        if (eighth + 8 * i >= DQ) continue;
        for (int e = 0; e < 4; ++e) {
#if defined(PARTIAL)
            part[slot * D + (eighth + 8 * i) * 4 + e] = held[i][e] / sum;
#else
            out[query_at(row) * VEC + (eighth + 8 * i) * 4 + e] = NARROW_OUT(held[i][e] / sum);
#endif
        }
    }
}
