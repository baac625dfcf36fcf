use std::{rc::Rc, sync::mpsc, time::Duration};

use kernels_core::{Device, DeviceInfo, ImplId, Inputs, KernelError, KernelSpec, Prepared, Support};
use wgpu::{BufferUsages, ErrorFilter, Features};

use crate::{
    cooperative::{self, Cooperative},
    failure::{Faults, call, guarded},
    fit::BindingLimits,
    plan::{Facts, candidates, plan},
    prepared::WgpuPrepared,
};

/// The version of wgpu that is built in.
const WGPU: &str = "30.0.1";

/// How long one batch may take before its device is given up.
const PATIENCE: Duration = Duration::from_mins(5);

/// An open wgpu device and what the kernels need to know of it.
pub struct Context {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) faults: Faults,
    pub(crate) name: String,
    pub(crate) timestamps: bool,
    pub(crate) period_ns: f32,
}

impl Context {
    /// A buffer; an error is noted by the device.
    pub fn buffer(&self, size: u64, usage: BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// A buffer that may be too large for the device.
    pub fn large_buffer(
        &self,
        what: &str,
        bytes: u64,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, KernelError> {
        let filters = [ErrorFilter::Validation, ErrorFilter::OutOfMemory, ErrorFilter::Internal];
        guarded(&self.device, &filters, || self.buffer(bytes, usage)).map_err(|error| match error {
            wgpu::Error::Internal { source, .. } => call("createBuffer", &source),
            _ => KernelError::OutOfMemory { what: what.to_owned(), bytes },
        })
    }

    /// Waits until a submission is done.
    pub fn finish(&self, submission: wgpu::SubmissionIndex) -> Result<(), KernelError> {
        let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: Some(PATIENCE) };
        match self.device.poll(wait) {
            Ok(_) => self.faults.check(&self.name, "poll"),
            Err(wgpu::PollError::Timeout) => Err(KernelError::Timeout {
                what: format!("a batch on {}", self.name),
                limit_ms: u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX),
            }),
            Err(error) => Err(call("poll", &error)),
        }
    }

    /// Asks for a buffer's bytes once what was submitted so far is done.
    pub fn request(buffer: &wgpu::Buffer) -> Mapping {
        let (sender, mapping) = mpsc::channel();
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // Nobody listens any more only after an error elsewhere, which is then the one to tell.
            let _ = sender.send(result);
        });
        mapping
    }

    /// The bytes asked for. What the buffer waits for should be done; else this waits for everything.
    pub fn collect(&self, buffer: &wgpu::Buffer, mapping: &Mapping) -> Result<Vec<u8>, KernelError> {
        let mapped = mapping.try_recv().or_else(|_| {
            self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| call("poll", &error))?;
            mapping.try_recv().map_err(|error| call("mapAsync", &error))
        });
        self.faults.check(&self.name, "mapAsync")?;
        mapped?.map_err(|error| call("mapAsync", &error))?;
        let view = buffer.slice(..).get_mapped_range().map_err(|error| call("getMappedRange", &error))?;
        let bytes = view.to_vec();
        drop(view);
        buffer.unmap();
        Ok(bytes)
    }
}

/// Where a mapped buffer announces itself.
pub type Mapping = mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>;

/// A device with its queue.
pub struct WgpuDevice {
    info: DeviceInfo,
    context: Rc<Context>,
    facts: Facts,
}

impl WgpuDevice {
    /// Opens an adapter with all its limits, and with what the kernels use of its features.
    ///
    /// # Errors
    /// `NoDevice` with what the driver said.
    pub fn open(info: DeviceInfo, adapter: &wgpu::Adapter) -> Result<Self, KernelError> {
        Self::open_with(info, adapter, cooperative::probe(adapter))
    }

