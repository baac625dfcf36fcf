//! `libIOReport` and CoreFoundation as far as our sampler calls them, saying what a script says. Names in the script:
//! `group` and `subscription` (a status other than 0: there is none), `samples` (the same), `channel` (its scope counts
//! from 0, its value is the channel's name), `label` and `value` (of the channel with the same scope).
//!
//! Objects count who holds them; one that is let go too often, or not at all, is told by `stub_ioreport_alive`.
#![cfg(unix)]

#[expect(dead_code, reason = "other stand-ins use all of it")]
#[path = "../../stub-nvml/src/script.rs"]
mod script;

use std::{
    ffi::{CStr, c_char, c_void},
    sync::atomic::{AtomicI64, Ordering},
};

use script::answer;

const UTF8: u32 = 0x0800_0100;

/// Objects that someone holds.
static ALIVE: AtomicI64 = AtomicI64::new(0);

/// An object of any kind.
pub struct Object {
    kind: Kind,
    held: AtomicI64,
}

enum Kind {
    Text(String),
    Channels,
    Subscription,
    Samples(Vec<*const Object>),
    List(Vec<*const Object>),
    Channel { name: *const Object, label: *const Object, value: i64 },
}

fn made(kind: Kind) -> *const Object {
    ALIVE.fetch_add(1, Ordering::SeqCst);
    Box::into_raw(Box::new(Object { kind, held: AtomicI64::new(1) }))
}

/// # Safety
/// `object` must be one of ours that is held.
unsafe fn kind<'a>(object: *const Object) -> Option<&'a Kind> {
    // SAFETY: the caller's promise.
    unsafe { object.as_ref() }.map(|object| &object.kind)
}

/// How many objects are held: 0 when nothing leaks.
#[unsafe(no_mangle)]
pub extern "C" fn stub_ioreport_alive() -> i64 {
    ALIVE.load(Ordering::SeqCst)
}

/// Lets go of an object, and of what it holds.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFRelease(object: *const Object) {
    // SAFETY: the caller's promise.
    let Some(held) = (unsafe { object.as_ref() }) else { return };
    if held.held.fetch_sub(1, Ordering::SeqCst) != 1 {
        return;
    }
    ALIVE.fetch_sub(1, Ordering::SeqCst);
    // SAFETY: it was made by `made`, and nobody holds it any more.
    let gone = unsafe { Box::from_raw(object.cast_mut()) };
    let parts = match gone.kind {
        Kind::Samples(parts) | Kind::List(parts) => parts,
        Kind::Channel { name, label, .. } => vec![name, label],
        Kind::Text(_) | Kind::Channels | Kind::Subscription => Vec::new(),
    };
    for part in parts {
        // SAFETY: what it held was ours, and held.
        unsafe { CFRelease(part) };
    }
}

/// A text of CoreFoundation's.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFStringCreateWithCString(
    _allocator: *const c_void,
    text: *const c_char,
    encoding: u32,
) -> *const Object {
    if encoding != UTF8 {
        return std::ptr::null();
    }
    // SAFETY: the caller's promise.
    made(Kind::Text(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()))
}

/// Copies a text with its end into a buffer; 0 when there is no room.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFStringGetCString(
    text: *const Object,
    buffer: *mut c_char,
    length: isize,
    encoding: u32,
) -> u8 {
    // SAFETY: the caller's promise.
    let Some(Kind::Text(text)) = (unsafe { kind(text) }) else { return 0 };
    if encoding != UTF8 || text.len() >= length.unsigned_abs() {
        return 0;
    }
    // SAFETY: there is room for the text and its end.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len());
        *buffer.add(text.len()) = 0;
    }
    1
}

/// What a dictionary holds under a key: of samples, their channels.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFDictionaryGetValue(samples: *const Object, key: *const Object) -> *const Object {
    // SAFETY: the caller's promise.
    match unsafe { (kind(samples), kind(key)) } {
        (Some(Kind::Samples(parts)), Some(Kind::Text(key))) if key == "IOReportChannels" => {
            parts.first().copied().unwrap_or(std::ptr::null())
        }
        _ => std::ptr::null(),
    }
}

