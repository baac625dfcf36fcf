//! Recorded answers on their way through what live ones go through.

use std::path::Path;

use power_core::{Clock, Excluded, Joules, Ledger, Missing, Nanos, PowerError};

use super::{
    Board,
    api::{FieldValue, Gpu, field, scope, status},
    decode::whole,
};

/// A device as it was shown, with its energy counter at both ends of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuTrace {
    /// Its identity.
    pub uuid: String,
    /// The GPU that it is an instance of.
    pub parent: Option<String>,
    /// At the start, mJ.
    pub start_mj: u64,
    /// At the end, mJ.
    pub end_mj: u64,
}

/// What recorded devices amount to.
#[derive(Clone, Debug, PartialEq)]
pub struct GpusReplay {
    /// Energy of every GPU in the total, by its domain.
    pub gpus: Vec<(String, Joules)>,
    /// Devices that are not recorded, and why.
    pub excluded: Vec<Excluded>,
}

/// Counts the energy of recorded devices over a span, as the source counts that of live ones.
pub fn replay_gpus(traces: &[GpuTrace], span: Nanos) -> Result<GpusReplay, PowerError> {
    let shown = traces.iter().map(|trace| Ok(Recorded { trace: trace.clone(), ended: false })).collect();
    let mut board = Board::of(shown, Path::new("/"))?;
    let mut ledgers: Vec<_> =
        board.domains.iter().map(|(_, booking)| Ledger::every(span, *booking)).collect();
    let mut booked = vec![Joules::ZERO; ledgers.len()];
    for at in [Nanos(0), span] {
        let mut readings = Vec::new();
        board.read(&Still(at), &mut readings);
        for reading in &readings {
            let index = usize::from(reading.domain);
            if let (Some(ledger), Some(energy)) = (ledgers.get_mut(index), booked.get_mut(index)) {
                *energy = ledger.enter(reading).booked;
            }
        }
        for gpu in &mut board.gpus {
            gpu.device.ended = true;
        }
    }
    let counted = board.domains.iter().zip(booked).filter(|((domain, _), _)| domain.in_total);
    let gpus = counted.map(|((domain, _), energy)| (domain.id.clone(), energy)).collect();
    Ok(GpusReplay { gpus, excluded: board.left_out })
}

/// What a recorded answer to a field says: its own status and type count.
pub fn decode_field(said: i32, kind: i32, value: [u8; 8]) -> Result<u64, Missing> {
    let mut answer = FieldValue::ask(field::POWER_INSTANT, scope::GPU);
    (answer.status, answer.kind, answer.value) = (said, kind, value);
    whole(&answer)
}

struct Still(Nanos);

impl Clock for Still {
    fn now(&self) -> Nanos {
        self.0
    }
}

/// A device that has a counter and nothing else.
#[derive(Clone)]
struct Recorded {
    trace: GpuTrace,
    ended: bool,
}

impl Gpu for Recorded {
    fn uuid(&self) -> Result<String, i32> {
        Ok(self.trace.uuid.clone())
    }

    fn name(&self) -> Result<String, i32> {
        Err(status::NOT_SUPPORTED)
    }

    fn energy_mj(&self) -> Result<u64, i32> {
        Ok(if self.ended { self.trace.end_mj } else { self.trace.start_mj })
    }

    fn power_mw(&self) -> Result<u32, i32> {
        Err(status::NOT_SUPPORTED)
    }

    fn ask(&self, _fields: &mut [FieldValue]) -> Result<(), i32> {
        Err(status::FUNCTION_NOT_FOUND)
    }

    fn is_split(&self) -> bool {
        false
    }

    fn instances(&self) -> Vec<Self> {
        Vec::new()
    }

    /// Every instance shows the whole of its GPU, so that the GPU's own counter is the instance's.
    fn parent(&self) -> Result<Self, i32> {
        let uuid = self.trace.parent.clone().ok_or(status::NOT_SUPPORTED)?;
        Ok(Self { trace: GpuTrace { uuid, parent: None, ..self.trace.clone() }, ended: self.ended })
    }
}

#[cfg(test)]
mod tests {
    use power_core::{Joules, Missing, Nanos};

    use super::{GpuTrace, decode_field, replay_gpus};

    fn trace(uuid: &str, parent: Option<&str>, start_mj: u64, end_mj: u64) -> GpuTrace {
        GpuTrace { uuid: uuid.to_owned(), parent: parent.map(str::to_owned), start_mj, end_mj }
    }

    type Row<'a> = (&'a str, Vec<GpuTrace>, &'a [(&'a str, f64)], usize);

    #[test]
    fn instances_of_a_gpu_are_counted_once() {
        let whole = (126_272_101_025, 126_275_101_025);
        let instance = |n: u32| trace(&format!("MIG-{n}"), Some("GPU-A"), whole.0, whole.1);
        let alone = [trace("GPU-B", None, 0, 5_000)];
        #[rustfmt::skip]
        let cases: &[Row] = &[
            ("four instances",        (0..4).map(instance).collect(),                              &[("GPU-A", 3000.0)],                  4),
            ("two whole GPUs",        vec![trace("GPU-A", None, 0, 7_000), alone[0].clone()],      &[("GPU-A", 7.0), ("GPU-B", 5.0)],     0),
            ("one split, one whole",  vec![instance(0), instance(1), alone[0].clone()],            &[("GPU-A", 3000.0), ("GPU-B", 5.0)],  2),
        ];
        for (why, traces, expected, excluded) in cases {
            let Ok(found) = replay_gpus(traces, Nanos::from_millis(10_000)) else { unreachable!("{why}") };
            let expected: Vec<_> = expected
                .iter()
                .map(|(uuid, joules)| (format!("nvml:{uuid}:energy"), Joules::new(*joules)))
                .collect();
            assert_eq!(found.gpus, expected, "{why}");
            assert_eq!(found.excluded.len(), *excluded, "{why}");
            assert!(found.excluded.iter().all(|left| left.reason == "covered-by GPU-A"), "{why}");
        }
    }

    #[test]
    fn a_recorded_field_is_read_like_a_live_one() {
        let stale = [0xd7, 0x84, 0, 0, 0x43, 0x4f, 0x44, 0x45];
        assert_eq!(decode_field(3, 0, stale), Err(Missing::NotSupported));
        assert_eq!(decode_field(0, 1, stale), Ok(34_007));
    }
}
