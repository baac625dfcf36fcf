use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{Activations, Inputs, KernelError, KernelSpec};

/// A way to reach devices: an API or a set of libraries, opened at run time.
pub trait Backend: Send + Sync {
    /// Its name in files and on the command line: `cpu`, `wgpu`, `cuda`.
    fn id(&self) -> &'static str;

    /// The devices it can reach, in a stable order. Never panics, whatever is missing.
    ///
    /// # Errors
    /// `NoLoader`, `NoDevice` or `DriverTooOld`: why it reaches none.
    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError>;

    /// Opens one of them. The context stays open for as long as the device lives.
    ///
    /// # Errors
    /// `NoDevice` for an id that `probe` doesn't list; else why it can't be opened.
    fn open(&self, device: &DeviceId) -> Result<Box<dyn Device>, KernelError>;
}

/// An open device. It lives on one thread.
pub trait Device {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Which implementations of a kernel it has, best first, or why it has none. Decides without running anything long.
    fn support(&self, spec: &KernelSpec) -> Support;

    /// Copies the inputs into `rotate` sets of buffers (at least 1), poisons every output, compiles and tunes.
    ///
    /// # Errors
    /// `Unsupported` for an implementation that `support` doesn't list, `OutOfMemory`, `Compile` or `Call`.
    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError>;

    /// Clocks, temperature and throttling now; None where the backend can't tell.
    fn health(&self) -> Option<Health> {
        None
    }
}

/// A kernel with its buffers on a device, ready to be launched.
pub trait Prepared {
    /// Starts a batch of launches, one set of buffers after the other, without waiting for the device in between. The
    /// batch may already be done when this returns (a CPU has nothing to wait for).
    ///
    /// # Errors
    /// What the driver says.
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError>;

    /// Whether [`Self::submit`] returns only when its batch is done, so that it ends when it was submitted, not when it is
    /// waited for.
    fn is_synchronous(&self) -> bool {
        false
    }

    /// Waits for a batch and gives its times. Tickets are waited for in the order of their submission, each once.
    ///
    /// # Errors
    /// `Lost`, `Timeout`, or what the driver says.
    fn wait(&mut self, ticket: Ticket) -> Result<Timing, KernelError>;

    /// Empties the device's caches of what the kernel reads, by writing `bytes` of memory that are no part of it, and
    /// waits until that is done. False where the backend can't.
    ///
    /// # Errors
    /// What the driver says.
    fn flush(&mut self, bytes: u64) -> Result<bool, KernelError> {
        let _ = bytes;
        Ok(false)
    }

    /// Fills the outputs of all sets with [`POISON_BYTE`](crate::POISON_BYTE).
    ///
    /// # Errors
    /// What the driver says.
    fn poison(&mut self) -> Result<(), KernelError>;

    /// The bytes of the output that the last launch wrote, in the layout of
    /// [`KernelSpec::output_tensor`](crate::KernelSpec::output_tensor).
    ///
    /// # Errors
    /// What the driver says.
    fn read_output(&mut self) -> Result<Vec<u8>, KernelError>;

    /// What really runs: the implementation asked for with the algorithm, tile and versions that were chosen.
    fn impl_id(&self) -> ImplId;

    /// What it does to the kernel's vectors before it multiplies them. An implementation that rounds them has a name of its
    /// own that says so, and is never the first that `support` lists.
    fn activations(&self) -> Activations {
        Activations::AsGiven
    }
}

/// A device's name, unique and stable on its machine: `cpu:0`, `cuda:GPU-8f…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceId(pub String);

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What sort of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    DiscreteGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// A share of a GPU: MIG, vGPU. Its energy can't be told apart from its neighbours'.
    VirtualGpu,
    /// The host's CPU, by a library.
    Cpu,
    /// A driver that computes on the CPU: right, and no measure of any accelerator.
    Software,
    /// Not known.
    Other,
}

