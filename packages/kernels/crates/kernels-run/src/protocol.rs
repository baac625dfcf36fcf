//! What is asked and what is answered: JSON, one value a line. The TypeScript side of it is `src/protocol.ts`; both
//! change together.

use std::path::PathBuf;

use kernels_core::{DeviceInfo, KernelRow, KernelSpec, Phase};
use serde::{Deserialize, Serialize};

/// Version of this protocol.
pub const PROTOCOL_VERSION: u32 = 2;

/// One request.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Request {
    /// Which devices there are, and what they do with some kernels.
    List {
        /// Version of the protocol that is spoken.
        version: u32,
        /// Kernels whose support is asked for.
        specs: Vec<KernelSpec>,
        /// Backends to leave out.
        skip: Vec<String>,
    },
    /// Kernels to run on one device.
    Run(Run),
}

/// Kernels to run on one device.
#[derive(Debug, Deserialize)]
pub struct Run {
    /// Version of the protocol that is spoken.
    pub version: u32,
    /// The device's id.
    pub device: String,
    /// The kernels, in order.
    pub cells: Vec<Cell>,
    /// Only compares outputs with their references.
    pub check_only: bool,
    /// How long things may be timed.
    pub timing: Times,
    /// How energy is measured; None where it isn't.
    pub energy: Option<Energy>,
    /// Where power sources look.
    pub power: Power,
    /// Threads of the processor's kernels; None for all that there are.
    #[serde(default)]
    pub threads: Option<usize>,
}

/// One kernel to run.
#[derive(Debug, Deserialize)]
pub struct Cell {
    /// Its number, for events.
    pub index: usize,
    /// The kernel.
    pub spec: KernelSpec,
    /// Implementations to leave out, by their ids.
    pub skip: Vec<String>,
}

/// How long things may be timed.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Times {
    /// Most time in batches of one implementation, ns.
    pub most_ns: f64,
    /// Standard deviation over mean of batches below which it stops earlier.
    pub deviation_ratio: f64,
}

/// How energy is measured.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Energy {
    /// Windows that must be valid.
    pub windows: usize,
    /// Shortest window, ns.
    pub least_ns: i64,
    /// Warm-up before each, ns; None for the usual one. The device is left alone for half as long before its idle power
    /// is measured.
    #[serde(default)]
    pub warm_up_ns: Option<i64>,
}

/// Where power sources look.
#[derive(Debug, Deserialize)]
pub struct Power {
    /// Root of the tree that they read, normally `/`.
    pub root: PathBuf,
    /// Where vendors' libraries are; what is left out is looked for where its driver puts it.
    #[serde(default)]
    pub libraries: Places,
}

/// Places of vendors' libraries.
#[derive(Debug, Default, Deserialize)]
pub struct Places {
    /// NVIDIA's `libnvidia-ml`.
    pub nvml: Option<PathBuf>,
    /// AMD's `libamd_smi`.
    pub amdsmi: Option<PathBuf>,
    /// Level Zero's loader.
    pub level_zero: Option<PathBuf>,
}

/// What a device does with one kernel.
#[derive(Debug, Serialize)]
pub struct Supported {
    /// The kernel.
    pub spec: KernelSpec,
    /// Ids of its implementations, best first; empty where there is none.
    pub implementations: Vec<String>,
    /// Why there is none, else None.
    pub reason: Option<String>,
}

/// One line of an answer.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// From here on, what goes wrong is the fault of this backend.
    Probe {
        /// Its name.
        backend: String,
    },
    /// A device was found.
    Device {
        /// It.
        device: DeviceInfo,
        /// What it does with the kernels that were asked for.
        supports: Vec<Supported>,
    },
    /// A backend reaches no device.
    Unavailable {
        /// Its name.
        backend: String,
        /// Code of the error.
        error_code: String,
        /// Why.
        reason: String,
    },
    /// From here on, what goes wrong is the fault of this implementation.
    Start {
        /// Number of the kernel.
        index: usize,
        /// Id of the implementation, as `skip` names it.
        implementation: String,
    },
    /// What is being done.
    Phase {
        /// Number of the kernel.
        index: usize,
        /// What.
        phase: Phase,
    },
    /// An implementation is over.
    Result {
        /// Number of the kernel.
        index: usize,
        /// When it was begun, ns on the host's clock, in decimals.
        start_ns: String,
        /// When it was over.
        end_ns: String,
        /// Where joules come from; None without a counter.
        provenance: Option<&'static str>,
        /// What came of it.
        row: Box<KernelRow>,
    },
    /// A kernel is over.
    End {
        /// Its number.
        index: usize,
    },
    /// Nothing can be done at all.
    Failed {
        /// Code of the error.
        error_code: String,
        /// Why.
        reason: String,
    },
}
