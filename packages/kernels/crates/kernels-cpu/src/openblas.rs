use std::{
    ffi::{CStr, c_char, c_float, c_int},
    path::PathBuf,
};

use kernels_core::{ImplId, KernelError};

use crate::{
    library::{function, open},
    matmul::MatMul,
};

const NAMES: &[&str] = if cfg!(target_os = "macos") {
    &["libopenblas.0.dylib", "libopenblas.dylib"]
} else if cfg!(windows) {
    &["libopenblas.dll", "openblas.dll"]
} else {
    &["libopenblas.so.0", "libopenblas.so"]
};

const ROW_MAJOR: c_int = 101;
const NOT_TRANSPOSED: c_int = 111;
const TRANSPOSED: c_int = 112;

type Sgemm = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_float,
    *const c_float,
    c_int,
    *const c_float,
    c_int,
    c_float,
    *mut c_float,
    c_int,
);

/// `OpenBLAS`, by its C interface with 32-bit sizes.
#[derive(Clone, Copy)]
pub(crate) struct OpenBlas {
    sgemm: Sgemm,
    config: unsafe extern "C" fn() -> *const c_char,
    threads: unsafe extern "C" fn() -> c_int,
}

impl OpenBlas {
    /// Opens it and has it use so many threads.
    pub fn open(folders: &[PathBuf], threads: usize) -> Result<Self, KernelError> {
        let library = open(NAMES, folders)?;
        // SAFETY: the types are those of OpenBLAS's cblas.h.
        let (blas, set_threads) = unsafe {
            let blas = Self {
                sgemm: function(library, "cblas_sgemm")?,
                config: function(library, "openblas_get_config")?,
                threads: function(library, "openblas_get_num_threads")?,
            };
            (blas, function::<unsafe extern "C" fn(c_int)>(library, "openblas_set_num_threads")?)
        };
        if blas.config().split_whitespace().any(|word| word == "USE64BITINT") {
            return Err(KernelError::Unsupported {
                what: "OpenBLAS with 64-bit sizes".to_owned(),
                reason: "its C interface is called with 32-bit ones".to_owned(),
            });
        }
        // SAFETY: any number is allowed; it is clamped by the library.
        unsafe { set_threads(size(threads)) };
        Ok(blas)
    }

    fn config(&self) -> String {
        // SAFETY: it takes nothing; the text is static and ends in a NUL.
        unsafe { CStr::from_ptr((self.config)()) }.to_string_lossy().into_owned()
    }

    pub fn impl_id(&self) -> ImplId {
        // SAFETY: it takes nothing.
        let (config, threads) = (self.config(), unsafe { (self.threads)() });
        let words: Vec<&str> = config.split_whitespace().skip_while(|word| *word != "OpenBLAS").collect();
        let version = words.get(1).copied().unwrap_or("unknown");
        let core = words.iter().skip(2).rfind(|word| !word.contains('=') && **word != "SINGLE_THREADED");
        let core = core.copied().unwrap_or("unknown");
        ImplId::new("cpu", "openblas").with("version", version).with("core", core).with("threads", threads)
    }

    /// out = left · right.
    pub fn multiply(&self, of: &MatMul, left: &[f32], right: &[f32], out: &mut [f32]) {
        let (m, n, k) = (size(of.rows), size(of.columns), size(of.depth));
        let (transposition, right_step) = if of.transposed { (TRANSPOSED, k) } else { (NOT_TRANSPOSED, n) };
        debug_assert!(left.len() >= of.rows * of.depth && right.len() >= of.depth * of.columns);
        debug_assert!(out.len() >= of.rows * of.columns);
        // SAFETY: the sizes are those of the slices, whose lengths `prepare` made from the same specification.
        unsafe {
            (self.sgemm)(
                ROW_MAJOR,
                NOT_TRANSPOSED,
                transposition,
                m,
                n,
                k,
                1.0,
                left.as_ptr(),
                k,
                right.as_ptr(),
                right_step,
                0.0,
                out.as_mut_ptr(),
                n,
            );
        }
    }
}

/// A size that fits, since `supports` refused others.
fn size(of: usize) -> c_int {
    c_int::try_from(of).unwrap_or(c_int::MAX)
}
