use std::{ffi::CString, rc::Rc};

use cudarc::driver::{result, sys};
use kernels_c::failed;
use kernels_core::KernelError;

use crate::nvrtc::Image;

/// A failed call of the driver as an error: `Lost` for those after which every later call fails until the process ends.
pub fn driver(call: &str) -> impl FnOnce(result::DriverError) -> KernelError {
    use sys::CUresult as Said;
    move |error| match error.0 {
        Said::CUDA_ERROR_DEINITIALIZED
        | Said::CUDA_ERROR_DEVICE_UNAVAILABLE
        | Said::CUDA_ERROR_ECC_UNCORRECTABLE
        | Said::CUDA_ERROR_NVLINK_UNCORRECTABLE
        | Said::CUDA_ERROR_ILLEGAL_ADDRESS
        | Said::CUDA_ERROR_LAUNCH_TIMEOUT
        | Said::CUDA_ERROR_CONTEXT_IS_DESTROYED
        | Said::CUDA_ERROR_ASSERT
        | Said::CUDA_ERROR_HARDWARE_STACK_ERROR
        | Said::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | Said::CUDA_ERROR_MISALIGNED_ADDRESS
        | Said::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | Said::CUDA_ERROR_INVALID_PC
        | Said::CUDA_ERROR_LAUNCH_FAILED
        | Said::CUDA_ERROR_UNKNOWN => {
            KernelError::Lost { device: "cuda".to_owned(), reason: format!("{call}: {error}") }
        }
        _ => failed(call, &error),
    }
}

/// The primary context of a device, and a stream in it.
pub struct Context {
    pub(crate) device: sys::CUdevice,
    primary: sys::CUcontext,
    pub(crate) stream: sys::CUstream,
}

impl Context {
    /// Opens them.
    pub fn open(device: sys::CUdevice) -> Result<Rc<Self>, KernelError> {
        // SAFETY: the device came from the driver.
        let primary =
            unsafe { result::primary_ctx::retain(device) }.map_err(driver("cuDevicePrimaryCtxRetain"))?;
        let mut opened = Self { device, primary, stream: result::stream::null() };
        opened.enter()?;
        opened.stream = result::stream::create(result::stream::StreamKind::NonBlocking)
            .map_err(driver("cuStreamCreate"))?;
        Ok(Rc::new(opened))
    }

    /// Makes it this thread's context, as every call needs.
    pub fn enter(&self) -> Result<(), KernelError> {
        // SAFETY: the context is retained for as long as this lives.
        unsafe { result::ctx::set_current(self.primary) }.map_err(driver("cuCtxSetCurrent"))
    }

    /// Waits for all that was started.
    pub fn finish(&self) -> Result<(), KernelError> {
        // SAFETY: the stream lives as long as this.
        unsafe { result::stream::synchronize(self.stream) }.map_err(driver("cuStreamSynchronize"))
    }

    /// A number that the driver knows of the device.
    pub fn attribute(&self, attribute: sys::CUdevice_attribute) -> Option<u32> {
        attribute_of(self.device, attribute)
    }
}

/// A number that the driver knows of a device; None for one that is negative or unknown.
pub fn attribute_of(device: sys::CUdevice, attribute: sys::CUdevice_attribute) -> Option<u32> {
    // SAFETY: the device came from the driver.
    unsafe { result::device::get_attribute(device, attribute) }
        .ok()
        .and_then(|value| u32::try_from(value).ok())
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the stream and the context were made here, and all that used them is gone. Failures leave nothing to do.
        unsafe {
            if !self.stream.is_null() {
                let _ = result::stream::destroy(self.stream);
            }
            let _ = result::primary_ctx::release(self.device);
        }
    }
}

/// Memory of a device.
pub struct Memory {
    context: Rc<Context>,
    pub(crate) address: sys::CUdeviceptr,
    pub(crate) bytes: usize,
}

