//! What is known of the host's CPU without measuring: its name, its size, and the power it is specified for.

use std::{collections::BTreeSet, fs, path::Path};

use crate::Watts;

/// The host's CPU as `/proc/cpuinfo` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuFacts {
    /// Model name; None where the kernel gives none.
    pub model: Option<String>,
    /// Hardware threads that the system sees; at least 1.
    pub threads: u32,
    /// Sockets that the system sees; at least 1.
    pub sockets: u32,
    /// Whether a hypervisor announces itself.
    pub virtual_machine: bool,
}

/// Power that a CPU is specified for, with the doubt it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignPower {
    /// Of what this system sees of the CPU.
    pub tdp: Watts,
    /// Factors of `tdp` between which its power at full load is assumed to lie.
    pub band: (f64, f64),
    /// Where the number comes from, for the reader.
    pub basis: String,
}

/// Maker's figures: model, thermal design power of one socket (W), its hardware threads.
#[rustfmt::skip]
const KNOWN: &[(&str, f64, u32)] = &[
    ("EPYC 7543",       225.0,  64),
    ("EPYC 7742",       225.0, 128),
    ("EPYC 7763",       280.0, 128),
    ("EPYC 9554",       360.0, 128),
    ("EPYC 9654",       360.0, 192),
    ("Gold 6148",       150.0,  40),
    ("Gold 6248",       150.0,  40),
    ("Platinum 8280",   205.0,  56),
    ("Platinum 8358",   250.0,  64),
    ("Platinum 8380",   270.0,  80),
    ("Platinum 8480+",  350.0, 112),
    ("i5-8250U",         15.0,   8),
    ("i7-1165G7",        28.0,   8),
    ("i7-8650U",         15.0,   8),
    ("i7-12700K",       125.0,  20),
    ("i9-13900K",       125.0,  32),
    ("Ryzen 5 5600X",    65.0,  12),
    ("Ryzen 7 5800X",   105.0,  16),
    ("Ryzen 9 5950X",   105.0,  32),
    ("Ryzen 9 7950X",   170.0,  32),
];
const ASSUMED_W_PER_THREAD: f64 = 4.0;
const BAND_KNOWN: (f64, f64) = (0.8, 1.25);
const BAND_ASSUMED: (f64, f64) = (0.5, 2.0);

impl CpuFacts {
    /// Reads `/proc/cpuinfo` under `root`. What it doesn't say is left out.
    pub fn read(root: &Path) -> Self {
        Self::parse(&fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default())
    }

    pub(crate) fn parse(cpuinfo: &str) -> Self {
        let of = |wanted: &'static str| {
            cpuinfo
                .lines()
                .filter_map(|line| line.split_once(':'))
                .filter(move |(key, _)| key.trim() == wanted)
                .map(|(_, value)| value.trim())
        };
        let count = |n: usize| u32::try_from(n.max(1)).unwrap_or(u32::MAX);
        Self {
            model: of("model name").next().filter(|name| !name.is_empty()).map(str::to_owned),
            threads: count(of("processor").count()),
            sockets: count(of("physical id").collect::<BTreeSet<_>>().len()),
            virtual_machine: of("flags")
                .next()
                .is_some_and(|f| f.split(' ').any(|flag| flag == "hypervisor")),
        }
    }

    /// The power this CPU is specified for: from the maker where the model is known, else an assumption per thread.
    /// A virtual machine gets its threads' share of the socket.
    pub fn design_power(&self) -> DesignPower {
        let threads = f64::from(self.threads);
        let name = self.model.as_deref().unwrap_or("unnamed CPU");
        let Some((_, socket_w, socket_threads)) = KNOWN.iter().find(|(model, ..)| names(name, model)) else {
            return DesignPower {
                tdp: Watts::new(ASSUMED_W_PER_THREAD * threads),
                band: BAND_ASSUMED,
                basis: format!(
                    "{ASSUMED_W_PER_THREAD} W x {threads} threads, assumed: no figure is known for \"{name}\""
                ),
            };
        };
        if self.virtual_machine {
            return DesignPower {
                tdp: Watts::new(socket_w * threads / f64::from(*socket_threads)),
                band: BAND_ASSUMED,
                basis: format!("{socket_w} W of \"{name}\" x {threads} of {socket_threads} threads"),
            };
        }
        DesignPower {
            tdp: Watts::new(socket_w * f64::from(self.sockets)),
            band: BAND_KNOWN,
            basis: format!("{socket_w} W of \"{name}\" x {} sockets", self.sockets),
        }
    }
}

/// Whether `name` holds `model` as whole words: `i9-13900K` is not `i9-13900KS`.
fn names(name: &str, model: &str) -> bool {
    name.match_indices(model).any(|(at, _)| {
        let ends = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '+');
        ends(name[..at].chars().next_back()) && ends(name[at + model.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::{BAND_ASSUMED, BAND_KNOWN, CpuFacts, Watts};

    fn cpu(model: &str, threads: u32, sockets: u32, virtual_machine: bool) -> CpuFacts {
        CpuFacts { model: Some(model.to_owned()), threads, sockets, virtual_machine }
    }

    #[test]
    fn reads_what_the_kernel_says() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC 7763 64-Core Processor\nphysical id\t: 0\nflags\t\t: fpu hypervisor sse\n\n\
                    processor\t: 1\nmodel name\t: AMD EPYC 7763 64-Core Processor\nphysical id\t: 1\nflags\t\t: fpu hypervisor sse\n";
        assert_eq!(CpuFacts::parse(text), cpu("AMD EPYC 7763 64-Core Processor", 2, 2, true));
        let nothing = CpuFacts { model: None, threads: 1, sockets: 1, virtual_machine: false };
        assert_eq!(CpuFacts::parse(""), nothing, "a kernel that says nothing still has a CPU");
    }

    #[test]
    fn design_power_is_the_makers_or_an_assumption() {
        #[rustfmt::skip]
        let cases = [
            ("a known model",               cpu("AMD EPYC 7763 64-Core Processor", 128, 1, false),   280.0, BAND_KNOWN),
            ("two sockets of it",           cpu("AMD EPYC 7763 64-Core Processor", 256, 2, false),   560.0, BAND_KNOWN),
            ("threads switched off",        cpu("AMD EPYC 7763 64-Core Processor", 64, 1, false),    280.0, BAND_KNOWN),
            ("a machine's share of it",     cpu("AMD EPYC 7763 64-Core Processor", 16, 1, true),      35.0, BAND_ASSUMED),
            ("a name with a plus",          cpu("Intel(R) Xeon(R) Platinum 8480+", 112, 1, false),   350.0, BAND_KNOWN),
            ("a longer name is another CPU", cpu("Intel(R) Core(TM) i9-13900KS", 32, 1, false),      128.0, BAND_ASSUMED),
            ("so is one with a plus",       cpu("Intel(R) Xeon(R) Platinum 8380+", 80, 1, false),    320.0, BAND_ASSUMED),
            ("an unknown model",            cpu("AMD EPYC", 2, 1, true),                               8.0, BAND_ASSUMED),
        ];
        for (why, facts, tdp, band) in cases {
            let power = facts.design_power();
            assert_eq!((power.tdp, power.band), (Watts::new(tdp), band), "{why}: {}", power.basis);
        }
    }
}
