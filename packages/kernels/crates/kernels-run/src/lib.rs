//! One request in, events out: lists devices, or runs kernels on one of them. Knows nothing of Node.
//!
//! What goes wrong with a kernel, a panic of a library among it, is an event. What a driver does to the whole process
//! is for the process around this one to survive.
#![forbid(unsafe_code)]

mod answer;
mod backends;
mod counter;
mod health;
mod protocol;

pub use answer::{Meters, answer};
pub use backends::backends;
pub use counter::{FoundCounter, PowerMeters};
pub use health::Conditions;
pub use protocol::{Cell, Energy, Event, PROTOCOL_VERSION, Power, Request, Run, Supported, Times};
