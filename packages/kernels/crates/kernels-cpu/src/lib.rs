//! The CPU as a device: what its vendors' libraries reach, opened at run time, beside loops of our own.
//!
//! Matrix products go through oneDNN, `OpenBLAS` or the `gemm` crate, whichever are there, each a row of its own.
//! Everything else is loops over all cores that run where no library is.

mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod backend;
mod buffer;
mod count;
mod element;
mod gemv;
mod int4;
mod isa;
mod kernels;
mod library;
mod machine;
mod matmul;
mod nibbles;
mod norms;
mod onednn;
mod openblas;
mod prepared;
mod streams;
#[cfg(target_arch = "x86_64")]
mod vnni;
mod widened;

pub use attention::{
    Heads, Partial, attend, decode_attention, prefill_attention, shared_prefix_attention,
    shared_prefix_decode,
};
pub use backend::{CpuBackend, CpuOptions};
pub use buffer::Buffer;
pub use count::{Count, Counted, Uncounted};
pub use element::Element;