/// How many a list holds.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFArrayGetCount(list: *const Object) -> isize {
    // SAFETY: the caller's promise.
    let Some(Kind::List(parts)) = (unsafe { kind(list) }) else { return 0 };
    parts.len().cast_signed()
}

/// One of a list.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFArrayGetValueAtIndex(list: *const Object, at: isize) -> *const Object {
    // SAFETY: the caller's promise.
    let Some(Kind::List(parts)) = (unsafe { kind(list) }) else { return std::ptr::null() };
    parts.get(at.unsigned_abs()).copied().unwrap_or(std::ptr::null())
}

/// The channels of a group.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn IOReportCopyChannelsInGroup(
    group: *const Object,
    subgroup: *const Object,
    _a: u64,
    _b: u64,
    _c: u64,
) -> *const Object {
    // SAFETY: the caller's promise.
    let named = unsafe { kind(group) };
    let ours = matches!(named, Some(Kind::Text(name)) if name == "Energy Model") && subgroup.is_null();
    let there = answer(0, "group", 0).is_none_or(|said| said.status == 0);
    if ours && there { made(Kind::Channels) } else { std::ptr::null() }
}

/// A subscription, and the channels that it is to.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn IOReportCreateSubscription(
    _a: *const c_void,
    wanted: *const Object,
    subscribed: *mut *const Object,
    _b: u64,
    _c: *const c_void,
) -> *const Object {
    // SAFETY: the caller's promise.
    let ours = matches!(unsafe { kind(wanted) }, Some(Kind::Channels));
    if !ours || answer(0, "subscription", 0).is_some_and(|said| said.status != 0) {
        return std::ptr::null();
    }
    // SAFETY: the caller's promise.
    unsafe { *subscribed = made(Kind::Channels) };
    made(Kind::Subscription)
}

/// The channels' counts now.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn IOReportCreateSamples(
    subscription: *const Object,
    subscribed: *const Object,
    _a: *const c_void,
) -> *const Object {
    // SAFETY: the caller's promise.
    let ours = unsafe {
        matches!((kind(subscription), kind(subscribed)), (Some(Kind::Subscription), Some(Kind::Channels)))
    };
    if !ours || answer(0, "samples", 0).is_some_and(|said| said.status != 0) {
        return std::ptr::null();
    }
    let channels = (0..64).map_while(|at| {
        let name = answer(0, "channel", at)?;
        let label = answer(0, "label", at).map(|said| said.value).unwrap_or_default();
        let value = answer(0, "value", at).and_then(|said| said.value.parse().ok()).unwrap_or(0);
        (name.status == 0).then(|| {
            let [name, label] = [name.value, label].map(|text| made(Kind::Text(text)));
            made(Kind::Channel { name, label, value })
        })
    });
    made(Kind::Samples(vec![made(Kind::List(channels.collect()))]))
}

/// A channel's name.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn IOReportChannelGetChannelName(channel: *const Object) -> *const Object {
    // SAFETY: the caller's promise.
    let Some(Kind::Channel { name, .. }) = (unsafe { kind(channel) }) else { return std::ptr::null() };
    *name
}

/// The label of a channel's unit.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn IOReportChannelGetUnitLabel(channel: *const Object) -> *const Object {
    // SAFETY: the caller's promise.
    let Some(Kind::Channel { label, .. }) = (unsafe { kind(channel) }) else { return std::ptr::null() };
    *label
}

/// A channel's count.
///
/// # Safety
/// As the vendor's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn IOReportSimpleGetIntegerValue(channel: *const Object, _a: i32) -> i64 {
    // SAFETY: the caller's promise.
    let Some(Kind::Channel { value, .. }) = (unsafe { kind(channel) }) else { return 0 };
    *value
}
