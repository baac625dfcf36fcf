//! What a field's answer says, when it says something: its own status and type count, not the call's.

use std::ffi::c_ulong;

use power_core::Missing;

use super::api::{FieldValue, missing, status};

/// The whole number in an answer. The bytes beyond its type are stale, and those of a refused field are all stale.
pub fn whole(answer: &FieldValue) -> Result<u64, Missing> {
    if answer.status != status::OK {
        return Err(missing(answer.status));
    }
    let [a, b, c, d, ..] = answer.value;
    match answer.kind {
        0 => from_double(f64::from_ne_bytes(answer.value)),
        1 => from_u32(u32::from_ne_bytes([a, b, c, d])),
        2 if size_of::<c_ulong>() == 4 => from_u32(u32::from_ne_bytes([a, b, c, d])),
        2 | 3 => from_u64(u64::from_ne_bytes(answer.value)),
        4 => u64::try_from(i64::from_ne_bytes(answer.value)).map_err(|_| Missing::Parse),
        5 => u64::try_from(i32::from_ne_bytes([a, b, c, d])).map_err(|_| Missing::Parse),
        6 => match u16::from_ne_bytes([a, b]) {
            u16::MAX => Err(Missing::Sentinel),
            number => Ok(u64::from(number)),
        },
        _ => Err(Missing::Parse),
    }
}

/// All bits set is how the library writes that it has no number.
pub const fn from_u32(number: u32) -> Result<u64, Missing> {
    if number == u32::MAX { Err(Missing::Sentinel) } else { Ok(number as u64) }
}

/// All bits set is how the library writes that it has no number.
pub const fn from_u64(number: u64) -> Result<u64, Missing> {
    if number == u64::MAX { Err(Missing::Sentinel) } else { Ok(number) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
fn from_double(number: f64) -> Result<u64, Missing> {
    let rounded = number.round();
    if (0.0..9_007_199_254_740_992.0).contains(&rounded) { Ok(rounded as u64) } else { Err(Missing::Parse) }
}

#[cfg(test)]
mod tests {
    use power_core::Missing;

    use super::{
        super::api::{FieldValue, field, scope},
        whole,
    };

    type Row<'a> = (&'a str, i32, i32, [u8; 8], Result<u64, Missing>);

    #[test]
    fn an_answer_is_read_by_its_own_status_and_type() {
        let stale = [0xd7, 0x84, 0, 0, 0x43, 0x4f, 0x44, 0x45];
        let ones = [0xff; 8];
        let four = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        #[rustfmt::skip]
        let cases: &[Row] = &[
            ("not supported: its bytes mean nothing",     3,  0, stale,                          Err(Missing::NotSupported)),
            ("no permission",                             4,  1, stale,                          Err(Missing::Permission)),
            ("the device is lost",                        15, 1, stale,                          Err(Missing::Lost)),
            ("any other refusal",                         999, 1, stale,                         Err(Missing::Io)),
            ("32 bits: the high half is stale",           0,  1, stale,                          Ok(34_007)),
            ("a double",                                  0,  0, 34_007_f64.to_ne_bytes(),       Ok(34_007)),
            ("a double with a fraction",                  0,  0, 34_006.7_f64.to_ne_bytes(),     Ok(34_007)),
            ("a double that is no number",                0,  0, f64::NAN.to_ne_bytes(),         Err(Missing::Parse)),
            ("a negative double",                         0,  0, (-1_f64).to_ne_bytes(),         Err(Missing::Parse)),
            ("64 bits",                                   0,  3, u64::MAX.wrapping_sub(1).to_ne_bytes(), Ok(u64::MAX - 1)),
            ("signed, negative",                          0,  4, (-5_i64).to_ne_bytes(),         Err(Missing::Parse)),
            ("signed 32 bits",                            0,  5, stale,                          Ok(34_007)),
            ("16 bits",                                   0,  6, stale,                          Ok(34_007)),
            ("a type that doesn't exist",                 0,  7, stale,                          Err(Missing::Parse)),
            ("all 32 bits set",                           0,  1, four,                           Err(Missing::Sentinel)),
            ("all 64 bits set",                           0,  3, ones,                           Err(Missing::Sentinel)),
            ("all 16 bits set",                           0,  6, four,                           Err(Missing::Sentinel)),
            ("a true zero",                               0,  1, [0; 8],                         Ok(0)),
        ];
        for (why, status, kind, value, expected) in cases {
            let mut answer = FieldValue::ask(field::POWER_INSTANT, scope::GPU);
            (answer.status, answer.kind, answer.value) = (*status, *kind, *value);
            assert_eq!(whole(&answer), *expected, "{why}");
        }
    }

    #[test]
    fn what_was_never_answered_is_missing() {
        assert_eq!(whole(&FieldValue::ask(field::TOTAL_ENERGY, scope::GPU)), Err(Missing::Io));
    }
}
