use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use super::*;
use crate::{
    CounterInfo, CounterReading, DType, DeviceId, DeviceInfo, DeviceKind, POISON_BYTE, Reference, RowStatus,
    Shape, SystemHost, Ticket, host::nanos,
};

/// A host whose time passes only when someone works or sleeps.
#[derive(Clone, Default)]
struct Virtual(Arc<AtomicI64>);

impl Host for Virtual {
    fn now_ns(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep_ns(&self, span: i64) {
        self.0.fetch_add(span, Ordering::SeqCst);
    }
}

/// What is wrong with a device.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    WrongFromTheStart,
    WrongAfterPoison,
    NoMemory,
    ClocksDiffer,
    NeverWarm,
    LostInBatch(u32),
    HotFor(usize),
}

/// A device that gives the reference as its output after `launch_ns` of its host's time.
struct Fake<H> {
    info: DeviceInfo,
    host: H,
    launch_ns: i64,
    fault: Fault,
    seen: Rc<RefCell<Vec<u32>>>,
    looks: Cell<usize>,
}

struct FakeKernel<H> {
    host: H,
    launch_ns: i64,
    fault: Fault,
    right: Vec<u8>,
    output: Vec<u8>,
    tickets: Vec<(u32, f64)>,
    poisoned: bool,
    seen: Rc<RefCell<Vec<u32>>>,
}

fn fake<H: Host>(host: H, launch_ns: i64, fault: Fault) -> Fake<H> {
    let info = DeviceInfo {
        id: DeviceId("fake:0".to_owned()),
        backend: "fake".to_owned(),
        name: "a fake".to_owned(),
        kind: DeviceKind::Other,
        driver: None,
        hardware_id: None,
        memory_bytes: Some(1 << 30),
        max_buffer_bytes: None,
        last_level_cache_bytes: Some(1 << 20),
        compute_units: None,
        notes: Vec::new(),
        environment: BTreeMap::from([("FAKE".to_owned(), "1".to_owned())]),
    };
    Fake { info, host, launch_ns, fault, seen: Rc::default(), looks: Cell::default() }
}

impl<H: Host + Clone + 'static> Device for Fake<H> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn health(&self) -> Option<crate::Health> {
        let Fault::HotFor(looks) = self.fault else { return None };
        self.looks.set(self.looks.get() + 1);
        let slowed_down = self.looks.get() <= looks;
        Some(crate::Health { slowed_down, ..crate::Health::default() })
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        if spec.dtype == DType::Bf16 {
            return Support::no("it has no bf16");
        }
        Support::Yes { impls: vec![ImplId::new("fake", "best"), ImplId::new("fake", "plain")] }
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        _rotate: usize,
        _implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        if self.fault == Fault::NoMemory {
            return Err(KernelError::OutOfMemory { what: "buffer a".to_owned(), bytes: 1 << 40 });
        }
        let mut right = Vec::new();
        for value in Reference::new(spec, inputs)?.whole() {
            #[expect(clippy::cast_possible_truncation, reason = "the nearest f32")]
            spec.output.push(value as f32, &mut right);
        }
        Ok(Box::new(FakeKernel {
            host: self.host.clone(),
            launch_ns: self.launch_ns,
            fault: self.fault,
            output: vec![POISON_BYTE; right.len()],
            right,
            tickets: Vec::new(),
            poisoned: false,
            seen: Rc::clone(&self.seen),
        }))
    }
}

impl<H: Host> Prepared for FakeKernel<H> {
    fn submit(&mut self, launches: u32) -> Result<Ticket, KernelError> {
        let batches = u32::try_from(self.seen.borrow().len()).unwrap_or(0);
        if self.fault == Fault::LostInBatch(batches) {
            return Err(KernelError::Lost { device: "fake:0".to_owned(), reason: "it fell off".to_owned() });
        }
        self.seen.borrow_mut().push(launches);
        let began = self.host.now_ns();
        let slower = if self.fault == Fault::NeverWarm { 1 + i64::from(batches % 2) } else { 1 };
        self.host.sleep_ns(self.launch_ns * slower * i64::from(launches));
        let stale = self.fault == Fault::WrongFromTheStart
            || (self.fault == Fault::WrongAfterPoison && self.poisoned);
        if !stale {
            self.output.clone_from(&self.right);
        }
        self.tickets.push((launches, nanos(self.host.now_ns() - began)));
        Ok(Ticket(self.tickets.len() as u64 - 1))
    }

