//! What a GPU offers, and how that is told.

use power_core::{Booking, CounterSpec, Domain, GaugeSpec, Kind, Missing, Nanos, Provenance, Scope, Watts};

use super::{
    By,
    api::{FieldValue, Gpu, field, missing, scope},
    decode::whole,
    energy_by_call, power_by_call,
};

const UPDATE_PERIOD: Nanos = Nanos::from_millis(100);
const DEFAULT_CAP_MW: u64 = 2_000_000;
const SCALE_ERROR_RATIO: f64 = 0.05;

/// Models whose sensor looks at only so much of each period, as measured on them: <https://arxiv.org/abs/2312.02741>.
const PART_TIME: [(&str, f64); 2] = [("A100", 0.25), ("H100", 0.25)];

/// What is known of a model by its name; None for one that nobody measured.
fn sensing_share(name: &str) -> Option<f64> {
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    PART_TIME.iter().find(|(model, _)| words().any(|word| word == *model)).map(|(_, share)| *share)
}

/// The numbers of one device that can be read.
pub struct Meters {
    pub counter: Option<By>,
    pub gauge: Option<By>,
    scope: Scope,
    cap_mw: u64,
}

impl Meters {
    /// Tries every field and scope, the best first. Where the module scope answers, GPU and CPU share a module, and the
    /// energy counter is the module's whatever its scope is called; its power is then read for the module too.
    pub fn of(device: &impl Gpu) -> Result<Self, Missing> {
        let module = [field::POWER_INSTANT, field::POWER_AVERAGE]
            .into_iter()
            .any(|field| ask(device, field, scope::MODULE).is_ok());
        let scopes = if module { [scope::MODULE, scope::GPU] } else { [scope::GPU, scope::MODULE] };
        let counters = scopes
            .into_iter()
            .flat_map(|scope| [field::TOTAL_ENERGY, field::ENERGY].map(|field| By::Field { field, scope }));
        let gauge_scope = scopes[0];
        let gauges =
            [field::POWER_INSTANT, field::POWER_AVERAGE].map(|field| By::Field { field, scope: gauge_scope });
        let counter = first(counters.chain([By::Call]), |by| match by {
            By::Field { field, scope } => ask(device, field, scope),
            By::Call => energy_by_call(device),
        });
        let gauge = first(gauges.into_iter().chain([By::Call]), |by| match by {
            By::Field { field, scope } => ask(device, field, scope),
            By::Call => power_by_call(device),
        });
        if let (Err(of_counter), Err(of_gauge)) = (counter, gauge) {
            return Err(if of_counter == Missing::NotSupported { of_gauge } else { of_counter });
        }
        let limit = ask(device, field::POWER_MAX_LIMIT, gauge_scope).ok().filter(|limit| *limit > 0);
        Ok(Self {
            counter: counter.ok(),
            gauge: gauge.ok(),
            scope: if module { Scope::Module } else { Scope::Gpu },
            cap_mw: limit.map_or(DEFAULT_CAP_MW, |limit| limit.saturating_mul(2)),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 mW, 9 TW")]
    fn cap(&self) -> Watts {
        Watts::new(self.cap_mw as f64 / 1e3)
    }
}

/// The first that answers, else why the last one that could have been there did not.
fn first(
    ways: impl Iterator<Item = By>,
    mut read: impl FnMut(By) -> Result<u64, Missing>,
) -> Result<By, Missing> {
    let mut why = Missing::NotSupported;
    for by in ways {
        match read(by) {
            Ok(_) => return Ok(by),
            Err(Missing::NotSupported) => {}
            Err(other) => why = other,
        }
    }
    Err(why)
}

fn ask(device: &impl Gpu, field: u32, scope: u32) -> Result<u64, Missing> {
    let mut asked = [FieldValue::ask(field, scope)];
    device.ask(&mut asked).map_err(missing)?;
    whole(&asked[0])
}

/// The domains of one device, the counter first.
pub fn describe(
    uuid: &str,
    device: &impl Gpu,
    meters: &Meters,
    instances: &[String],
) -> Vec<(Domain, Booking)> {
    let name = device.name().unwrap_or_default();
    let about = |parts: &[&str]| {
        let said = [name.as_str()].into_iter().chain(parts.iter().copied()).filter(|part| !part.is_empty());
        Some(said.collect::<Vec<_>>().join("; ")).filter(|note| !note.is_empty())
    };
    let split = if instances.is_empty() {
        String::new()
    } else {
        format!("split into {}, whose shares are not measured", instances.join(", "))
    };
    let module = if meters.scope == Scope::Module { "GPU, CPU and memory of one module" } else { "" };
    let domain = |what: &str, kind: Kind, parts: &[&str]| Domain {
        id: format!("nvml:{uuid}:{what}"),
        scope: meters.scope,
        kind,
        provenance: if kind == Kind::Counter { Provenance::Counter } else { Provenance::Integrated },
        in_total: kind == Kind::Counter || meters.counter.is_none(),
        update_period: UPDATE_PERIOD,
        quantum: Some(0.001),
        scale_error_ratio: Some(SCALE_ERROR_RATIO),
        sensing_share: sensing_share(&name),
        raw_unit: if kind == Kind::Counter { "mJ" } else { "mW" },
        note: about(&[parts, &[module, split.as_str()]].concat()),
    };
    let spec = CounterSpec {
        max_uj: None,
        cap_uw: meters.cap_mw.saturating_mul(1000),
        update_period: UPDATE_PERIOD,
    };
    let counter = meters.counter.map(|_| (domain("energy", Kind::Counter, &[]), Booking::Counter(spec)));
    let beside = if meters.counter.is_some() { "checks the counter; never added to it" } else { "" };
    let gauge = meters.gauge.map(|by| {
        let gauge = GaugeSpec::new(UPDATE_PERIOD, meters.cap());
        (domain("power", Kind::Gauge, &[averaging(by), beside]), Booking::Gauge(gauge))
    });
    counter.into_iter().chain(gauge).collect()
}

/// What a reader must know of the power: over how long it is a mean.
const fn averaging(by: By) -> &'static str {
    match by {
        By::Field { field: field::POWER_AVERAGE, .. } => {
            "averaged_1s: a mean of the last second, which smears the edges of a window"
        }
        By::Field { .. } => "power now",
        By::Call => "the driver doesn't tell whether this is power now or a mean of the last second",
    }
}

#[cfg(test)]
mod tests {
    use super::sensing_share;

    #[test]
    fn only_models_that_were_measured_have_a_sensing_share() {
        #[rustfmt::skip]
        let cases: &[(&str, &str, Option<f64>)] = &[
            ("by its last word",           "NVIDIA H100",                Some(0.25)),
            ("among others",               "NVIDIA A100-SXM4-80GB",      Some(0.25)),
            ("a name that only begins so", "NVIDIA A1000",               None),
            ("another model",              "NVIDIA H200",                None),
            ("no name",                    "",                           None),
        ];
        for (why, name, expected) in cases {
            assert_eq!(sensing_share(name), *expected, "{why}");
        }
    }
}
