//! Small files of the kernel, kept open and read again from their start.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::{Missing, PowerError};

/// Something that can be read from its start again and again.
pub trait ReadAgain: Send {
    /// Fills `buffer` from the start of the file; returns how much there was.
    fn read_again(&self, buffer: &mut [u8]) -> io::Result<usize>;
}

/// How files are opened. Tests pass their own, to see refusals that a privileged user never meets.
pub type Open = fn(&Path) -> io::Result<Box<dyn ReadAgain>>;

/// Opens a file of the system.
pub fn open_file(path: &Path) -> io::Result<Box<dyn ReadAgain>> {
    Ok(Box::new(File::open(path)?))
}

impl ReadAgain for File {
    #[cfg(unix)]
    fn read_again(&self, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, 0)
    }

    #[cfg(windows)]
    fn read_again(&self, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, 0)
    }
}

/// A small file that is opened when it is first read, and kept open.
pub struct KeptFile {
    path: PathBuf,
    pub(crate) file: Option<Box<dyn ReadAgain>>,
    pub(crate) open: Open,
}

impl KeptFile {
    /// Not opened yet.
    pub const fn new(path: PathBuf, open: Open) -> Self {
        Self { path, file: None, open }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it holds, as far as there is room. One that fails is opened anew once, for a device that came back has another
    /// file behind its name.
    pub fn read<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let kept = self.file.as_ref().and_then(|file| file.read_again(buffer).ok());
        let length = match kept {
            Some(length) => length,
            None => self.read_anew(buffer)?,
        };
        Ok(buffer.get(..length).unwrap_or_default())
    }

    /// Its text without white space at its end.
    pub fn read_trimmed<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        self.read(buffer).map(<[u8]>::trim_ascii_end)
    }

    /// Whether it can be read and holds exactly this, but for white space at its end.
    pub fn holds(&mut self, wanted: &str) -> bool {
        let mut buffer = [0; 32];
        self.read_trimmed(&mut buffer).is_ok_and(|text| text == wanted.as_bytes())
    }

    fn read_anew(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file = None;
        let file = (self.open)(&self.path)?;
        let length = file.read_again(buffer)?;
        self.file = Some(file);
        Ok(length)
    }
}

/// A file that holds one count and is read again and again.
pub struct CountFile(pub(crate) KeptFile);

impl CountFile {
    /// Opens the file and reads it once: to be allowed to open it proves nothing.
    pub fn open(path: PathBuf, open: Open) -> Result<Self, PowerError> {
        let mut buffer = [0; 32];
        let mut file = KeptFile::new(path.clone(), open);
        let text = file.read(&mut buffer).map_err(|error| PowerError::io(path.clone(), error))?;
        if parse_count(text).is_none() {
            return Err(PowerError::Malformed {
                path,
                text: String::from_utf8_lossy(text).trim_end().to_owned(),
            });
        }
        Ok(Self(file))
    }

    /// One number.
    pub fn read(&mut self) -> Result<u64, Missing> {
        let mut buffer = [0; 32];
        let text = self.0.read(&mut buffer).map_err(|error| missing_because(&error))?;
        parse_count(text).ok_or(Missing::Parse)
    }
}

/// The text of a small file, without white space at its end.
pub fn read_text(path: &Path, open: Open) -> Result<String, PowerError> {
    let mut buffer = [0; 128];
    let length = open(path)
        .and_then(|file| file.read_again(&mut buffer))
        .map_err(|error| PowerError::io(path.to_owned(), error))?;
    Ok(String::from_utf8_lossy(&buffer[..length]).trim_end().to_owned())
}

/// The count in a file; None for anything else.
pub fn read_count(path: &Path, open: Open) -> Option<u64> {
    let mut buffer = [0; 32];
    let length = open(path).and_then(|file| file.read_again(&mut buffer)).ok()?;
    parse_count(&buffer[..length])
}

/// Parses a decimal count and a trailing newline; None for anything else.
pub fn parse_count(text: &[u8]) -> Option<u64> {
    let digits = text.trim_ascii_end();
    let number = digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    });
    number.filter(|_| !digits.is_empty())
}

/// What a failed read means for the number that was wanted.
pub fn missing_because(error: &io::Error) -> Missing {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Missing::Permission,
        io::ErrorKind::NotFound => Missing::Absent,
        _ => Missing::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn a_count_is_digits_and_a_newline() {
        #[rustfmt::skip]
        let cases: &[(&str, &[u8], Option<u64>)] = &[
            ("as the kernel writes it",   b"262143328850\n",        Some(262_143_328_850)),
            ("zero is a number",          b"0\n",                   Some(0)),
            ("all 64 bits",               b"18446744073709551615",  Some(u64::MAX)),
            ("one more than 64 bits",     b"18446744073709551616",  None),
            ("nothing",                   b"",                      None),
            ("a lone newline",            b"\n",                    None),
            ("words",                     b"abc\n",                 None),
            ("a sign",                    b"-5\n",                  None),
            ("another sign",              b"+5\n",                  None),
            ("a fraction",                b"1.5\n",                 None),
            ("not text",                  b"\xff\xfe",              None),
        ];
        for (why, text, expected) in cases {
            assert_eq!(parse_count(text), *expected, "{why}");
        }
    }
}
