use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use kernels_core::KernelError;

/// A library of CUDA that is opened at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// libcuda, which comes with the driver.
    Driver,
    /// The compiler of CUDA C.
    Nvrtc,
    /// The matrix products.
    CublasLt,
}

impl Library {
    /// Its name on this system.
    pub const fn name(self) -> &'static str {
        match (self, cfg!(windows)) {
            (Self::Driver, false) => "libcuda.so.1",
            (Self::Driver, true) => "nvcuda.dll",
            (Self::Nvrtc, false) => "libnvrtc.so.13 or .so.12",
            (Self::Nvrtc, true) => "nvrtc64_130_0.dll",
            (Self::CublasLt, false) => "libcublasLt.so.13 or .so.12",
            (Self::CublasLt, true) => "cublasLt64_13.dll",
        }
    }

    /// Whether it can be opened.
    pub fn is_present(self) -> bool {
        // SAFETY: these open and close a vendor's library by its name, which runs its initialisers; they do nothing else.
        let present = || unsafe {
            match self {
                Self::Driver => cudarc::driver::sys::is_culib_present(),
                Self::Nvrtc => cudarc::nvrtc::sys::is_culib_present(),
                Self::CublasLt => cudarc::cublaslt::sys::is_culib_present(),
            }
        };
        catch_unwind(present).unwrap_or(false)
    }

    /// Nothing, where it can be opened.
    ///
    /// # Errors
    /// `NoLoader`.
    pub fn required(self) -> Result<(), KernelError> {
        if self.is_present() {
            return Ok(());
        }
        Err(KernelError::NoLoader {
            library: self.name().to_owned(),
            reason: "it is not on this machine, or not where libraries are looked for".to_owned(),
        })
    }
}

/// Runs calls of a library whose bindings panic where a function is missing, and makes that an error.
///
/// # Errors
/// What `calls` gives, or `Call` for a panic.
pub fn caught<T>(name: &str, calls: impl FnOnce() -> Result<T, KernelError>) -> Result<T, KernelError> {
    catch_unwind(AssertUnwindSafe(calls)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(failed(name, said.unwrap_or("the bindings panicked")))
    })
}

/// A call that failed.
pub fn failed(call: &str, reason: &(impl ToString + ?Sized)) -> KernelError {
    KernelError::Call { call: call.to_owned(), reason: reason.to_string() }
}

/// Opens CUDA's libraries that lie in a folder, or up to three folders deeper as in Python wheels, and keeps them open: later
/// opening by name alone then finds them. Gives those that opened.
pub fn preload(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, 3, &mut files);
    // A library's own helpers first, so that it finds them.
    files.sort_by_key(|file| (rank(file), file.clone()));
    files.into_iter().filter(|file| open(file)).collect()
}

/// Where a file stands in the order of opening; None for one that isn't of interest.
fn rank(file: &Path) -> Option<usize> {
    const NAMES: [&str; 6] = ["nvrtc-builtins", "nvrtc64", "nvrtc.so", "cublas64", "cublas.so", "cublasLt"];
    let name = file.file_name()?.to_string_lossy().into_owned();
    let library = name.contains(".so") || name.to_ascii_lowercase().ends_with(".dll");
    NAMES.iter().position(|wanted| library && name.trim_start_matches("lib").starts_with(wanted))
}

fn collect(folder: &Path, deeper: u8, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() && deeper > 0 {
            collect(&path, deeper - 1, files);
        } else if rank(&path).is_some() {
            files.push(path);
        }
    }
}

fn open(file: &Path) -> bool {
    // SAFETY: opening runs the initialisers of a vendor's library that the user pointed at.
    let opened = unsafe { libloading::Library::new(file) };
    // Kept open for the life of the process, so that later opening by name finds it.
    opened.map(std::mem::forget).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_bindings_is_a_typed_error() {
        let missing = || -> Result<(), KernelError> {
            std::panic::resume_unwind(Box::new("no such symbol".to_owned()))
        };
        assert_eq!(caught("cuNothing", missing), Err(failed("cuNothing", "no such symbol")));
    }

    #[test]
    fn libraries_are_found_in_folders_of_wheels_and_others_are_left_alone() -> std::io::Result<()> {
        let folder = std::env::temp_dir().join(format!("perwatt-cuda-libraries-{}", std::process::id()));
        let inner = folder.join("nvidia/cu13/lib");
        fs::create_dir_all(&inner)?;
        let names = [
            "libcublasLt.so.13",
            "libnvrtc.so.13",
            "libnvrtc-builtins.so.13.0",
            "libcudart.so.13",
            "readme.txt",
        ];
        for name in names {
            fs::write(inner.join(name), "not a library")?;
        }
        let mut found = Vec::new();
        collect(&folder, 3, &mut found);
        found.sort_by_key(|file| rank(file));
        let found: Vec<_> = found.iter().filter_map(|file| file.file_name()?.to_str()).collect();
        let opened = preload(&folder);
        fs::remove_dir_all(&folder)?;
        assert_eq!(found, ["libnvrtc-builtins.so.13.0", "libnvrtc.so.13", "libcublasLt.so.13"]);
        assert_eq!(opened, Vec::<PathBuf>::new(), "none of them is a library");
        Ok(())
    }
}