impl Memory {
    /// Memory with anything in it; at least 16 bytes.
    pub fn new(context: &Rc<Context>, what: &str, bytes: usize) -> Result<Self, KernelError> {
        context.enter()?;
        let bytes = bytes.max(16);
        // SAFETY: the memory is freed once, when this is dropped.
        let address = unsafe { result::malloc_sync(bytes) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => KernelError::OutOfMemory {
                what: what.to_owned(),
                bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            },
            _ => failed("cuMemAlloc", &error),
        })?;
        Ok(Self { context: Rc::clone(context), address, bytes })
    }

    /// Memory with these bytes.
    pub fn with(context: &Rc<Context>, what: &str, data: &[u8]) -> Result<Self, KernelError> {
        let memory = Self::new(context, what, data.len())?;
        // SAFETY: the memory is as long as the data, which outlives the copy: the stream is waited for.
        unsafe { result::memcpy_htod_async(memory.address, data, context.stream) }
            .map_err(driver("cuMemcpyHtoDAsync"))?;
        context.finish()?;
        Ok(memory)
    }

    /// The same bytes again.
    pub fn copy(&self, what: &str) -> Result<Self, KernelError> {
        let memory = Self::new(&self.context, what, self.bytes)?;
        // SAFETY: both are of the same length, and the stream is waited for.
        unsafe { result::memcpy_dtod_async(memory.address, self.address, self.bytes, self.context.stream) }
            .map_err(driver("cuMemcpyDtoDAsync"))?;
        self.context.finish()?;
        Ok(memory)
    }

    /// Fills it with a byte, after what was started.
    pub fn fill(&self, byte: u8) -> Result<(), KernelError> {
        self.context.enter()?;
        // SAFETY: the memory is so long, and lives until the stream is done: it is waited for.
        unsafe { result::memset_d8_async(self.address, byte, self.bytes, self.context.stream) }
            .map_err(driver("cuMemsetD8Async"))?;
        self.context.finish()
    }

    /// Its first bytes, after what was started.
    pub fn read(&self, bytes: usize) -> Result<Vec<u8>, KernelError> {
        self.context.enter()?;
        self.context.finish()?;
        let mut data = vec![0u8; bytes.min(self.bytes)];
        // SAFETY: the memory is at least as long as the vector, and the copy has ended when this returns.
        unsafe { result::memcpy_dtoh_sync(&mut data, self.address) }.map_err(driver("cuMemcpyDtoH"))?;
        Ok(data)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it is freed once; freeing waits for what still uses it. A failure leaves nothing to do.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// A kernel that the driver has loaded.
pub struct Function {
    context: Rc<Context>,
    module: sys::CUmodule,
    entry: sys::CUfunction,
}

impl Function {
    /// Loads a compiled kernel.
    pub fn load(context: &Rc<Context>, image: &Image, entry: &str) -> Result<Self, KernelError> {
        context.enter()?;
        let entry = CString::new(entry).map_err(|error| failed("cuModuleGetFunction", &error))?;
        // SAFETY: the image is a whole cubin, or PTX that ends with a zero.
        let module = unsafe { result::module::load_data(image.data.as_ptr().cast()) }
            .map_err(driver("cuModuleLoadData"))?;
        let mut loaded = Self { context: Rc::clone(context), module, entry: std::ptr::null_mut() };
        // SAFETY: the module was just loaded.
        loaded.entry =
            unsafe { result::module::get_function(module, entry) }.map_err(driver("cuModuleGetFunction"))?;
        // Else its first launch would load it, which a capture forbids.
        // SAFETY: the function is of a module that is loaded.
        unsafe { sys::cuFuncLoad(loaded.entry) }.result().map_err(driver("cuFuncLoad"))?;
        Ok(loaded)
    }

    /// Starts it. All its parameters are addresses.
    pub fn launch(
        &self,
        grid: [u32; 3],
        block: u32,
        arguments: &[sys::CUdeviceptr],
    ) -> Result<(), KernelError> {
        let mut parameters: Vec<_> =
            arguments.iter().map(|address| std::ptr::from_ref(address).cast_mut().cast()).collect();
        let [x, y, z] = grid;
        // SAFETY: the driver reads the parameters before this returns; they are as many addresses as the kernel takes, of memory
        // as long as it was planned for.
        unsafe {
            result::launch_kernel(
                self.entry,
                (x, y, z),
                (block, 1, 1),
                0,
                self.context.stream,
                &mut parameters,
            )
        }
        .map_err(driver("cuLaunchKernel"))
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the module was loaded here and is unloaded once, after all its launches. A failure leaves nothing to do.
            unsafe {
                let _ = result::stream::synchronize(self.context.stream);
                let _ = result::module::unload(self.module);
            }
        }
    }
}

