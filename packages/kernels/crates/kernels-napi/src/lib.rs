//! The Node binding: conversions only. Anything that decides something is in `kernels-run`.
#![expect(clippy::needless_pass_by_value, reason = "napi hands values over")]

use kernels_run::{Event, PROTOCOL_VERSION, PowerMeters, answer, backends};
use napi::bindgen_prelude::Function;
use napi_derive::napi;

/// Version of the protocol that it speaks.
#[napi]
pub fn protocol_version() -> u32 {
    PROTOCOL_VERSION
}

/// Answers one request (JSON) by calling `on_event` with each event (JSON), on the calling thread, until it is done.
#[napi(js_name = "answer", ts_args_type = "request: string, onEvent: (event: string) => void")]
pub fn answer_request(request: String, on_event: Function<String, ()>) -> napi::Result<()> {
    let mut problem = None;
    let mut send = |event: &Event| {
        let told = serde_json::to_string(event)
            .map_err(|error| napi::Error::from_reason(error.to_string()))
            .and_then(|line| on_event.call(line));
        if let Err(error) = told {
            problem.get_or_insert(error);
        }
    };
    answer(&request, &backends, &PowerMeters, &mut send);
    problem.map_or(Ok(()), Err)
}
