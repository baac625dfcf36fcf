// out = x / sqrt(mean(x²) + epsilon) * weight, one workgroup a row.
@group(0) @binding(0) var<storage, read> x: array<In>;
@group(0) @binding(1) var<storage, read> weight: array<In>;
@group(0) @binding(2) var<storage, read_write> out: array<Out>;

const DQ: u32 = D / 4u;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = group.x + group.y * groups.x;
    if row >= arrayLength(&out) / DQ {
        return;
    }
    let base = row * DQ;
    var squares = 0.0;
#if HELD
#for i HELD
    var x${i} = vec4<f32>(0.0);
    if lane + GROUP * ${i}u < DQ {
        x${i} = load_In(x[base + lane + GROUP * ${i}u]);
        squares += dot(x${i}, x${i});
    }
#end
#else
    for (var i = lane; i < DQ; i += GROUP) {
        let value = load_In(x[base + i]);
        squares += dot(value, value);
    }
#end
    let scale = 1.0 / sqrt(group_sum(squares, lane) / f32(D) + EPSILON);
#if HELD
#for i HELD
    if lane + GROUP * ${i}u < DQ {
        let at = lane + GROUP * ${i}u;
        out[base + at] = store_Out(x${i} * scale * load_In(weight[at]));
    }
#end
#else
    for (var i = lane; i < DQ; i += GROUP) {
        out[base + i] = store_Out(load_In(x[base + i]) * scale * load_In(weight[i]));
    }
#end
}
