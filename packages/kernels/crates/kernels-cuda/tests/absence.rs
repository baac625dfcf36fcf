//! What a machine without CUDA, or with half of it, is told.

use kernels_core::{Backend, DeviceId, KernelError};
use kernels_cuda::CudaBackend;

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn a_machine_without_a_gpu_says_what_is_missing() {
    match CudaBackend::new(None).probe() {
        Ok(found) => eprintln!("skipped: this machine has {} GPUs", found.len()),
        Err(error) => assert!(
            matches!(
                error,
                KernelError::NoLoader { .. }
                    | KernelError::NoDevice { .. }
                    | KernelError::DriverTooOld { .. }
            ),
            "{error:?}"
        ),
    }
}

#[test]
fn an_unknown_device_is_refused_and_a_folder_without_libraries_is_nothing() {
    let backend = CudaBackend::new(Some(std::env::temp_dir().join("perwatt-no-such-folder").as_os_str()));
    let refused = backend.open(&DeviceId("cuda:GPU-none".to_owned())).err();
    assert!(
        matches!(
            refused,
            Some(
                KernelError::NoLoader { .. }
                    | KernelError::NoDevice { .. }
                    | KernelError::DriverTooOld { .. }
            )
        ),
        "{refused:?}"
    );
}
