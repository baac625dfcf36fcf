//! Loading a library, and taking calls out of it.
#![expect(unsafe_code, reason = "what a foreign library does can't be checked")]

use std::path::Path;

use libloading::Library;
use power_core::PowerError;

/// A library that stays loaded until the process ends: vendors' libraries leave threads and state behind.
pub struct Loaded {
    library: &'static Library,
    source_name: &'static str,
    path: String,
}

impl Loaded {
    /// Loads the library, by path or by a name that the system looks up.
    pub fn open(source_name: &'static str, path: &Path) -> Result<Self, PowerError> {
        // SAFETY: loading runs the library's initialisers, which is what the user asks for by naming it; it's the vendor's.
        let loaded = unsafe { Library::new(path) };
        let library = loaded.map_err(|error| PowerError::Library {
            source_name,
            said: format!("cannot load {}: {}", path.display(), one_line(&error)),
        })?;
        Ok(Self { library: Box::leak(Box::new(library)), source_name, path: path.display().to_string() })
    }

    /// A call that must be there.
    ///
    /// # Safety
    /// `T` must be a function pointer of the call's type.
    pub unsafe fn call<T: Copy>(&self, name: &str) -> Result<T, PowerError> {
        // SAFETY: the caller's promise.
        unsafe { self.find(name) }.ok_or_else(|| PowerError::Vendor {
            source_name: self.source_name,
            said: format!("{} has no {name}", self.path),
            fix: Some(format!("update the driver that {} belongs to", self.path)),
            refused: false,
        })
    }

    /// A call that older libraries lack.
    ///
    /// # Safety
    /// `T` must be a function pointer of the call's type.
    pub unsafe fn find<T: Copy>(&self, name: &str) -> Option<T> {
        // SAFETY: the caller's promise; the library is never unloaded, so that the copied pointer stays good.
        unsafe { self.library.get::<T>(name) }.ok().map(|symbol| *symbol)
    }
}

fn one_line(error: &libloading::Error) -> String {
    let said = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    said.lines().next().unwrap_or("unknown error").to_owned()
}