    /// The same with these cooperative matrices. A driver that offers them and then gives no device with them gives one without,
    /// and the device's notes say so.
    fn open_with(
        mut info: DeviceInfo,
        adapter: &wgpu::Adapter,
        mut cooperative: Option<Cooperative>,
    ) -> Result<Self, KernelError> {
        let opened = request(adapter, cooperative.is_some()).or_else(|error| {
            if cooperative.take().is_none() {
                return Err(error);
            }
            info.notes.push(format!("its cooperative matrices can't be used: {error}"));
            request(adapter, false)
        });
        let (device, queue) = opened.map_err(|error| KernelError::NoDevice {
            backend: "wgpu".to_owned(),
            reason: error.to_string(),
        })?;
        let faults = Faults::listen(&device);
        let limits = device.limits();
        let facts = Facts {
            native_f16: device.features().contains(Features::SHADER_F16),
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            binding: BindingLimits {
                bytes: limits.max_storage_buffer_binding_size,
                alignment: u64::from(limits.min_storage_buffer_offset_alignment).next_power_of_two(),
            },
            cooperative,
        };
        let context = Context {
            timestamps: device.features().contains(Features::TIMESTAMP_QUERY),
            period_ns: queue.get_timestamp_period(),
            name: info.id.to_string(),
            device,
            queue,
            faults,
        };
        Ok(Self { info, context: Rc::new(context), facts })
    }
}

/// A device with what the kernels use of its features, cooperative matrices too or not.
fn request(
    adapter: &wgpu::Adapter,
    cooperative: bool,
) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    let mut features = adapter.features() & (Features::TIMESTAMP_QUERY | Features::SHADER_F16);
    features.set(Features::EXPERIMENTAL_COOPERATIVE_MATRIX, cooperative);
    let experimental_features = if cooperative {
        // SAFETY: the only experimental feature asked for is the cooperative matrix; its one shader is validated, keeps within
        // its buffers, and its results are checked before and after they are timed.
        unsafe { wgpu::ExperimentalFeatures::enabled() }
    } else {
        wgpu::ExperimentalFeatures::disabled()
    };
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: None,
        required_features: features,
        required_limits: adapter.limits(),
        experimental_features,
        memory_hints: wgpu::MemoryHints::Performance,
        trace: wgpu::Trace::Off,
    }))
}

impl Device for WgpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, spec: &KernelSpec) -> Support {
        let mut impls = Vec::new();
        let mut reasons = Vec::new();
        for name in candidates(spec) {
            match plan(spec, name, &self.facts, None).and_then(|plan| plan.parts(spec, self.facts.binding)) {
                Ok(_) => impls.push(ImplId::new("wgpu", name)),
                Err(reason) => reasons.push(reason),
            }
        }
        reasons.dedup();
        if impls.is_empty() { Support::no(reasons.join("; ")) } else { Support::Yes { impls } }
    }

    fn prepare(
        &self,
        spec: &KernelSpec,
        inputs: &Inputs,
        rotate: usize,
        implementation: &ImplId,
    ) -> Result<Box<dyn Prepared>, KernelError> {
        let unsupported = |reason: String| KernelError::Unsupported {
            what: format!("{implementation} for {spec}"),
            reason,
        };
        let known =
            implementation.backend == "wgpu" && candidates(spec).contains(&implementation.name.as_str());
        if !known {
            return Err(unsupported("this backend has no such implementation".to_owned()));
        }
        let span = implementation.details.get("span").and_then(|span| span.parse().ok());
        let plan = plan(spec, &implementation.name, &self.facts, span).map_err(unsupported)?;
        let parts = plan.parts(spec, self.facts.binding).map_err(unsupported)?;
        let id = self.identify(spec, &implementation.name, &plan.details);
        let prepared =
            WgpuPrepared::new(Rc::clone(&self.context), (spec, inputs, rotate.max(1)), (&plan, &parts), id)?;
        Ok(Box::new(prepared))
    }
}

impl WgpuDevice {
    fn identify(&self, spec: &KernelSpec, name: &str, chosen: &[(&str, String)]) -> ImplId {
        let mut id = ImplId::new("wgpu", name).with("wgpu", WGPU);
        if let Some(driver) = &self.info.driver {
            id = id.with("driver", driver);
        }
        if let Some(element) = crate::shader::Element::of(spec.dtype, self.facts.native_f16) {
            id = id.with("elements", element.name());
        }
        chosen.iter().fold(id, |id, (key, value)| id.with(key, value))
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
