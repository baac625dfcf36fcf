// out = a after EIGHTS * 8 + REST multiply-adds of each element, one after the other. A grid strides over all quads.
@group(0) @binding(0) var<storage, read> a: array<In>;
@group(0) @binding(1) var<storage, read_write> out: array<Out>;

fn next(x: vec4<f32>) -> vec4<f32> {
    return fma(x, vec4<f32>(FACTOR), vec4<f32>(ADDEND));
}

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let quads = arrayLength(&out);
    let stride = groups.x * GROUP;
    for (var i = id.x; i < quads; i += stride) {
        var x = load_In(a[i]);
        for (var step = 0u; step < EIGHTS; step++) {
#for unrolled 8
            x = next(x);
#end
        }
#for unrolled REST
        x = next(x);
#end
        out[i] = store_Out(x);
    }
}
