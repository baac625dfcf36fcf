alias ${NAME} = vec4<i32>;
fn store_${NAME}(value: vec4<i32>) -> ${NAME} {
    return value;
}
