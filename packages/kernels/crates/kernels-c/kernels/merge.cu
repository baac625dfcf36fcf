// Joins SLOTS partial attention outputs of one sequence and head by the logs of their sums:
// out = Σ out_i exp(lse_i - m) / Σ exp(lse_i - m), m the greatest of lse_i. A block a sequence and head.
KERNEL(128) merge(GLOBAL const float* RESTRICT part, GLOBAL const float* RESTRICT lse, GLOBAL out_element* RESTRICT out) {
    const size_t head = BX;
    float highest = lse[head * SLOTS];
    for (int s = 1; s < SLOTS; ++s) highest = MAX(highest, lse[head * SLOTS + s]);
    for (u32 column = TID; column < D; column += 128u) {
        float total = 0.0f;
        float weights = 0.0f;
        for (int s = 0; s < SLOTS; ++s) {
            const float weight = EXP(lse[head * SLOTS + s] - highest);
            weights += weight;
            total = FMA(weight, part[(head * SLOTS + s) * D + column], total);
        }
        out[head * D + column] = NARROW_OUT(total / weights);
    }
}
