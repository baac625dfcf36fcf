// Softmax of each row of N, one workgroup a row. A row that fits is held in registers and read once; a longer one is
// read twice, the first time with a running maximum.
@group(0) @binding(0) var<storage, read> x: array<In>;
@group(0) @binding(1) var<storage, read_write> out: array<Out>;

const NQ: u32 = N / 4u;
const LOWEST: f32 = -3.0e38;

fn most(value: vec4<f32>) -> f32 {
    return max(max(value.x, value.y), max(value.z, value.w));
}

fn total(value: vec4<f32>) -> f32 {
    return (value.x + value.y) + (value.z + value.w);
}

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = group.x + group.y * groups.x;
    if row >= arrayLength(&out) / NQ {
        return;
    }
    let base = row * NQ;
    var peak = LOWEST;
    var sum = 0.0;
#if HELD
#for i HELD
    var x${i} = vec4<f32>(LOWEST);
    if lane + GROUP * ${i}u < NQ {
        x${i} = load_In(x[base + lane + GROUP * ${i}u]);
        peak = max(peak, most(x${i}));
    }
#end
    let highest = group_max(peak, lane);
#for i HELD
    x${i} = exp(x${i} - vec4<f32>(highest));
    sum += total(x${i});
#end
    let scale = 1.0 / group_sum(sum, lane);
#for i HELD
    if lane + GROUP * ${i}u < NQ {
        out[base + lane + GROUP * ${i}u] = store_Out(x${i} * scale);
    }
#end
#else
    for (var i = lane; i < NQ; i += GROUP) {
        let value = load_In(x[base + i]);
        let next = max(peak, most(value));
        sum = sum * exp(peak - next) + total(exp(value - vec4<f32>(next)));
        peak = next;
    }
    let highest = group_max(peak, lane);
    let scale = 1.0 / group_sum(sum * exp(peak - highest), lane);
    for (var i = lane; i < NQ; i += GROUP) {
        out[base + i] = store_Out(exp(load_In(x[base + i]) - vec4<f32>(highest)) * scale);
    }
#end
}
