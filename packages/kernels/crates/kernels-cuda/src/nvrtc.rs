use std::ffi::{CStr, CString, c_char};

use cudarc::nvrtc::{result, sys};
use kernels_c::{caught, failed};
use kernels_core::KernelError;

use crate::library::Library;

/// A compiled kernel, ready to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// A cubin, or PTX with its final zero.
    pub data: Vec<u8>,
    /// What it was compiled for: `sm_90`, `compute_90`.
    pub target: String,
}

/// Compiles CUDA C without any header, for an architecture such as 90: to a cubin, or to PTX for the newest older architecture
/// where this NVRTC doesn't know it.
///
/// # Errors
/// `NoLoader` without NVRTC, `Compile` with its log.
pub fn compile(name: &str, source: &str, architecture: u32) -> Result<Image, KernelError> {
    Library::Nvrtc.required()?;
    caught("nvrtcCompileProgram", || {
        let known = architectures()?;
        if known.contains(&architecture) {
            return build(name, source, &format!("sm_{architecture}"));
        }
        let older = known.into_iter().filter(|&other| other <= architecture).max();
        let older = older.ok_or_else(|| KernelError::Unsupported {
            what: format!("sm_{architecture}"),
            reason: "this NVRTC compiles for newer architectures only".to_owned(),
        })?;
        build(name, source, &format!("compute_{older}"))
    })
}

/// NVRTC's version, such as 13 and 0; None without it.
pub fn version() -> Option<(i32, i32)> {
    Library::Nvrtc.required().ok()?;
    let asked = caught("nvrtcVersion", || {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live integers.
        unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }
            .result()
            .map_err(|error| failed("nvrtcVersion", &error))?;
        Ok((major, minor))
    });
    asked.ok()
}

fn architectures() -> Result<Vec<u32>, KernelError> {
    let mut count = 0;
    // SAFETY: the pointer is to a live integer.
    let asked = unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) };
    asked.result().map_err(|error| failed("nvrtcGetNumSupportedArchs", &error))?;
    let mut all = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: the vector is as long as NVRTC said its answer is.
    let asked = unsafe { sys::nvrtcGetSupportedArchs(all.as_mut_ptr()) };
    asked.result().map_err(|error| failed("nvrtcGetSupportedArchs", &error))?;
    Ok(all.into_iter().filter_map(|architecture| u32::try_from(architecture).ok()).collect())
}

/// A program of NVRTC.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program was made by NVRTC and is destroyed once. A failure would leave nothing to do.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn build(name: &str, source: &str, target: &str) -> Result<Image, KernelError> {
    let refused = |log: String| KernelError::Compile { kernel: name.to_owned(), log };
    let source = CString::new(source).map_err(|error| refused(error.to_string()))?;
    let program = Program(result::create_program(&source, None).map_err(|error| refused(error.to_string()))?);
    let options = [format!("--gpu-architecture={target}"), "--extra-device-vectorization".to_owned()];
    // SAFETY: the program is alive, and so is its source.
    if let Err(error) = unsafe { result::compile_program(program.0, &options) } {
        // SAFETY: as above.
        let log = unsafe { result::get_program_log(program.0) }.map(|log| text(&log)).unwrap_or_default();
        return Err(refused(format!("{error}: {log}")));
    }
    let data = if target.starts_with("sm_") {
        cubin(&program)
    } else {
        // SAFETY: as above.
        unsafe { result::get_ptx(program.0) }.map(|ptx| ptx.into_iter().map(c_char::cast_unsigned).collect())
    };
    data.map(|data| Image { data, target: target.to_owned() })
        .map_err(|error| failed("nvrtcGetCUBIN", &error))
}

fn cubin(program: &Program) -> Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program is alive and compiled; the pointer is to a live integer.
    unsafe { sys::nvrtcGetCUBINSize(program.0, &raw mut size) }.result()?;
    let mut data = vec![0u8; size];
    // SAFETY: the vector is as long as NVRTC said the cubin is.
    unsafe { sys::nvrtcGetCUBIN(program.0, data.as_mut_ptr().cast()) }.result()?;
    Ok(data)
}

/// A text that ends at its first zero.
fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|&char| char.cast_unsigned()).chain([0]).collect();
    CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
