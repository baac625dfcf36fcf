//! Answers one request.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use kernels_core::{
    Backend, Device, DeviceId, DeviceInfo, EnergyRule, Host, ImplId, KernelError, KernelRow, KernelSpec,
    Phase, RunOptions, Runner, StopRule, Support, SystemHost,
};

use crate::{
    Cell, Conditions, Event, FoundCounter, PROTOCOL_VERSION, Power, Request, Run, Supported, health::Watched,
};

/// Where energy counters come from.
pub trait Meters {
    /// The counter of a device.
    ///
    /// # Errors
    /// A sentence: why there is none.
    fn find(&self, device: &DeviceInfo, power: &Power) -> Result<FoundCounter, String>;

    /// What tells a device's clocks, temperature and throttling; None where nothing does.
    fn conditions(&self, _device: &DeviceInfo, _power: &Power) -> Option<Conditions> {
        None
    }
}

/// Answers `request`, a JSON text, by handing events to `send`. Nothing of what goes wrong is lost: it is an event.
///
/// `backends` makes those there are, for so many threads of the processor.
pub fn answer(
    request: &str,
    backends: &dyn Fn(Option<usize>) -> Vec<Box<dyn Backend>>,
    meters: &dyn Meters,
    send: &mut dyn FnMut(&Event),
) {
    let done = match serde_json::from_str::<Request>(request) {
        Err(error) => Err(fault("request", &error.to_string())),
        Ok(Request::List { version, specs, skip }) => {
            spoken(version).map(|()| list(&backends(None), &specs, &skip, send))
        }
        Ok(Request::Run(run)) => {
            spoken(run.version).and_then(|()| run_all(&run, &backends(run.threads), meters, send))
        }
    };
    if let Err(error) = done {
        send(&Event::Failed { error_code: error.code().to_owned(), reason: error.to_string() });
    }
}

fn fault(what: &str, reason: &str) -> KernelError {
    KernelError::BadSpec { what: what.to_owned(), reason: reason.to_owned() }
}

fn spoken(version: u32) -> Result<(), KernelError> {
    if version == PROTOCOL_VERSION {
        return Ok(());
    }
    let reason = format!("this build speaks version {PROTOCOL_VERSION}; build it anew");
    Err(fault(&format!("protocol {version}"), &reason))
}

fn list(backends: &[Box<dyn Backend>], specs: &[KernelSpec], skip: &[String], send: &mut dyn FnMut(&Event)) {
    for backend in backends.iter().filter(|backend| !skip.iter().any(|name| name == backend.id())) {
        let name = backend.id().to_owned();
        send(&Event::Probe { backend: name.clone() });
        match caught("probe", || backend.probe()) {
            Ok(devices) => {
                for device in devices {
                    let supports = supports(backend.as_ref(), &device, specs);
                    send(&Event::Device { device, supports });
                }
            }
            Err(error) => {
                let (error_code, reason) = (error.code().to_owned(), error.to_string());
                send(&Event::Unavailable { backend: name, error_code, reason });
            }
        }
    }
}

/// What a device does with kernels; it isn't opened when none is asked for.
fn supports(backend: &dyn Backend, info: &DeviceInfo, specs: &[KernelSpec]) -> Vec<Supported> {
    if specs.is_empty() {
        return Vec::new();
    }
    let opened = caught("open", || backend.open(&info.id));
    let of = |spec: &KernelSpec| match &opened {
        Err(error) => Support::no(error.to_string()),
        Ok(device) => caught("support", || Ok(device.support(spec)))
            .unwrap_or_else(|error| Support::no(error.to_string())),
    };
    let told = |spec: &KernelSpec| match of(spec) {
        Support::Yes { impls } => {
            let implementations = impls.iter().map(ToString::to_string).collect();
            Supported { spec: spec.clone(), implementations, reason: None }
        }
        Support::No { reason } => {
            Supported { spec: spec.clone(), implementations: Vec::new(), reason: Some(reason) }
        }
    };
    specs.iter().map(told).collect()
}

