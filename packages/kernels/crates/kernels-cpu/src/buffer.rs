use std::mem::MaybeUninit;

use bytemuck::{Pod, Zeroable};
use kernels_core::KernelError;

/// A cache line: what buffers are made of, so that vectors never straddle one.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that begin on a cache line and lie, where they are many, in large pages as far as the system gives them: how fast
/// a kernel is then depends less on which small pages of memory its buffers happened to get.
#[derive(Debug)]
pub struct Buffer {
    lines: Vec<Line>,
    bytes: usize,
}

impl Buffer {
    /// Of so many bytes, each written; `what` names it in an error.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn filled(what: &str, bytes: usize, value: u8) -> Result<Self, KernelError> {
        let mut lines = Vec::new();
        let count = bytes.div_ceil(64).max(1);
        let refused = |_| KernelError::OutOfMemory { what: what.to_owned(), bytes: bytes as u64 };
        lines.try_reserve_exact(count).map_err(refused)?;
        ask_for_large_pages(lines.spare_capacity_mut());
        lines.resize(count, Line([value; 64]));
        Ok(Self { lines, bytes })
    }

    /// A copy.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn of(what: &str, data: &[u8]) -> Result<Self, KernelError> {
        let mut buffer = Self::filled(what, data.len(), 0)?;
        buffer.bytes_mut().copy_from_slice(data);
        Ok(buffer)
    }

    /// The bytes as elements.
    pub fn as_slice<T: Pod>(&self) -> &[T] {
        let all: &[u8] = bytemuck::cast_slice(&self.lines);
        bytemuck::cast_slice(&all[..self.bytes])
    }

    /// The bytes as elements that can be written.
    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines);
        bytemuck::cast_slice_mut(&mut all[..self.bytes])
    }

    /// All of them.
    pub fn bytes(&self) -> &[u8] {
        self.as_slice()
    }

    /// All of them, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.as_mut_slice()
    }
}

/// Asks for large pages beneath memory that wasn't written yet. Not getting them is no error.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(room: &mut [MaybeUninit<Line>]) {
    use std::ffi::{c_int, c_void};
    const MADV_HUGEPAGE: c_int = 14;
    const LARGE_PAGE: usize = 2 << 20;
    unsafe extern "C" {
        fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }
    let start = room.as_mut_ptr();
    let before = start.addr().next_multiple_of(LARGE_PAGE) - start.addr();
    let whole = size_of_val(room).saturating_sub(before) / LARGE_PAGE * LARGE_PAGE;
    if whole > 0 {
        // SAFETY: the range lies within the slice and holds nothing yet; the advice changes no content.
        unsafe { madvise(start.wrapping_byte_add(before).cast(), whole, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_room: &mut [MaybeUninit<Line>]) {}
