use std::path::PathBuf;

use kernels_core::KernelError;
use libloading::Library;

/// Opens the first of `names`, in `folders` first and then wherever the system looks. The library is never closed: its
/// threads outlive its last call.
pub(crate) fn open(names: &[&str], folders: &[PathBuf]) -> Result<&'static Library, KernelError> {
    let placed =
        folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name).into_os_string()));
    let mut reasons = Vec::new();
    for path in placed.chain(names.iter().map(Into::into)) {
        // SAFETY: the initialisers of the BLAS libraries named here only start threads and read the environment.
        match unsafe { Library::new(&path) } {
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    let library = names.first().copied().unwrap_or_default().to_owned();
    Err(KernelError::NoLoader { library, reason: reasons.pop().unwrap_or_default() })
}

/// A function of a library that is never closed.
///
/// # Safety
/// `F` must be the function's type.
pub(crate) unsafe fn function<F: Copy>(library: &'static Library, name: &str) -> Result<F, KernelError> {
    // SAFETY: the caller vouches for the type.
    let symbol = unsafe { library.get::<F>(name.as_bytes()) };
    symbol
        .map(|symbol| *symbol)
        .map_err(|error| KernelError::NoLoader { library: name.to_owned(), reason: error.to_string() })
}
