// Attention of BQ query rows against all their keys, BK at a time through workgroup memory, with a running maximum and sum
// (online softmax). Eight invocations share a query row: each scores BK/8 of the keys and owns every eighth quad of the output.
//
// Without PARTIAL: prefill. group = (tile of query rows, query head, sequence); CAUSAL hides later keys.
// With PARTIAL: the queries of all sequences that share a prefix, against one span of it.
// group = (tile of rows, key head, span); row r is sequence r / SHARE, head r % SHARE of the key head's SHARE.
@group(0) @binding(0) var<storage, read> q: array<In>;
@group(0) @binding(1) var<storage, read> k: array<In>;
@group(0) @binding(2) var<storage, read> v: array<In>;
#if PARTIAL
@group(0) @binding(3) var<storage, read_write> part: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> lse: array<f32>;
#else
@group(0) @binding(3) var<storage, read_write> out: array<Out>;
#end

const DQ: u32 = D / 4u;
const PITCH: u32 = DQ + 1u;
const SCORES: u32 = BK + 1u;
const QUERY_TILE: u32 = BQ * PITCH;
const KEY_TILE: u32 = BK * PITCH;
const SCORE_TILE: u32 = BQ * SCORES;
const LOWEST: f32 = -3.0e38;

var<workgroup> query: array<vec4<f32>, QUERY_TILE>;
var<workgroup> tile: array<vec4<f32>, KEY_TILE>;
var<workgroup> score: array<f32, SCORE_TILE>;

fn query_at(group: vec3<u32>, row: u32) -> u32 {
#if PARTIAL
    return (row / SHARE) * Q_BATCH + (group.y * SHARE + row % SHARE) * Q_HEAD;
#else
    return group.z * Q_BATCH + group.y * Q_HEAD + row * Q_ROW;
#end
}

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row0 = group.x * BQ;
    let mine = lane / 8u;
    let part8 = lane % 8u;
    let row = row0 + mine;
#if PARTIAL
    let key_base = group.y * K_HEAD;
    let first = group.z * SPAN;
    let end = min(first + SPAN, KEYS);
#else
    let key_base = group.z * K_BATCH + (group.y / SHARE) * K_HEAD;
    let first = 0u;
#if CAUSAL
    let end = min(KEYS, row0 + BQ);
#else
    let end = KEYS;
#end
#end
    for (var i = lane; i < BQ * DQ; i += GROUP) {
        var value = vec4<f32>(0.0);
        if row0 + i / DQ < ROWS {
            value = load_In(q[query_at(group, row0 + i / DQ) + i % DQ]) * SCALE;
        }
        query[(i / DQ) * PITCH + i % DQ] = value;
    }
    var highest = LOWEST;
    var sum = 0.0;
#for i OWNED
    var o${i} = vec4<f32>(0.0);
#end
    for (var k0 = first; k0 < end; k0 += BK) {
        for (var i = lane; i < BK * DQ; i += GROUP) {
            var value = vec4<f32>(0.0);
            if k0 + i / DQ < end {
                value = load_In(k[key_base + (k0 + i / DQ) * K_ROW + i % DQ]);
            }
            tile[(i / DQ) * PITCH + i % DQ] = value;
        }
        workgroupBarrier();
#for j OWNED_KEYS
        var s${j} = 0.0;
#end
        for (var c = 0u; c < DQ; c += 1u) {
            let value = query[mine * PITCH + c];
#for j OWNED_KEYS
            s${j} += dot(value, tile[(part8 + 8u * ${j}u) * PITCH + c]);
#end
        }
#for j OWNED_KEYS
        let key${j} = k0 + part8 + 8u * ${j}u;
        if key${j} >= end || (CAUSAL == 1u && key${j} > row) {
            s${j} = LOWEST;
        }
        score[mine * SCORES + part8 + 8u * ${j}u] = s${j};
#end
        workgroupBarrier();
        for (var i = lane; i < BK * DQ; i += GROUP) {
            var value = vec4<f32>(0.0);
            if k0 + i / DQ < end {
                value = load_In(v[key_base + (k0 + i / DQ) * K_ROW + i % DQ]);
            }
            tile[(i / DQ) * PITCH + i % DQ] = value;
        }
        var next = highest;
        for (var j = 0u; j < BK; j += 1u) {
            next = max(next, score[mine * SCORES + j]);
        }
        workgroupBarrier();
#for j OWNED_KEYS
        score[mine * SCORES + part8 + 8u * ${j}u] = exp(s${j} - next);
#end
        workgroupBarrier();
        let keep = exp(highest - next);
        highest = next;
        sum = sum * keep;
#for i OWNED
        o${i} = o${i} * keep;
#end
        for (var j = 0u; j < BK; j += 1u) {
            let weight = score[mine * SCORES + j];
            sum += weight;
#for i OWNED
            o${i} = fma(vec4<f32>(weight), tile[j * PITCH + min(part8 + 8u * ${i}u, DQ - 1u)], o${i});
#end
        }
        workgroupBarrier();
    }
    if row >= ROWS {
        return;
    }
    let scale = 1.0 / sum;
#if PARTIAL
    let slot = ((row / SHARE) * HEADS + group.y * SHARE + row % SHARE) * SLOTS + SLOT + group.z;
    if part8 == 0u {
        lse[slot] = highest + log(sum);
    }
#for i OWNED
    if part8 + 8u * ${i}u < DQ {
        part[slot * DQ + part8 + 8u * ${i}u] = o${i} * scale;
    }
#end
#else
    let base = query_at(group, row);
#for i OWNED
    if part8 + 8u * ${i}u < DQ {
        out[base + part8 + 8u * ${i}u] = store_Out(o${i} * scale);
    }
#end
#end
}
