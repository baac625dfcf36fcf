use std::{
    env,
    ffi::OsString,
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use kernels_c::caught;
use kernels_core::KernelError;

use crate::nvrtc;

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

    /// Whether it can be opened, by its name or from where it usually stands. Opened once and kept.
    pub fn is_present(self) -> bool {
        static FOUND: [OnceLock<bool>; 3] = [const { OnceLock::new() }; 3];
        let [driver, nvrtc, cublaslt] = &FOUND;
        match self {
            Self::Driver => *driver.get_or_init(|| self.opens()),
            Self::Nvrtc => *nvrtc.get_or_init(|| self.opens_somewhere()),
            Self::CublasLt => *cublaslt.get_or_init(|| self.opens_somewhere()),
        }
    }

    fn opens_somewhere(self) -> bool {
        static USUAL: OnceLock<()> = OnceLock::new();
        if self.opens() {
            return true;
        }
        USUAL.get_or_init(|| {
            for folder in usual_folders(|name| env::var_os(name)) {
                preload(&folder);
            }
        });
        self.opens()
    }

    fn opens(self) -> bool {
        // SAFETY: these open a vendor's library by its name, which runs its initialisers, and keep it open; they do nothing else.
        let present = || unsafe {
            use cudarc::{cublaslt, driver, nvrtc};
            match self {
                Self::Driver => driver::sys::is_culib_present().then(|| driver::sys::culib()).is_some(),
                Self::Nvrtc => nvrtc::sys::is_culib_present().then(|| nvrtc::sys::culib()).is_some(),
                Self::CublasLt => cublaslt::sys::is_culib_present().then(|| cublaslt::sys::culib()).is_some(),
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

    /// The major version of CUDA that it is of; None for one that can't be asked.
    fn major(self) -> Option<i32> {
        match self {
            Self::Driver => None,
            Self::Nvrtc => nvrtc::version().map(|(major, _)| major),
            Self::CublasLt => {
                let asked = caught("cublasLtGetVersion", || {
                    // SAFETY: the library is open; the call takes nothing.
                    Ok(unsafe { cudarc::cublaslt::sys::cublasLtGetVersion() })
                });
                asked.ok().and_then(|version| i32::try_from(version / 10_000).ok())
            }
        }
    }
}

/// Nothing, where an open library is of the driver's CUDA or an older one: what is newer by a major version doesn't run on it.
///
/// # Errors
/// `DriverTooOld`.
pub fn newer_than(library: Library, driver_version: i32) -> Result<(), KernelError> {
    match library.major().filter(|&major| major > driver_version / 1000) {
        None => Ok(()),
        Some(major) => Err(KernelError::DriverTooOld {
            backend: library.name().to_owned(),
            found: format!("CUDA {}.{}", driver_version / 1000, driver_version % 1000 / 10),
            needs: format!("CUDA {major}, or that library of CUDA {}", driver_version / 1000),
        }),
    }
}

/// Folders that toolkits and Python environments put libraries into.
fn usual_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let under = |name: &str, inner: &str| Some(PathBuf::from(variable(name)?).join(inner));
    let toolkits = [under("CUDA_HOME", "lib64"), under("CUDA_PATH", "lib64"), under("CONDA_PREFIX", "lib")];
    let usual = [Some(PathBuf::from("/usr/local/cuda/lib64"))];
    let wheels = under("VIRTUAL_ENV", "lib").into_iter().flat_map(|folder| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|python| python.path().join("site-packages/nvidia"))
    });
    toolkits.into_iter().chain(usual).flatten().chain(wheels).collect()
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
    const NAMES: [&str; 4] = ["nvrtc-builtins", "nvrtc64", "nvrtc.so", "cublasLt"];
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
    fn toolkits_and_python_environments_are_looked_into() -> std::io::Result<()> {
        let folder = std::env::temp_dir().join(format!("perwatt-cuda-usual-{}", std::process::id()));
        fs::create_dir_all(folder.join("lib/python3.12"))?;
        let found = usual_folders(|name| match name {
            "CUDA_HOME" => Some(OsString::from("/opt/cuda")),
            "VIRTUAL_ENV" => Some(folder.clone().into_os_string()),
            _ => None,
        });
        fs::remove_dir_all(&folder)?;
        let wheels = folder.join("lib/python3.12/site-packages/nvidia");
        let expected = ["/opt/cuda/lib64", "/usr/local/cuda/lib64"].map(PathBuf::from);
        assert_eq!(found, expected.into_iter().chain([wheels]).collect::<Vec<_>>());
        Ok(())
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
            "libcublas.so.13",
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
