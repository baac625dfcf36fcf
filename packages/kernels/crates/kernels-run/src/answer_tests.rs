use std::collections::BTreeMap;

use kernels_core::{
    ClockSource, CounterInfo, CounterReading, DeviceKind, EnergyCounter, Inputs, POISON_BYTE, Prepared,
    RowStatus, Ticket, Timing,
};
use serde_json::{Value, json};

use super::*;

/// A backend with one device, whose kernels are the f64 references; what they are called says what they do.
struct Fake {
    id: &'static str,
    absent: bool,
}

struct FakeDevice {
    info: DeviceInfo,
}

struct FakeKernel {
    id: ImplId,
    right: Vec<u8>,
    out: Vec<u8>,
}

fn info(backend: &str) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId(format!("{backend}:0")),
        backend: backend.to_owned(),
        name: "a fake".to_owned(),
        kind: DeviceKind::Cpu,
        driver: None,
        hardware_id: None,
        memory_bytes: Some(1 << 30),
        max_buffer_bytes: None,
        last_level_cache_bytes: Some(1 << 10),
        compute_units: None,
        notes: Vec::new(),
        environment: BTreeMap::new(),
    }
}

impl Backend for Fake {
    fn id(&self) -> &'static str {
        self.id
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError> {
        if self.absent {
            let (library, reason) = ("libfake.so".to_owned(), "no such file".to_owned());
            return Err(KernelError::NoLoader { library, reason });
        }
        Ok(vec![info(self.id)])
    }

    fn open(&self, device: &DeviceId) -> Result<Box<dyn Device>, KernelError> {
        let info = info(self.id);
        if *device != info.id {
            let reason = format!("there is {}", info.id);
            return Err(KernelError::NoDevice { backend: device.to_string(), reason });
        }
        Ok(Box::new(FakeDevice { info }))
    }
}

impl Device for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        match spec.kind() {
            "copy" => Support::Yes {
                impls: ["right", "wrong", "panics"].map(|name| ImplId::new("fake", name)).into(),
            },
            "triad" => {
                Support::Yes { impls: ["loses", "right"].map(|name| ImplId::new("fake", name)).into() }
            }
            kind => Support::no(format!("it has no {kind}")),
        }
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        _rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        assert!(implementation.name != "panics", "no symbol cuFake");
        let bytes = spec.output_tensor().bytes();
        let mut right = inputs.get("a")?.data.clone();
        right.truncate(bytes);
        if implementation.name == "wrong" {
            right[3] ^= 1;
        }
        Ok(Box::new(FakeKernel {
            id: implementation.clone().with("tile", 4),
            out: vec![POISON_BYTE; bytes],
            right,
        }))
    }
}

impl Prepared for FakeKernel {
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
        self.out.clone_from(&self.right);
        Ok(Ticket(u64::from(launches)))
    }

    fn wait(&mut self, ticket: Ticket) -> Result<Timing, KernelError> {
        if self.id.name == "loses" {
            return Err(KernelError::Lost {
                device: "fake:0".to_owned(),
                reason: "illegal address".to_owned(),
            });
        }
        let launches = u32::try_from(ticket.0).unwrap_or(1);
        let host_ns = 1e6 * f64::from(launches);
        Ok(Timing { launches, device_ns: None, host_ns, clock: ClockSource::Host })
    }

    fn poison(&mut self) -> Result<(), KernelError> {
        self.out.fill(POISON_BYTE);
        Ok(())
    }

    fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
        Ok(self.out.clone())
    }

    fn impl_id(&self) -> ImplId {
        self.id.clone()
    }
}

struct NoMeters;

impl Meters for NoMeters {
    fn find(&self, _device: &DeviceInfo, power: &Power) -> Result<FoundCounter, String> {
        Err(format!("nothing below {}", power.root.display()))
    }
}

fn asked(request: &Value) -> Vec<Value> {
    let backends = |_threads| -> Vec<Box<dyn Backend>> {
        vec![Box::new(Fake { id: "fake", absent: false }), Box::new(Fake { id: "gone", absent: true })]
    };
    let mut events = Vec::new();
    answer(&request.to_string(), &backends, &NoMeters, &mut |event| {
        events.push(serde_json::to_value(event).unwrap_or_default());
    });
    events
}

