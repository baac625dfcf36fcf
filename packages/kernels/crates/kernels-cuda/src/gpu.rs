use std::{cell::OnceCell, rc::Rc};

use cudarc::driver::{result, sys};
use kernels_c::{Details, Gpu, MEMCPY, Step, failed, uses_mma};
use kernels_core::{KernelError, KernelSpec};

use crate::{
    cublaslt::{CUBLASLT, CublasLt, Matmul, obstacle},
    driver::{Context, Event, Function, Graph, Memory, driver},
    library::{Library, newer_than},
    nvrtc::{self, compile},
};

/// The lowest compute capability that has what own kernels use: the product of four bytes.
const LEAST_CAPABILITY: u32 = 61;
/// The lowest one with `mma.sync` as it is used.
const MMA_CAPABILITY: u32 = 80;

/// A GPU and what its kernels need of CUDA.
pub struct CudaGpu {
    context: Rc<Context>,
    /// Such as 90.
    capability: u32,
    /// CUDA's version that the driver is for, such as 13000.
    driver_version: i32,
    /// For implementations' ids.
    driver_name: Option<String>,
    /// Opened when a product first needs it.
    cublaslt: OnceCell<Rc<CublasLt>>,
}

impl CudaGpu {
    /// Opens a device that the driver showed.
    ///
    /// # Errors
    /// What the driver says.
    pub fn open(
        device: sys::CUdevice,
        driver_version: i32,
        driver_name: Option<String>,
    ) -> Result<Self, KernelError> {
        use sys::CUdevice_attribute_enum as Attribute;
        let context = Context::open(device)?;
        let major = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let capability = major.zip(minor).map(|(major, minor)| 10 * major + minor);
        let capability =
            capability.ok_or_else(|| failed("cuDeviceGetAttribute", "the compute capability is unknown"))?;
        Ok(Self { context, capability, driver_version, driver_name, cublaslt: OnceCell::new() })
    }

    fn library(&self) -> Result<Rc<CublasLt>, KernelError> {
        if let Some(library) = self.cublaslt.get() {
            return Ok(Rc::clone(library));
        }
        let library = CublasLt::open(&self.context)?;
        Ok(Rc::clone(self.cublaslt.get_or_init(|| library)))
    }

    /// Why NVRTC or cuBLASLt is of no use here; None where it is.
    fn lacks(&self, library: Library) -> Option<String> {
        library
            .required()
            .and_then(|()| newer_than(library, self.driver_version))
            .err()
            .map(|error| error.to_string())
    }
}

impl Gpu for CudaGpu {
    const BACKEND: &'static str = "cuda";
    const PRODUCT: &'static str = CUBLASLT;
    type Memory = Memory;
    type Function = Function;
    type Event = Event;
    type Graph = Graph;
    type Product = Matmul;

    fn obstacle(&self, spec: &KernelSpec, implementation: &str) -> Option<String> {
        match implementation {
            MEMCPY => None,
            CUBLASLT => obstacle(spec, self.capability).or_else(|| self.lacks(Library::CublasLt)),
            own => {
                let least = if uses_mma(own) { MMA_CAPABILITY } else { LEAST_CAPABILITY };
                if self.capability < least {
                    return Some(format!("{own} needs compute capability {least}, not {}", self.capability));
                }
                self.lacks(Library::Nvrtc)
            }
        }
    }

    fn details(&self, own: bool) -> Details {
        let nvrtc = nvrtc::version().filter(|_| own).map(|(major, minor)| format!("{major}.{minor}"));
        let known = [
            ("architecture", Some(format!("sm_{}", self.capability))),
            ("driver", self.driver_name.clone()),
            ("nvrtc", nvrtc),
        ];
        known.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    fn enter(&self) -> Result<(), KernelError> {
        self.context.enter()
    }

    fn allocate(&self, what: &str, bytes: usize) -> Result<Memory, KernelError> {
        Memory::new(&self.context, what, bytes)
    }

    fn upload(&self, what: &str, data: &[u8]) -> Result<Memory, KernelError> {
        Memory::with(&self.context, what, data)
    }

    fn duplicate(&self, what: &str, of: &Memory) -> Result<Memory, KernelError> {
        of.copy(what)
    }

    fn fill(&self, memory: &Memory, byte: u8) -> Result<(), KernelError> {
        memory.fill(byte)
    }

    fn read(&self, memory: &Memory, bytes: usize) -> Result<Vec<u8>, KernelError> {
        memory.read(bytes)
    }

    fn function(&self, step: &Step) -> Result<Function, KernelError> {
        let image = compile(step.source.entry, &step.source.text(&step.defines), self.capability)?;
        Function::load(&self.context, &image, step.source.entry)
    }

    fn product(
        &self,
        spec: &KernelSpec,
        inputs: &[Memory],
        output: &Memory,
    ) -> Result<(Matmul, Details), KernelError> {
        Matmul::tuned(&self.library()?, spec, inputs, output)
    }

    fn copy(&self, from: &Memory, to: &Memory, bytes: usize) -> Result<(), KernelError> {
        let bytes = bytes.min(from.bytes).min(to.bytes);
        // SAFETY: both are as long, and live until the stream is done: freeing them waits for it.
        unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, self.context.stream) }
            .map_err(driver("cuMemcpyDtoDAsync"))
    }

    fn launch(
        &self,
        function: &Function,
        grid: [u32; 3],
        block: u32,
        arguments: &[&Memory],
    ) -> Result<(), KernelError> {
        let addresses: Vec<sys::CUdeviceptr> = arguments.iter().map(|memory| memory.address).collect();
        function.launch(grid, block, &addresses)
    }

    fn multiply(&self, product: &Matmul, inputs: &[Memory], output: &Memory) -> Result<(), KernelError> {
        product.launch(inputs, output)
    }

    fn mark(&self) -> Result<Event, KernelError> {
        let event = Event::new(&self.context)?;
        event.record(&self.context)?;
        Ok(event)
    }

    fn wait(&self, event: &Event) -> Result<(), KernelError> {
        event.wait()
    }

    fn between(&self, from: &Event, to: &Event) -> Result<f64, KernelError> {
        to.since(from)
    }

    fn capture(&self, start: &dyn Fn() -> Result<(), KernelError>) -> Result<Option<Graph>, KernelError> {
        Graph::capture(&self.context, start).map(Some)
    }

    fn replay(&self, graph: &Graph) -> Result<(), KernelError> {
        graph.launch()
    }
}
