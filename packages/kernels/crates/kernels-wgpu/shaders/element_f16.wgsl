alias ${NAME} = vec4<f16>;
fn load_${NAME}(quad: ${NAME}) -> vec4<f32> {
    return vec4<f32>(quad);
}
fn store_${NAME}(value: vec4<f32>) -> ${NAME} {
    return vec4<f16>(value);
}
