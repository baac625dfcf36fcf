use super::{EmiChannel, channels, count, metadata_size, microjoules, version};

/// A text as Windows writes it.
fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Maker and model, of 16 letters each.
fn makers() -> Vec<u8> {
    let padded = |text: &str| wide(&format!("{text:\0<16}"));
    [padded("Microsoft"), padded("PPM")].concat()
}

/// A description of version 2.
pub fn version_two(channels: &[(u32, &str)]) -> Vec<u8> {
    let mut bytes = makers();
    bytes.extend(7_u16.to_le_bytes());
    bytes.extend(u16::try_from(channels.len()).unwrap_or(0).to_le_bytes());
    for (unit, name) in channels {
        let name = wide(&format!("{name}\0"));
        bytes.extend(unit.to_le_bytes());
        bytes.extend(u16::try_from(name.len()).unwrap_or(0).to_le_bytes());
        bytes.extend(name);
    }
    bytes
}

fn version_one(unit: u32, name: &str) -> Vec<u8> {
    let name = wide(name);
    let size = u16::try_from(name.len()).unwrap_or(0);
    let parts = [&unit.to_le_bytes()[..], &makers(), &7_u16.to_le_bytes(), &size.to_le_bytes(), &name];
    parts.concat()
}

fn channel(name: &str, known_unit: bool) -> EmiChannel {
    EmiChannel { name: name.to_owned(), known_unit }
}

#[test]
fn a_description_names_its_channels_in_order() {
    let two = version_two(&[(0, "RAPL_Package0_PKG"), (0, "RAPL_Package0_Core0_CORE"), (1, "Grüße")]);
    assert_eq!(two.len(), 68 + 3 * 6 + 2 * (18 + 25 + 6));
    let expected = [
        channel("RAPL_Package0_PKG", true),
        channel("RAPL_Package0_Core0_CORE", true),
        channel("Grüße", false),
    ];
    assert_eq!(channels(2, &two).as_deref(), Some(&expected[..]));
    let one = version_one(0, "RAPL_Package0_DRAM");
    assert_eq!(one.len(), 72 + 36);
    assert_eq!(channels(1, &one), Some(vec![channel("RAPL_Package0_DRAM", true)]));
}

#[test]
fn a_description_that_ends_too_soon_names_nothing() {
    let two = version_two(&[(0, "RAPL_Package0_PKG"), (0, "x")]);
    for length in 0..two.len() {
        assert_eq!(channels(2, &two[..length]), None, "{length} bytes");
    }
    let one = version_one(0, "abc");
    for length in 0..one.len() {
        assert_eq!(channels(1, &one[..length]), None, "{length} bytes");
    }
    for unknown in [0, 3, u16::MAX] {
        assert_eq!(channels(unknown, &two), None, "version {unknown}");
    }
    let none = version_two(&[]);
    assert_eq!(channels(2, &none), Some(Vec::new()));
}

#[test]
fn numbers_stand_where_the_header_says() {
    assert_eq!((version(&[2, 0]), version(&[2])), (Some(2), None));
    assert_eq!((metadata_size(&[0x10, 1, 0, 0]), metadata_size(&[1, 0, 0])), (Some(272), None));
    let answer: Vec<u8> = [5_u64, 100, 6, 100].into_iter().flat_map(u64::to_le_bytes).collect();
    assert_eq!((count(&answer, 0), count(&answer, 1)), (Some(5), Some(6)));
    assert_eq!((count(&answer, 2), count(&answer[..23], 1), count(&answer, usize::MAX)), (None, None, None));
}

#[test]
fn picowatt_hours_become_microjoules() {
    #[rustfmt::skip]
    let cases = [
        ("a watt-hour",            1_000_000_000_000, Some(3_600_000_000)),
        ("3.6 mJ",                 1_000_000,         Some(3_600)),
        ("less than a microjoule", 277,               Some(0)),
        ("just one",               278,               Some(1)),
        ("all there are",          u64::MAX,          Some(66_408_278_665_354_385)),
    ];
    for (why, pwh, uj) in cases {
        assert_eq!(microjoules(pwh), uj, "{why}");
    }
}

/// Random bytes, and good descriptions with some bytes changed: nothing panics, and what is named lies within the bytes.
/// `PERWATT_FUZZ_INPUTS` asks for more of them.
#[test]
fn any_bytes_are_read_without_a_panic() {
    let inputs = std::env::var("PERWATT_FUZZ_INPUTS").ok().and_then(|text| text.parse().ok());
    let good = version_two(&[(0, "RAPL_Package0_PKG"), (0, "RAPL_Package1_DRAM"), (3, "x")]);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut below = move |end: usize| usize::try_from(next() >> 16).unwrap_or(0) % end.max(1);
    for round in 0..inputs.unwrap_or(20_000_u32) {
        let mut bytes = if round % 2 == 0 { good.clone() } else { vec![0; below(200)] };
        if round % 2 == 1 {
            bytes.fill_with(|| below(256).to_le_bytes()[0]);
        }
        for _ in 0..below(6) {
            let at = below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = below(256).to_le_bytes()[0];
            }
        }
        bytes.truncate(below(bytes.len() + 1) + 1);
        for known in [1, 2] {
            let named = channels(known, &bytes).unwrap_or_default();
            let letters: usize = named.iter().map(|channel| channel.name.encode_utf16().count()).sum();
            assert!(6 * named.len() + 2 * letters <= bytes.len() + 2, "{bytes:?}");
        }
        let at = below(20);
        assert!(count(&bytes, at).is_none() || bytes.len() >= 16 * at + 8);
        let _ = (version(&bytes), metadata_size(&bytes));
    }
}
