// The end of a GEMV: adds 4 BT sums (row r of vector v at 4 v + r) over 128 threads; thread 4 v + r gets the sum.
#if defined(WARP)
#define SCRATCH (4 * 4 * BT)
FUNC SUM join(SUM* sum, SHARED_POINTER SUM* scratch) {
    SUM total = 0;
    UNROLL
    for (int i = 0; i < 4 * BT; ++i) {
        for (int o = 16; o > 0; o >>= 1) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], o);
        if (TID % 32u == 0u) scratch[(TID / 32u) * 4 * BT + i] = sum[i];
    }
    BAR;
    if (TID < 4 * BT)
        for (int w = 0; w < 4; ++w) total += scratch[w * 4 * BT + TID];
    return total;
}
#else
#define SCRATCH (128 * 4 * BT)
FUNC SUM join(SUM* sum, SHARED_POINTER SUM* scratch) {
    SUM total = 0;
    for (int i = 0; i < 4 * BT; ++i) scratch[TID * 4 * BT + i] = sum[i];
    BAR;
    if (TID < 4 * BT)
        for (int t = 0; t < 128; ++t) total += scratch[t * 4 * BT + TID];
    return total;
}
#endif
