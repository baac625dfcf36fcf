import type { CallSpan } from '@perwatt/metrics';

/**
 * Time of each key, s, where spans that overlap share it equally, as their energy is shared. The times add up to the length
 * of all spans put together.
 */
export function sharedTime(spans: readonly CallSpan[]): ReadonlyMap<string, number> {
  const shares = sharesUpTo(spans);
  const seconds = new Map<string, number>();
  for (const { query_id, start, end } of spans) {
    const own = (shares.get(end) ?? 0) - (shares.get(start) ?? 0);
    if (start < end) seconds.set(query_id, (seconds.get(query_id) ?? 0) + own);
  }
  return seconds;
}

/** What a span that was there from the first moment on would have got by each moment, s. */
function sharesUpTo(spans: readonly CallSpan[]): ReadonlyMap<bigint, number> {
  const changes = new Map<bigint, number>();
  for (const { start, end } of spans) {
    changes.set(start, (changes.get(start) ?? 0) + 1);
    changes.set(end, (changes.get(end) ?? 0) - 1);
  }
  const moments = [...changes.keys()].sort((a, b) => (a < b ? -1 : 1));
  const shares = new Map<bigint, number>();
  let [running, active, since] = [0, 0, moments[0] ?? 0n];
  for (const at of moments) {
    if (active > 0) running += Number(at - since) / 1e9 / active;
    shares.set(at, running);
    active += changes.get(at) ?? 0;
    since = at;
  }
  return shares;
}