fn run_all(
    run: &Run,
    backends: &[Box<dyn Backend>],
    meters: &dyn Meters,
    send: &mut dyn FnMut(&Event),
) -> Result<(), KernelError> {
    let device = open(&run.device, backends)?;
    let conditions = meters.conditions(device.info(), &run.power);
    let device = Watched::new(device, conditions);
    let mut counter = match run.energy {
        None => Err("it was not asked for".to_owned()),
        Some(_) => meters.find(device.info(), &run.power),
    };
    for cell in &run.cells {
        let impls = match device.support(&cell.spec) {
            Support::Yes { impls } => impls.into_iter().map(Some).collect(),
            Support::No { .. } => vec![None],
        };
        let left = |implementation: &Option<ImplId>| {
            let id = implementation.as_ref().map(ToString::to_string);
            !id.is_some_and(|id| cell.skip.contains(&id))
        };
        for implementation in impls.into_iter().filter(left) {
            let at = &mut At { device: &device, counter: &mut counter, send };
            // Nothing works on a lost device until another process opens it.
            if run_one(run, cell, implementation.as_ref(), at) == Standing::Lost {
                return Ok(());
            }
        }
        send(&Event::End { index: cell.index });
    }
    Ok(())
}

/// The device of this id, by the backend that its id begins with.
fn open(id: &str, backends: &[Box<dyn Backend>]) -> Result<Box<dyn Device>, KernelError> {
    let backend_id = id.split(':').next();
    let Some(backend) = backends.iter().find(|backend| backend_id == Some(backend.id())) else {
        let known: Vec<&str> = backends.iter().map(|backend| backend.id()).collect();
        let reason = format!("no backend of this build has it; there is {}", known.join(", "));
        return Err(KernelError::NoDevice { backend: id.to_owned(), reason });
    };
    caught("open", || backend.open(&DeviceId(id.to_owned())))
}

/// How a device stands after a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Fine,
    Lost,
}

/// Where a kernel is run, and who is told.
struct At<'a> {
    device: &'a dyn Device,
    counter: &'a mut Result<FoundCounter, String>,
    send: &'a mut dyn FnMut(&Event),
}

fn run_one(run: &Run, cell: &Cell, implementation: Option<&ImplId>, at: &mut At<'_>) -> Standing {
    let index = cell.index;
    if let Some(implementation) = implementation {
        (at.send)(&Event::Start { index, implementation: implementation.to_string() });
    }
    let start_ns = SystemHost.now_ns();
    let provenance = at.counter.as_ref().ok().map(|found| found.provenance);
    let send = &mut *at.send;
    let mut progress = |phase: Phase| send(&Event::Phase { index, phase });
    let mut runner = Runner {
        device: at.device,
        host: &SystemHost,
        options: options_of(run),
        counter: at.counter.as_mut().map(|found| &mut *found.counter as _).map_err(|reason| reason.clone()),
        progress: &mut progress,
    };
    let row = caught("kernel", || Ok(runner.run(&cell.spec, implementation)))
        .unwrap_or_else(|error| lost_row(at.device.info(), &cell.spec, implementation, &error));
    let (start_ns, end_ns) = (start_ns.to_string(), SystemHost.now_ns().to_string());
    let lost = row.error_code.as_deref() == Some("KERNEL_DEVICE_LOST");
    (at.send)(&Event::Result { index, start_ns, end_ns, provenance, row: Box::new(row) });
    if lost { Standing::Lost } else { Standing::Fine }
}

fn options_of(run: &Run) -> RunOptions {
    let usual = RunOptions::default();
    let Run { timing, energy, check_only, .. } = run;
    let least_ns = usual.stop.least_ns.min(timing.most_ns / 2.0);
    let rule = energy.map_or(usual.energy, |energy| EnergyRule {
        windows: energy.windows,
        least_ns: energy.least_ns,
        warm_up_ns: energy.warm_up_ns.unwrap_or(usual.energy.warm_up_ns),
        settle_ns: energy.warm_up_ns.map_or(usual.energy.settle_ns, |span| span / 2),
        ..usual.energy
    });
    RunOptions {
        stop: StopRule {
            least_ns,
            most_ns: timing.most_ns,
            deviation_ratio: timing.deviation_ratio,
            ..usual.stop
        },
        energy: rule,
        check_only: *check_only,
        ..usual
    }
}

/// The row of a kernel whose run panicked.
fn lost_row(
    info: &DeviceInfo,
    spec: &KernelSpec,
    implementation: Option<&ImplId>,
    error: &KernelError,
) -> KernelRow {
    let row = KernelRow {
        implementation: implementation.cloned(),
        implementation_id: implementation.map(ToString::to_string),
        ..KernelRow::blank(info, spec)
    };
    row.failed(error)
}

/// What `work` returns; a panic becomes an error, for libraries panic where a call should fail.
fn caught<T>(what: &str, work: impl FnOnce() -> Result<T, KernelError>) -> Result<T, KernelError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(KernelError::Call {
            call: what.to_owned(),
            reason: format!("it panicked: {}", words(panic.as_ref())),
        })
    })
}

fn words(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a word")
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