fn run_request(change: &Value) -> Value {
    let mut request = json!({
        "kind": "run", "version": PROTOCOL_VERSION, "device": "fake:0", "check_only": false,
        "timing": { "most_ns": 4e8, "deviation_ratio": 0.01 }, "energy": null, "power": { "root": "/nowhere" },
        "cells": [{ "index": 5, "spec": { "kind": "copy", "n": 16, "dtype": "f32" }, "skip": [] }],
    });
    for (key, value) in change.as_object().into_iter().flatten() {
        request[key] = value.clone();
    }
    request
}

fn names(events: &[Value]) -> Vec<String> {
    events.iter().filter(|event| event["event"] != "phase").map(|event| event["event"].to_string()).collect()
}

#[test]
fn every_implementation_of_a_kernel_is_run_and_a_panic_is_a_row() {
    let events = asked(&run_request(&json!({})));
    let rows: Vec<_> = events.iter().filter(|event| event["event"] == "result").collect();
    let told: Vec<_> = rows
        .iter()
        .map(|event| (event["row"]["implementation_id"].as_str(), event["row"]["status"].as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Some("fake/right{tile=4}"), Some("ok")),
            (Some("fake/wrong{tile=4}"), Some("wrong")),
            (Some("fake/panics"), Some("failed")),
        ]
    );
    assert!(rows[2]["row"]["error_message"].as_str().is_some_and(|text| text.contains("no symbol cuFake")));
    assert_eq!(rows[0]["row"]["energy_reason"], "it was not asked for");
    assert!(rows[0]["row"]["timing"]["launch_ns"].as_f64().is_some_and(|ns| (ns - 1e6).abs() < 1.0));
    assert_eq!(events.last().map(|event| event["event"].clone()), Some(json!("end")));
    assert!(events.iter().any(|event| event["event"] == "start" && event["implementation"] == "fake/wrong"));
    assert!(events.iter().any(|event| event["event"] == "phase" && event["phase"] == "warm_up"));
}

#[test]
fn nothing_is_run_on_a_device_that_was_lost() {
    let cell = |index, kind| json!({ "index": index, "spec": { "kind": kind, "n": 16, "dtype": "f32" }, "skip": [] });
    let events = asked(&run_request(&json!({ "cells": [cell(0, "triad"), cell(1, "copy")] })));
    assert_eq!(names(&events), ["\"start\"", "\"result\""]);
    let row = events.last().map(|event| event["row"]["error_code"].clone());
    assert_eq!(row, Some(json!("KERNEL_DEVICE_LOST")));
}

#[test]
fn what_was_run_already_is_left_out() {
    let cells = json!([{
        "index": 0, "spec": { "kind": "copy", "n": 16, "dtype": "f32" }, "skip": ["fake/right", "fake/panics"],
    }]);
    let events = asked(&run_request(&json!({ "cells": cells })));
    assert_eq!(names(&events), ["\"start\"", "\"result\"", "\"end\""]);
}

#[test]
fn a_kernel_that_the_device_has_not_is_a_row_with_its_reason() {
    let cells = json!([{ "index": 0, "spec": { "kind": "softmax", "rows": 2, "width": 8, "dtype": "f32" }, "skip": [] }]);
    let events = asked(&run_request(&json!({ "cells": cells })));
    assert_eq!(names(&events), ["\"result\"", "\"end\""]);
    assert_eq!(events[0]["row"]["status"], "unsupported");
    assert!(
        events[0]["row"]["error_message"].as_str().is_some_and(|text| text.contains("it has no softmax"))
    );
}

#[test]
fn checks_alone_have_no_times() {
    let events = asked(&run_request(&json!({ "check_only": true })));
    let row = events
        .iter()
        .find(|event| event["event"] == "result")
        .map(|event| event["row"].clone())
        .unwrap_or_default();
    assert_eq!((row["status"].as_str(), &row["timing"]), (Some("ok"), &Value::Null));
    assert_eq!(row["check_before"]["relative_error"], 0.0);
}

