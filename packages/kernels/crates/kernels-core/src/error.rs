/// Why a kernel could not be run, or its number can't be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The library that reaches the device isn't on this machine.
    #[error("cannot open {library}: {reason}")]
    NoLoader {
        /// What was looked for, for instance `libvulkan.so.1`.
        library: String,
        /// What the system said.
        reason: String,
    },
    /// The library is there but knows no device.
    #[error("no device for {backend}: {reason}")]
    NoDevice {
        /// The backend that looked.
        backend: String,
        /// What was found instead.
        reason: String,
    },
    /// The driver is older than what the backend calls.
    #[error("driver {found} is too old for {backend}, which needs {needs}")]
    DriverTooOld {
        /// The backend that needs more.
        backend: String,
        /// The version found.
        found: String,
        /// The lowest version that would do.
        needs: String,
    },
    /// The buffers don't fit.
    #[error("out of memory: {what} of {bytes} bytes")]
    OutOfMemory {
        /// What was to be allocated.
        what: String,
        /// Its size.
        bytes: u64,
    },
    /// A kernel's source was refused by the compiler.
    #[error("kernel {kernel} does not compile: {log}")]
    Compile {
        /// Which source.
        kernel: String,
        /// What the compiler said.
        log: String,
    },
    /// It took longer than it may.
    #[error("{what} took longer than {limit_ms} ms")]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long was waited.
        limit_ms: u64,
    },
    /// The process that ran it was ended from outside or by its driver.
    #[error("{what} was killed by {cause}")]
    Killed {
        /// What ran.
        what: String,
        /// The signal or exit code.
        cause: String,
    },
    /// The device can't do this, and isn't expected to.
    #[error("{what} is not supported: {reason}")]
    Unsupported {
        /// Kernel and type.
        what: String,
        /// What is missing.
        reason: String,
    },
    /// A specification that no device could run.
    #[error("{what}: {reason}")]
    BadSpec {
        /// Kernel and field.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A call of a driver or a library failed.
    #[error("{call} failed: {reason}")]
    Call {
        /// The function called.
        call: String,
        /// Its status or message.
        reason: String,
    },
    /// The device was lost.
    #[error("device {device} was lost: {reason}")]
    Lost {
        /// Which device.
        device: String,
        /// What the driver said.
        reason: String,
    },
    /// The output isn't what an f64 reference says.
    #[error("{what} is wrong: relative error {error:e}, at most {limit:e} is right")]
    Wrong {
        /// Kernel and type.
        what: String,
        /// The relative error found; infinite for a NaN.
        error: f64,
        /// The tolerance.
        limit: f64,
    },
    /// The energy counter gave no number that can be used.
    #[error("no energy from {counter}: {reason}")]
    Counter {
        /// Source and domain.
        counter: String,
        /// What went wrong.
        reason: String,
    },
}

impl KernelError {
    /// A stable name for programs; becomes `error.code` in JavaScript.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoLoader { .. } => "KERNEL_NO_LOADER",
            Self::NoDevice { .. } => "KERNEL_NO_DEVICE",
            Self::DriverTooOld { .. } => "KERNEL_DRIVER_TOO_OLD",
            Self::OutOfMemory { .. } => "KERNEL_OUT_OF_MEMORY",
            Self::Compile { .. } => "KERNEL_COMPILE",
            Self::Timeout { .. } => "KERNEL_TIMEOUT",
            Self::Killed { .. } => "KERNEL_KILLED",
            Self::Unsupported { .. } => "KERNEL_UNSUPPORTED",
            Self::BadSpec { .. } => "KERNEL_BAD_SPEC",
            Self::Call { .. } => "KERNEL_CALL",
            Self::Lost { .. } => "KERNEL_DEVICE_LOST",
            Self::Wrong { .. } => "KERNEL_WRONG",
            Self::Counter { .. } => "KERNEL_COUNTER",
        }
    }
}