/// What is known of a device. Unknown is None, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Its id.
    pub id: DeviceId,
    /// The backend that reaches it.
    pub backend: String,
    /// The vendor's name for it.
    pub name: String,
    /// Its sort.
    pub kind: DeviceKind,
    /// Driver and its version.
    pub driver: Option<String>,
    /// The vendor's unique id or the PCI address, where power sources can be matched by it.
    pub hardware_id: Option<String>,
    /// Memory that buffers can be made in, bytes.
    pub memory_bytes: Option<u64>,
    /// The largest buffer that one kernel can read, bytes.
    pub max_buffer_bytes: Option<u64>,
    /// Last-level cache (L2 of most GPUs), bytes; decides how many sets of buffers rotate.
    pub last_level_cache_bytes: Option<u64>,
    /// Multiprocessors, compute units or cores.
    pub compute_units: Option<u32>,
    /// What differs from a device that the project has measured on, for instance `untested on hardware`.
    pub notes: Vec<String>,
    /// What changes its speed and isn't the kernel's: library variables, versions.
    pub environment: BTreeMap<String, String>,
}

/// Clocks, temperature and throttling at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Clock of the compute units, Hz.
    pub clock_hz: Option<f64>,
    /// Clock of the memory, Hz.
    pub memory_clock_hz: Option<f64>,
    /// Temperature of the chip, °C.
    pub temperature_c: Option<f64>,
    /// Why the clocks are lower than they could be, in the vendor's words; empty when they aren't.
    pub throttle_reasons: Vec<String>,
    /// Whether a reason above is thermal or a hardware slowdown: then what was measured is repeated.
    pub slowed_down: bool,
}

/// Whether a device has a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "support", rename_all = "snake_case")]
pub enum Support {
    /// It has.
    Yes {
        /// By these implementations, best first; never empty.
        impls: Vec<ImplId>,
    },
    /// It hasn't.
    No {
        /// What is missing.
        reason: String,
    },
}

impl Support {
    /// Support by nothing but `reason`'s absence: `No`.
    pub fn no(reason: impl Into<String>) -> Self {
        Self::No { reason: reason.into() }
    }
}

/// Which implementation of a kernel: two results whose ids differ are never merged.
///
/// Shown as `backend/name` and, where there are details, `{key=value,…}` in the keys' order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ImplId {
    /// The backend.
    pub backend: String,
    /// The implementation: `onednn`, `cublaslt`, `own-split-kv`.
    pub name: String,
    /// Algorithm or tile, versions of driver and library, what tuning chose.
    #[serde(default)]
    pub details: BTreeMap<String, String>,
}

impl ImplId {
    /// An implementation without details.
    pub fn new(backend: &str, name: &str) -> Self {
        Self { backend: backend.to_owned(), name: name.to_owned(), details: BTreeMap::new() }
    }

    /// The same with one detail more.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.details.insert(key.to_owned(), value.to_string());
        self
    }
}

impl fmt::Display for ImplId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.backend, self.name)?;
        if self.details.is_empty() {
            return Ok(());
        }
        let details: Vec<String> = self.details.iter().map(|(key, value)| format!("{key}={value}")).collect();
        write!(f, "{{{}}}", details.join(","))
    }
}

/// A batch that was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// Which clock timed a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// Events on a CUDA or HIP stream.
    Event,
    /// Timestamps that the device wrote at both ends of a pass.
    Timestamp,
    /// The host's monotonic clock around the batch.
    Host,
}

/// How long a batch took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Launches in it.
    pub launches: u32,
    /// By the device's own clock, ns for the whole batch; None where it has none.
    pub device_ns: Option<f64>,
    /// By the host around the batch, ns.
    pub host_ns: f64,
    /// The clock of `device_ns`, or `Host` where that is None.
    pub clock: ClockSource,
}

impl Timing {
    /// The batch's time, ns: the device's where there is one.
    pub fn batch_ns(&self) -> f64 {
        self.device_ns.unwrap_or(self.host_ns)
    }

    /// Time of one launch, ns.
    pub fn launch_ns(&self) -> f64 {
        self.batch_ns() / f64::from(self.launches.max(1))
    }
}
