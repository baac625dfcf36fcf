use std::{
    env,
    error::Error,
    ffi::{OsStr, OsString, c_int},
    path::PathBuf,
};

use kernels_core::KernelError;
use libloading::Library;

/// What a call of `ROCm`'s libraries returns; 0 is success.
pub type Status = c_int;

/// The runtime's names, the newest first. Its major version is `ROCm`'s.
pub const RUNTIME: [&str; 4] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];
/// The compiler's names; before `ROCm` 5.3 it is in the runtime.
pub const COMPILER: [&str; 4] = ["libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so"];
/// The names of the matrix products.
pub const PRODUCTS: [&str; 5] =
    ["librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0", "librocblas.so"];

/// Where libraries are looked for: first in these folders, a list as that of `PATH`; then where the system looks; then where
/// `ROCm` is usually installed.
pub fn search_folders(first: Option<&OsStr>) -> Vec<Option<PathBuf>> {
    let first = first.into_iter().flat_map(env::split_paths).filter(|folder| !folder.as_os_str().is_empty());
    let installed =
        env::var_os("ROCM_PATH").map(PathBuf::from).into_iter().chain([PathBuf::from("/opt/rocm")]);
    first.map(Some).chain([None]).chain(installed.map(|root| Some(root.join("lib")))).collect()
}

/// Opens the first of `names` that opens, in each of `folders` in turn; None stands for where the system looks. It is never
/// closed: its threads outlive its last call.
///
/// # Errors
/// `NoLoader` with what the system said of the first name.
pub fn open(names: &[&str], folders: &[Option<PathBuf>]) -> Result<&'static Library, KernelError> {
    let mut reason = None;
    for folder in folders {
        for name in names {
            let path =
                folder.as_ref().map_or_else(|| OsString::from(name), |folder| folder.join(name).into());
            // SAFETY: opening runs the initialisers of a vendor's library.
            match unsafe { Library::new(&path) } {
                Ok(library) => return Ok(Box::leak(Box::new(library))),
                Err(error) if folder.is_none() => reason = reason.or_else(|| Some(words(&error))),
                Err(_) => {}
            }
        }
    }
    Err(KernelError::NoLoader {
        library: names.first().copied().unwrap_or_default().to_owned(),
        reason: reason.unwrap_or_else(|| "it is nowhere".to_owned()),
    })
}

/// A function of a library that is never closed.
///
/// # Errors
/// `NoLoader` where it has none of this name.
///
/// # Safety
/// `F` must be the function's type.
pub unsafe fn function<F: Copy>(library: &'static Library, name: &'static str) -> Result<F, KernelError> {
    // SAFETY: the caller vouches for the type.
    let symbol = unsafe { library.get::<F>(name.as_bytes()) };
    symbol
        .map(|symbol| *symbol)
        .map_err(|error| KernelError::NoLoader { library: name.to_owned(), reason: words(&error) })
}

/// What the system said.
fn words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// A table of a library's functions, all of which return a status.
macro_rules! functions {
    ($(#[$about:meta])* $table:ident { $($field:ident = $symbol:literal ($($argument:ty),*);)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub struct $table {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $crate::library::Status,)*
        }

        impl $table {
            /// Looks all of them up.
            ///
            /// # Errors
            /// `NoLoader` with the first that is missing.
            pub fn of(library: &'static libloading::Library) -> Result<Self, kernels_core::KernelError> {
                // SAFETY: the types are those of the library's own headers.
                unsafe { Ok(Self { $($field: $crate::library::function(library, $symbol)?,)* }) }
            }
        }
    };
}
pub(crate) use functions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_were_named_come_first_and_empty_ones_are_none() {
        let list = env::join_paths(["/a", "", "/b"]).unwrap_or_default();
        let found = search_folders(Some(&list));
        let first: Vec<Option<PathBuf>> = vec![Some("/a".into()), Some("/b".into()), None];
        assert_eq!(found.get(..3), Some(&first[..]));
        assert_eq!(found.last(), Some(&Some(PathBuf::from("/opt/rocm/lib"))));
        assert_eq!(search_folders(None).first(), Some(&None));
    }

    #[test]
    fn what_is_nowhere_says_so() {
        let refused = open(&["libperwatt-none.so.7", "libperwatt-none.so"], &search_folders(None)).err();
        assert!(
            matches!(&refused, Some(KernelError::NoLoader { library, reason }) if library == "libperwatt-none.so.7" && reason.contains("libperwatt-none.so.7")),
            "{refused:?}"
        );
    }
}
