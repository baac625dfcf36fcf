use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    path::PathBuf,
    ptr::{null, null_mut},
    rc::Rc,
};

use kernels_core::{DType, ImplId, KernelError};
use libloading::Library;

use crate::{
    buffer::Buffer,
    library::{function, open},
    matmul::MatMul,
};

const NAMES: &[&str] = if cfg!(target_os = "macos") {
    &["libdnnl.3.dylib", "libdnnl.2.dylib", "libdnnl.dylib"]
} else if cfg!(windows) {
    &["dnnl.dll"]
} else {
    &["libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"]
};

const SUCCESS: c_int = 0;
const UNIMPLEMENTED: c_int = 3;
const ENGINE_CPU: c_int = 1;
const STREAM_IN_ORDER: c_uint = 1;
const QUERY_IMPL_INFO: c_int = 8;
const ARG_SRC: c_int = 1;
const ARG_DST: c_int = 17;
const ARG_WEIGHTS: c_int = 33;

/// Room for the largest descriptor that version 2 keeps in the caller's memory (a matmul descriptor: about 2.5 KiB).
const DESCRIPTOR_WORDS: usize = 1024;

type Handle = *mut c_void;
type Dims = [i64; 12];

#[repr(C)]
struct Version {
    major: c_int,
    minor: c_int,
    patch: c_int,
}

#[repr(C)]
struct ExecArg {
    arg: c_int,
    memory: Handle,
}

type MemoryDescriptor2 = unsafe extern "C" fn(Handle, c_int, *const i64, c_int, *const i64) -> c_int;
type MemoryDescriptor3 = unsafe extern "C" fn(*mut Handle, c_int, *const i64, c_int, *const i64) -> c_int;
type MatMulDescriptor2 = unsafe extern "C" fn(Handle, Handle, Handle, Handle, Handle) -> c_int;
type PrimitiveDescriptor2 = unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle) -> c_int;
type PrimitiveDescriptor3 =
    unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle, Handle) -> c_int;
type Destroy = unsafe extern "C" fn(Handle) -> c_int;

/// What differs between the two versions of the C interface: 2 fills structures, 3 hands out pointers.
#[derive(Clone, Copy)]
enum Descriptors {
    Two { memory: MemoryDescriptor2, matmul: MatMulDescriptor2, primitive: PrimitiveDescriptor2 },
    Three { memory: MemoryDescriptor3, destroy: Destroy, primitive: PrimitiveDescriptor3 },
}

/// oneDNN on the CPU, with one engine and one stream that live as long as the process.
pub(crate) struct OneDnn {
    version: String,
    engine: Handle,
    stream: Handle,
    descriptors: Descriptors,
    memory_create: unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle) -> c_int,
    memory_set: unsafe extern "C" fn(Handle, Handle) -> c_int,
    memory_destroy: Destroy,
    primitive_create: unsafe extern "C" fn(*mut Handle, Handle) -> c_int,
    primitive_destroy: Destroy,
    primitive_descriptor_destroy: Destroy,
    query: unsafe extern "C" fn(Handle, c_int, c_int, *mut *const c_char) -> c_int,
    execute: unsafe extern "C" fn(Handle, Handle, c_int, *const ExecArg) -> c_int,
    wait: unsafe extern "C" fn(Handle) -> c_int,
}

fn failed(call: &str, status: c_int) -> KernelError {
    KernelError::Call { call: call.to_owned(), reason: format!("status {status}") }
}

fn ok(call: &str, status: c_int) -> Result<(), KernelError> {
    if status == SUCCESS { Ok(()) } else { Err(failed(call, status)) }
}

impl OneDnn {
    /// Opens version 3 or 2 and has it use so many threads, where its OpenMP lets that be set.
    pub fn open(folders: &[PathBuf], threads: usize) -> Result<Rc<Self>, KernelError> {
        let library = open(NAMES, folders)?;
        // SAFETY: the types are those of oneDNN's dnnl.h, in what both versions have in common.
        unsafe {
            let version = (function::<unsafe extern "C" fn() -> *const Version>(library, "dnnl_version")?)();
            let Version { major, minor, patch } = version.read();
            if let Ok(set) = function::<unsafe extern "C" fn(c_int)>(library, "omp_set_num_threads") {
                set(c_int::try_from(threads).unwrap_or(1));
            }
            let (mut engine, mut stream) = (null_mut(), null_mut());
            let create: unsafe extern "C" fn(*mut Handle, c_int, usize) -> c_int =
                function(library, "dnnl_engine_create")?;
            ok("dnnl_engine_create", create(&raw mut engine, ENGINE_CPU, 0))?;
            let create: unsafe extern "C" fn(*mut Handle, Handle, c_uint) -> c_int =
                function(library, "dnnl_stream_create")?;
            ok("dnnl_stream_create", create(&raw mut stream, engine, STREAM_IN_ORDER))?;
            Ok(Rc::new(Self {
                version: format!("{major}.{minor}.{patch}"),
                engine,
                stream,
                descriptors: descriptors(library, major)?,
                memory_create: function(library, "dnnl_memory_create")?,
                memory_set: function(library, "dnnl_memory_set_data_handle")?,
                memory_destroy: function(library, "dnnl_memory_destroy")?,
                primitive_create: function(library, "dnnl_primitive_create")?,
                primitive_destroy: function(library, "dnnl_primitive_destroy")?,
                primitive_descriptor_destroy: function(library, "dnnl_primitive_desc_destroy")?,
                query: function(library, "dnnl_primitive_desc_query")?,
                execute: function(library, "dnnl_primitive_execute")?,
                wait: function(library, "dnnl_stream_wait")?,
            }))
        }
    }

