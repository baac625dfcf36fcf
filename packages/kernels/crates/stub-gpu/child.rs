//! Tests over the stub of the vendors' libraries, each in a child process whose library path holds it under their names.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::LazyLock,
};

/// How a test ends.
pub type Outcome = Result<(), Box<dyn Error>>;

const CHILD: &str = "PERWATT_STUB_GPU_CHILD";

static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stubs");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "stub-gpu", "--target-dir"])
        .arg(&target)
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the stub library can't be built");
    target.join("debug/libstub_gpu.so")
});

/// Runs a test of this file again, with these of the libraries and this environment.
fn in_child(test: &str, libraries: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let folder = env::temp_dir().join(format!("perwatt-stub-gpu-{}-{test}", process::id()));
    fs::create_dir_all(&folder)?;
    for library in libraries {
        fs::copy(&*BUILT, folder.join(library))?;
    }
    let child = Command::new(env::current_exe()?)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .env("LD_LIBRARY_PATH", &folder)
        .envs(environment.iter().copied())
        .output();
    fs::remove_dir_all(&folder)?;
    let child = child?;
    assert!(
        child.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&child.stdout),
        String::from_utf8_lossy(&child.stderr)
    );
    Ok(())
}

/// Runs `test` in a child with these libraries and settings; in that child, runs its `body`.
pub fn with_stub(
    test: &str,
    (libraries, environment): (&[&str], &[(&str, &str)]),
    body: impl FnOnce() -> Outcome,
) -> Outcome {
    match env::var(CHILD) {
        Ok(name) if name == test => body(),
        Ok(_) => Ok(()),
        Err(_) => in_child(test, libraries, environment),
    }
}
