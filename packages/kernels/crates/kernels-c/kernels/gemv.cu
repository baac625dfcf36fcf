// out = x wᵀ for BT of the batch's vectors at a time: 128 threads read four rows of w once and keep 4 BT sums each.
// Block = (four rows, BT vectors). Rows and vectors beyond the last are read as the last and not written.
#if defined(IN_I8)
#define VEC 16
#endif
#define KV (K / VEC)

KERNEL(128) gemv(GLOBAL const words* RESTRICT w, GLOBAL const words* RESTRICT x, GLOBAL out_element* RESTRICT out) {
    SHARED SUM scratch[SCRATCH];
    const u32 row0 = BX * 4u;
    const u32 vector0 = BY * BT;
    SUM sum[4 * BT];
    for (int i = 0; i < 4 * BT; ++i) sum[i] = 0;
    UNROLL_BY(2)
    for (u32 i = TID; i < KV; i += 128u) {
#if defined(IN_I8)
        words rows[4];
        UNROLL
        for (int r = 0; r < 4; ++r) rows[r] = w[(size_t)(row0 + r < M ? row0 + r : M - 1) * KV + i];
        UNROLL
        for (int v = 0; v < BT; ++v) {
            const words vector = x[(size_t)(vector0 + v < BATCH ? vector0 + v : BATCH - 1) * KV + i];
            UNROLL
            for (int r = 0; r < 4; ++r) {
                sum[4 * v + r] = dot4(rows[r].x, vector.x, sum[4 * v + r]);
                sum[4 * v + r] = dot4(rows[r].y, vector.y, sum[4 * v + r]);
                sum[4 * v + r] = dot4(rows[r].z, vector.z, sum[4 * v + r]);
                sum[4 * v + r] = dot4(rows[r].w, vector.w, sum[4 * v + r]);
            }
        }
#else
        float rows[4][VEC];
        UNROLL
        for (int r = 0; r < 4; ++r) unpack(w[(size_t)(row0 + r < M ? row0 + r : M - 1) * KV + i], rows[r]);
        UNROLL
        for (int v = 0; v < BT; ++v) {
            float vector[VEC];
            unpack(x[(size_t)(vector0 + v < BATCH ? vector0 + v : BATCH - 1) * KV + i], vector);
            UNROLL
            for (int r = 0; r < 4; ++r)
                for (int e = 0; e < VEC; ++e) sum[4 * v + r] = FMA(rows[r][e], vector[e], sum[4 * v + r]);
        }
#endif
    }
    const SUM total = join(sum, scratch);
    if (TID < 4 * BT && row0 + TID % 4u < M && vector0 + TID / 4u < BATCH)
        out[(size_t)(vector0 + TID / 4u) * M + row0 + TID % 4u] = NARROW_OUT(total);
}
