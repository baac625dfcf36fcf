// bf16 is the upper half of an f32: pairs in a word, the first in the low half.
alias ${NAME} = vec2<u32>;
fn load_${NAME}(quad: ${NAME}) -> vec4<f32> {
    let low = quad << vec2<u32>(16u);
    let high = quad & vec2<u32>(0xffff0000u);
    return vec4<f32>(
        bitcast<f32>(low.x), bitcast<f32>(high.x), bitcast<f32>(low.y), bitcast<f32>(high.y));
}
fn store_${NAME}(value: vec4<f32>) -> ${NAME} {
    let bits = bitcast<vec4<u32>>(value);
    let even = bits + vec4<u32>(0x7fffu) + ((bits >> vec4<u32>(16u)) & vec4<u32>(1u));
    let not_a_number = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
    let upper = select(even, vec4<u32>(0x7fc00000u), not_a_number) >> vec4<u32>(16u);
    return vec2<u32>(upper.x | (upper.y << 16u), upper.z | (upper.w << 16u));
}
