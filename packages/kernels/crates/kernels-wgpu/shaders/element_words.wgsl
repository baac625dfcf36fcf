// Sixteen bytes of anything.
alias ${NAME} = vec4<u32>;
