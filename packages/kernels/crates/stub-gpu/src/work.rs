//! The driver: streams, graphs and events.

use std::{
    ffi::{c_int, c_uint, c_ulonglong},
    ptr,
    rc::Rc,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use crate::{
    driver::{ILLEGAL_ADDRESS, INVALID_VALUE, end, make},
    memory::setting,
    stream::{Event, Kept, Stream, Work},
};

/// A stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut Stream, _flags: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { make(stream, Stream::default()) }
}

/// Ends it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { end(stream) }
}

/// Waits for it: an error while it is captured.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize(stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    let stream = unsafe { &mut *stream };
    if stream.captured.is_some() {
        return INVALID_VALUE;
    }
    waited().map(|()| stream.finish()).map_or(ILLEGAL_ADDRESS, |()| 0)
}

/// Keeps what it is given from now on.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCapture_v2(stream: *mut Stream, _mode: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { &mut *stream }.captured = Some(Vec::new());
    0
}

/// Gives what it kept.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(stream: *mut Stream, graph: *mut *mut Kept) -> c_int {
    // SAFETY: the caller's promise.
    let Some(kept) = unsafe { &mut *stream }.captured.take() else { return INVALID_VALUE };
    // SAFETY: the caller's promise.
    unsafe { make(graph, Rc::new(kept)) }
}

/// Makes it ready.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    ready: *mut *mut Kept,
    graph: *mut Kept,
    _flags: c_ulonglong,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { make(ready, Rc::clone(&*graph)) }
}

/// Sends it ahead.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphUpload(_ready: *mut Kept, _stream: *mut Stream) -> c_int {
    0
}

/// Does what was kept, on a stream.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(ready: *mut Kept, stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    let kept = Rc::clone(unsafe { &*ready });
    // SAFETY: the caller's promise.
    unsafe { &mut *stream }.take(Box::new(move || kept.iter().for_each(|work| work())));
    0
}

/// Ends a graph that is ready.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(ready: *mut Kept) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { end(ready) }
}

/// Ends a graph.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroy(graph: *mut Kept) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { end(graph) }
}

/// A moment.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut Event, _flags: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { make(event, Event { at: None, stream: ptr::null_mut() }) }
}

/// When the stream comes to it.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(event: *mut Event, stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise: an event outlives what it is set by.
    let set: Work = Box::new(move || unsafe { &mut *event }.at = Some(Instant::now()));
    // SAFETY: the caller's promise.
    unsafe {
        (*event).stream = stream;
        (&mut *stream).take(set);
    }
    0
}

/// Waits for it: an illegal address from the given time on.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(event: *mut Event) -> c_int {
    waited()
        // SAFETY: the caller's promise.
        .map(|()| unsafe { (&mut *(*event).stream).finish() })
        .map_or(ILLEGAL_ADDRESS, |()| 0)
}

/// None from the wait on that `STUB_CUDA_LOST_AFTER` counts.
fn waited() -> Option<()> {
    static WAITS: AtomicUsize = AtomicUsize::new(0);
    (WAITS.fetch_add(1, Ordering::Relaxed) < setting("STUB_CUDA_LOST_AFTER", usize::MAX)).then_some(())
}

/// Milliseconds between two.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(ms: *mut f32, from: *mut Event, to: *mut Event) -> c_int {
    // SAFETY: the caller's promise.
    let (Some(from), Some(to)) = (unsafe { &*from }.at, unsafe { &*to }.at) else { return INVALID_VALUE };
    // SAFETY: the caller's promise.
    unsafe { *ms = to.duration_since(from).as_secs_f32() * 1e3 };
    0
}

/// Ends one.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(event: *mut Event) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { end(event) }
}
