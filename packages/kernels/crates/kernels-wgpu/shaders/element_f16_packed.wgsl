// f16 on a device without 16-bit arithmetic: pairs in a word, unpacked by a core function.
alias ${NAME} = vec2<u32>;
fn load_${NAME}(quad: ${NAME}) -> vec4<f32> {
    return vec4<f32>(unpack2x16float(quad.x), unpack2x16float(quad.y));
}
fn store_${NAME}(value: vec4<f32>) -> ${NAME} {
    return vec2<u32>(pack2x16float(value.xy), pack2x16float(value.zw));
}
