// Attention of one new token: 128 threads take TOGETHER of the query heads that share a key head, and one span of the keys.
// Eight threads score a key; then each thread owns one vector of the output for every CREWSth key. Block = (span, chunk of
// heads, sequence). merge.cu joins the spans.
#define DV (D / VEC)
#define CREWS (128 / DV)
#define AT_ONCE 32

KERNEL(128) decode(GLOBAL const words* RESTRICT q, GLOBAL const words* RESTRICT k, GLOBAL const words* RESTRICT v,
    GLOBAL float* RESTRICT part, GLOBAL float* RESTRICT lse) {
    SHARED float query[TOGETHER * D];
    SHARED float score[TOGETHER * AT_ONCE];
    SHARED float joined[128 * VEC];
    SHARED float joined_sum[128];
#if !defined(WARP)
    SHARED float product[TOGETHER * AT_ONCE * 8];
#endif
    const u32 head0 = BY * TOGETHER;
    const size_t key_base = ((size_t)BZ * KV_HEADS + head0 / SHARE) * KEYS * DV;
    const u32 first = BX * SPAN;
    const u32 end = first + SPAN < KEYS ? first + SPAN : KEYS;
    const u32 column = TID % DV;
    const u32 crew = TID / DV;
    float highest[TOGETHER], sum[TOGETHER], out[TOGETHER][VEC];
    for (u32 i = TID; i < TOGETHER * DV; i += 128u) {
        float value[VEC];
        unpack(q[((size_t)BZ * HEADS + head0) * DV + i], value);
        for (int e = 0; e < VEC; ++e) query[i * VEC + e] = value[e] * SCALE;
    }
    UNROLL
    for (int g = 0; g < TOGETHER; ++g) {
        highest[g] = LOWEST;
        sum[g] = 0.0f;
        for (int e = 0; e < VEC; ++e) out[g][e] = 0.0f;
    }
    BAR;
    for (u32 k0 = first; k0 < end; k0 += AT_ONCE) {
        UNROLL
        for (int s = 0; s < 2; ++s) {
            const u32 at = 16u * s + TID / 8u;
            float dot[TOGETHER];
            for (int g = 0; g < TOGETHER; ++g) dot[g] = 0.0f;
            if (k0 + at < end) {
                for (u32 c = TID % 8u; c < DV; c += 8u) {
                    float value[VEC];
                    unpack(k[key_base + (size_t)(k0 + at) * DV + c], value);
                    UNROLL
                    for (int g = 0; g < TOGETHER; ++g)
                        for (int e = 0; e < VEC; ++e) dot[g] = FMA(query[g * D + c * VEC + e], value[e], dot[g]);
                }
            }
#if defined(WARP)
            UNROLL
            for (int g = 0; g < TOGETHER; ++g) {
                for (int o = 4; o > 0; o >>= 1) dot[g] += __shfl_xor_sync(0xffffffffu, dot[g], o);
                if (TID % 8u == 0u) score[g * AT_ONCE + at] = k0 + at < end ? dot[g] : LOWEST;
            }
#else
            for (int g = 0; g < TOGETHER; ++g) product[(g * AT_ONCE + at) * 8 + TID % 8u] = dot[g];
#endif
        }
        BAR;
#if !defined(WARP)
        for (u32 i = TID; i < TOGETHER * AT_ONCE; i += 128u) {
            float total = 0.0f;
            for (int p = 0; p < 8; ++p) total += product[i * 8 + p];
            score[i] = k0 + i % AT_ONCE < end ? total : LOWEST;
        }
        BAR;
#endif
        float next[TOGETHER];
        UNROLL
        for (int g = 0; g < TOGETHER; ++g) {
            next[g] = highest[g];
            for (int j = 0; j < AT_ONCE; ++j) next[g] = MAX(next[g], score[g * AT_ONCE + j]);
        }
        BAR;
        for (u32 i = TID; i < TOGETHER * AT_ONCE; i += 128u) {
            float most = LOWEST;
            UNROLL
            for (int g = 0; g < TOGETHER; ++g) most = i / AT_ONCE == g ? next[g] : most;
            score[i] = EXP(score[i] - most);
        }
        UNROLL
        for (int g = 0; g < TOGETHER; ++g) {
            const float keep = EXP(highest[g] - next[g]);
            highest[g] = next[g];
            sum[g] *= keep;
            for (int e = 0; e < VEC; ++e) out[g][e] *= keep;
        }
        BAR;
        if (crew < CREWS) {
            for (u32 j = crew; j < AT_ONCE && k0 + j < end; j += CREWS) {
                float value[VEC];
                unpack(v[key_base + (size_t)(k0 + j) * DV + column], value);
                UNROLL
                for (int g = 0; g < TOGETHER; ++g) {
                    const float weight = score[g * AT_ONCE + j];
                    sum[g] += weight;
                    for (int e = 0; e < VEC; ++e) out[g][e] = FMA(weight, value[e], out[g][e]);
                }
            }
        }
        BAR;
    }
    UNROLL
    for (int g = 0; g < TOGETHER; ++g) {
        for (int e = 0; e < VEC; ++e) joined[TID * VEC + e] = out[g][e];
        joined_sum[TID] = sum[g];
        BAR;
        if (crew == 0u) {
            const size_t slot = ((size_t)BZ * HEADS + head0 + g) * SLOTS + SLOT + BX;
            float weight = 0.0f;
            for (int other = 0; other < CREWS; ++other) weight += joined_sum[other * DV + column];
            for (int e = 0; e < VEC; ++e) {
                float total = 0.0f;
                for (int other = 0; other < CREWS; ++other) total += joined[(other * DV + column) * VEC + e];
                part[slot * D + column * VEC + e] = total / weight;
            }
            if (column == 0u) lse[slot] = highest[g] + LOG(weight);
        }
        BAR;
    }
}
