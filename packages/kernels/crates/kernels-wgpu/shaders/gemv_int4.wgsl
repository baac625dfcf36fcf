// out = x wᵀ with weights of 4 bits: w = (nibble - zero point) * scale, both per PER columns of a row. Element k of a row is in
// bits 4 (k mod 8) of word k / 8. Otherwise as gemv.wgsl.
@group(0) @binding(0) var<storage, read> w: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
#if ZEROS
@group(0) @binding(2) var<storage, read> zeros: array<u32>;
@group(0) @binding(3) var<storage, read> x: array<In>;
@group(0) @binding(4) var<storage, read_write> out: array<Out>;
#else
@group(0) @binding(2) var<storage, read> x: array<In>;
@group(0) @binding(3) var<storage, read_write> out: array<Out>;
#end

const KW: u32 = K / 8u;
const KQ: u32 = K / 4u;
const MQ: u32 = M / 4u;
const SCALES: u32 = K / PER;

alias Sum = vec4<f32>;

fn scale_of(at: u32) -> f32 {
#if SCALES_F32
    return bitcast<f32>(scales[at]);
#end
#if SCALES_F16
    return unpack2x16float(scales[at / 2u])[at & 1u];
#end
#if SCALES_BF16
    return bitcast<f32>((scales[at / 2u] >> (16u * (at & 1u))) << 16u);
#end
}

fn zero_of(at: u32) -> f32 {
#if ZEROS
    return f32((zeros[at / 8u] >> (4u * (at % 8u))) & 15u);
#else
    return 8.0;
#end
}

fn nibbles(word: u32, zero: f32) -> vec4<f32> {
    let shift = vec4<u32>(0u, 4u, 8u, 12u);
    return vec4<f32>((vec4<u32>(word) >> shift) & vec4<u32>(15u)) - vec4<f32>(zero);
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let rows = group.x + group.z * groups.x;
    if rows >= MQ {
        return;
    }
    let first = rows * 4u * KW;
    let vector0 = group.y * BT;
#for v BT
    var sum${v} = vec4<f32>(0.0);
    let x${v} = min(vector0 + ${v}u, BATCH - 1u) * KQ;
#end
    for (var i = lane; i < KW; i += 128u) {
        let scale = rows * 4u * SCALES + i * 8u / PER;
#for r 4
        let w${r} = w[first + ${r}u * KW + i];
        let scale${r} = scale_of(scale + ${r}u * SCALES);
        let zero${r} = zero_of(scale + ${r}u * SCALES);
        let low${r} = nibbles(w${r}, zero${r}) * scale${r};
        let high${r} = nibbles(w${r} >> 16u, zero${r}) * scale${r};
#end
#for v BT
        let a${v} = load_In(x[x${v} + 2u * i]);
        let b${v} = load_In(x[x${v} + 2u * i + 1u]);
        sum${v} += vec4<f32>(
            dot(low0, a${v}) + dot(high0, b${v}), dot(low1, a${v}) + dot(high1, b${v}),
            dot(low2, a${v}) + dot(high2, b${v}), dot(low3, a${v}) + dot(high3, b${v}));
#end
    }
#for v BT
    sums[${v}u * 128u + lane] = sum${v};
#end
    join(lane, vector0, rows);
}
