use kernels_core::KernelError;

use crate::{
    device::{Context, Mapping},
    failure::call,
};

const BYTES: u64 = 16;

/// Two timestamps, one at each end of a compute pass, on their way to the host.
pub struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
}

impl Timer {
    /// A timer, where the device has timestamps.
    pub fn new(context: &Context) -> Option<Self> {
        context.timestamps.then(|| Self {
            queries: context.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: context.buffer(BYTES, wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readable: context.buffer(BYTES, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
        })
    }

    /// What a pass writes.
    pub fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Sends them to the host, after the pass.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, BYTES);
    }

    /// Asks for them; after the submission.
    pub fn request(&self) -> Mapping {
        Context::request(&self.readable)
    }

    /// Nanoseconds between them; None where the driver wrote none. The batch must be done.
    pub fn read(&self, context: &Context, mapping: &Mapping) -> Result<Option<f64>, KernelError> {
        let bytes = context.collect(&self.readable, mapping)?;
        let (stamps, _) = bytes.as_chunks::<8>();
        let [begin, end] = stamps else {
            return Err(call("resolveQuerySet", "two timestamps were expected"));
        };
        let (begin, end) = (u64::from_le_bytes(*begin), u64::from_le_bytes(*end));
        #[expect(clippy::cast_precision_loss, reason = "a batch takes fewer than 2^53 ticks")]
        let ticks = end.saturating_sub(begin) as f64;
        Ok((begin != 0 && end > begin).then(|| ticks * f64::from(context.period_ns)))
    }
}
