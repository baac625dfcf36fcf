// Sum and maximum over a workgroup of GROUP invocations (a power of two); every invocation gets the result.
var<workgroup> reduced: array<f32, GROUP>;

fn group_sum(value: f32, lane: u32) -> f32 {
    reduced[lane] = value;
    workgroupBarrier();
    for (var half = GROUP / 2u; half > 0u; half = half / 2u) {
        if lane < half {
            reduced[lane] = reduced[lane] + reduced[lane + half];
        }
        workgroupBarrier();
    }
    let total = reduced[0];
    workgroupBarrier();
    return total;
}

fn group_max(value: f32, lane: u32) -> f32 {
    reduced[lane] = value;
    workgroupBarrier();
    for (var half = GROUP / 2u; half > 0u; half = half / 2u) {
        if lane < half {
            reduced[lane] = max(reduced[lane], reduced[lane + half]);
        }
        workgroupBarrier();
    }
    let most = reduced[0];
    workgroupBarrier();
    return most;
}
