//! Small files of the kernel, kept open and read again from their start.

use std::{fs::File, io, path::Path};

use crate::Missing;

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

/// Parses a decimal count and a trailing newline; None for anything else.
pub fn parse_count(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim_ascii_end().parse().ok()
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
            ("a fraction",                b"1.5\n",                 None),
            ("not text",                  b"\xff\xfe",              None),
        ];
        for (why, text, expected) in cases {
            assert_eq!(parse_count(text), *expected, "{why}");
        }
    }
}
