//! The calls of `libIOReport` and of CoreFoundation that are needed, and who owns what they return. All code of this source
//! that is unsafe. By CoreFoundation's rule, what a `Create` or `Copy` returns is ours to let go; what a `Get` returns isn't.
#![expect(unsafe_code, reason = "calls into foreign libraries")]

use std::{
    ffi::{CStr, CString, c_char, c_void},
    path::Path,
    ptr::NonNull,
    sync::Arc,
};

use power_core::PowerError;

use super::IOREPORT;
use crate::library::Loaded;

const GROUP: &CStr = c"Energy Model";
const CHANNELS: &CStr = c"IOReportChannels";
const UTF8: u32 = 0x0800_0100;

type Ref = *const c_void;

struct Api {
    release: unsafe extern "C" fn(Ref),
    text_of: unsafe extern "C" fn(Ref, *const c_char, u32) -> Ref,
    copy_text: unsafe extern "C" fn(Ref, *mut c_char, isize, u32) -> u8,
    value_under: unsafe extern "C" fn(Ref, Ref) -> Ref,
    count: unsafe extern "C" fn(Ref) -> isize,
    at: unsafe extern "C" fn(Ref, isize) -> Ref,
    channels_in: unsafe extern "C" fn(Ref, Ref, u64, u64, u64) -> Ref,
    subscribe: unsafe extern "C" fn(Ref, Ref, *mut Ref, u64, Ref) -> Ref,
    samples: unsafe extern "C" fn(Ref, Ref, Ref) -> Ref,
    name: unsafe extern "C" fn(Ref) -> Ref,
    label: unsafe extern "C" fn(Ref) -> Ref,
    integer: unsafe extern "C" fn(Ref, i32) -> i64,
}

/// Something of CoreFoundation's that is ours to let go.
struct Owned {
    api: Arc<Api>,
    object: NonNull<c_void>,
}

impl Owned {
    fn of(api: &Arc<Api>, object: Ref) -> Option<Self> {
        NonNull::new(object.cast_mut()).map(|object| Self { api: Arc::clone(api), object })
    }

    const fn get(&self) -> Ref {
        self.object.as_ptr()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it is ours, and let go once.
        unsafe { (self.api.release)(self.get()) };
    }
}

/// A subscription to the energy channels.
pub struct Subscription {
    handle: Owned,
    channels: Owned,
    key: Owned,
}

// SAFETY: CoreFoundation counts holders atomically, and only one thread uses the subscription at a time.
unsafe impl Send for Subscription {}

/// One channel as it stands now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Its name.
    pub name: String,
    /// The label of its unit.
    pub unit: String,
    /// Its count in that unit.
    pub value: i64,
}

impl Subscription {
    /// Loads both libraries and subscribes to the channels of energy. No right is needed.
    pub fn new(ioreport: &Path, core_foundation: &Path) -> Result<Self, PowerError> {
        let api = Arc::new(load(ioreport, core_foundation)?);
        let group = text(&api, GROUP).ok_or_else(|| unusable("CoreFoundation makes no text"))?;
        let key = text(&api, CHANNELS).ok_or_else(|| unusable("CoreFoundation makes no text"))?;
        // SAFETY: the group is a text of CoreFoundation's; null stands for every subgroup.
        let wanted = unsafe { (api.channels_in)(group.get(), std::ptr::null(), 0, 0, 0) };
        let wanted = Owned::of(&api, wanted).ok_or_else(|| unusable("there is no group \"Energy Model\""))?;
        let mut subscribed = std::ptr::null();
        // SAFETY: the channels are those just copied; it writes one pointer, to what is ours.
        let subscription = unsafe {
            (api.subscribe)(std::ptr::null(), wanted.get(), &raw mut subscribed, 0, std::ptr::null())
        };
        let subscribed = Owned::of(&api, subscribed);
        let pair = Owned::of(&api, subscription).zip(subscribed);
        let (handle, channels) = pair.ok_or_else(|| unusable("the subscription was refused"))?;
        Ok(Self { handle, channels, key })
    }

    /// Every channel of the group now; None when there is no sample.
    pub fn counts(&self) -> Option<Vec<Count>> {
        let api = &self.handle.api;
        // SAFETY: both are ours and alive.
        let samples = unsafe { (api.samples)(self.handle.get(), self.channels.get(), std::ptr::null()) };
        let samples = Owned::of(api, samples)?;
        // SAFETY: the samples are a dictionary; what it returns lives as long as they do.
        let list = NonNull::new(unsafe { (api.value_under)(samples.get(), self.key.get()) }.cast_mut())?;
        // SAFETY: the list is an array.
        let length = unsafe { (api.count)(list.as_ptr()) };
        let count = |at| {
            // SAFETY: the index is within the array.
            let channel = NonNull::new(unsafe { (api.at)(list.as_ptr(), at) }.cast_mut())?;
            // SAFETY: the channel is one of the samples', and lives as long as they do; so do its texts.
            let (name, unit, value) = unsafe {
                let channel = channel.as_ptr();
                ((api.name)(channel), (api.label)(channel), (api.integer)(channel, 0))
            };
            Some(Count { name: self.string(name)?, unit: self.string(unit).unwrap_or_default(), value })
        };
        Some((0..length).filter_map(count).collect())
    }

    fn string(&self, text: Ref) -> Option<String> {
        const LENGTH: usize = 256;
        if text.is_null() {
            return None;
        }
        let mut buffer = [0; LENGTH];
        // SAFETY: the text is one of CoreFoundation's, and the buffer as long as it is told.
        let copied = unsafe {
            (self.handle.api.copy_text)(text, buffer.as_mut_ptr().cast(), LENGTH.cast_signed(), UTF8)
        };
        let text = CStr::from_bytes_until_nul(&buffer).ok()?;
        (copied != 0).then(|| text.to_string_lossy().into_owned())
    }
}

fn text(api: &Arc<Api>, text: &CStr) -> Option<Owned> {
    let text = CString::from(text);
    // SAFETY: null stands for the usual allocator, and the text ends with a zero.
    Owned::of(api, unsafe { (api.text_of)(std::ptr::null(), text.as_ptr(), UTF8) })
}

fn unusable(said: &str) -> PowerError {
    PowerError::Vendor { source_name: IOREPORT, said: said.to_owned(), fix: None, refused: false }
}

fn load(ioreport: &Path, core_foundation: &Path) -> Result<Api, PowerError> {
    let foundation = Loaded::open(IOREPORT, core_foundation)?;
    let report = Loaded::open(IOREPORT, ioreport)?;
    // SAFETY: the types are those that CoreFoundation's headers declare, and that callers of the other library agree on.
    unsafe {
        Ok(Api {
            release: foundation.call("CFRelease")?,
            text_of: foundation.call("CFStringCreateWithCString")?,
            copy_text: foundation.call("CFStringGetCString")?,
            value_under: foundation.call("CFDictionaryGetValue")?,
            count: foundation.call("CFArrayGetCount")?,
            at: foundation.call("CFArrayGetValueAtIndex")?,
            channels_in: report.call("IOReportCopyChannelsInGroup")?,
            subscribe: report.call("IOReportCreateSubscription")?,
            samples: report.call("IOReportCreateSamples")?,
            name: report.call("IOReportChannelGetChannelName")?,
            label: report.call("IOReportChannelGetUnitLabel")?,
            integer: report.call("IOReportSimpleGetIntegerValue")?,
        })
    }
}
