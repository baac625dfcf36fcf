// The same in int8 with an int32 sum, four products at a time along K. Without NT, B's words hold four columns of one row,
// and a block of four rows is transposed on its way into shared memory.
#define KW 8
#define SIDE (16 * TILE)
#define PITCH (SIDE + 1)
#define KQ (K / 4)
#define NQ (N / 4)

KERNEL(256) gemm_int8(GLOBAL const u32* RESTRICT a, GLOBAL const u32* RESTRICT b, GLOBAL int* RESTRICT out) {
    SHARED u32 tile_a[KW * PITCH];
    SHARED u32 tile_b[KW * PITCH];
    const u32 row0 = BY * SIDE;
    const u32 column0 = BX * SIDE;
    const u32 tx = TID % 16u;
    const u32 ty = TID / 16u;
    int sum[TILE][TILE];
    for (int i = 0; i < TILE; ++i)
        for (int j = 0; j < TILE; ++j) sum[i][j] = 0;
    for (u32 k0 = 0; k0 < KQ; k0 += KW) {
        for (u32 i = TID; i < SIDE * KW; i += 256u) {
            const u32 row = i / KW;
            const u32 kq = k0 + i % KW;
            tile_a[(i % KW) * PITCH + row] = row0 + row < M && kq < KQ ? a[(row0 + row) * KQ + kq] : 0u;
        }
#if defined(NT)
        for (u32 i = TID; i < SIDE * KW; i += 256u) {
            const u32 column = i / KW;
            const u32 kq = k0 + i % KW;
            tile_b[(i % KW) * PITCH + column] = column0 + column < N && kq < KQ ? b[(column0 + column) * KQ + kq] : 0u;
        }
#else
        for (u32 i = TID; i < KW * (SIDE / 4); i += 256u) {
            const u32 kq = k0 + i / (SIDE / 4);
            const u32 column = i % (SIDE / 4);
            u32 row[4];
            for (int r = 0; r < 4; ++r)
                row[r] = kq < KQ && column0 / 4 + column < NQ ? b[(kq * 4 + r) * NQ + column0 / 4 + column] : 0u;
            for (int c = 0; c < 4; ++c) {
                const u32 at = 8 * c;
                tile_b[(i / (SIDE / 4)) * PITCH + 4 * column + c] = ((row[0] >> at) & 255u) | (((row[1] >> at) & 255u) << 8)
                    | (((row[2] >> at) & 255u) << 16) | (((row[3] >> at) & 255u) << 24);
            }
        }
#endif
        BAR;
        UNROLL
        for (int k = 0; k < KW; ++k) {
            u32 left[TILE], right[TILE];
            for (int i = 0; i < TILE; ++i) left[i] = tile_a[k * PITCH + ty + 16 * i];
            for (int j = 0; j < TILE; ++j) right[j] = tile_b[k * PITCH + tx + 16 * j];
            for (int i = 0; i < TILE; ++i)
                for (int j = 0; j < TILE; ++j) sum[i][j] = dot4(left[i], right[j], sum[i][j]);
        }
        BAR;
    }
    for (int i = 0; i < TILE; ++i) {
        for (int j = 0; j < TILE; ++j) {
            const u32 row = row0 + ty + 16 * i;
            const u32 column = column0 + tx + 16 * j;
            if (row < M && column < N) out[row * N + column] = sum[i][j];
        }
    }
}