#[test]
fn energy_without_a_counter_has_its_reason() {
    let events = asked(&run_request(&json!({ "energy": { "windows": 3, "least_ns": 1 } })));
    let row = events
        .iter()
        .find(|event| event["event"] == "result")
        .map(|event| event["row"].clone())
        .unwrap_or_default();
    assert_eq!(row["energy_reason"], "nothing below /nowhere");
}

#[test]
fn what_cannot_be_done_at_all_is_told_once() {
    let cases = [
        (run_request(&json!({ "device": "cuda:0" })), "KERNEL_NO_DEVICE", "there is fake, gone"),
        (run_request(&json!({ "device": "fake:9" })), "KERNEL_NO_DEVICE", "there is fake:0"),
        (run_request(&json!({ "version": 99 })), "KERNEL_BAD_SPEC", "build it anew"),
        (json!({ "kind": "dance" }), "KERNEL_BAD_SPEC", "unknown variant"),
    ];
    for (request, code, reason) in cases {
        let events = asked(&request);
        assert_eq!(names(&events), ["\"failed\""], "{request}");
        assert_eq!(events[0]["error_code"], code, "{request}");
        assert!(events[0]["reason"].as_str().is_some_and(|text| text.contains(reason)), "{}", events[0]);
    }
}

#[test]
fn devices_are_listed_with_what_they_do_and_backends_without_any_with_the_reason() {
    let specs = json!([
        { "kind": "copy", "n": 16, "dtype": "f32" },
        { "kind": "softmax", "rows": 2, "width": 8, "dtype": "f32" },
    ]);
    let request = json!({ "kind": "list", "version": PROTOCOL_VERSION, "specs": specs, "skip": [] });
    let events = asked(&request);
    assert_eq!(names(&events), ["\"probe\"", "\"device\"", "\"probe\"", "\"unavailable\""]);
    let supports = &events[1]["supports"];
    assert_eq!(supports[0]["implementations"], json!(["fake/right", "fake/wrong", "fake/panics"]));
    assert_eq!(
        (supports[1]["implementations"].clone(), &supports[1]["reason"]),
        (json!([]), &json!("it has no softmax"))
    );
    assert_eq!(
        (&events[3]["backend"], &events[3]["error_code"]),
        (&json!("gone"), &json!("KERNEL_NO_LOADER"))
    );
    let rest = asked(&json!({ "kind": "list", "version": PROTOCOL_VERSION, "specs": [], "skip": ["fake"] }));
    assert_eq!(names(&rest), ["\"probe\"", "\"unavailable\""]);
}

/// The counter of a device is the caller's affair; this one is never read.
#[test]
fn a_counter_that_fails_is_no_failure_of_the_kernel() {
    struct Broken(CounterInfo);
    impl EnergyCounter for Broken {
        fn info(&self) -> &CounterInfo {
            &self.0
        }
        fn read(&mut self) -> Result<CounterReading, KernelError> {
            Err(KernelError::Counter { counter: "rapl".to_owned(), reason: "gone".to_owned() })
        }
    }
    struct BrokenMeters;
    impl Meters for BrokenMeters {
        fn find(&self, _device: &DeviceInfo, _power: &Power) -> Result<FoundCounter, String> {
            let [source, domain, scope] = ["rapl", "rapl:0", "package"].map(str::to_owned);
            let info = CounterInfo {
                source,
                domain,
                scope,
                update_period_ns: 1,
                systematic_ratio: None,
                shared: None,
            };
            Ok(FoundCounter { counter: Box::new(Broken(info)), provenance: "counter" })
        }
    }
    let request = run_request(&json!({ "energy": { "windows": 2, "least_ns": 1 } }));
    let backends = |_threads| -> Vec<Box<dyn Backend>> { vec![Box::new(Fake { id: "fake", absent: false })] };
    let mut rows = Vec::new();
    answer(&request.to_string(), &backends, &BrokenMeters, &mut |event| {
        if let Event::Result { row, .. } = event {
            rows.push((row.status, row.energy_reason.clone()));
        }
    });
    assert_eq!(rows[0].0, RowStatus::Ok);
    assert!(rows[0].1.as_ref().is_some_and(|reason| reason.contains("gone")), "{rows:?}");
}
