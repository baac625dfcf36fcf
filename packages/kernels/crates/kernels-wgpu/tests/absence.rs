//! Machines without a loader or without a driver: typed reasons instead of panics. Each is played by a child process, because
//! a loader reads its environment once.

use std::{env, error::Error, fs, process::Command};

use kernels_core::{Backend, DeviceId, KernelError};
use kernels_wgpu::WgpuBackend;

const ASKED: &str = "PERWATT_ABSENCE_TEST";

/// What `probe` says in a child with this environment.
fn code_with(variables: &[(&str, &str)]) -> Result<String, Box<dyn Error>> {
    let child = Command::new(env::current_exe()?)
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(ASKED, "1")
        .envs(variables.iter().copied())
        .output()?;
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix("probe: "));
    Ok(line.map_or_else(|| format!("{}: {said}", child.status), ToOwned::to_owned))
}

#[test]
#[expect(clippy::print_stderr, reason = "this is the child's answer")]
fn child() {
    if env::var_os(ASKED).is_some() {
        let code = WgpuBackend
            .probe()
            .map_or_else(|error| error.code().to_owned(), |found| format!("{} devices", found.len()));
        eprintln!("probe: {code}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_a_driver_or_a_loader_says_which() -> Result<(), Box<dyn Error>> {
    let no_driver =
        code_with(&[("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")])?;
    assert!(["KERNEL_NO_DEVICE", "KERNEL_NO_LOADER"].contains(&no_driver.as_str()), "{no_driver}");
    let folder = env::temp_dir().join(format!("perwatt-no-loader-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    for name in ["libvulkan.so.1", "libvulkan.so"] {
        fs::write(folder.join(name), "not a library")?;
    }
    let no_loader = code_with(&[("LD_LIBRARY_PATH", folder.to_string_lossy().as_ref())]);
    fs::remove_dir_all(&folder)?;
    assert_eq!(no_loader?, "KERNEL_NO_LOADER");
    Ok(())
}

#[test]
fn an_unknown_device_is_no_device() {
    let refused = WgpuBackend.open(&DeviceId("wgpu:vulkan:none".to_owned())).err();
    assert!(
        matches!(refused, Some(KernelError::NoDevice { .. } | KernelError::NoLoader { .. })),
        "{refused:?}"
    );
}
