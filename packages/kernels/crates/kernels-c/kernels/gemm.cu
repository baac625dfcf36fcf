// out = A B, A of M rows of K, B of K rows of N (with NT: of N rows of K). 256 threads compute 16 TILE rows by 16 TILE
// columns, 16 of K at a time through shared memory; a thread has every sixteenth row and column of them.
#define KT 16
#define SIDE (16 * TILE)
#define PITCH (SIDE + 1)
#define KV (K / VEC)
#define NV (N / VEC)

KERNEL(256) gemm(GLOBAL const words* RESTRICT a, GLOBAL const words* RESTRICT b, GLOBAL out_element* RESTRICT out) {
    SHARED float tile_a[KT * PITCH];
    SHARED float tile_b[KT * PITCH];
    const u32 row0 = BY * SIDE;
    const u32 column0 = BX * SIDE;
    const u32 tx = TID % 16u;
    const u32 ty = TID / 16u;
    float sum[TILE][TILE];
    for (int i = 0; i < TILE; ++i)
        for (int j = 0; j < TILE; ++j) sum[i][j] = 0.0f;
    for (u32 k0 = 0; k0 < K; k0 += KT) {
        for (u32 i = TID; i < SIDE * (KT / VEC); i += 256u) {
            const u32 row = i / (KT / VEC);
            const u32 kv = k0 / VEC + i % (KT / VEC);
            float value[VEC];
            unpack(row0 + row < M && kv < KV ? a[(row0 + row) * KV + kv] : no_words(), value);
            for (int e = 0; e < VEC; ++e) tile_a[((i % (KT / VEC)) * VEC + e) * PITCH + row] = value[e];
        }
#if defined(NT)
        for (u32 i = TID; i < SIDE * (KT / VEC); i += 256u) {
            const u32 column = i / (KT / VEC);
            const u32 kv = k0 / VEC + i % (KT / VEC);
            float value[VEC];
            unpack(column0 + column < N && kv < KV ? b[(column0 + column) * KV + kv] : no_words(), value);
            for (int e = 0; e < VEC; ++e) tile_b[((i % (KT / VEC)) * VEC + e) * PITCH + column] = value[e];
        }
#else
        for (u32 i = TID; i < KT * (SIDE / VEC); i += 256u) {
            const u32 k = k0 + i / (SIDE / VEC);
            const u32 column = column0 / VEC + i % (SIDE / VEC);
            float value[VEC];
            unpack(k < K && column < NV ? b[k * NV + column] : no_words(), value);
            for (int e = 0; e < VEC; ++e) tile_b[(i / (SIDE / VEC)) * PITCH + (i % (SIDE / VEC)) * VEC + e] = value[e];
        }
#endif
        BAR;
        UNROLL
        for (int k = 0; k < KT; ++k) {
            float left[TILE], right[TILE];
            for (int i = 0; i < TILE; ++i) left[i] = tile_a[k * PITCH + ty + 16 * i];
            for (int j = 0; j < TILE; ++j) right[j] = tile_b[k * PITCH + tx + 16 * j];
            for (int i = 0; i < TILE; ++i)
                for (int j = 0; j < TILE; ++j) sum[i][j] = FMA(left[i], right[j], sum[i][j]);
        }
        BAR;
    }
    for (int i = 0; i < TILE; ++i) {
        for (int j = 0; j < TILE; ++j) {
            const u32 row = row0 + ty + 16 * i;
            const u32 column = column0 + tx + 16 * j;
            if (row < M && column < N) out[row * N + column] = NARROW_OUT(sum[i][j]);
        }
    }
}
