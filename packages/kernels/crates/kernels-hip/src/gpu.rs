use std::{cell::OnceCell, convert::Infallible, path::PathBuf, rc::Rc};

use kernels_c::{Details, Gpu, MEMCPY, Step, plan, uses_mma};
use kernels_core::{KernelError, KernelSpec};

use crate::{
    hiprtc::Compiler,
    rocblas::{Matmul, ROCBLAS, Rocblas, obstacle},
    runtime::{Context, Event, Function, Memory, Runtime},
};

/// A GPU and what its kernels need of `ROCm`.
pub struct HipGpu {
    context: Rc<Context>,
    folders: Vec<Option<PathBuf>>,
    architecture: String,
    /// For implementations' ids.
    version: String,
    compiler: Result<Compiler, KernelError>,
    /// Opened when a product first needs it.
    rocblas: OnceCell<Result<Rc<Rocblas>, KernelError>>,
}

impl HipGpu {
    /// Opens the device of this number.
    ///
    /// # Errors
    /// What the runtime says.
    pub fn open(
        runtime: Runtime,
        device: i32,
        version: String,
        folders: Vec<Option<PathBuf>>,
    ) -> Result<Self, KernelError> {
        Ok(Self {
            context: Context::open(runtime, device)?,
            architecture: runtime.architecture(device)?,
            compiler: Compiler::open(&folders, Some(runtime.library)),
            folders,
            version,
            rocblas: OnceCell::new(),
        })
    }

    fn library(&self) -> Result<Rc<Rocblas>, KernelError> {
        self.rocblas.get_or_init(|| Rocblas::open(&self.context, &self.folders)).clone()
    }
}

/// Threads along an axis are counted in 32 bits.
fn too_wide(spec: &KernelSpec, implementation: &str) -> Option<String> {
    let steps = plan(spec, implementation, None).ok()?.steps;
    let wide = steps.iter().any(|step| step.grid[0].checked_mul(step.block).is_none());
    wide.then(|| "more than 32 bits of threads along an axis".to_owned())
}

impl Gpu for HipGpu {
    const BACKEND: &'static str = "hip";
    const PRODUCT: &'static str = ROCBLAS;
    type Memory = Memory;
    type Function = Function;
    type Event = Event;
    type Graph = Infallible;
    type Product = Matmul;

    fn obstacle(&self, spec: &KernelSpec, implementation: &str) -> Option<String> {
        let said = |error: &KernelError| error.to_string();
        match implementation {
            MEMCPY => None,
            ROCBLAS => obstacle(spec).or_else(|| self.library().err().map(|error| said(&error))),
            own if uses_mma(own) => Some(format!("{own} is written for NVIDIA's matrix units")),
            own => self.compiler.as_ref().err().map(said).or_else(|| too_wide(spec, own)),
        }
    }

    fn details(&self, own: bool) -> Details {
        let compiler = self.compiler.as_ref().ok().filter(|_| own).and_then(Compiler::version);
        let known = [
            ("architecture", Some(self.architecture.clone())),
            ("hip", Some(self.version.clone())),
            ("hiprtc", compiler),
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
        of.duplicate(what)
    }

    fn fill(&self, memory: &Memory, byte: u8) -> Result<(), KernelError> {
        memory.fill(byte)
    }

    fn read(&self, memory: &Memory, bytes: usize) -> Result<Vec<u8>, KernelError> {
        memory.read(bytes)
    }

    fn function(&self, step: &Step) -> Result<Function, KernelError> {
        let compiler = self.compiler.as_ref().map_err(Clone::clone)?;
        let entry = step.source.entry;
        let code = compiler.compile(entry, &step.source.text(&step.defines), &self.architecture)?;
        Function::load(&self.context, &code, entry)
    }

    /// Run once, so that what the library refuses or has to prepare isn't left to the first batch.
    fn product(
        &self,
        spec: &KernelSpec,
        inputs: &[Memory],
        output: &Memory,
    ) -> Result<(Matmul, Details), KernelError> {
        let library = self.library()?;
        let product = Matmul::new(&library, spec)?;
        product.launch(inputs, output)?;
        self.context.finish()?;
        Ok((product, vec![("rocblas", library.version())]))
    }

    fn copy(&self, from: &Memory, to: &Memory, bytes: usize) -> Result<(), KernelError> {
        from.copy_to(to, bytes)
    }

    fn launch(
        &self,
        function: &Function,
        grid: [u32; 3],
        block: u32,
        arguments: &[&Memory],
    ) -> Result<(), KernelError> {
        function.launch(grid, block, arguments)
    }

    fn multiply(&self, product: &Matmul, inputs: &[Memory], output: &Memory) -> Result<(), KernelError> {
        product.launch(inputs, output)
    }

    fn mark(&self) -> Result<Event, KernelError> {
        Event::mark(&self.context)
    }

    fn wait(&self, event: &Event) -> Result<(), KernelError> {
        event.wait()
    }

    fn between(&self, from: &Event, to: &Event) -> Result<f64, KernelError> {
        to.since(from)
    }

    /// Batches are launched one by one.
    fn capture(
        &self,
        _start: &dyn Fn() -> Result<(), KernelError>,
    ) -> Result<Option<Infallible>, KernelError> {
        Ok(None)
    }

    fn replay(&self, graph: &Infallible) -> Result<(), KernelError> {
        match *graph {}
    }
}
