import type { LoadColumns } from '@perwatt/core';
import { PARENT_LATE } from '@perwatt/metrics';
import { nameArray, stampArray, textArray } from './column-arrays.js';
import type { DroppedTurn } from './turn-share.js';

/** The columns of a turn that was left out at `at`: a call that was cancelled before anything was sent. */
export function droppedColumns({ index, sched_ns }: DroppedTurn, at: bigint): LoadColumns {
  const one = <A>(values: A) => ({ values, valid: new Uint8Array([1]) });
  const none = <A>(values: A) => ({ values, valid: new Uint8Array(1) });
  const [noStamp, noName, noCount] = [stampArray([null]), nameArray([null]), none(new Uint32Array(1))];
  const zero = one(new Uint32Array(1));
  const noList = { offsets: new Int32Array(2), ...none(new Float64Array()) };
  const why = textArray(['the turn it goes on from had not ended']);
  return {
    length: 1,
    row: Float64Array.of(index),
    sched_ns: stampArray([sched_ns]),
    dispatch_ns: stampArray([at]),
    socket_ns: noStamp,
    sent_ns: noStamp,
    headers_ns: noStamp,
    first_event_ns: noStamp,
    first_any_ns: noStamp,
    first_content_ns: noStamp,
    last_content_ns: noStamp,
    done_ns: noStamp,
    end_ns: stampArray([at]),
    status: nameArray(['cancelled']),
    http_status: none(new Uint16Array(1)),
    finish_reason: noName,
    error_kind: nameArray([PARENT_LATE]),
    error_message: { ...why, valid: new Uint8Array([1]) },
    prompt_tokens: noCount,
    completion_tokens: noCount,
    cached_tokens: noCount,
    reasoning_tokens: noCount,
    token_source: noName,
    events: zero,
    content_events: zero,
    reads: zero,
    bytes_in: one(new BigUint64Array(1)),
    bytes_out: one(new BigUint64Array(1)),
    conn_reused: none(new Uint8Array(1)),
    icl_ns: noList,
    event_tokens: noList,
  };
}
