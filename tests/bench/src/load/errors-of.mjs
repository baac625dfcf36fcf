import { quantileOf } from '../stats.mjs';

const sorted = (values) => values.toSorted((a, b) => a - b);
const both = (values) => {
  const ascending = sorted(values);
  return { n: values.length, p50: quantileOf(ascending, 0.5), p99: quantileOf(ascending, 0.99) };
};

/**
 * How far a program's times lie from the server's own stamps, ms, p50 and p99 over calls: its time to the first token less
 * the server's, from the whole request to the first token sent; its mean gap between tokens against the server's, and each gap where
 * it tells them, both as distances. The first call of each connection is left out, since it has to open it; a program that opens one
 * for every call (`reuses: false`) is judged by all of them.
 */
export function errorsOf(calls, log) {
  const reused = log.filter(({ fresh }) => !fresh);
  const reuses = reused.length > 0;
  const arrived = reuses ? reused : log;
  const byKey = new Map(
    arrived.flatMap((line) => [
      [line.request_id, line],
      [line.id, line],
    ]),
  );
  const ttft = [];
  const meanGap = [];
  const eachGap = [];
  for (const call of calls) {
    const line = byKey.get(call.id ?? call.key);
    if (line === undefined) continue;
    const sent = line.sent_ns.map((ns) => Number(BigInt(ns) - BigInt(line.received_ns)) / 1e6);
    ttft.push(call.ttft_ms - sent[0]);
    const span = call.span_ms ?? call.gaps_ms.reduce((sum, gap) => sum + gap, 0);
    meanGap.push(Math.abs(span - (sent.at(-1) - sent[0])) / (sent.length - 1));
    for (const [i, gap] of (call.gaps_ms ?? []).entries())
      eachGap.push(Math.abs(gap - (sent[i + 1] - sent[i])));
  }
  return {
    reuses,
    ttft_ms: both(ttft),
    mean_gap_ms: both(meanGap),
    gap_ms: eachGap.length === 0 ? null : both(eachGap),
  };
}
