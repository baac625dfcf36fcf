use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    path::PathBuf,
    ptr,
    rc::Rc,
};

use kernels_c::failed;
use kernels_core::KernelError;
use libloading::Library;

use crate::library::{RUNTIME, Status, function, functions, open};

pub type Address = *mut c_void;
pub type Stream = *mut c_void;
type Handle = *mut c_void;

functions! {
    /// The runtime, as far as it is called here.
    Calls {
        version = "hipRuntimeGetVersion" (*mut c_int);
        count = "hipGetDeviceCount" (*mut c_int);
        name = "hipDeviceGetName" (*mut c_char, c_int, c_int);
        total_memory = "hipDeviceTotalMem" (*mut usize, c_int);
        attribute = "hipDeviceGetAttribute" (*mut c_int, c_int, c_int);
        bus_id = "hipDeviceGetPCIBusId" (*mut c_char, c_int, c_int);
        set_device = "hipSetDevice" (c_int);
        allocate = "hipMalloc" (*mut Address, usize);
        free = "hipFree" (Address);
        upload = "hipMemcpyHtoDAsync" (Address, *mut c_void, usize, Stream);
        download = "hipMemcpyDtoH" (*mut c_void, Address, usize);
        copy = "hipMemcpyDtoDAsync" (Address, Address, usize, Stream);
        fill = "hipMemsetD8Async" (Address, u8, usize, Stream);
        stream = "hipStreamCreateWithFlags" (*mut Stream, c_uint);
        finish = "hipStreamSynchronize" (Stream);
        end_stream = "hipStreamDestroy" (Stream);
        load = "hipModuleLoadData" (*mut Handle, *const c_void);
        kernel = "hipModuleGetFunction" (*mut Handle, Handle, *const c_char);
        unload = "hipModuleUnload" (Handle);
        launch = "hipModuleLaunchKernel" (Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void, *mut *mut c_void);
        event = "hipEventCreate" (*mut Handle);
        record = "hipEventRecord" (Handle, Stream);
        wait = "hipEventSynchronize" (Handle);
        elapsed = "hipEventElapsedTime" (*mut f32, Handle, Handle);
        end_event = "hipEventDestroy" (Handle);
    }
}

/// Numbers of a device, as the runtime counts its attributes since `ROCm` 4.3.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Attribute {
    /// Whether it shares the host's memory.
    Integrated = 16,
    /// Its compute units.
    ComputeUnits = 63,
}

/// Statuses after which nothing works until the process ends: deinitialised, an uncorrectable memory error, an illegal
/// address, a time limit, a destroyed context, an assertion, a failed launch, something unknown.
const LOST: [Status; 8] = [4, 214, 700, 702, 709, 710, 719, 999];
const OUT_OF_MEMORY: Status = 2;
/// `hipStreamNonBlocking`.
const NON_BLOCKING: c_uint = 1;
/// More than the runtime's description of a device has ever been long, in words of 8 bytes.
const PROPERTIES: usize = 1024;

/// The open runtime.
#[derive(Clone, Copy)]
pub struct Runtime {
    calls: Calls,
    describe: unsafe extern "C" fn(Status) -> *const c_char,
    properties: unsafe extern "C" fn(*mut c_void, c_int) -> Status,
    /// The library, in which older versions keep their compiler.
    pub(crate) library: &'static Library,
}

impl Runtime {
    /// Opens it.
    ///
    /// # Errors
    /// `NoLoader`.
    pub fn open(folders: &[Option<PathBuf>]) -> Result<Self, KernelError> {
        let library = open(&RUNTIME, folders)?;
        // SAFETY: the types are those of the library's own header; both names of `properties` fill a description of their own
        // version, which is only searched here.
        let (describe, properties) = unsafe {
            let newer = function(library, "hipGetDevicePropertiesR0600");
            (
                function(library, "hipGetErrorName")?,
                newer.or_else(|_| function(library, "hipGetDeviceProperties"))?,
            )
        };
        Ok(Self { calls: Calls::of(library)?, describe, properties, library })
    }

    fn done(&self, call: &str, said: Status) -> Result<(), KernelError> {
        match said {
            0 => Ok(()),
            lost if LOST.contains(&lost) => Err(KernelError::Lost {
                device: "hip".to_owned(),
                reason: format!("{call}: {}", self.words(said)),
            }),
            _ => Err(failed(call, &self.words(said))),
        }
    }