    fn wait(&mut self, ticket: Ticket) -> Result<Timing, KernelError> {
        let (launches, host_ns) = self.tickets[usize::try_from(ticket.0).unwrap_or(usize::MAX)];
        let device = if self.fault == Fault::ClocksDiffer { 0.9 } else { 1.0 };
        Ok(Timing { launches, device_ns: Some(device * host_ns), host_ns, clock: ClockSource::Event })
    }

    fn poison(&mut self) -> Result<(), KernelError> {
        self.poisoned = true;
        self.output.fill(POISON_BYTE);
        Ok(())
    }

    fn read_output(&mut self) -> Result<Vec<u8>, KernelError> {
        Ok(self.output.clone())
    }

    fn impl_id(&self) -> ImplId {
        ImplId::new("fake", "best").with("algorithm", 7)
    }
}

fn triad() -> Result<KernelSpec, KernelError> {
    KernelSpec::new(Shape::Triad { n: 1000 }, DType::F32)
}

fn row_of(fault: Fault, options: RunOptions) -> Result<(KernelRow, Vec<Phase>), KernelError> {
    let host = Virtual::default();
    let device = fake(host.clone(), 1_000_000, fault);
    let mut phases = Vec::new();
    let mut runner = Runner {
        device: &device,
        host: &host,
        options,
        counter: Err("there is no counter".to_owned()),
        progress: &mut |phase| phases.push(phase),
    };
    let row = runner.run(&triad()?, None);
    Ok((row, phases))
}

#[test]
fn a_cell_is_checked_warmed_up_timed_and_checked_again() -> Result<(), KernelError> {
    let (row, phases) = row_of(Fault::None, RunOptions::default())?;
    assert_eq!((row.status, row.error_code.clone()), (RowStatus::Ok, None));
    assert_eq!(phases, [Phase::Prepare, Phase::Check, Phase::WarmUp, Phase::Time, Phase::Cold, Phase::Check]);
    assert!(
        row.check_before.is_some_and(|check| check.passed)
            && row.check_after.is_some_and(|check| check.passed)
    );
    assert_eq!(row.implementation_id.as_deref(), Some("fake/best{algorithm=7}"));
    assert_eq!(row.energy_reason.as_deref(), Some("there is no counter"));
    assert_eq!((row.energy.clone(), row.flags.clone()), (None, Vec::new()));
    let timing = row
        .timing
        .ok_or_else(|| KernelError::BadSpec { what: "timing".to_owned(), reason: "none".to_owned() })?;
    assert!((timing.launch_ns - 1e6).abs() < 1e-6 && (timing.bytes_per_s - 12_000.0 / 1e-3).abs() < 1e-3);
    assert_eq!((timing.launches_per_batch, timing.stopped, timing.rotated_sets), (10, Stopped::Settled, 256));
    assert!(timing.warm_up.stable && timing.warm_up.ns >= 5e8);
    assert!(timing.batches.len() >= 50, "{}", timing.batches.len());
    Ok(())
}

