use std::{fs, path::Path};

/// What the system's files say of the CPU; None where they don't.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Machine {
    pub name: Option<String>,
    pub last_level_cache_bytes: Option<u64>,
    pub memory_bytes: Option<u64>,
}

impl Machine {
    /// Reads them under `root`, normally `/`.
    pub fn read(root: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let field = |text: &str, name: &str| {
            let line =
                text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
            line.split_once(':').map(|(_, value)| value.trim().to_owned())
        };
        let caches = (0..8).filter_map(|index| {
            text(&format!("sys/devices/system/cpu/cpu0/cache/index{index}/size")).as_deref().and_then(bytes)
        });
        Self {
            name: text("proc/cpuinfo").and_then(|text| field(&text, "model name")),
            last_level_cache_bytes: caches.max(),
            memory_bytes: text("proc/meminfo")
                .and_then(|text| field(&text, "MemTotal"))
                .as_deref()
                .and_then(bytes),
        }
    }
}

/// `32768K`, `32M` or `24601780 kB` in bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, want) in [
            ("32768K\n", Some(32 << 20)),
            ("24601780 kB", Some(24_601_780 << 10)),
            ("1M", Some(1 << 20)),
            ("64", Some(64)),
            ("0K", None),
            ("", None),
            ("12 parsecs", None),
            ("99999999999999999999", None),
            ("18446744073709551615K", None),
        ] {
            assert_eq!(bytes(text), want, "{text:?}");
        }
    }

    #[test]
    fn a_machine_without_files_is_unknown() {
        assert_eq!(Machine::read(Path::new("/nowhere")), Machine::default());
    }
}
