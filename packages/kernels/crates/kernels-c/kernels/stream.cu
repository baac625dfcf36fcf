// copy: out = a; triad: out = a + SCALAR b; fma: out = a after K multiply-adds of each element. N is in vectors of 16 bytes.
#if defined(TRIAD)
KERNEL(256) triad(GLOBAL const words* RESTRICT a, GLOBAL const words* RESTRICT b, GLOBAL words* RESTRICT out) {
    for (u32 i = BX * 256u + TID; i < N; i += GX * 256u) {
        float left[VEC], right[VEC];
        unpack(a[i], left);
        unpack(b[i], right);
        for (int e = 0; e < VEC; ++e) left[e] = FMA(SCALAR, right[e], left[e]);
        out[i] = pack(left);
    }
}
#elif defined(CHAIN)
KERNEL(256) fma_chain(GLOBAL const words* RESTRICT a, GLOBAL words* RESTRICT out) {
    for (u32 i = BX * 256u + TID; i < N; i += GX * 256u) {
        float x[VEC];
        unpack(a[i], x);
        for (u32 step = 0; step < K; ++step)
            for (int e = 0; e < VEC; ++e) x[e] = FMA(x[e], FACTOR, ADDEND);
        out[i] = pack(x);
    }
}
#else
KERNEL(256) copy(GLOBAL const words* RESTRICT a, GLOBAL words* RESTRICT out) {
    for (u32 i = BX * 256u + TID; i < N; i += GX * 256u) out[i] = a[i];
}
#endif