#[test]
fn a_row_survives_being_written() -> Result<(), Box<dyn std::error::Error>> {
    let (row, _) = row_of(Fault::None, RunOptions::default())?;
    let back: KernelRow = serde_json::from_str(&serde_json::to_string(&row)?)?;
    assert_eq!(back, row);
    let options: RunOptions = serde_json::from_str(r#"{"batch_ns":5e6,"stop":{"most_ns":1e9}}"#)?;
    assert_eq!(options.stop, StopRule { most_ns: 1e9, ..StopRule::default() });
    Ok(())
}

#[test]
fn what_goes_wrong_is_in_the_row() -> Result<(), KernelError> {
    let cases = [
        (Fault::WrongFromTheStart, RowStatus::Wrong, "KERNEL_WRONG"),
        (Fault::WrongAfterPoison, RowStatus::Wrong, "KERNEL_WRONG"),
        (Fault::NoMemory, RowStatus::Failed, "KERNEL_OUT_OF_MEMORY"),
        (Fault::LostInBatch(20), RowStatus::Failed, "KERNEL_DEVICE_LOST"),
    ];
    for (fault, status, code) in cases {
        let (row, _) = row_of(fault, RunOptions::default())?;
        assert_eq!((row.status, row.error_code.as_deref()), (status, Some(code)));
        assert!(row.error_message.is_some() && row.timing.is_none(), "{code}");
    }
    Ok(())
}

#[test]
fn doubts_are_flags() -> Result<(), KernelError> {
    let quick =
        RunOptions { stop: StopRule { most_ns: 1e8, ..StopRule::default() }, ..RunOptions::default() };
    let one = RunOptions { rotate: Some(1), ..RunOptions::default() };
    let cases = [
        (Fault::ClocksDiffer, RunOptions::default(), "clocks-differ"),
        (Fault::NeverWarm, RunOptions::default(), "not-warm"),
        (Fault::None, quick, "timed-out"),
        (Fault::None, one, "one-set"),
        (Fault::HotFor(usize::MAX), RunOptions::default(), "slowed-down"),
    ];
    for (fault, options, flag) in cases {
        let (row, _) = row_of(fault, options)?;
        assert!(row.flags.iter().any(|known| known == flag), "{flag}: {:?}", row.flags);
    }
    Ok(())
}

#[test]
fn a_timing_that_heat_slowed_down_is_repeated_once_the_device_has_cooled() -> Result<(), KernelError> {
    let (row, phases) = row_of(Fault::HotFor(20), RunOptions::default())?;
    assert_eq!((row.status, row.flags), (RowStatus::Ok, Vec::new()));
    assert_eq!(phases.iter().filter(|phase| **phase == Phase::Time).count(), 2);
    Ok(())
}

#[test]
fn what_the_device_lacks_is_unsupported_with_its_reason() -> Result<(), KernelError> {
    let host = Virtual::default();
    let device = fake(host.clone(), 1000, Fault::None);
    let mut runner = Runner {
        device: &device,
        host: &host,
        options: RunOptions { check_only: true, ..RunOptions::default() },
        counter: Err(String::new()),
        progress: &mut |_| {},
    };
    let row = runner.run(&KernelSpec::new(Shape::Triad { n: 10 }, DType::Bf16)?, None);
    assert_eq!((row.status, row.error_code.as_deref()), (RowStatus::Unsupported, Some("KERNEL_UNSUPPORTED")));
    assert!(row.error_message.is_some_and(|message| message.ends_with("it has no bf16")));
    let row = runner.run(&triad()?, Some(&ImplId::new("fake", "odd")));
    assert!(
        row.error_message.is_some_and(|message| message.ends_with("it is implemented by best, plain only"))
    );
    let row = runner.run(&triad()?, Some(&ImplId::new("fake", "plain")));
    assert_eq!((row.status, row.timing.is_none(), device.seen.borrow().len()), (RowStatus::Ok, true, 1));
    Ok(())
}

#[test]
fn sets_of_buffers_exceed_three_caches_within_memory() -> Result<(), KernelError> {
    let info = |cache, memory| {
        let mut info = fake(Virtual::default(), 1, Fault::None).info;
        (info.last_level_cache_bytes, info.memory_bytes) = (cache, memory);
        info
    };
    let copy = KernelSpec::new(Shape::Copy { n: 1 << 18 }, DType::F32)?;
    let cases = [
        (Some(60 << 20), Some(1 << 40), 90, "3 × 60 MiB of 2 MiB each"),
        (Some(1 << 10), Some(1 << 40), 1, "one set is more than enough"),
        (Some(60 << 20), Some(20 << 20), 5, "half the memory"),
        (Some(60 << 20), Some(1), 1, "never none"),
        (Some(1 << 40), Some(1 << 40), 256, "no more than help"),
        (None, Some(1 << 40), 96, "64 MiB where the cache isn't known"),
    ];
    for (cache, memory, sets, why) in cases {
        assert_eq!(rotation(&copy, &info(cache, memory)), sets, "{why}");
    }
    Ok(())
}

#[test]
fn a_kernel_that_cannot_fit_is_out_of_memory_before_anything_is_allocated() -> Result<(), KernelError> {
    let mut device = fake(Virtual::default(), 1000, Fault::None);
    let spec = KernelSpec::new(Shape::Copy { n: 1 << 40 }, DType::F32)?;
    for (kind, memory, fits) in [
        (DeviceKind::Cpu, Some(3u64 << 42), true),
        (DeviceKind::Cpu, Some((3 << 42) - 1), false),
        (DeviceKind::DiscreteGpu, Some((3 << 42) - 1), true),
        (DeviceKind::DiscreteGpu, Some((2 << 42) - 1), false),
        (DeviceKind::Cpu, None, true),
    ] {
        device.info.kind = kind;
        device.info.memory_bytes = memory;
        let code = room(&spec, &device.info).map_err(|error| error.code());
        assert_eq!(code, if fits { Ok(()) } else { Err("KERNEL_OUT_OF_MEMORY") }, "{kind:?} {memory:?}");
    }
    device.info.memory_bytes = Some(1 << 20);
    let mut runner = Runner {
        device: &device,
        host: &Virtual::default(),
        options: RunOptions::default(),
        counter: Err("there is no counter".to_owned()),
        progress: &mut |_| {},
    };
    let row = runner.run(&spec, None);
    assert_eq!((row.status, row.error_code.as_deref()), (RowStatus::Failed, Some("KERNEL_OUT_OF_MEMORY")));
    Ok(())
}

/// 50 W, renewed every 10 ms of the host's time: what a late look costs is a small part of a window.
struct Meter(CounterInfo);

impl EnergyCounter for Meter {
    fn info(&self) -> &CounterInfo {
        &self.0
    }

    fn read(&mut self) -> Result<CounterReading, KernelError> {
        let at_ns = SystemHost.now_ns();
        Ok(CounterReading { at_ns, energy_j: nanos(at_ns / 10_000_000) * 0.5 })
    }
}

fn metered_row(shared: Option<&str>) -> Result<KernelRow, KernelError> {
    let device = fake(SystemHost, 200_000, Fault::None);
    let [source, domain, scope] = ["test", "package", "cpu-package"].map(str::to_owned);
    let shared = shared.map(str::to_owned);
    let info =
        CounterInfo { source, domain, scope, update_period_ns: 10_000_000, systematic_ratio: None, shared };
    let mut meter = Meter(info);
    let energy = EnergyRule {
        least_ns: 150_000_000,
        least_periods: 5,
        duty_ratio: 0.3,
        warm_up_ns: 5_000_000,
        settle_ns: 0,
        ..EnergyRule::default()
    };
    let options = RunOptions {
        batch_ns: 1e6,
        warm_up: WarmUpRule { least_ns: 0.0, most_ns: 2e7, ..WarmUpRule::default() },
        stop: StopRule { most_ns: 2e7, ..StopRule::default() },
        energy,
        ..RunOptions::default()
    };
    let mut runner = Runner {
        device: &device,
        host: &SystemHost,
        options,
        counter: Ok(&mut meter),
        progress: &mut |_| {},
    };
    Ok(runner.run(&triad()?, None))
}

#[test]
fn energy_is_power_times_time_from_tick_to_tick() -> Result<(), KernelError> {
    let row = metered_row(None)?;
    assert_eq!((row.status, row.energy_reason), (RowStatus::Ok, None));
    let energy = row
        .energy
        .ok_or_else(|| KernelError::BadSpec { what: "energy".to_owned(), reason: "none".to_owned() })?;
    assert!(energy.idle.is_some_and(|idle| (idle.power_w / 50.0 - 1.0).abs() < 0.3), "{:?}", energy.idle);
    assert!(energy.windows.len() >= 3 && energy.energy_j.is_some() && energy.energy_per_byte_j.is_some());
    for window in &energy.windows {
        assert!((window.power_w / 50.0 - 1.0).abs() < 0.3, "{window:?}");
        let busy_s = window.launches * 200e-6;
        assert!(busy_s <= 1.1 * nanos(window.end_ns - window.start_ns) * 1e-9, "{window:?}");
    }
    Ok(())
}

#[test]
fn a_shared_counter_gives_no_energy_and_says_why() -> Result<(), KernelError> {
    let row = metered_row(Some("a MIG share"))?;
    assert_eq!(row.energy_reason.as_deref(), Some("a MIG share"));
    assert!(row.energy.is_some_and(|energy| energy.energy_j.is_none() && energy.windows.is_empty()));
    Ok(())
}
