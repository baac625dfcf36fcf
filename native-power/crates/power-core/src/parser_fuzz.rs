//! Damaged texts of the kernel's files: every reader takes them or refuses them, and none panics or hangs.

use std::{cell::RefCell, env, io, path::Path};

use crate::{
    CpuFacts,
    estimator::parse_ticks,
    file::{CountFile, ReadAgain, parse_count, read_count, read_text},
    rapl::{meaning, zone_number},
    rapl_perf::{config, cpu_list, number, scale},
    sysfs::acpi_meter::error_ratio,
};

thread_local! {
    static HELD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A file that holds what the test puts there.
struct Held;

impl ReadAgain for Held {
    fn read_again(&self, buffer: &mut [u8]) -> io::Result<usize> {
        HELD.with_borrow(|held| {
            let length = held.len().min(buffer.len());
            buffer[..length].copy_from_slice(&held[..length]);
            Ok(length)
        })
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as files are opened")]
fn held(_: &Path) -> io::Result<Box<dyn ReadAgain>> {
    Ok(Box::new(Held))
}

/// What a reader made of a text: whether it took it.
type Reads = fn(&[u8]) -> bool;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn file() -> &'static Path {
    Path::new("a file")
}

#[rustfmt::skip]
const READERS: &[(&str, &[&str], Reads)] = &[
    ("count",        &["262143328850\n", "0\n", "18446744073709551615"],                       |bytes| parse_count(bytes).is_some()),
    ("count file",   &["262143328850\n", "7"],                                                  |_| CountFile::open(file().to_owned(), held).is_ok_and(|mut count| count.read().is_ok())),
    ("limit",        &["125000000\n"],                                                          |_| read_count(file(), held).is_some()),
    ("label",        &["package-0\n", "Esocket0", "VDD_IN"],                                    |_| read_text(file(), held).is_ok_and(|label| !label.is_empty())),
    ("zone",         &["intel-rapl:a:1", "intel-rapl-mmio:0"],                                   |bytes| zone_number(&text(bytes)).is_some()),
    ("zone's name",  &["package-0-die-1", "psys", "dram", "uncore"],                             |bytes| meaning(&text(bytes)).is_some()),
    ("PMU's type",   &["22\n"],                                                                 |_| number(file(), held).is_ok()),
    ("PMU's event",  &["event=0x02\n"],                                                         |_| config(file(), held).is_ok()),
    ("PMU's scale",  &["2.3283064365386962890625e-10\n"],                                       |_| scale(file(), "pkg", held).is_ok()),
    ("CPUs",         &["0,28\n", "0-1", "0-127,130"],                                         |_| cpu_list(file(), held).is_ok()),
    ("CPU times",    &["cpu  10 2 3 100 4 5 6 7 8 9\ncpu0 1 2\n"],                             |bytes| parse_ticks(bytes).is_some()),
    ("accuracy",     &["95.00%", "100%"],                                                        |bytes| error_ratio(&text(bytes)).is_some_and(in_range)),
    ("CPU's facts",  &["processor\t: 0\nmodel name\t: AMD EPYC 7763 64-Core\nphysical id\t: 0\nflags\t\t: fpu hypervisor\n"], |bytes| sound(&CpuFacts::parse(&text(bytes)))),
];

fn in_range(ratio: f64) -> bool {
    assert!((0.0..1.0).contains(&ratio), "{ratio} is no relative error");
    true
}

/// Whatever the kernel says, there is a CPU, and a power that it may draw.
fn sound(facts: &CpuFacts) -> bool {
    assert!(facts.threads > 0 && facts.sockets > 0, "{facts:?}");
    let power = facts.design_power();
    assert!(power.tdp.get().is_finite() && power.tdp.get() > 0.0, "{power:?}");
    facts.model.is_some()
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    /// The text with some damage: bytes changed, cut, doubled, or strange pieces put in.
    fn damaged(&mut self, seed: &str) -> Vec<u8> {
        const PIECES: [&[u8]; 12] = [
            b"",
            b"-",
            b"0x",
            b"%",
            b"\n",
            b",",
            b"NaN",
            b"1e999",
            b"99999999999999999999",
            b"\xff\xfe",
            b"\0",
            b"cpu ",
        ];
        let mut bytes = seed.as_bytes().to_vec();
        for _ in 0..self.below(4) {
            let (a, b) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
            let (from, to) = (a.min(b), a.max(b));
            match self.below(5) {
                0 => bytes.truncate(from),
                1 => drop(bytes.drain(from..to)),
                2 => bytes.extend_from_within(from..to),
                3 if from < bytes.len() => bytes[from] = u8::try_from(self.below(256)).unwrap_or(0),
                _ => drop(bytes.splice(from..from, PIECES[self.below(PIECES.len())].iter().copied())),
            }
        }
        bytes.truncate(1 << 12);
        bytes
    }
}

#[test]
fn damaged_texts_are_taken_or_refused() {
    let inputs =
        env::var("PERWATT_FUZZ_INPUTS").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(60_000);
    let mut random = Random(20_261_129);
    let mut taken = vec![0_usize; READERS.len()];
    for input in 0..inputs {
        let reader = input % READERS.len();
        let (_, seeds, read) = READERS[reader];
        let seed = seeds[random.below(seeds.len())];
        let bytes = random.damaged(seed);
        HELD.set(bytes.clone());
        taken[reader] += usize::from(read(&bytes));
    }
    for ((name, ..), taken) in READERS.iter().zip(taken) {
        let given = inputs / READERS.len();
        assert!(taken > given / 10 && taken < given, "{name} took {taken} of {given}: proves little");
    }
}
