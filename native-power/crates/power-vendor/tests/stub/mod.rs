//! Stub libraries for tests: built once, copied for each test, so that every test has its own state and script.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use power_core::{Booking, Clock, Ledger, Nanos, PowerSource, Reading, Sample};
use power_vendor::Libraries;

static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stubs");
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--offline",
            "-p",
            "stub-nvml",
            "-p",
            "stub-amdsmi",
            "-p",
            "stub-levelzero",
            "-p",
            "stub-ioreport",
            "--target-dir",
        ])
        .arg(&target)
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the stub libraries can't be built");
    target.join("debug")
});

/// A stub library of a test's own, removed when the test ends.
pub struct Stub {
    /// The library.
    pub library: PathBuf,
    folder: PathBuf,
}

impl Stub {
    /// A copy of the library of this crate that says what the script says.
    pub fn new(krate: &str, script: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("perwatt-stub-{}-{number}", process::id()));
        let file = format!("{}{krate}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
        let library = folder.join(&file);
        let copied = fs::create_dir_all(&folder).and_then(|()| fs::copy(BUILT.join(&file), &library));
        assert!(copied.is_ok(), "{file} can't be copied: {copied:?}");
        let stub = Self { library, folder };
        stub.say(script);
        stub
    }

    /// Says something else from now on.
    pub fn say(&self, script: &str) {
        let mut file = self.library.clone().into_os_string();
        file.push(".script");
        let written = fs::write(&file, script);
        assert!(written.is_ok(), "{}: {written:?}", Path::new(&file).display());
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).unwrap_or_default();
    }
}

/// These libraries, and of the others none, whatever this machine has.
pub fn elsewhere(libraries: Libraries) -> Libraries {
    let nowhere = || Some(PathBuf::from("/nowhere.so"));
    let Libraries { nvml, amdsmi, level_zero } = libraries;
    Libraries {
        nvml: nvml.or_else(nowhere),
        amdsmi: amdsmi.or_else(nowhere),
        level_zero: level_zero.or_else(nowhere),
    }
}

/// A clock that stands where it is put.
pub struct At(pub f64);

impl Clock for At {
    #[expect(clippy::cast_possible_truncation, reason = "whole nanoseconds")]
    fn now(&self) -> Nanos {
        Nanos((self.0 * 1e9) as i64)
    }
}

/// Reads a source once.
pub fn read(source: &mut dyn PowerSource, at_s: f64) -> Vec<Reading> {
    let mut out = Vec::new();
    assert!(source.read(&At(at_s), &mut out).is_ok(), "a device that fails doesn't end the recording");
    out
}

/// Books a source's readings, at the times that a test states.
pub struct Books {
    ledgers: Vec<Ledger>,
}

impl Books {
    /// An empty book for each domain.
    pub fn of(source: &dyn PowerSource) -> Self {
        let bookings = source.domains().iter().map(|(_, booking)| *booking);
        Self {
            ledgers: bookings
                .map(|booking: Booking| Ledger::every(Nanos::from_millis(100), booking))
                .collect(),
        }
    }

    /// Reads once and books it; the samples, by domain.
    pub fn read(&mut self, source: &mut dyn PowerSource, at_s: f64) -> Vec<Sample> {
        let readings = read(source, at_s);
        readings.iter().map(|reading| self.ledgers[usize::from(reading.domain)].enter(reading)).collect()
    }
}