    pub fn impl_id(&self) -> ImplId {
        ImplId::new("cpu", "onednn").with("version", &self.version)
    }
}

/// # Safety
/// `library` must be oneDNN of that major version.
unsafe fn descriptors(library: &'static Library, major: c_int) -> Result<Descriptors, KernelError> {
    // SAFETY: the types are those of each version's dnnl.h.
    unsafe {
        match major {
            2 => Ok(Descriptors::Two {
                memory: function(library, "dnnl_memory_desc_init_by_strides")?,
                matmul: function(library, "dnnl_matmul_desc_init")?,
                primitive: function(library, "dnnl_primitive_desc_create")?,
            }),
            3 => Ok(Descriptors::Three {
                memory: function(library, "dnnl_memory_desc_create_with_strides")?,
                destroy: function(library, "dnnl_memory_desc_destroy")?,
                primitive: function(library, "dnnl_matmul_primitive_desc_create")?,
            }),
            other => Err(KernelError::Unsupported {
                what: format!("oneDNN {other}"),
                reason: "versions 2 and 3 are known".to_owned(),
            }),
        }
    }
}

const fn data_type(dtype: DType) -> Option<c_int> {
    match dtype {
        DType::F16 => Some(1),
        DType::Bf16 => Some(2),
        DType::F32 => Some(3),
        DType::Int32 => Some(4),
        DType::Int8 => Some(5),
        DType::Tf32 | DType::Fp8E4m3 | DType::Int4 => None,
    }
}

/// A description of a matrix, in the caller's memory or the library's.
enum Descriptor {
    Own(Box<[u64; DESCRIPTOR_WORDS]>),
    Theirs(Handle, Destroy),
}

impl Descriptor {
    fn new(
        of: Descriptors,
        (rows, columns): (usize, usize),
        strides: (usize, usize),
        dtype: DType,
    ) -> Result<Self, KernelError> {
        let what = || KernelError::Unsupported {
            what: dtype.name().to_owned(),
            reason: "oneDNN has no such type".to_owned(),
        };
        let data_type = data_type(dtype).ok_or_else(what)?;
        let pair = |(a, b): (usize, usize)| {
            let mut dims: Dims = [0; 12];
            dims[0] = i64::try_from(a).unwrap_or(i64::MAX);
            dims[1] = i64::try_from(b).unwrap_or(i64::MAX);
            dims
        };
        let (dims, strides) = (pair((rows, columns)), pair(strides));
        match of {
            Descriptors::Two { memory, .. } => {
                let mut own = Box::new([0; DESCRIPTOR_WORDS]);
                // SAFETY: the structure fits the room, and both arrays have the length of its dims.
                let status =
                    unsafe { memory(own.as_mut_ptr().cast(), 2, dims.as_ptr(), data_type, strides.as_ptr()) };
                ok("dnnl_memory_desc_init_by_strides", status).map(|()| Self::Own(own))
            }
            Descriptors::Three { memory, destroy, .. } => {
                let mut theirs = null_mut();
                // SAFETY: both arrays have the length of the library's dims.
                let status =
                    unsafe { memory(&raw mut theirs, 2, dims.as_ptr(), data_type, strides.as_ptr()) };
                ok("dnnl_memory_desc_create_with_strides", status).map(|()| Self::Theirs(theirs, destroy))
            }
        }
    }

    fn pointer(&self) -> Handle {
        match self {
            Self::Own(own) => own.as_ptr().cast_mut().cast(),
            Self::Theirs(theirs, _) => *theirs,
        }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if let Self::Theirs(theirs, destroy) = self {
            // SAFETY: it was made by the library and is given back once.
            unsafe { destroy(*theirs) };
        }
    }
}

/// A matrix product that oneDNN has chosen code for.
pub(crate) struct Product {
    library: Rc<OneDnn>,
    primitive: Handle,
    memories: [Handle; 3],
    kernel: String,
    of: MatMul,
}

