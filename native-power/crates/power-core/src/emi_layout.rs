//! What Windows' energy meters answer, byte by byte: the structures of its header `emi.h`.

/// Control codes of the interface: device type 0x22, read access, buffered.
pub mod code {
    /// The version of what follows.
    pub const VERSION: u32 = 0x0022_4000;
    /// How long the description is.
    pub const METADATA_SIZE: u32 = 0x0022_4004;
    /// The description.
    pub const METADATA: u32 = 0x0022_4008;
    /// The counts now.
    pub const MEASUREMENT: u32 = 0x0022_400c;
}

/// Bytes of one channel's count: the energy, and when.
pub const COUNT_BYTES: usize = 16;

/// What a count is in: the only unit that the header knows.
const PICOWATT_HOURS: u32 = 0;

/// One channel of a meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmiChannel {
    /// Its name, for instance `RAPL_Package0_PKG`.
    pub name: String,
    /// Whether its unit is one that is known.
    pub known_unit: bool,
}

/// The version in an answer.
pub fn version(answer: &[u8]) -> Option<u16> {
    u16_at(answer, 0)
}

/// The length in an answer.
pub fn metadata_size(answer: &[u8]) -> Option<u32> {
    u32_at(answer, 0)
}

/// The channels that a description of this version names, in the order of their counts. None for a version that isn't
/// known, or a description that ends too soon.
pub fn channels(version: u16, description: &[u8]) -> Option<Vec<EmiChannel>> {
    const NAMES: usize = 2 * 2 * 16;
    match version {
        1 => {
            let size = usize::from(u16_at(description, 4 + NAMES + 2)?);
            let name = description.get(4 + NAMES + 4..)?.get(..size)?;
            Some(vec![channel(u32_at(description, 0)?, name)])
        }
        2 => {
            let count = usize::from(u16_at(description, NAMES + 2)?);
            let mut at = NAMES + 4;
            let mut found = Vec::new();
            for _ in 0..count {
                let unit = u32_at(description, at)?;
                let size = usize::from(u16_at(description, at + 4)?);
                let name = description.get(at + 6..)?.get(..size)?;
                found.push(channel(unit, name));
                at += 6 + size;
            }
            Some(found)
        }
        _ => None,
    }
}

fn channel(unit: u32, name: &[u8]) -> EmiChannel {
    let (pairs, _) = name.as_chunks::<2>();
    let letters: Vec<_> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    let name = String::from_utf16_lossy(&letters);
    EmiChannel { name: name.trim_matches(['\0', ' ']).to_owned(), known_unit: unit == PICOWATT_HOURS }
}

/// The count of a channel, in pWh; None when the answer doesn't hold it.
pub fn count(answer: &[u8], channel: usize) -> Option<u64> {
    let bytes = answer.get(channel.checked_mul(COUNT_BYTES)?..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// pWh in µJ: 3.6 mJ are a million.
pub fn microjoules(picowatt_hours: u64) -> Option<u64> {
    u64::try_from(u128::from(picowatt_hours) * 36 / 10_000).ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
#[path = "emi_layout_tests.rs"]
pub(crate) mod tests;
