//! What a stub library says: a text file beside the library, `<library>.script`, read anew at every call, so that a test
//! changes the hardware by writing a file.
//!
//! A line is `call_index, device, what, scope, status, type, value`, and holds from the `call_index`-th such call on until
//! a later line says otherwise; blank lines and lines that start with `#` are skipped. What no line names is not there.
//!
//! A script whose first line is `fixed` is read once, and its last line about something always holds, so that answers cost
//! next to nothing. A value like `1000+250` then grows by 250 a second from 1000.

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_int, c_void},
    fs,
    path::PathBuf,
    sync::{LazyLock, Mutex, OnceLock, PoisonError},
    time::Instant,
};

/// One answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// What the call returns.
    pub status: u32,
    /// The vendor's number of the value's type.
    pub kind: u32,
    /// The value: a number, a name, or `0x` and bytes as they lie in memory.
    pub value: String,
}

type Key = (u32, String, u32);

static CALLS: LazyLock<Mutex<HashMap<Key, u64>>> = LazyLock::new(Mutex::default);

/// A script that is read once: its lines, and when that was. None for one that is read at every call.
static FIXED: OnceLock<Option<(Instant, Vec<Line>)>> = OnceLock::new();

struct Line {
    device: u32,
    what: String,
    scope: u32,
    answer: Answer,
    /// What it starts from, and by how much it grows a second.
    grows: Option<(f64, f64)>,
}

fn fixed() -> Option<(Instant, Vec<Line>)> {
    let text = fs::read_to_string(script()).ok()?;
    let lines = text.strip_prefix("fixed\n")?.lines().filter_map(Line::parse).collect();
    Some((Instant::now(), lines))
}

impl Line {
    fn parse(line: &str) -> Option<Self> {
        let parts: Vec<&str> = line.splitn(7, ',').map(str::trim).collect();
        let [_, device, what, scope, status, kind, value] = parts[..] else { return None };
        let grows = value.split_once('+').and_then(|(from, by)| Some((from.parse().ok()?, by.parse().ok()?)));
        Some(Self {
            device: device.parse().ok()?,
            what: what.to_owned(),
            scope: scope.parse().ok()?,
            answer: Answer {
                status: status.parse().ok()?,
                kind: kind.parse().ok()?,
                value: value.to_owned(),
            },
            grows,
        })
    }

    fn say(&self, since: Instant) -> Answer {
        let mut answer = self.answer.clone();
        if let Some((from, by)) = self.grows {
            answer.value = format!("{:.0}", from + by * since.elapsed().as_secs_f64());
        }
        answer
    }
}

/// What the script says to the next call of this kind; None when no line is about it.
pub fn answer(device: u32, what: &str, scope: u32) -> Option<Answer> {
    if let Some((since, lines)) = FIXED.get_or_init(fixed) {
        let about = |line: &&Line| line.device == device && line.scope == scope && line.what == what;
        return lines.iter().rfind(about).map(|line| line.say(*since));
    }
    let key = (device, what.to_owned(), scope);
    let call = {
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = calls.entry(key).or_default();
        *seen += 1;
        *seen - 1
    };
    let text = fs::read_to_string(script()).unwrap_or_default();
    text.lines()
        .filter_map(|line| parse(line, device, what, scope))
        .rfind(|(from, _)| *from <= call)
        .map(|(_, a)| a)
}

/// How many devices in a row, from the first on, have a line about `what`.
pub fn devices(what: &str) -> u32 {
    (0..64).take_while(|device| answer(*device, what, 0).is_some()).map(|_| 1).sum()
}

fn parse(line: &str, device: u32, what: &str, scope: u32) -> Option<(u64, Answer)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let parts: Vec<&str> = line.splitn(7, ',').map(str::trim).collect();
    let [from, at, name, within, status, kind, value] = parts[..] else { return None };
    let ours = at.parse() == Ok(device) && name == what && within.parse() == Ok(scope);
    let answer = Answer { status: status.parse().ok()?, kind: kind.parse().ok()?, value: value.to_owned() };
    ours.then_some((from.parse().ok()?, answer))
}

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}

/// The file that this very library was loaded from, with `.script` behind it.
fn script() -> PathBuf {
    static HERE: u8 = 0;
    let mut info = DlInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: the address is one of this library's own, and `info` may be written to.
    let found = unsafe { dladdr((&raw const HERE).cast(), &raw mut info) };
    if found == 0 || info.file.is_null() {
        return PathBuf::new();
    }
    // SAFETY: the loader keeps this text for as long as the library is loaded.
    let file = unsafe { CStr::from_ptr(info.file) };
    PathBuf::from(format!("{}.script", file.to_string_lossy()))
}
