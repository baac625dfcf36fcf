//! The backends of this build, on whatever machine this is.

use std::collections::BTreeSet;

use kernels_core::{DeviceInfo, DeviceKind};
use kernels_run::{Event, FoundCounter, Meters, PROTOCOL_VERSION, Power, answer, backends};

/// A machine without counters.
struct NoMeters;

impl Meters for NoMeters {
    fn find(&self, _device: &DeviceInfo, _power: &Power) -> Result<FoundCounter, String> {
        Err("there is none".to_owned())
    }
}

#[test]
fn every_backend_is_told_with_its_devices_or_with_what_is_missing() {
    let request = format!(r#"{{"kind":"list","version":{PROTOCOL_VERSION},"specs":[],"skip":[]}}"#);
    let (mut probed, mut here, mut absent) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    answer(&request, &backends, &NoMeters, &mut |event| match event {
        Event::Probe { backend } => probed.push(backend.clone()),
        Event::Device { device, .. } => {
            let processor = matches!(device.kind, DeviceKind::Cpu | DeviceKind::Software);
            let marked = device.notes.iter().any(|note| note.starts_with("untested on hardware"));
            assert!(processor || marked, "{device:?}");
            here.insert(device.backend.clone());
        }
        Event::Unavailable { backend, error_code, reason } => {
            assert!(error_code.starts_with("KERNEL_") && !reason.is_empty(), "{backend}: {reason}");
            absent.insert(backend.clone());
        }
        _ => {}
    });
    assert_eq!(probed, ["cpu", "cuda", "hip", "metal", "wgpu"]);
    assert!(here.contains("cpu") && here.is_disjoint(&absent), "{here:?} {absent:?}");
    assert_eq!(here.len() + absent.len(), probed.len(), "{here:?} {absent:?}");
}
