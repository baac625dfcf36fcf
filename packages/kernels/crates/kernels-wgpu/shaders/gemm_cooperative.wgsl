// C = A B in f16 with f32 sums on matrix units: a workgroup is one subgroup, and computes 32 by 32 of C as TILES by TILES matrices
// of SIDE by SIDE. Sums start from, and end in, workgroup memory, where they become the type of the output.
@group(0) @binding(0) var<storage, read> a: array<f16>;
@group(0) @binding(1) var<storage, read> b: array<f16>;
#if OUT_F16
@group(0) @binding(2) var<storage, read_write> c: array<f16>;
#else
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
#end
#if EIGHT
alias Left = coop_mat8x8<f16, A>;
alias Right = coop_mat8x8<f16, B>;
alias Sums = coop_mat8x8<f32, C>;
#else
alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sums = coop_mat16x16<f32, C>;
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
#for i TILES
#for j TILES
    var c${i}_${j} = coopLoadT<Sums>(&sums[32u * SIDE * ${i}u + SIDE * ${j}u], 32u);
#end
#end
    for (var k = 0u; k < K; k += SIDE) {
#for i TILES
        let a${i} = coopLoadT<Left>(&a[(row0 + SIDE * ${i}u) * K + k], K);
#end
#for j TILES
#if NT
        let b${j} = coopLoad<Right>(&b[(column0 + SIDE * ${j}u) * K + k], K);
#else
        let b${j} = coopLoadT<Right>(&b[k * N + column0 + SIDE * ${j}u], N);
#end
#end
#for i TILES
#for j TILES
        c${i}_${j} = coopMultiplyAdd(a${i}, b${j}, c${i}_${j});
#end
#end
    }
#for i TILES
#for j TILES
    coopStoreT(c${i}_${j}, &sums[32u * SIDE * ${i}u + SIDE * ${j}u], 32u);
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
