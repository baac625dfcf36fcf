//! Small trees of the kernel's files, for tests.

use std::{
    cell::Cell,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    Clock, Ledger, Missing, Nanos, PowerSource, Reading, Sample, Value,
    file::{ReadAgain, open_file},
};

/// A folder that goes with the test.
pub struct Tree(PathBuf);

impl std::ops::Deref for Tree {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Tree {
    /// Files by path and text.
    pub fn new(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("power-sysfs-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let tree = Self(root);
        assert!(fs::create_dir_all(&tree.0).is_ok());
        for (path, text) in files {
            tree.set(path, text);
        }
        tree
    }

    /// Writes one file.
    pub fn set(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        assert!(path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()), "{}", path.display());
        assert!(fs::write(&path, format!("{text}\n")).is_ok(), "{}", path.display());
    }

    /// A chip as the kernel shows it: its files in the device's folder, links from the class and to the device.
    pub fn chip(&self, folder: &str, name: &str, device: &str, files: &[(&str, &str)]) {
        let real = format!("sys/devices/{device}/hwmon/{folder}");
        self.set(&format!("{real}/name"), name);
        for (file, text) in files {
            self.set(&format!("{real}/{file}"), text);
        }
        let class = self.0.join("sys/class/hwmon");
        assert!(fs::create_dir_all(&class).is_ok());
        let link = |target: PathBuf, at: PathBuf| {
            let _ = fs::remove_file(&at);
            assert!(std::os::unix::fs::symlink(target, &at).is_ok(), "{}", at.display());
        };
        link(Path::new("../../..").join(&real), class.join(folder));
        link(PathBuf::from("../.."), self.0.join(&real).join("device"));
    }
}

/// A clock that stands where it was put.
#[derive(Default)]
pub struct Stopped(Cell<i64>);

impl Clock for Stopped {
    fn now(&self) -> Nanos {
        Nanos(self.0.get())
    }
}

/// What one reading says, by domain.
pub fn values(source: &mut dyn PowerSource) -> Vec<Value> {
    let mut out = Vec::new();
    assert!(source.read(&Stopped::default(), &mut out).is_ok());
    out.iter().map(|reading: &Reading| reading.value).collect()
}

/// Reads at each of these times (s), after `change` has been told it; the last sample of every domain.
pub fn book(source: &mut dyn PowerSource, seconds: &[i64], mut change: impl FnMut(i64)) -> Vec<Sample> {
    let clock = Stopped::default();
    let second = Nanos::from_millis(1000);
    let mut ledgers: Vec<_> = source.domains().iter().map(|(_, b)| Ledger::every(second, *b)).collect();
    let mut last = Vec::new();
    for at in seconds {
        change(*at);
        clock.0.set(at * 1_000_000_000);
        let mut out = Vec::new();
        assert!(source.read(&clock, &mut out).is_ok());
        last = out.iter().map(|r| ledgers[usize::from(r.domain)].enter(r)).collect();
    }
    last
}

/// Identity, scope and place in the total of every domain.
pub fn domains(source: &dyn PowerSource) -> Vec<(&str, &'static str, bool)> {
    source.domains().iter().map(|(d, _)| (d.id.as_str(), d.scope.name(), d.in_total)).collect()
}

/// What is left out.
pub fn excluded(source: &dyn PowerSource) -> Vec<String> {
    source.excluded().iter().map(|e| format!("{}: {}", e.zone, e.reason)).collect()
}

pub const fn missing(why: Missing) -> Value {
    Value::Missing(why)
}

/// Refuses numbers, as the kernel does to those without the right; names and labels stay readable.
pub fn refuses_numbers(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = ["_input", "_average", "_now"].iter().any(|end| name.ends_with(end));
    if number { Err(io::ErrorKind::PermissionDenied.into()) } else { open_file(path) }
}
