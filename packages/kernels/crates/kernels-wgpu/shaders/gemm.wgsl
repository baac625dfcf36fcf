// C = A B, A of M rows of K, B of K rows of N (with NT: of N rows of K), all row-major. A workgroup of 16 by 16 computes a
// tile of 16 TM rows by 16 TN columns, 16 of K at a time through workgroup memory; an invocation TM by TN of it.
@group(0) @binding(0) var<storage, read> a: array<In>;
@group(0) @binding(1) var<storage, read> b: array<In>;
@group(0) @binding(2) var<storage, read_write> c: array<Out>;

const KT: u32 = 16u;
const BM: u32 = 16u * TM;
const BNQ: u32 = 4u * TN;
const KQ: u32 = K / 4u;
const NQ: u32 = N / 4u;
const PITCH: u32 = BM + 1u;
const TILE_A: u32 = KT * PITCH;
const TILE_B: u32 = KT * BNQ;

var<workgroup> tile_a: array<f32, TILE_A>;
var<workgroup> tile_b: array<vec4<f32>, TILE_B>;

@compute @workgroup_size(16, 16)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let rows = arrayLength(&c) / NQ;
    let row0 = group.y * BM;
    let column0 = group.x * BNQ;
#for i TM
#for j TNQ
    var c${i}_${j} = vec4<f32>(0.0);
#end
#end
    for (var k0 = 0u; k0 < K; k0 += KT) {
        for (var i = lane; i < BM * 4u; i += 256u) {
            let row = i / 4u;
            let kq = k0 / 4u + (i & 3u);
            var value = vec4<f32>(0.0);
            if row0 + row < rows && kq < KQ {
                value = load_In(a[(row0 + row) * KQ + kq]);
            }
            let at = (i & 3u) * 4u * PITCH + row;
            tile_a[at] = value.x;
            tile_a[at + PITCH] = value.y;
            tile_a[at + 2u * PITCH] = value.z;
            tile_a[at + 3u * PITCH] = value.w;
        }
#if NT
        for (var i = lane; i < BNQ * 16u; i += 256u) {
            let column = i / 4u;
            let kq = k0 / 4u + (i & 3u);
            var value = vec4<f32>(0.0);
            if column0 * 4u + column < N && kq < KQ {
                value = load_In(b[(column0 * 4u + column) * KQ + kq]);
            }
            let at = (i & 3u) * 4u * BNQ + column / 4u;
            tile_b[at][column % 4u] = value.x;
            tile_b[at + BNQ][column % 4u] = value.y;
            tile_b[at + 2u * BNQ][column % 4u] = value.z;
            tile_b[at + 3u * BNQ][column % 4u] = value.w;
        }
#else
        for (var i = lane; i < KT * BNQ; i += 256u) {
            let k = k0 + i / BNQ;
            let column = column0 + i % BNQ;
            var value = vec4<f32>(0.0);
            if k < K && column < NQ {
                value = load_In(b[k * NQ + column]);
            }
            tile_b[i] = value;
        }
#end
        workgroupBarrier();
        for (var k = 0u; k < KT; k += 1u) {
#for j TNQ
            let b${j} = tile_b[k * BNQ + local.x + 16u * ${j}u];
#end
#for i TM
            let a${i} = vec4<f32>(tile_a[k * PITCH + local.y * TM + ${i}u]);
#for j TNQ
            c${i}_${j} = fma(a${i}, b${j}, c${i}_${j});
#end
#end
        }
        workgroupBarrier();
    }
#for i TM
#for j TNQ
    if row0 + local.y * TM + ${i}u < rows && column0 + local.x + 16u * ${j}u < NQ {
        c[(row0 + local.y * TM + ${i}u) * NQ + column0 + local.x + 16u * ${j}u] = store_Out(c${i}_${j});
    }
#end
#end
}