/// A moment on a stream.
pub struct Event {
    /// Ends after it.
    _context: Rc<Context>,
    event: sys::CUevent,
}

impl Event {
    /// An event that keeps its time.
    pub fn new(context: &Rc<Context>) -> Result<Self, KernelError> {
        let event =
            result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(driver("cuEventCreate"))?;
        Ok(Self { _context: Rc::clone(context), event })
    }

    /// Sets it to when all that was started before is done.
    pub fn record(&self, context: &Context) -> Result<(), KernelError> {
        // SAFETY: event and stream are alive.
        unsafe { result::event::record(self.event, context.stream) }.map_err(driver("cuEventRecord"))
    }

    /// Waits for it.
    pub fn wait(&self) -> Result<(), KernelError> {
        // SAFETY: the event is alive.
        unsafe { result::event::synchronize(self.event) }.map_err(driver("cuEventSynchronize"))
    }

    /// Nanoseconds since another; both have passed.
    pub fn since(&self, earlier: &Self) -> Result<f64, KernelError> {
        // SAFETY: both are alive and of one stream.
        let ms = unsafe { result::event::elapsed(earlier.event, self.event) }
            .map_err(driver("cuEventElapsedTime"))?;
        Ok(f64::from(ms) * 1e6)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it was made here and is destroyed once. A failure leaves nothing to do.
        let _ = unsafe { result::event::destroy(self.event) };
    }
}

/// Launches that the driver keeps as one.
pub struct Graph {
    context: Rc<Context>,
    captured: sys::CUgraph,
    ready: sys::CUgraphExec,
}

impl Graph {
    /// Keeps what `start` starts, instead of running it.
    pub fn capture(
        context: &Rc<Context>,
        start: impl FnOnce() -> Result<(), KernelError>,
    ) -> Result<Self, KernelError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is alive and not yet capturing.
        unsafe { result::stream::begin_capture(context.stream, mode) }
            .map_err(driver("cuStreamBeginCapture"))?;
        let started = start();
        // SAFETY: the capture began above, and must end whatever happened in between.
        let captured =
            unsafe { result::stream::end_capture(context.stream) }.map_err(driver("cuStreamEndCapture"));
        started?;
        let mut kept = Self { context: Rc::clone(context), captured: captured?, ready: std::ptr::null_mut() };
        let mut ready = std::ptr::null_mut();
        // SAFETY: the graph is alive; the pointer is to a live handle.
        unsafe { sys::cuGraphInstantiateWithFlags(&raw mut ready, kept.captured, 0) }
            .result()
            .map_err(driver("cuGraphInstantiate"))?;
        kept.ready = ready;
        // SAFETY: the graph is ready and the stream alive.
        unsafe { result::graph::upload(kept.ready, context.stream) }.map_err(driver("cuGraphUpload"))?;
        context.finish()?;
        Ok(kept)
    }

    /// Starts it.
    pub fn launch(&self) -> Result<(), KernelError> {
        // SAFETY: the graph is ready, and all memory in it lives as long as the kernel that holds both.
        unsafe { result::graph::launch(self.ready, self.context.stream) }.map_err(driver("cuGraphLaunch"))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: both were made here and are destroyed once. Failures leave nothing to do.
            unsafe {
                if !self.ready.is_null() {
                    let _ = result::graph::exec_destroy(self.ready);
                }
                let _ = result::graph::destroy(self.captured);
            }
        }
    }
}
