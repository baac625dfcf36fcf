use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes that a kernel moves to and from its tensors.
pub trait Count: Sync {
    /// So many bytes were moved.
    fn add(&self, bytes: usize);
}

/// Counts nothing, and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncounted;

impl Count for Uncounted {
    fn add(&self, _bytes: usize) {}
}

/// Counts.
#[derive(Debug, Default)]
pub struct Counted(AtomicU64);

impl Counted {
    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Count for Counted {
    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
