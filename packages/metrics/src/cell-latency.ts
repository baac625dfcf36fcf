import type { CallColumns } from './cell-columns.js';
import type { TimeName } from './metric-definitions.js';

type OneCall = (call: number, calls: CallColumns) => number;

const from = (start: Float64Array, end: Float64Array, call: number): number =>
  (end[call] ?? Number.NaN) - (start[call] ?? Number.NaN);

/** When a call gave its last event; the end where it was not streamed. */
const lastOf = (call: number, { streamed, end, last_content }: CallColumns): number =>
  (streamed[call] === 0 ? end[call] : last_content[call]) ?? Number.NaN;

/** Time per output token after the first of one call, ns; NaN for fewer than two tokens or none seen. */
function timePerToken(call: number, { first_any, last_content, completion_tokens }: CallColumns): number {
  const tokens = completion_tokens[call] ?? Number.NaN;
  return tokens >= 2 ? from(first_any, last_content, call) / (tokens - 1) : Number.NaN;
}

/** Times of one call, ns; NaN where the call cannot answer. A call that was not streamed had no event. */
const ofCall: Readonly<Record<Exclude<TimeName, 'icl'>, OneCall>> = {
  ttft_any: (call, { dispatch, first_any }) => from(dispatch, first_any, call),
  ttft_content: (call, { dispatch, first_content }) => from(dispatch, first_content, call),
  tpot: timePerToken,
  e2e_from_dispatch: (call, calls) => lastOf(call, calls) - (calls.dispatch[call] ?? Number.NaN),
  e2e_from_schedule: (call, calls) => lastOf(call, calls) - (calls.due[call] ?? Number.NaN),
  lag: (call, { due, dispatch }) => from(due, dispatch, call),
};

/** Lag is told of failed calls too; one that was left out has none. */
const counts = ({ ok, sent }: CallColumns, call: number, name: TimeName): boolean =>
  name === 'lag' ? sent[call] === 1 : ok[call] === 1;

/** One kind of time of every call, in their order; NaN for a call that did not end well (lag: was not sent) or has none. ns. */
export function timesOfCalls(calls: CallColumns, name: Exclude<TimeName, 'icl'>): Float64Array {
  const own = ofCall[name];
  const values = new Float64Array(calls.length);
  for (let call = 0; call < values.length; call++)
    values[call] = counts(calls, call, name) ? own(call, calls) : Number.NaN;
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
