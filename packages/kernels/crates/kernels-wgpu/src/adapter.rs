use std::{collections::BTreeMap, env};

use kernels_core::{Backend, Device, DeviceId, DeviceInfo, DeviceKind, KernelError};
use wgpu::{Backends, DeviceType};

use crate::{
    device::WgpuDevice,
    vulkan::{Facts, facts},
};

/// NVIDIA's number among vendors.
const NVIDIA: u32 = 0x10de;

/// Variables that change which driver is found and what it does.
const VARIABLES: [&str; 6] = [
    "LP_NUM_THREADS",
    "MESA_VK_DEVICE_SELECT",
    "RADV_DEBUG",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_INSTANCE_LAYERS",
];

/// Devices that wgpu reaches by Vulkan, Metal or Direct3D 12.
///
/// Ids are `wgpu:<api>:<pci address>`, or `wgpu:<api>:<vendor>-<device>` in hexadecimal where the driver gives no address, with
/// `#2` and so on after the second of the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct WgpuBackend;

impl Backend for WgpuBackend {
    fn id(&self) -> &'static str {
        "wgpu"
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, KernelError> {
        Ok(adapters()?.into_iter().map(|(info, _)| info).collect())
    }

    fn open(&self, device: &DeviceId) -> Result<Box<dyn Device>, KernelError> {
        let found = adapters()?.into_iter().find(|(info, _)| info.id == *device);
        let (info, adapter) = found.ok_or_else(|| KernelError::NoDevice {
            backend: "wgpu".to_owned(),
            reason: format!("none is called {device}"),
        })?;
        Ok(Box::new(WgpuDevice::open(info, &adapter)?))
    }
}

/// Every adapter with its description, accelerators before software.
pub fn adapters() -> Result<Vec<(DeviceInfo, wgpu::Adapter)>, KernelError> {
    let asked = Backends::VULKAN | Backends::METAL | Backends::DX12;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: asked,
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut found = pollster::block_on(instance.enumerate_adapters(asked));
    if found.is_empty() {
        return Err(why_none(&instance));
    }
    found.sort_by_cached_key(|adapter| {
        let info = adapter.get_info();
        (rank(info.device_type), base_id(&info))
    });
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let described = found.into_iter().map(|adapter| {
        let base = base_id(&adapter.get_info());
        let count = seen.entry(base.clone()).or_default();
        *count += 1;
        let id = if *count == 1 { base } else { format!("{base}#{count}") };
        (describe(id, &adapter), adapter)
    });
    Ok(described.collect())
}

/// Whether there is no loader, or a loader without devices.
fn why_none(instance: &wgpu::Instance) -> KernelError {
    let options = wgpu::RequestAdapterOptions::default();
    match pollster::block_on(instance.request_adapter(&options)) {
        Err(wgpu::RequestAdapterError::NotFound { active_backends, .. }) if active_backends.is_empty() => {
            let library = match env::consts::OS {
                "windows" => "vulkan-1.dll and d3d12.dll",
                "macos" => "Metal.framework",
                _ => "libvulkan.so.1",
            };
            let reason = "it is not on this machine, or refused to start".to_owned();
            KernelError::NoLoader { library: library.to_owned(), reason }
        }
        Err(error) => KernelError::NoDevice { backend: "wgpu".to_owned(), reason: error.to_string() },
        Ok(_) => {
            KernelError::NoDevice { backend: "wgpu".to_owned(), reason: "devices come and go".to_owned() }
        }
    }
}

fn base_id(info: &wgpu::AdapterInfo) -> String {
    let api = info.backend.to_str();
    if info.device_pci_bus_id.is_empty() {
        format!("wgpu:{api}:{:04x}-{:04x}", info.vendor, info.device)
    } else {
        format!("wgpu:{api}:{}", info.device_pci_bus_id)
    }
}

const fn rank(kind: DeviceType) -> u8 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

const fn kind(of: DeviceType) -> DeviceKind {
    match of {
        DeviceType::DiscreteGpu => DeviceKind::DiscreteGpu,
        DeviceType::IntegratedGpu => DeviceKind::IntegratedGpu,
        DeviceType::VirtualGpu => DeviceKind::VirtualGpu,
        DeviceType::Cpu => DeviceKind::Software,
        DeviceType::Other => DeviceKind::Other,
    }
}

/// A GPU's name as NVIDIA writes it.
fn gpu_id(uuid: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(uuid));
    let parts =
        [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range).unwrap_or_default().to_owned());
    format!("GPU-{}", parts.join("-"))
}

fn describe(id: String, adapter: &wgpu::Adapter) -> DeviceInfo {
    let info = adapter.get_info();
    let limits = adapter.limits();
    let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let note = match kind(info.device_type) {
        DeviceKind::Software => "a software driver: right, and no measure of an accelerator",
        _ => "untested on hardware: run the self-test first",
    };
    let mut notes = vec![note.to_owned()];
    if !adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
        notes.push("it has no timestamps: batches are timed by the host".to_owned());
    }
    let Facts { uuid, memory_bytes } = facts(adapter).unwrap_or_default();
    // NVIDIA's UUID is the one by which its power is read; the power of others is known by their place on the bus.
    let hardware_id = match (info.vendor, uuid) {
        (NVIDIA, Some(uuid)) => Some(gpu_id(uuid)),
        _ => said(&info.device_pci_bus_id),
    };
    DeviceInfo {
        id: DeviceId(id),
        backend: "wgpu".to_owned(),
        name: info.name,
        kind: kind(info.device_type),
        driver: said(format!("{} {}", info.driver, info.driver_info).trim()),
        hardware_id,
        memory_bytes,
        max_buffer_bytes: Some(limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)),
        last_level_cache_bytes: None,
        compute_units: None,
        notes,
        environment: VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_vendors() {
        let uuid =
            [0x8f, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd];
        assert_eq!(gpu_id(uuid), "GPU-8f012345-6789-abcd-ef01-23456789abcd");
    }

    #[test]
    fn vulkan_knows_more_of_a_device_than_wgpu_says() {
        let Ok(found) = adapters() else { return };
        for (info, adapter) in found {
            let facts = facts(&adapter).unwrap_or_default();
            assert_eq!(
                facts.uuid.is_some(),
                adapter.get_info().backend == wgpu::Backend::Vulkan,
                "{}",
                info.id
            );
            assert!(info.memory_bytes.is_none_or(|bytes| bytes > 0), "{info:?}");
        }
    }
}