impl Product {
    /// Chooses code; `Unsupported` where oneDNN has none for these types on this CPU.
    pub fn new(library: &Rc<OneDnn>, of: &MatMul) -> Result<Self, KernelError> {
        let descriptors = library.descriptors;
        let left = Descriptor::new(descriptors, (of.rows, of.depth), (of.depth, 1), of.dtype)?;
        let right = Descriptor::new(descriptors, (of.depth, of.columns), of.right_strides(), of.dtype)?;
        let out = Descriptor::new(descriptors, (of.rows, of.columns), (of.columns, 1), of.output)?;
        let primitive_descriptor = library.primitive_descriptor(&left, &right, &out, of)?;
        let mut product = Self {
            library: Rc::clone(library),
            primitive: null_mut(),
            memories: [null_mut(); 3],
            kernel: String::new(),
            of: *of,
        };
        // SAFETY: the descriptor is whole; the text is the library's and ends in a NUL; it is copied before the
        // descriptor is given back.
        unsafe {
            let mut text: *const c_char = null();
            if (library.query)(primitive_descriptor, QUERY_IMPL_INFO, 0, &raw mut text) == SUCCESS
                && !text.is_null()
            {
                product.kernel = CStr::from_ptr(text).to_string_lossy().into_owned();
            }
            let status = (library.primitive_create)(&raw mut product.primitive, primitive_descriptor);
            (library.primitive_descriptor_destroy)(primitive_descriptor);
            ok("dnnl_primitive_create", status)?;
            for (memory, descriptor) in product.memories.iter_mut().zip([&left, &right, &out]) {
                let status =
                    (library.memory_create)(memory, descriptor.pointer(), library.engine, null_mut());
                ok("dnnl_memory_create", status)?;
            }
        }
        Ok(product)
    }

    /// The code chosen, as the library names it.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// out = left · right.
    pub fn multiply(&self, left: &Buffer, right: &Buffer, out: &mut Buffer) -> Result<(), KernelError> {
        let library = &self.library;
        let elements = |dtype: DType, rows: usize, columns: usize| dtype.bytes(rows * columns);
        let MatMul { rows, columns, depth, dtype, output, .. } = self.of;
        let fits = left.bytes().len() >= elements(dtype, rows, depth)
            && right.bytes().len() >= elements(dtype, depth, columns)
            && out.bytes().len() >= elements(output, rows, columns);
        if !fits {
            return Err(KernelError::BadSpec {
                what: "matmul".to_owned(),
                reason: "a buffer is too short".to_owned(),
            });
        }
        let pointers: [Handle; 3] = [
            left.bytes().as_ptr().cast_mut().cast(),
            right.bytes().as_ptr().cast_mut().cast(),
            out.bytes_mut().as_mut_ptr().cast(),
        ];
        // SAFETY: the buffers are as long as the descriptors say and outlive the call, which is waited for; the two
        // inputs are only read.
        unsafe {
            for (memory, pointer) in self.memories.iter().zip(pointers) {
                ok("dnnl_memory_set_data_handle", (library.memory_set)(*memory, pointer))?;
            }
            let [left, right, out] = self.memories;
            let args = [(ARG_SRC, left), (ARG_WEIGHTS, right), (ARG_DST, out)]
                .map(|(arg, memory)| ExecArg { arg, memory });
            ok(
                "dnnl_primitive_execute",
                (library.execute)(self.primitive, library.stream, 3, args.as_ptr()),
            )?;
            ok("dnnl_stream_wait", (library.wait)(library.stream))
        }
    }
}

impl OneDnn {
    fn primitive_descriptor(
        &self,
        left: &Descriptor,
        right: &Descriptor,
        out: &Descriptor,
        of: &MatMul,
    ) -> Result<Handle, KernelError> {
        let mut made = null_mut();
        let (left, right, out) = (left.pointer(), right.pointer(), out.pointer());
        // SAFETY: the descriptors are whole; a null bias, attribute and hint mean none.
        let status = unsafe {
            match self.descriptors {
                Descriptors::Two { matmul, primitive, .. } => {
                    let mut room = Box::new([0u64; DESCRIPTOR_WORDS]);
                    let operation: Handle = room.as_mut_ptr().cast();
                    ok("dnnl_matmul_desc_init", matmul(operation, left, right, null_mut(), out))?;
                    primitive(&raw mut made, operation, null_mut(), self.engine, null_mut())
                }
                Descriptors::Three { primitive, .. } => {
                    primitive(&raw mut made, self.engine, left, right, null_mut(), out, null_mut())
                }
            }
        };
        if status == UNIMPLEMENTED {
            return Err(KernelError::Unsupported {
                what: format!("{} matmul by oneDNN {}", of.dtype.name(), self.version),
                reason: "it has no implementation for this CPU".to_owned(),
            });
        }
        ok("dnnl_primitive_desc_create", status).map(|()| made)
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        // SAFETY: each was made by the library and is given back once; null is left alone.
        unsafe {
            for memory in self.memories.into_iter().filter(|memory| !memory.is_null()) {
                (self.library.memory_destroy)(memory);
            }
            if !self.primitive.is_null() {
                (self.library.primitive_destroy)(self.primitive);
            }
        }
    }
}
