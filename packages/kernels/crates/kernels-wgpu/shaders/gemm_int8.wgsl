// C = A B in int8 with an int32 sum: four products at a time by dot4I8Packed, along K. Without NT, B's words hold
// four columns of one row, and a block of four rows is transposed on its way into workgroup memory.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4<i32>>;

const KW: u32 = 8u;
const BM: u32 = 16u * TM;
const BNQ: u32 = 4u * TN;
const KQ: u32 = K / 4u;
const NQ: u32 = N / 4u;
const PITCH: u32 = BM + 1u;
const TILE_A: u32 = KW * PITCH;
const TILE_B: u32 = KW * BNQ;

var<workgroup> tile_a: array<u32, TILE_A>;
var<workgroup> tile_b: array<vec4<u32>, TILE_B>;

fn transpose_bytes(row: vec4<u32>) -> vec4<u32> {
    let shift = vec4<u32>(0u, 8u, 16u, 24u);
    let byte = vec4<u32>(0xffu);
    let x = (vec4<u32>(row.x) >> shift) & byte;
    let y = (vec4<u32>(row.y) >> shift) & byte;
    let z = (vec4<u32>(row.z) >> shift) & byte;
    let w = (vec4<u32>(row.w) >> shift) & byte;
    return x | (y << vec4<u32>(8u)) | (z << vec4<u32>(16u)) | (w << vec4<u32>(24u));
}

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
    var c${i}_${j} = vec4<i32>(0);
#end
#end
    for (var k0 = 0u; k0 < KQ; k0 += KW) {
        for (var i = lane; i < BM * KW; i += 256u) {
            let row = i / KW;
            let kq = k0 + i % KW;
            var word = 0u;
            if row0 + row < rows && kq < KQ {
                word = a[(row0 + row) * KQ + kq];
            }
            tile_a[(i % KW) * PITCH + row] = word;
        }
#if NT
        for (var i = lane; i < BNQ * 4u * KW; i += 256u) {
            let column = i / KW;
            let kq = k0 + i % KW;
            var word = 0u;
            if column0 * 4u + column < N && kq < KQ {
                word = b[(column0 * 4u + column) * KQ + kq];
            }
            tile_b[(i % KW) * BNQ + column / 4u][column % 4u] = word;
        }
#else
        for (var i = lane; i < KW * BNQ; i += 256u) {
            let kq = k0 + i / BNQ;
            let column = column0 + i % BNQ;
            var words = vec4<u32>(0u);
            if kq < KQ && column < NQ {
                let at = kq * 4u * NQ + column;
                words = vec4<u32>(b[at], b[at + NQ], b[at + 2u * NQ], b[at + 3u * NQ]);
            }
            tile_b[i] = transpose_bytes(words);
        }
#end
        workgroupBarrier();
        for (var k = 0u; k < KW; k += 1u) {
#for j TNQ
            let b${j} = tile_b[k * BNQ + local.x + 16u * ${j}u];
#end
#for i TM
            let a${i} = tile_a[k * PITCH + local.y * TM + ${i}u];
#for j TNQ
            c${i}_${j} += vec4<i32>(
                dot4I8Packed(a${i}, b${j}.x), dot4I8Packed(a${i}, b${j}.y),
                dot4I8Packed(a${i}, b${j}.z), dot4I8Packed(a${i}, b${j}.w));
#end
#end
        }
        workgroupBarrier();
    }
#for i TM
#for j TNQ
    if row0 + local.y * TM + ${i}u < rows && column0 + local.x + 16u * ${j}u < NQ {
        c[(row0 + local.y * TM + ${i}u) * NQ + column0 + local.x + 16u * ${j}u] = c${i}_${j};
    }
#end
#end
}
