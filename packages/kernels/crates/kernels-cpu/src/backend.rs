use std::{collections::BTreeMap, env, path::PathBuf, sync::Arc, thread};

use kernels_core::{
    Backend, Device, DeviceId, DeviceInfo, DeviceKind, ImplId, Inputs, KernelError, KernelSpec, Prepared,
    Support,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{
    isa::best_isa, kernels::Libraries, machine::Machine, onednn::OneDnn, openblas::OpenBlas,
    prepared::CpuKernel,
};

/// Names folders, a list as `PATH`, that libraries are looked for in first.
const LIBRARY_FOLDER: &str = "PERWATT_CPU_LIB_DIR";

/// Variables that change what the libraries do, or which they are.
const VARIABLES: [&str; 18] = [
    "DNNL_DEFAULT_FPMATH_MODE",
    "DNNL_MAX_CPU_ISA",
    "DNNL_VERBOSE",
    "GOMP_CPU_AFFINITY",
    "GOTO_NUM_THREADS",
    "KMP_AFFINITY",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_WAIT_POLICY",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "ONEDNN_MAX_CPU_ISA",
    "ONEDNN_VERBOSE",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_VERBOSE",
    LIBRARY_FOLDER,
    "RAYON_NUM_THREADS",
];

/// Cache that is assumed where the system doesn't say, bytes.
const ASSUMED_CACHE: u64 = 32 << 20;

/// What the backend takes from its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuOptions {
    /// Threads of every implementation.
    pub threads: usize,
    /// Where the system's files are, normally `/`.
    pub root: PathBuf,
    /// Where libraries are looked for before the system's places.
    pub library_folders: Vec<PathBuf>,
    /// Variables that are set and change what a library does; recorded.
    pub environment: BTreeMap<String, String>,
}

impl CpuOptions {
    /// Of this process: all cores it may use, the variables set in it, and first the libraries in the folders that
    /// `PERWATT_CPU_LIB_DIR` names.
    pub fn of_process() -> Self {
        let set = VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?)));
        let folders = env::var_os(LIBRARY_FOLDER).unwrap_or_default();
        let folders = env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty());
        Self {
            threads: thread::available_parallelism().map_or(1, usize::from),
            root: PathBuf::from("/"),
            library_folders: folders.collect(),
            environment: set.collect(),
        }
    }
}

/// The CPU, always there.
#[derive(Clone, Debug)]
pub struct CpuBackend {
    options: CpuOptions,
}

impl CpuBackend {
    /// With these surroundings.
    pub const fn new(options: CpuOptions) -> Self {
        Self { options }
    }

    fn device_info(&self) -> DeviceInfo {
        let machine = Machine::read(&self.options.root);
        let mut environment = self.options.environment.clone();
        environment.insert("threads".to_owned(), self.options.threads.to_string());
        environment.insert("isa".to_owned(), best_isa().to_owned());
        DeviceInfo {
            id: DeviceId("cpu:0".to_owned()),
            backend: self.id().to_owned(),
            name: machine.name.unwrap_or_else(|| format!("{} CPU", env::consts::ARCH)),
            kind: DeviceKind::Cpu,
            driver: None,
            hardware_id: None,
            memory_bytes: machine.memory_bytes,
            max_buffer_bytes: None,
            last_level_cache_bytes: machine.last_level_cache_bytes,
            compute_units: u32::try_from(self.options.threads).ok(),
            notes: Vec::new(),
            environment,
        }
    }
}

impl Backend for CpuBackend {
    fn id(&self) -> &'static str {
        "cpu"
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError> {
        Ok(vec![self.device_info()])
    }

    fn open(&self, device: &DeviceId) -> Result<Box<dyn Device>, KernelError> {
        let mut info = self.device_info();
        if *device != info.id {
            let reason = format!("there is only {}, not {device}", info.id);
            return Err(KernelError::NoDevice { backend: self.id().to_owned(), reason });
        }
        let CpuOptions { threads, library_folders, .. } = &self.options;
        let libraries = Libraries {
            onednn: OneDnn::open(library_folders, *threads),
            openblas: OpenBlas::open(library_folders, *threads),
            threads: *threads,
            cache_bytes: info.last_level_cache_bytes.unwrap_or(ASSUMED_CACHE),
        };
        let missing = [libraries.onednn.as_ref().err(), libraries.openblas.as_ref().err()];
        info.notes.extend(missing.into_iter().flatten().map(ToString::to_string));
        let pool = ThreadPoolBuilder::new()
            .num_threads(*threads)
            .thread_name(|index| format!("kernels-{index}"))
            .build();
        let pool = pool.map_err(|error| KernelError::Call {
            call: "thread pool".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Box::new(CpuDevice { info, libraries, pool: Arc::new(pool) }))
    }
}

struct CpuDevice {
    info: DeviceInfo,
    libraries: Libraries,
    pool: Arc<ThreadPool>,
}

impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        match self.libraries.implementations(spec) {
            Ok(impls) => Support::Yes { impls },
            Err(reason) => Support::No { reason },
        }
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        let refused = |reason: String| KernelError::Unsupported { what: spec.to_string(), reason };
        let impls = self.libraries.implementations(spec).map_err(refused)?;
        let known = impls.into_iter().find(|known| known.name == implementation.name);
        let known =
            known.ok_or_else(|| refused(format!("the CPU has no implementation {implementation}")))?;
        let launch = self.libraries.launch(spec, &known.name)?;
        Ok(Box::new(CpuKernel::new((launch, known), spec, inputs, rotate, Arc::clone(&self.pool))?))
    }
}
