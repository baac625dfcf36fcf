import type { CallRow } from '@perwatt/core';

const since = (start: bigint, end: bigint | null): number | null =>
  end === null ? null : Number(end - start);

/** Time per output token after the first of one call, ns; null for fewer than two tokens or none seen. */
function timePerToken({ first_any_ns, last_content_ns, completion_tokens }: CallRow): number | null {
  if (first_any_ns === null || last_content_ns === null) return null;
  if (completion_tokens === null || completion_tokens < 2) return null;
  return Number(last_content_ns - first_any_ns) / (completion_tokens - 1);
}

/** Times of one call, ns; null where the call cannot answer. A call that was not streamed had no event. */
const latencies = {
  ttft_any: (call: CallRow) => since(call.dispatch_ns, call.first_any_ns),
  ttft_content: (call: CallRow) => since(call.dispatch_ns, call.first_content_ns),
  tpot: timePerToken,
  e2e_from_dispatch: (call: CallRow) =>
    since(call.dispatch_ns, call.events === 0 ? call.end_ns : call.last_content_ns),
} as const;

export type LatencyName = keyof typeof latencies;

/** One kind of latency over calls that ended well, nulls left out; ns. */
export const latenciesOf = (calls: readonly CallRow[], name: LatencyName): number[] =>
  calls
    .filter(({ status }) => status === 'ok')
    .map(latencies[name])
    .filter((value) => value !== null);
