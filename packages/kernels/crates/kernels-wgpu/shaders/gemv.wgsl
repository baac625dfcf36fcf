// out = x wᵀ for BT of the batch's vectors at a time. A workgroup reads four rows of w once, and keeps BT sums of four rows
// in every invocation; the sums meet in workgroup memory at the end.
// group = (four rows, BT vectors); beyond 65,535 the rows go on in z.
#if INT8
@group(0) @binding(0) var<storage, read> w: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<u32>;
#else
@group(0) @binding(0) var<storage, read> w: array<In>;
@group(0) @binding(1) var<storage, read> x: array<In>;
#end
@group(0) @binding(2) var<storage, read_write> out: array<Out>;

const KQ: u32 = K / 4u;
const MQ: u32 = M / 4u;

#if INT8
alias Sum = vec4<i32>;
#else
alias Sum = vec4<f32>;
#end

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
    let first = rows * 4u * KQ;
    let vector0 = group.y * BT;
#for v BT
    var sum${v} = Sum();
    let x${v} = min(vector0 + ${v}u, BATCH - 1u) * KQ;
#end
    for (var i = lane; i < KQ; i += 128u) {
#if INT8
        let w0 = w[first + i];
        let w1 = w[first + KQ + i];
        let w2 = w[first + 2u * KQ + i];
        let w3 = w[first + 3u * KQ + i];
#for v BT
        let v${v} = x[x${v} + i];
        sum${v} += Sum(
            dot4I8Packed(w0, v${v}), dot4I8Packed(w1, v${v}), dot4I8Packed(w2, v${v}), dot4I8Packed(w3, v${v}));
#end
#else
        let w0 = load_In(w[first + i]);
        let w1 = load_In(w[first + KQ + i]);
        let w2 = load_In(w[first + 2u * KQ + i]);
        let w3 = load_In(w[first + 3u * KQ + i]);
#for v BT
        let v${v} = load_In(x[x${v} + i]);
        sum${v} += Sum(dot(w0, v${v}), dot(w1, v${v}), dot(w2, v${v}), dot(w3, v${v}));
#end
#end
    }
#for v BT
    sums[${v}u * 128u + lane] = sum${v};
#end
    join(lane, vector0, rows);
}
