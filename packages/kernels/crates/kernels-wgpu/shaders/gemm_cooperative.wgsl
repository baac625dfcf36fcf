// C = A B in f16 with f32 sums on matrix units: a workgroup is one subgroup, and computes 32 by 32 of C as four 16×16 tiles.
// Sums start from, and end in, workgroup memory, where they become the type of the output.
@group(0) @binding(0) var<storage, read> a: array<f16>;
@group(0) @binding(1) var<storage, read> b: array<f16>;
#if OUT_F16
@group(0) @binding(2) var<storage, read_write> c: array<f16>;
#else
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
#end

var<workgroup> sums: array<f32, 1024>;

@compute @workgroup_size(SUBGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row0 = group.y * 32u;
    let column0 = group.x * 32u;
    for (var i = lane; i < 1024u; i += SUBGROUP) {
        sums[i] = 0.0;
    }
    workgroupBarrier();
#for i 2
#for j 2
    var c${i}_${j} = coopLoadT<coop_mat16x16<f32, C>>(&sums[512u * ${i}u + 16u * ${j}u], 32u);
#end
#end
    for (var k = 0u; k < K; k += 16u) {
#for i 2
        let a${i} = coopLoadT<coop_mat16x16<f16, A>>(&a[(row0 + 16u * ${i}u) * K + k], K);
#end
#for j 2
#if NT
        let b${j} = coopLoad<coop_mat16x16<f16, B>>(&b[(column0 + 16u * ${j}u) * K + k], K);
#else
        let b${j} = coopLoadT<coop_mat16x16<f16, B>>(&b[k * N + column0 + 16u * ${j}u], N);
#end
#end
#for i 2
#for j 2
        c${i}_${j} = coopMultiplyAdd(a${i}, b${j}, c${i}_${j});
#end
#end
    }
#for i 2
#for j 2
    coopStoreT(c${i}_${j}, &sums[512u * ${i}u + 16u * ${j}u], 32u);
#end
#end
    workgroupBarrier();
    for (var i = lane; i < 1024u; i += SUBGROUP) {
#if OUT_F16
        c[(row0 + i / 32u) * N + column0 + i % 32u] = f16(sums[i]);
#else
        c[(row0 + i / 32u) * N + column0 + i % 32u] = sums[i];
#end
    }
}
