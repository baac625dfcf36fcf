use bytemuck::{Pod, Zeroable};
use kernels_core::KernelError;

/// A cache line: what buffers are made of, so that vectors never straddle one.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that begin on a cache line.
pub(crate) struct Buffer {
    lines: Vec<Line>,
    bytes: usize,
}

impl Buffer {
    /// Of so many bytes, each written.
    pub fn filled(what: &str, bytes: usize, value: u8) -> Result<Self, KernelError> {
        let mut lines = Vec::new();
        let count = bytes.div_ceil(64).max(1);
        let refused = |_| KernelError::OutOfMemory { what: what.to_owned(), bytes: bytes as u64 };
        lines.try_reserve_exact(count).map_err(refused)?;
        lines.resize(count, Line([value; 64]));
        Ok(Self { lines, bytes })
    }

    /// A copy.
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

    pub fn bytes(&self) -> &[u8] {
        self.as_slice()
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.as_mut_slice()
    }
}
