//! A whole cell on whatever device is here, from inputs to row.

use std::error::Error;

use kernels_core::{
    Backend, ClockSource, DType, DeviceKind, KernelSpec, Phase, RowStatus, RunOptions, Runner, Shape,
    StopRule, SystemHost, WarmUpRule,
};
use kernels_wgpu::WgpuBackend;

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn a_cell_is_checked_timed_and_checked_again() -> Result<(), Box<dyn Error>> {
    let found = match WgpuBackend.probe() {
        Ok(found) => found,
        Err(error) => {
            eprintln!("skipped: {error}");
            return Ok(());
        }
    };
    let info = found
        .iter()
        .find(|info| info.kind == DeviceKind::Software)
        .or(found.first())
        .ok_or("an empty list")?;
    let device = WgpuBackend.open(&info.id)?;
    let options = RunOptions {
        batch_ns: 1e6,
        warm_up: WarmUpRule { agreeing: 2, within_ratio: 9.0, least_ns: 0.0, most_ns: 1e8 },
        stop: StopRule { least_batches: 3, least_ns: 0.0, deviation_ratio: 9.0, most_ns: 1e9 },
        rotate: Some(3),
        ..RunOptions::default()
    };
    let mut phases = Vec::new();
    let mut runner = Runner {
        device: device.as_ref(),
        host: &SystemHost,
        options,
        counter: Err("there is none in a test".to_owned()),
        progress: &mut |phase| phases.push(phase),
    };
    let row = runner.run(&KernelSpec::new(Shape::Triad { n: 65_536 }, DType::Bf16)?, None);
    assert_eq!(row.status, RowStatus::Ok, "{row:?}");
    let timing = row.timing.as_ref().ok_or("no times")?;
    assert!(timing.launch_ns > 0.0 && timing.rotated_sets == 3, "{timing:?}");
    let timed = [ClockSource::Timestamp, ClockSource::Host];
    assert!(timed.contains(&timing.clock), "{timing:?}");
    assert!(
        row.check_before.is_some_and(|check| check.passed)
            && row.check_after.is_some_and(|check| check.passed)
    );
    assert!(row.implementation_id.as_ref().is_some_and(|id| id.starts_with("wgpu/wgsl-stream{")), "{row:?}");
    assert_eq!(row.energy, None);
    assert_eq!(phases.iter().filter(|phase| **phase == Phase::Check).count(), 2, "{phases:?}");
    Ok(())
}
