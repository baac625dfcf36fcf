use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::PathBuf,
    ptr,
};

use kernels_c::failed;
use kernels_core::KernelError;
use libloading::Library;

use crate::library::{COMPILER, Status, function, functions, open};

type Program = *mut c_void;

functions! {
    /// hipRTC, as far as it is called here.
    Calls {
        version = "hiprtcVersion" (*mut c_int, *mut c_int);
        create = "hiprtcCreateProgram" (*mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
        compile = "hiprtcCompileProgram" (Program, c_int, *const *const c_char);
        code_size = "hiprtcGetCodeSize" (Program, *mut usize);
        code = "hiprtcGetCode" (Program, *mut c_char);
        log_size = "hiprtcGetProgramLogSize" (Program, *mut usize);
        log = "hiprtcGetProgramLog" (Program, *mut c_char);
        destroy = "hiprtcDestroyProgram" (*mut Program);
    }
}

/// The compiler of own kernels.
#[derive(Clone, Copy)]
pub struct Compiler {
    calls: Calls,
    describe: unsafe extern "C" fn(Status) -> *const c_char,
}

impl Compiler {
    /// Opens it: a library of its own, or a part of `runtime`.
    ///
    /// # Errors
    /// `NoLoader`.
    pub fn open(folders: &[Option<PathBuf>], runtime: Option<&'static Library>) -> Result<Self, KernelError> {
        let of = |library| {
            // SAFETY: the type is that of the library's own header.
            let describe = unsafe { function(library, "hiprtcGetErrorString") }?;
            Ok(Self { calls: Calls::of(library)?, describe })
        };
        let own = open(&COMPILER, folders).and_then(of);
        match runtime {
            Some(runtime) if own.is_err() => of(runtime).or(own),
            _ => own,
        }
    }

    /// Its version, such as `6.3`.
    pub fn version(&self) -> Option<String> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live integers.
        let said = unsafe { (self.calls.version)(&raw mut major, &raw mut minor) };
        (said == 0).then(|| format!("{major}.{minor}"))
    }

    /// Compiles for an architecture such as `gfx90a`, without any header, into a code object.
    ///
    /// # Errors
    /// `Compile` with its log.
    pub fn compile(&self, name: &str, source: &str, architecture: &str) -> Result<Vec<u8>, KernelError> {
        let refused = |log: String| KernelError::Compile { kernel: name.to_owned(), log };
        let text = |text: &str| CString::new(text).map_err(|error| refused(error.to_string()));
        let (source, option) = (text(source)?, text(&format!("--offload-arch={architecture}"))?);
        let mut program = ptr::null_mut();
        // SAFETY: the source ends with a zero and outlives the call; there are no headers.
        let said = unsafe {
            (self.calls.create)(&raw mut program, source.as_ptr(), ptr::null(), 0, ptr::null(), ptr::null())
        };
        self.done("hiprtcCreateProgram", said)?;
        let program = Made { calls: &self.calls, program };
        let options = [option.as_ptr()];
        // SAFETY: the program is alive; there is one option, which outlives the call.
        let said = unsafe { (self.calls.compile)(program.program, 1, options.as_ptr()) };
        if said != 0 {
            return Err(refused(format!("{}: {}", self.words(said), self.log_of(&program))));
        }
        let mut size = 0;
        // SAFETY: the program is alive and compiled; the pointer is to a live integer.
        let said = unsafe { (self.calls.code_size)(program.program, &raw mut size) };
        self.done("hiprtcGetCodeSize", said)?;
        let mut code = vec![0u8; size];
        // SAFETY: the vector is as long as was said.
        let said = unsafe { (self.calls.code)(program.program, code.as_mut_ptr().cast()) };
        self.done("hiprtcGetCode", said)?;
        Ok(code)
    }

    fn done(&self, call: &str, said: Status) -> Result<(), KernelError> {
        if said == 0 { Ok(()) } else { Err(failed(call, &self.words(said))) }
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

    fn log_of(&self, program: &Made<'_>) -> String {
        let mut size = 0;
        // SAFETY: the program is alive; the pointer is to a live integer.
        if unsafe { (self.calls.log_size)(program.program, &raw mut size) } != 0 {
            return String::new();
        }
        let mut log = vec![0u8; size + 1];
        // SAFETY: the vector is longer than was said.
        if unsafe { (self.calls.log)(program.program, log.as_mut_ptr().cast()) } != 0 {
            return String::new();
        }
        let text = CStr::from_bytes_until_nul(&log).map(CStr::to_string_lossy).unwrap_or_default();
        text.trim().to_owned()
    }
}

struct Made<'a> {
    calls: &'a Calls,
    program: Program,
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by the compiler and is destroyed once. A failure leaves nothing to do.
        let _ = unsafe { (self.calls.destroy)(&raw mut self.program) };
    }
}
