/// What Vulkan says of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The device's UUID.
    pub uuid: Option<[u8; 16]>,
    /// The largest heap of the device's own memory, bytes.
    pub memory_bytes: Option<u64>,
}

/// Of an adapter of another API, nothing.
#[cfg(any(windows, target_os = "linux"))]
pub fn facts(adapter: &wgpu::Adapter) -> Option<Facts> {
    use ash::vk;

    // SAFETY: the adapter is used while it is borrowed, and nothing of it is destroyed.
    let known = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = known.shared_instance().raw_instance();
    // SAFETY: the device is one of this instance.
    let device_version =
        unsafe { instance.get_physical_device_properties(known.raw_physical_device()) }.api_version;
    if device_version.min(known.shared_instance().instance_api_version()) < vk::API_VERSION_1_1 {
        return None;
    }
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut ids);
    // SAFETY: the device is one of this instance, and both have Vulkan 1.1, which has this call.
    unsafe { instance.get_physical_device_properties2(known.raw_physical_device(), &mut properties) };
    // SAFETY: the device is one of this instance.
    let memory = unsafe { instance.get_physical_device_memory_properties(known.raw_physical_device()) };
    let own = memory
        .memory_heaps_as_slice()
        .iter()
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    Some(Facts { uuid: Some(ids.device_uuid), memory_bytes: own.map(|heap| heap.size).max() })
}

/// There is no Vulkan here.
#[cfg(not(any(windows, target_os = "linux")))]
pub fn facts(_adapter: &wgpu::Adapter) -> Option<Facts> {
    None
}
