use half::{bf16, f16};
use serde::{Deserialize, Serialize};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DType {
    /// IEEE single precision, computed in single precision.
    F32,
    /// Stored as f32 with a mantissa of 10 bits, computed by TF32 units.
    Tf32,
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    Bf16,
    /// Signed 8-bit integers.
    Int8,
    /// Signed 32-bit integers: the output of int8 kernels.
    Int32,
    /// Eight bits with 4 of exponent and 3 of mantissa, no infinity (OCP E4M3).
    Fp8E4m3,
    /// Unsigned nibbles, 8 in a u32, element k in bits 4·(k mod 8); worth nibble − zero point, times a scale.
    Int4,
}

impl DType {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
            Self::Int32 => "int32",
            Self::Fp8E4m3 => "fp8_e4m3",
            Self::Int4 => "int4",
        }
    }

    /// Bits of one element as stored.
    pub const fn bits(self) -> usize {
        match self {
            Self::F32 | Self::Tf32 | Self::Int32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::Int8 | Self::Fp8E4m3 => 8,
            Self::Int4 => 4,
        }
    }

    /// Whether it is a whole number.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Int8 | Self::Int32 | Self::Int4)
    }

    /// Bytes that `elements` of it take; nibbles fill whole words of 4 bytes.
    pub const fn bytes(self, elements: usize) -> usize {
        match self {
            Self::Int4 => elements.div_ceil(8) * 4,
            _ => elements * self.bits() / 8,
        }
    }

    /// Appends the nearest value of this type, little-endian; ties to even, integers saturate.
    #[expect(clippy::cast_possible_truncation, reason = "rounded and clamped before; `as` saturates")]
    pub(crate) fn push(self, value: f32, out: &mut Vec<u8>) {
        match self {
            Self::F32 => out.extend(value.to_le_bytes()),
            Self::Tf32 => out.extend(to_tf32(value).to_le_bytes()),
            Self::F16 => out.extend(f16::from_f32(value).to_le_bytes()),
            Self::Bf16 => out.extend(bf16::from_f32(value).to_le_bytes()),
            Self::Int8 => out.extend((value.round_ties_even().clamp(-127.0, 127.0) as i8).to_le_bytes()),
            Self::Int32 => out.extend((value.round_ties_even() as i32).to_le_bytes()),
            Self::Fp8E4m3 => out.push(to_e4m3(value)),
            Self::Int4 => {}
        }
    }

    /// All elements of `bytes` as f64, which holds every type exactly. Nibbles come as 0 to 15.
    pub fn decode(self, bytes: &[u8]) -> Vec<f64> {
        match self {
            Self::F32 | Self::Tf32 => words(bytes).map(|word| f64::from(f32::from_le_bytes(word))).collect(),
            Self::Int32 => words(bytes).map(|word| f64::from(i32::from_le_bytes(word))).collect(),
            Self::F16 => words(bytes).map(|word| f16::from_le_bytes(word).to_f64()).collect(),
            Self::Bf16 => words(bytes).map(|word| bf16::from_le_bytes(word).to_f64()).collect(),
            Self::Int8 => words(bytes).map(|word| f64::from(i8::from_le_bytes(word))).collect(),
            Self::Fp8E4m3 => bytes.iter().map(|&byte| from_e4m3(byte)).collect(),
            Self::Int4 => bytes.iter().flat_map(|&byte| [byte & 15, byte >> 4]).map(f64::from).collect(),
        }
    }
}

fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// The nearest f32 with 10 bits of mantissa, ties to even.
fn to_tf32(value: f32) -> f32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0xfff + ((bits >> 13) & 1)) & !0x1fff;
    f32::from_bits(rounded)
}

/// The nearest E4M3 value, ties to even; beyond 448 it saturates, NaN is 0x7f.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 126 after clamping")]
fn to_e4m3(value: f32) -> u8 {
    if value.is_nan() {
        return 0x7f;
    }
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    let magnitude = value.abs().min(448.0);
    let exponent = magnitude.log2().floor().clamp(-6.0, 8.0);
    let steps = (magnitude * (3.0 - exponent).exp2()).round_ties_even();
    let code = (exponent + 6.0) * 8.0 + steps;
    sign | (code as u8).min(0x7e)
}

fn from_e4m3(byte: u8) -> f64 {
    let sign = if byte & 0x80 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((byte >> 3) & 15);
    let mantissa = f64::from(byte & 7);
    match (exponent, byte & 7) {
        (15, 7) => f64::NAN,
        (0, _) => sign * mantissa * (-9f64).exp2(),
        _ => sign * (8.0 + mantissa) * f64::from(exponent - 10).exp2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_e4m3_code_survives_a_round_trip() {
        for code in 0..=0xffu8 {
            let value = from_e4m3(code);
            if value.is_nan() {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "every E4M3 value is an f32")]
            let back = to_e4m3(value as f32);
            assert_eq!(back, code, "{value}");
        }
    }

    #[test]
    fn e4m3_rounds_to_nearest_and_saturates() {
        for (value, expected) in
            [(1.0, 1.0), (1.06, 1.0), (1.07, 1.125), (500.0, 448.0), (-1e9, -448.0), (1e-9, 0.0)]
        {
            assert!((from_e4m3(to_e4m3(value)) - expected).abs() < 1e-12, "{value}");
        }
    }

    #[test]
    fn tf32_keeps_ten_bits() {
        for (value, expected) in
            [(1.0f32, 1.0f32), (1.0 + 1.0 / 1024.0, 1.0 + 1.0 / 1024.0), (1.0 + 1.0 / 8192.0, 1.0)]
        {
            assert!((to_tf32(value) - expected).abs() < f32::EPSILON, "{value}");
        }
        assert_eq!(to_tf32(0.1).to_bits() & 0x1fff, 0);
    }

    #[test]
    fn stored_values_decode_to_what_was_rounded() {
        let values = [0.5f32, -1.25, 3.0, 100.0];
        for dtype in
            [DType::F32, DType::Tf32, DType::F16, DType::Bf16, DType::Int8, DType::Int32, DType::Fp8E4m3]
        {
            let mut bytes = Vec::new();
            for value in values {
                dtype.push(value, &mut bytes);
            }
            assert_eq!(bytes.len(), dtype.bytes(4), "{dtype:?}");
            let exact = if dtype.is_integer() { [0.0, -1.0, 3.0, 100.0] } else { [0.5, -1.25, 3.0, 100.0] };
            let near = dtype
                .decode(&bytes)
                .iter()
                .zip(exact)
                .all(|(got, want)| (got - want).abs() <= want.abs() / 16.0);
            assert!(near, "{dtype:?}");
        }
        assert_eq!(DType::Int4.decode(&[0x21, 0xf3]), [1.0, 2.0, 3.0, 15.0]);
    }
}