    fn words(&self, said: Status) -> String {
        // SAFETY: the call takes any status and gives a static text, or nothing.
        let text = unsafe { (self.describe)(said) };
        if text.is_null() {
            return format!("status {said}");
        }
        // SAFETY: a text of the library's, which ends with a zero.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// Its version, such as 50221153 of 5.2.
    ///
    /// # Errors
    /// What it says.
    pub fn version(&self) -> Result<i32, KernelError> {
        let mut version = 0;
        // SAFETY: the pointer is to a live integer.
        self.done("hipRuntimeGetVersion", unsafe { (self.calls.version)(&raw mut version) })?;
        Ok(version)
    }

    /// How many GPUs it shows.
    ///
    /// # Errors
    /// What it says, where that is none.
    pub fn count(&self) -> Result<i32, KernelError> {
        let mut count = 0;
        // SAFETY: the pointer is to a live integer.
        self.done("hipGetDeviceCount", unsafe { (self.calls.count)(&raw mut count) })?;
        Ok(count)
    }

    /// A device's name.
    ///
    /// # Errors
    /// What the runtime says; so for those below.
    pub fn name(&self, device: c_int) -> Result<String, KernelError> {
        let calls = self.calls;
        // SAFETY: the call is given as many bytes as there are.
        self.text("hipDeviceGetName", |at, length| unsafe { (calls.name)(at, length, device) })
    }

    /// A device's place on the bus, such as `0000:c1:00.0`.
    pub fn bus_id(&self, device: c_int) -> Result<String, KernelError> {
        let calls = self.calls;
        // SAFETY: the call is given as many bytes as there are.
        self.text("hipDeviceGetPCIBusId", |at, length| unsafe { (calls.bus_id)(at, length, device) })
    }

    fn text(
        &self,
        call: &str,
        ask: impl FnOnce(*mut c_char, c_int) -> Status,
    ) -> Result<String, KernelError> {
        let mut bytes = [0u8; 256];
        self.done(call, ask(bytes.as_mut_ptr().cast(), 255))?;
        let text = CStr::from_bytes_until_nul(&bytes).map(CStr::to_string_lossy).unwrap_or_default();
        Ok(text.trim().to_owned())
    }

    /// A device's memory, bytes.
    pub fn memory(&self, device: c_int) -> Result<usize, KernelError> {
        let mut bytes = 0;
        // SAFETY: the pointer is to a live integer.
        self.done("hipDeviceTotalMem", unsafe { (self.calls.total_memory)(&raw mut bytes, device) })?;
        Ok(bytes)
    }

    /// A number of a device; None for one that is negative or unknown.
    pub fn attribute(&self, of: Attribute, device: c_int) -> Option<u32> {
        let mut value = 0;
        // SAFETY: the pointer is to a live integer.
        let said = unsafe { (self.calls.attribute)(&raw mut value, of as c_int, device) };
        u32::try_from(value).ok().filter(|_| said == 0)
    }

    /// A device's architecture, such as `gfx90a`, out of the runtime's description. Where in it the name stands differs between
    /// versions.
    pub fn architecture(&self, device: c_int) -> Result<String, KernelError> {
        let mut words = vec![0u64; PROPERTIES];
        // SAFETY: the memory is longer than a description of any version, and aligned as one.
        let said = unsafe { (self.properties)(words.as_mut_ptr().cast(), device) };
        self.done("hipGetDeviceProperties", said)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        architecture_in(&bytes).ok_or_else(|| failed("hipGetDeviceProperties", "it tells no architecture"))
    }
}

/// The first name of an architecture in some bytes: `gfx` and hexadecimal digits, ended by a zero or the features after it.
fn architecture_in(bytes: &[u8]) -> Option<String> {
    bytes.windows(3).enumerate().filter(|(_, window)| window == b"gfx").find_map(|(start, _)| {
        let rest = bytes.get(start + 3..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let ended = matches!(rest.get(digits), Some(b'\0' | b':'));
        let name = bytes.get(start..start + 3 + digits)?;
        (digits >= 3 && ended).then(|| String::from_utf8_lossy(name).into_owned())
    })
}

/// A device with a stream.
pub struct Context {
    runtime: Runtime,
    device: c_int,
    pub(crate) stream: Stream,
}

impl Context {
    /// Opens them.
    ///
    /// # Errors
    /// What the runtime says; so for all below.
    pub fn open(runtime: Runtime, device: c_int) -> Result<Rc<Self>, KernelError> {
        let mut opened = Self { runtime, device, stream: ptr::null_mut() };
        opened.enter()?;
        let mut stream = ptr::null_mut();
        // SAFETY: the pointer is to a live handle.
        let said = unsafe { (runtime.calls.stream)(&raw mut stream, NON_BLOCKING) };
        opened.done("hipStreamCreate", said)?;
        opened.stream = stream;
        Ok(Rc::new(opened))
    }

    fn done(&self, call: &str, said: Status) -> Result<(), KernelError> {
        self.runtime.done(call, said)
    }

    /// Makes it this thread's device.
    pub fn enter(&self) -> Result<(), KernelError> {
        // SAFETY: the call takes any number.
        self.done("hipSetDevice", unsafe { (self.runtime.calls.set_device)(self.device) })
    }

    /// Waits for all that was started.
    pub fn finish(&self) -> Result<(), KernelError> {
        // SAFETY: the stream lives as long as this.
        self.done("hipStreamSynchronize", unsafe { (self.runtime.calls.finish)(self.stream) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.stream.is_null() && self.enter().is_ok() {
            // SAFETY: the stream was made here, and all that used it is gone. A failure leaves nothing to do.
            let _ = unsafe { (self.runtime.calls.end_stream)(self.stream) };
        }
    }
}

/// Memory of a device.
pub struct Memory {
    context: Rc<Context>,
    pub(crate) address: Address,
    bytes: usize,
}

impl Memory {
    /// Memory with anything in it; at least 16 bytes.
    pub fn new(context: &Rc<Context>, what: &str, bytes: usize) -> Result<Self, KernelError> {
        let bytes = bytes.max(16);
        let mut address = ptr::null_mut();
        // SAFETY: the pointer is to a live address; the memory is freed once, when this is dropped.
        let said = unsafe { (context.runtime.calls.allocate)(&raw mut address, bytes) };
        if said == OUT_OF_MEMORY {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            return Err(KernelError::OutOfMemory { what: what.to_owned(), bytes });
        }
        context.done("hipMalloc", said)?;
        Ok(Self { context: Rc::clone(context), address, bytes })
    }

    /// Memory with these bytes.
    pub fn with(context: &Rc<Context>, what: &str, data: &[u8]) -> Result<Self, KernelError> {
        let memory = Self::new(context, what, data.len())?;
        // SAFETY: the memory is as long as the data, which is only read and outlives the copy: the stream is waited for.
        let said = unsafe {
            let from = data.as_ptr().cast_mut().cast();
            (context.runtime.calls.upload)(memory.address, from, data.len(), context.stream)
        };
        context.done("hipMemcpyHtoDAsync", said)?;
        context.finish()?;
        Ok(memory)
    }

    /// Starts a copy of its first bytes.
    pub fn copy_to(&self, to: &Self, bytes: usize) -> Result<(), KernelError> {
        let bytes = bytes.min(self.bytes).min(to.bytes);
        // SAFETY: both are as long, and live until the stream is done: freeing them waits for it.
        let said = unsafe {
            (self.context.runtime.calls.copy)(to.address, self.address, bytes, self.context.stream)
        };
        self.context.done("hipMemcpyDtoDAsync", said)
    }

    /// The same bytes again.
    pub fn duplicate(&self, what: &str) -> Result<Self, KernelError> {
        let memory = Self::new(&self.context, what, self.bytes)?;
        self.copy_to(&memory, self.bytes)?;
        self.context.finish()?;
        Ok(memory)
    }

    /// Fills it with a byte, after what was started, and waits.
    pub fn fill(&self, byte: u8) -> Result<(), KernelError> {
        // SAFETY: the memory is so long, and lives until the stream is done: it is waited for.
        let said =
            unsafe { (self.context.runtime.calls.fill)(self.address, byte, self.bytes, self.context.stream) };
        self.context.done("hipMemsetD8Async", said)?;
        self.context.finish()
    }

    /// Its first bytes, after what was started.
    pub fn read(&self, bytes: usize) -> Result<Vec<u8>, KernelError> {
        self.context.finish()?;
        let mut data = vec![0u8; bytes.min(self.bytes)];
        // SAFETY: the memory is at least as long as the vector, and the copy has ended when this returns.
        let said = unsafe {
            (self.context.runtime.calls.download)(data.as_mut_ptr().cast(), self.address, data.len())
        };
        self.context.done("hipMemcpyDtoH", said)?;
        Ok(data)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.enter().is_ok() && self.context.finish().is_ok() {
            // SAFETY: it is freed once, and nothing on the stream uses it any more. A failure leaves nothing to do.
            let _ = unsafe { (self.context.runtime.calls.free)(self.address) };
        }
    }
}

/// A kernel that the runtime has loaded.
pub struct Function {
    context: Rc<Context>,
    module: Handle,
    entry: Handle,
}

impl Function {
    /// Loads a code object.
    pub fn load(context: &Rc<Context>, code: &[u8], entry: &str) -> Result<Self, KernelError> {
        let calls = &context.runtime.calls;
        let name = CString::new(entry).map_err(|error| failed("hipModuleGetFunction", &error))?;
        let mut loaded =
            Self { context: Rc::clone(context), module: ptr::null_mut(), entry: ptr::null_mut() };
        // SAFETY: the code object is whole; the pointers are to live handles.
        let said = unsafe { (calls.load)(&raw mut loaded.module, code.as_ptr().cast()) };
        context.done("hipModuleLoadData", said)?;
        // SAFETY: the module was just loaded; the name ends with a zero.
        let said = unsafe { (calls.kernel)(&raw mut loaded.entry, loaded.module, name.as_ptr()) };
        context.done("hipModuleGetFunction", said)?;
        Ok(loaded)
    }

    /// Starts it. All its parameters are addresses.
    pub fn launch(&self, [x, y, z]: [u32; 3], block: u32, arguments: &[&Memory]) -> Result<(), KernelError> {
        let addresses: Vec<Address> = arguments.iter().map(|memory| memory.address).collect();
        let mut parameters: Vec<*mut c_void> =
            addresses.iter().map(|address| ptr::from_ref(address).cast_mut().cast()).collect();
        let calls = &self.context.runtime.calls;
        // SAFETY: the runtime reads the parameters before this returns; they are as many addresses as the kernel takes, of memory
        // as long as it was planned for.
        let said = unsafe {
            (calls.launch)(
                self.entry,
                x,
                y,
                z,
                block,
                1,
                1,
                0,
                self.context.stream,
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        self.context.done("hipModuleLaunchKernel", said)
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        if !self.module.is_null() && self.context.enter().is_ok() && self.context.finish().is_ok() {
            // SAFETY: the module was loaded here and is unloaded once, after all its launches. A failure leaves nothing to do.
            let _ = unsafe { (self.context.runtime.calls.unload)(self.module) };
        }
    }
}

/// A moment of a stream.
pub struct Event {
    context: Rc<Context>,
    event: Handle,
}

impl Event {
    /// When all that was started before is done.
    pub fn mark(context: &Rc<Context>) -> Result<Self, KernelError> {
        let calls = &context.runtime.calls;
        let mut made = Self { context: Rc::clone(context), event: ptr::null_mut() };
        // SAFETY: the pointer is to a live handle.
        context.done("hipEventCreate", unsafe { (calls.event)(&raw mut made.event) })?;
        // SAFETY: event and stream are alive.
        context.done("hipEventRecord", unsafe { (calls.record)(made.event, context.stream) })?;
        Ok(made)
    }

    /// Waits for it.
    pub fn wait(&self) -> Result<(), KernelError> {
        // SAFETY: the event is alive and was recorded.
        self.context.done("hipEventSynchronize", unsafe { (self.context.runtime.calls.wait)(self.event) })
    }

    /// Nanoseconds since another; both have passed.
    pub fn since(&self, earlier: &Self) -> Result<f64, KernelError> {
        let mut ms = 0f32;
        // SAFETY: both are alive and were recorded; the pointer is to a live number.
        let said = unsafe { (self.context.runtime.calls.elapsed)(&raw mut ms, earlier.event, self.event) };
        self.context.done("hipEventElapsedTime", said)?;
        Ok(f64::from(ms) * 1e6)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.event.is_null() {
            // SAFETY: it was made here and is destroyed once. A failure leaves nothing to do.
            let _ = unsafe { (self.context.runtime.calls.end_event)(self.event) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_found_wherever_it_stands() {
        let cases: [(&[u8], Option<&str>); 6] = [
            (b"AMD Instinct\0\0\x01\x02gfx90a:sramecc+:xnack-\0", Some("gfx90a")),
            (b"\0gfx1100\0", Some("gfx1100")),
            (b"gfx of a name\0\0gfx942\0", Some("gfx942")),
            (b"gfx90a", None),
            (b"gfxwhat\0", None),
            (b"", None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(architecture_in(bytes).as_deref(), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
