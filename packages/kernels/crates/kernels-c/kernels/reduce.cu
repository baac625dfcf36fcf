// Sum and maximum over a block of GROUP threads, through GROUP floats of shared memory; every thread gets the result.
#if defined(WARP)
#define REDUCE(NAME, JOIN)                                                                              \
    FUNC float NAME(float value, SHARED_POINTER float* scratch) {                                       \
        for (int o = 16; o > 0; o >>= 1) value = JOIN(value, __shfl_xor_sync(0xffffffffu, value, o));   \
        if (TID % 32u == 0u) scratch[TID / 32u] = value;                                                \
        BAR;                                                                                            \
        value = scratch[0];                                                                             \
        for (int i = 1; i < GROUP / 32; ++i) value = JOIN(value, scratch[i]);                           \
        BAR;                                                                                            \
        return value;                                                                                   \
    }
#else
#define REDUCE(NAME, JOIN)                                                                              \
    FUNC float NAME(float value, SHARED_POINTER float* scratch) {                                       \
        scratch[TID] = value;                                                                           \
        BAR;                                                                                            \
        for (u32 half_way = GROUP / 2; half_way > 0u; half_way /= 2u) {                                 \
            if (TID < half_way) scratch[TID] = JOIN(scratch[TID], scratch[TID + half_way]);             \
            BAR;                                                                                        \
        }                                                                                               \
        value = scratch[0];                                                                             \
        BAR;                                                                                            \
        return value;                                                                                   \
    }
#endif
#define ADD(a, b) ((a) + (b))

REDUCE(group_sum, ADD)
REDUCE(group_max, MAX)
