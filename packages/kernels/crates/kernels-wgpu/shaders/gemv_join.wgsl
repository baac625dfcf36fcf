// The end of a GEMV: adds the BT sums of 128 invocations and writes four rows' results for each vector.
const SUMS: u32 = BT * 128u;

var<workgroup> sums: array<Sum, SUMS>;

fn join(lane: u32, vector0: u32, rows: u32) {
    workgroupBarrier();
    for (var i = lane; i < BT * 16u; i += 128u) {
        var total = sums[i * 8u];
        for (var j = 1u; j < 8u; j += 1u) {
            total += sums[i * 8u + j];
        }
        sums[i * 8u] = total;
    }
    workgroupBarrier();
    if lane < BT && vector0 + lane < BATCH {
        var total = sums[lane * 128u];
        for (var j = 1u; j < 16u; j += 1u) {
            total += sums[lane * 128u + j * 8u];
        }
        out[(vector0 + lane) * MQ + rows] = store_Out(total);
    }
}
