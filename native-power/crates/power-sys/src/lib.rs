//! The system calls that no safe library offers, each behind a safe function. Nothing here decides anything.

use std::{fs::File, io};

/// Opens a counter of a whole CPU with `perf_event_open`: `kind` and `config` name it, as the kernel's files under
/// `/sys/bus/event_source/devices` tell. It counts at once; reading it gives 8 bytes.
///
/// # Errors
/// `PermissionDenied` when the kernel's setting forbids it, `NotFound` or `InvalidInput` for a counter that doesn't
/// exist, `Unsupported` where there is no such system call.
#[cfg(target_os = "linux")]
pub fn open_cpu_event(kind: u32, config: u64, cpu: u32) -> io::Result<File> {
    use std::os::fd::FromRawFd;

    const SIZE: u32 = 136;
    const EVERY_PROCESS: libc::pid_t = -1;
    const NO_GROUP: libc::c_int = -1;
    const CLOSE_ON_EXEC: libc::c_ulong = 8;

    /// `struct perf_event_attr` as far as it is used; all that is 0 means "as usual".
    #[repr(C)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        rest: [u64; 15],
    }
    const _: () = assert!(size_of::<Attributes>() == SIZE as usize);
    let attributes = Attributes { kind, size: SIZE, config, rest: [0; 15] };
    let cpu = libc::c_int::try_from(cpu).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the attributes are valid for reads of the `size` they state and outlive the call, which only reads them;
    // the other arguments are plain numbers.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            EVERY_PROCESS,
            cpu,
            NO_GROUP,
            CLOSE_ON_EXEC,
        )
    };
    match libc::c_int::try_from(opened) {
        // SAFETY: the kernel has just made this descriptor for us, and nothing else owns it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { File::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// There is no such system call here.
///
/// # Errors
/// Always `Unsupported`.
#[cfg(not(target_os = "linux"))]
pub fn open_cpu_event(_kind: u32, _config: u64, _cpu: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{ErrorKind, Read};

    use super::open_cpu_event;

    const SOFTWARE: u32 = 1;
    const CPU_CLOCK: u64 = 0;

    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test says why")]
    fn a_counter_of_the_kernel_counts() {
        let mut file = match open_cpu_event(SOFTWARE, CPU_CLOCK, 0) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                eprintln!("skipped: this kernel lets this user count nothing ({error})");
                return;
            }
            Err(error) => unreachable!("{error}"),
        };
        let mut read = || {
            let mut bytes = [0; 8];
            assert_eq!(file.read(&mut bytes).ok(), Some(8));
            u64::from_ne_bytes(bytes)
        };
        let first = read();
        let mut last = first;
        while last <= first {
            last = read();
        }
    }

    #[test]
    fn what_doesnt_exist_is_refused() {
        assert!(open_cpu_event(u32::MAX, 0, 0).is_err());
        assert!(open_cpu_event(SOFTWARE, CPU_CLOCK, u32::MAX).is_err());
    }
}
