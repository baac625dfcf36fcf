use std::{
    alloc::{Layout, alloc, dealloc},
    collections::BTreeMap,
    env,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Allocations by address, with their sizes.
static ALLOCATED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn allocated() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    ALLOCATED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number from the environment.
pub fn setting(name: &str, otherwise: usize) -> usize {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Memory; None where it is more than there is.
pub fn allocate(bytes: usize) -> Option<usize> {
    let layout = Layout::from_size_align(bytes, 256).ok()?;
    if bytes == 0 || bytes > setting("STUB_CUDA_MEMORY", 1 << 28) {
        return None;
    }
    // SAFETY: the size isn't 0.
    let address = unsafe { alloc(layout) } as usize;
    allocated().insert(address, bytes);
    Some(address)
}

/// Gives memory back; false for an address that isn't one.
pub fn free(address: usize) -> bool {
    let Some(bytes) = allocated().remove(&address) else { return false };
    let Ok(layout) = Layout::from_size_align(bytes, 256) else { return false };
    // SAFETY: it was allocated with this layout, and nobody else has removed it.
    unsafe { dealloc(address as *mut u8, layout) };
    true
}

/// Whether so many bytes from an address lie in one allocation.
pub fn holds(address: usize, bytes: usize) -> bool {
    let allocated = allocated();
    allocated.range(..=address).next_back().is_some_and(|(start, size)| address - start + bytes <= *size)
}
