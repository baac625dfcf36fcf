// Four elements at a time: how a type lies in memory, and how it becomes f32.
alias ${NAME} = vec4<f32>;
fn load_${NAME}(quad: ${NAME}) -> vec4<f32> {
    return quad;
}
fn store_${NAME}(value: vec4<f32>) -> ${NAME} {
    return value;
}
