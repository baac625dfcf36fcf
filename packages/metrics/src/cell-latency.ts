import type { CallColumns } from './cell-columns.js';
import type { TimeName } from './metric-definitions.js';

/** Times of every call, ns; NaN where the call cannot answer. A call that was not streamed had no event. */
type OfCalls = (calls: CallColumns) => Float64Array;

function between(from: Float64Array, to: Float64Array): Float64Array {
  const values = new Float64Array(from.length);
  for (let call = 0; call < values.length; call++) values[call] = (to[call] ?? 0) - (from[call] ?? 0);
  return values;
}

/** From a start to the last event of each call; to its end where it was not streamed. */
function toLast(from: Float64Array, { streamed, end, last_content }: CallColumns): Float64Array {
  const values = new Float64Array(from.length);
  for (let call = 0; call < values.length; call++) {
    const last = streamed[call] === 0 ? end[call] : last_content[call];
    values[call] = (last ?? 0) - (from[call] ?? 0);
  }
  return values;
}

/** Time per output token after the first of each call; NaN for fewer than two tokens or none seen. */
function timePerToken({ first_any, last_content, completion_tokens }: CallColumns): Float64Array {
  const values = between(first_any, last_content);
  for (let call = 0; call < values.length; call++) {
    const tokens = completion_tokens[call] ?? Number.NaN;
    values[call] = tokens >= 2 ? (values[call] ?? 0) / (tokens - 1) : Number.NaN;
  }
  return values;
}

const ofCalls: Readonly<Record<Exclude<TimeName, 'icl'>, OfCalls>> = {
  ttft_any: ({ dispatch, first_any }) => between(dispatch, first_any),
  ttft_content: ({ dispatch, first_content }) => between(dispatch, first_content),
  tpot: timePerToken,
  e2e_from_dispatch: (calls) => toLast(calls.dispatch, calls),
  e2e_from_schedule: (calls) => toLast(calls.due, calls),
  lag: ({ due, dispatch }) => between(due, dispatch),
};

/** One kind of time of every call, in their order; NaN for a call that did not end well (lag: was not sent) or has none. ns. */
export function timesOfCalls(calls: CallColumns, name: Exclude<TimeName, 'icl'>): Float64Array {
  const values = ofCalls[name](calls);
  const counts = name === 'lag' ? calls.sent : calls.ok;
  for (let call = 0; call < values.length; call++) if (counts[call] !== 1) values[call] = Number.NaN;
  return values;
}

/** One kind of time over calls that ended well, those without it left out; ns. */
export function latenciesOf(calls: CallColumns, name: TimeName): Float64Array {
  if (name === 'icl') return calls.gaps;
  const values = timesOfCalls(calls, name);
  let length = 0;
  for (let call = 0; call < values.length; call++) {
    const value = values[call] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    values[length] = value;
    length += 1;
  }
  return values.subarray(0, length);
}
