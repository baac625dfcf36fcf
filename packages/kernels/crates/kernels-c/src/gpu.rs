use std::panic::{AssertUnwindSafe, catch_unwind};

use kernels_core::{KernelError, KernelSpec};

use crate::plan::Step;

/// What was chosen, for an implementation's id.
pub type Details = Vec<(&'static str, String)>;

/// A GPU that a vendor's libraries drive through one stream: what is started is done in order, later.
///
/// Memory, functions and the like are given back when they are dropped, after the stream is done with them.
pub trait Gpu {
    /// The backend's name.
    const BACKEND: &'static str;
    /// The name of the vendor's matrix product among implementations.
    const PRODUCT: &'static str;
    /// Memory of the device.
    type Memory;
    /// An own kernel, compiled and loaded.
    type Function;
    /// A moment of the stream.
    type Event;
    /// Launches that the driver keeps as one.
    type Graph;
    /// A matrix product of the vendor's, with what it needs to be launched.
    type Product;

    /// Why an implementation can't do a kernel here, but for what [`plan`](crate::plan()) says; None where it may.
    fn obstacle(&self, spec: &KernelSpec, implementation: &str) -> Option<String>;

    /// What of the device and its libraries belongs in the id of an implementation, an `own` one or another.
    fn details(&self, own: bool) -> Details;

    /// Makes the device this thread's, as every call needs.
    ///
    /// # Errors
    /// What the driver says; so for all below.
    fn enter(&self) -> Result<(), KernelError>;

    /// Memory with anything in it. `what` names it where there is too little.
    fn allocate(&self, what: &str, bytes: usize) -> Result<Self::Memory, KernelError>;

    /// Memory with these bytes.
    fn upload(&self, what: &str, data: &[u8]) -> Result<Self::Memory, KernelError>;

    /// Memory with the bytes of another.
    fn duplicate(&self, what: &str, of: &Self::Memory) -> Result<Self::Memory, KernelError>;

    /// Fills memory with a byte, after what was started, and waits for it.
    fn fill(&self, memory: &Self::Memory, byte: u8) -> Result<(), KernelError>;

    /// The first bytes of memory, after what was started.
    fn read(&self, memory: &Self::Memory, bytes: usize) -> Result<Vec<u8>, KernelError>;

    /// Compiles and loads the kernel of a step.
    fn function(&self, step: &Step) -> Result<Self::Function, KernelError>;

    /// Makes the vendor's product ready; it may be tried out on these buffers.
    fn product(
        &self,
        spec: &KernelSpec,
        inputs: &[Self::Memory],
        output: &Self::Memory,
    ) -> Result<(Self::Product, Details), KernelError>;

    /// Starts a copy by the driver.
    fn copy(&self, from: &Self::Memory, to: &Self::Memory, bytes: usize) -> Result<(), KernelError>;

    /// Starts an own kernel. All its parameters are addresses.
    fn launch(
        &self,
        function: &Self::Function,
        grid: [u32; 3],
        block: u32,
        arguments: &[&Self::Memory],
    ) -> Result<(), KernelError>;

    /// Starts the vendor's product.
    fn multiply(
        &self,
        product: &Self::Product,
        inputs: &[Self::Memory],
        output: &Self::Memory,
    ) -> Result<(), KernelError>;

    /// A moment when all that was started before is done.
    fn mark(&self) -> Result<Self::Event, KernelError>;

    /// Waits for a moment.
    fn wait(&self, event: &Self::Event) -> Result<(), KernelError>;

    /// Nanoseconds between two moments that have passed.
    fn between(&self, from: &Self::Event, to: &Self::Event) -> Result<f64, KernelError>;

    /// Keeps what `start` starts instead of running it; None where the backend has no such thing.
    fn capture(
        &self,
        start: &dyn Fn() -> Result<(), KernelError>,
    ) -> Result<Option<Self::Graph>, KernelError>;

    /// Starts what was kept.
    fn replay(&self, graph: &Self::Graph) -> Result<(), KernelError>;
}

/// Runs calls of a library whose bindings panic where a function is missing, and makes that an error.
///
/// # Errors
/// What `calls` gives, or `Call` for a panic.
pub fn caught<T>(name: &str, calls: impl FnOnce() -> Result<T, KernelError>) -> Result<T, KernelError> {
    catch_unwind(AssertUnwindSafe(calls)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(failed(name, said.unwrap_or("the bindings panicked")))
    })
}

/// A call that failed.
pub fn failed(call: &str, reason: &(impl ToString + ?Sized)) -> KernelError {
    KernelError::Call { call: call.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_bindings_is_a_typed_error() {
        let missing = || -> Result<(), KernelError> {
            std::panic::resume_unwind(Box::new("no such symbol".to_owned()))
        };
        assert_eq!(caught("cuNothing", missing), Err(failed("cuNothing", "no such symbol")));
    }
}
