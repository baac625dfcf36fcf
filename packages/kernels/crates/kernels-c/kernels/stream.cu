// copy: out = a; triad: out = a + SCALAR b. N is in vectors of 16 bytes.
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
#else
KERNEL(256) copy(GLOBAL const words* RESTRICT a, GLOBAL words* RESTRICT out) {
    for (u32 i = BX * 256u + TID; i < N; i += GX * 256u) out[i] = a[i];
}
#endif
