//! What a machine without an AMD GPU is told.

use kernels_core::{Backend, DeviceId, KernelError};
use kernels_hip::HipBackend;

fn says_what_is_missing(error: Option<&KernelError>) -> bool {
    matches!(
        error,
        Some(KernelError::NoLoader { .. } | KernelError::NoDevice { .. } | KernelError::DriverTooOld { .. })
    )
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn a_machine_without_a_gpu_says_what_is_missing() {
    match HipBackend::new(None).probe() {
        Ok(found) => eprintln!("skipped: this machine has {} GPUs", found.len()),
        Err(error) => assert!(says_what_is_missing(Some(&error)), "{error:?}"),
    }
}

#[test]
fn an_unknown_device_is_refused_and_a_folder_without_libraries_is_nothing() {
    let folder = std::env::temp_dir().join("perwatt-no-such-folder");
    let refused = HipBackend::new(Some(folder.as_os_str())).open(&DeviceId("hip:none".to_owned())).err();
    assert!(says_what_is_missing(refused.as_ref()), "{refused:?}");
}
