import { type CallRow, instant } from '@perwatt/core';
import type { TokenArrival, TokenCall } from '@perwatt/metrics';

/**
 * Calls with the times at which their output tokens came: at the first output and after each gap on record, in equal parts.
 * A call without output gave none. Null when one that gave some has no count of them, or no time: then tokens can't be shared by.
 */
export function tokenCalls(calls: readonly CallRow[]): TokenCall[] | null {
  const made = calls.map(tokenCall);
  return made.every((call) => call !== null) ? made : null;
}

function tokenCall(call: CallRow): TokenCall | null {
  const { query_id, first_any_ns, completion_tokens } = call;
  const span = { query_id, start: instant(call.dispatch_ns), end: instant(call.end_ns) };
  if (
    completion_tokens === 0 ||
    (completion_tokens === null && first_any_ns === null && call.status !== 'ok')
  )
    return { ...span, arrivals: [] };
  if (completion_tokens === null || first_any_ns === null) return null;
  const gaps = call.icl_ns ?? [];
  const each = completion_tokens / (gaps.length + 1);
  let at = Number(first_any_ns - call.dispatch_ns);
  const arrivals: TokenArrival[] = [arrival(call, at, each)];
  for (const gap of gaps) {
    at += gap;
    arrivals.push(arrival(call, at, each));
  }
  return { ...span, arrivals };
}

/** Not before the call began nor after it ended, by a rounding of gaps. */
function arrival({ dispatch_ns, end_ns }: CallRow, after_ns: number, tokens: number): TokenArrival {
  const at = dispatch_ns + BigInt(Math.round(Math.max(after_ns, 0)));
  return { at: instant(at < end_ns ? at : end_ns), tokens };
}
