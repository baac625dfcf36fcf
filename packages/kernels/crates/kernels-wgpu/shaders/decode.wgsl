// Attention of one new token: a workgroup takes SHARED of the query heads that share a key head, and one span of the keys.
// It writes its normalised output and the log of its sum; merge.wgsl joins the spans.
// group = (span, chunk of heads, sequence).
@group(0) @binding(0) var<storage, read> q: array<In>;
@group(0) @binding(1) var<storage, read> k: array<In>;
@group(0) @binding(2) var<storage, read> v: array<In>;
@group(0) @binding(3) var<storage, read_write> part: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> lse: array<f32>;

const DQ: u32 = D / 4u;
const KEYS_AT_ONCE: u32 = 32u;
const LOWEST: f32 = -3.0e38;
const QUERY_TILE: u32 = SHARED * DQ;
const SCORE_TILE: u32 = SHARED * KEYS_AT_ONCE;
const PRODUCT_TILE: u32 = SCORE_TILE * 8u;
const PEAK_TILE: u32 = SHARED * 4u;

var<workgroup> query: array<vec4<f32>, QUERY_TILE>;
var<workgroup> product: array<f32, PRODUCT_TILE>;
var<workgroup> score: array<f32, SCORE_TILE>;
var<workgroup> peak: array<f32, PEAK_TILE>;
var<workgroup> joined: array<vec4<f32>, 128>;
var<workgroup> joined_sum: array<f32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let head0 = group.y * SHARED;
    let key_base = group.z * K_BATCH + (head0 / SHARE) * K_HEAD;
    let first = group.x * SPAN;
    let end = min(first + SPAN, KEYS);
    let column = lane % DQ;
    let crew = lane / DQ;
    for (var i = lane; i < SHARED * DQ; i += 128u) {
        query[i] = load_In(q[group.z * Q_BATCH + (head0 + i / DQ) * Q_HEAD + i % DQ]) * SCALE;
    }
#for g SHARED
    var highest${g} = LOWEST;
    var sum${g} = 0.0;
    var o${g} = vec4<f32>(0.0);
#end
    workgroupBarrier();
    for (var k0 = first; k0 < end; k0 += KEYS_AT_ONCE) {
#for s 2
        {
#for g SHARED
            var dot${g} = 0.0;
#end
            let key = k0 + ${s}u * 16u + lane / 8u;
            if key < end {
                for (var c = lane % 8u; c < DQ; c += 8u) {
                    let value = load_In(k[key_base + key * K_ROW + c]);
#for g SHARED
                    dot${g} += dot(query[${g}u * DQ + c], value);
#end
                }
            }
#for g SHARED
            product[(${g}u * KEYS_AT_ONCE + ${s}u * 16u) * 8u + lane] = dot${g};
#end
        }
#end
        workgroupBarrier();
        for (var i = lane; i < SHARED * KEYS_AT_ONCE; i += 128u) {
            var total = LOWEST;
            if k0 + i % KEYS_AT_ONCE < end {
                total = ((product[i * 8u] + product[i * 8u + 1u]) + (product[i * 8u + 2u] + product[i * 8u + 3u]))
                    + ((product[i * 8u + 4u] + product[i * 8u + 5u]) + (product[i * 8u + 6u] + product[i * 8u + 7u]));
            }
            score[i] = total;
        }
        workgroupBarrier();
        if lane < SHARED * 4u {
            var most = score[lane * 8u];
            for (var i = 1u; i < 8u; i += 1u) {
                most = max(most, score[lane * 8u + i]);
            }
            peak[lane] = most;
        }
        workgroupBarrier();
#for g SHARED
        let next${g} = max(
            max(max(peak[${g}u * 4u], peak[${g}u * 4u + 1u]), max(peak[${g}u * 4u + 2u], peak[${g}u * 4u + 3u])),
            highest${g});
        let keep${g} = exp(highest${g} - next${g});
        highest${g} = next${g};
        sum${g} = sum${g} * keep${g};
        o${g} = o${g} * keep${g};
        if lane < KEYS_AT_ONCE {
            score[${g}u * KEYS_AT_ONCE + lane] = exp(score[${g}u * KEYS_AT_ONCE + lane] - next${g});
        }
#end
        workgroupBarrier();
        if crew < CREWS {
            for (var j = crew; j < KEYS_AT_ONCE; j += CREWS) {
                if k0 + j < end {
                    let value = load_In(v[key_base + (k0 + j) * K_ROW + column]);
#for g SHARED
                    let weight${g} = score[${g}u * KEYS_AT_ONCE + j];
                    sum${g} += weight${g};
                    o${g} = fma(vec4<f32>(weight${g}), value, o${g});
#end
                }
            }
        }
        workgroupBarrier();
    }
#for g SHARED
    joined[lane] = o${g};
    joined_sum[lane] = sum${g};
    workgroupBarrier();
    if crew == 0u {
        var total = o${g};
        var weight = sum${g};
        for (var other = 1u; other < CREWS; other += 1u) {
            total += joined[other * DQ + column];
            weight += joined_sum[other * DQ + column];
        }
        let slot = (group.z * HEADS + head0 + ${g}u) * SLOTS + SLOT + group.x;
        part[slot * DQ + column] = total * (1.0 / weight);
        if column == 0u {
            lse[slot] = highest${g} + log(weight);
        }
    }
    workgroupBarrier();
#end
}
