use std::path::PathBuf;

use crate::{
    Missing,
    file::{KeptFile, Open, missing_because},
};

/// A file that holds one whole number, perhaps a negative one, and is kept open.
pub struct NumberFile(KeptFile);

impl NumberFile {
    /// Opened when it is first read.
    pub const fn new(path: PathBuf, open: Open) -> Self {
        Self(KeptFile::new(path, open))
    }

    /// One number.
    pub fn read(&mut self) -> Result<f64, Missing> {
        let mut buffer = [0; 32];
        let text = self.0.read(&mut buffer).map_err(|error| missing_because(&error))?;
        parse(text).ok_or(Missing::Parse)
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn parse(text: &[u8]) -> Option<f64> {
    let number: i64 = std::str::from_utf8(text).ok()?.trim_ascii_end().parse().ok()?;
    Some(number as f64)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_number_is_a_sign_digits_and_a_newline() {
        #[rustfmt::skip]
        let cases: &[(&str, &[u8], Option<f64>)] = &[
            ("as the kernel writes it",  b"45500\n",              Some(45_500.0)),
            ("below freezing",           b"-5000\n",              Some(-5000.0)),
            ("zero is a number",         b"0\n",                  Some(0.0)),
            ("nothing",                  b"",                     None),
            ("words",                    b"<unknown>\n",          None),
            ("a fraction",               b"1.5\n",                None),
            ("beyond 64 bits",           b"9223372036854775808",  None),
            ("not text",                 b"\xff\xfe",             None),
        ];
        for (why, text, expected) in cases {
            assert_eq!(parse(text), *expected, "{why}");
        }
    }
}
