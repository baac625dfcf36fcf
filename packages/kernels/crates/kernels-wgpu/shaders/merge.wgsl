// Joins SLOTS partial attention outputs of one sequence and head by the logs of their sums:
// out = Σ out_i exp(lse_i - m) / Σ exp(lse_i - m), m the greatest of lse_i. One workgroup a sequence and head.
@group(0) @binding(0) var<storage, read> part: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> lse: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<Out>;

const DQ: u32 = D / 4u;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let head = group.x + group.y * groups.x;
    if head >= arrayLength(&out) / DQ {
        return;
    }
    var highest = lse[head * SLOTS];
    for (var s = 1u; s < SLOTS; s += 1u) {
        highest = max(highest, lse[head * SLOTS + s]);
    }
    for (var column = lane; column < DQ; column += 64u) {
        var total = vec4<f32>(0.0);
        var weights = 0.0;
        for (var s = 0u; s < SLOTS; s += 1u) {
            let weight = exp(lse[head * SLOTS + s] - highest);
            weights += weight;
            total += part[(head * SLOTS + s) * DQ + column] * weight;
        }
        out[head * DQ + column] = store_Out(total * (1.0 / weights));
    }
}
