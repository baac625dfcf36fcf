// copy: out = a; triad: out = a + q * b. A grid of GROUP-wide workgroups strides over all quads.
@group(0) @binding(0) var<storage, read> a: array<In>;
#if TRIAD
@group(0) @binding(1) var<storage, read> b: array<In>;
@group(0) @binding(2) var<storage, read_write> out: array<Out>;
#else
@group(0) @binding(1) var<storage, read_write> out: array<Out>;
#end

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let quads = arrayLength(&out);
    let stride = groups.x * GROUP;
    for (var i = id.x; i < quads; i += stride) {
#if TRIAD
        out[i] = store_Out(load_In(a[i]) + SCALAR * load_In(b[i]));
#else
        out[i] = a[i];
#end
    }
}
