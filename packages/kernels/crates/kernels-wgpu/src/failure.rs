use std::sync::{Arc, Mutex, PoisonError};

use kernels_core::KernelError;

/// What went wrong on a device since it was last asked, in wgpu's words.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    lost: Arc<Mutex<Option<String>>>,
    stray: Arc<Mutex<Option<String>>>,
}

impl Faults {
    /// Listens to everything that a device says outside of an error scope, instead of wgpu's own handler, which panics.
    pub fn listen(device: &wgpu::Device) -> Self {
        let faults = Self::default();
        let stray = Arc::clone(&faults.stray);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| note(&stray, error.to_string())));
        let lost = Arc::clone(&faults.lost);
        device.set_device_lost_callback(move |reason, said| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note(&lost, said);
            }
        });
        faults
    }

    /// An error if something went wrong.
    pub fn check(&self, device: &str, call: &str) -> Result<(), KernelError> {
        if let Some(reason) = take(&self.lost) {
            note(&self.lost, reason.clone());
            return Err(KernelError::Lost { device: device.to_owned(), reason });
        }
        take(&self.stray).map_or(Ok(()), |reason| Err(KernelError::Call { call: call.to_owned(), reason }))
    }
}

/// Keeps the first.
fn note(place: &Mutex<Option<String>>, said: String) {
    place.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(said);
}

fn take(place: &Mutex<Option<String>>) -> Option<String> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A call that failed.
pub fn call(name: &str, reason: &(impl ToString + ?Sized)) -> KernelError {
    KernelError::Call { call: name.to_owned(), reason: reason.to_string() }
}

/// Runs `make` and gives what it made, or what the device said against it.
pub fn guarded<T>(
    device: &wgpu::Device,
    filters: &[wgpu::ErrorFilter],
    make: impl FnOnce() -> T,
) -> Result<T, wgpu::Error> {
    let scopes: Vec<wgpu::ErrorScopeGuard> =
        filters.iter().map(|&filter| device.push_error_scope(filter)).collect();
    let value = make();
    let mut fault = None;
    for scope in scopes.into_iter().rev() {
        fault = pollster::block_on(scope.pop()).or(fault);
    }
    fault.map_or(Ok(value), Err)
}
