import { elapsed, type Instant, type Nanos, nanos } from '@perwatt/core';
import type { CallSpan, Window } from './types.js';

/** Compares two times, for sorting. */
export const byTime = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b));

function later(a: Instant, b: Instant): Instant {
  if (a > b) return a;
  return b;
}

function earlier(a: Instant, b: Instant): Instant {
  if (a < b) return a;
  return b;
}

/** The part of a span inside `clip`, or null when none is. */
export function clipSpan(span: Window, clip: Window): Window | null {
  const start = later(span.start, clip.start);
  const end = earlier(span.end, clip.end);
  return start < end ? { start, end } : null;
}

/** Spans in order of time, overlapping and touching ones made one. */
export function unionOf(spans: readonly Window[]): Window[] {
  const union: Window[] = [];
  for (const span of spans.toSorted((a, b) => byTime(a.start, b.start))) {
    const last = union.at(-1);
    if (last === undefined || span.start > last.end) union.push({ start: span.start, end: span.end });
    else if (span.end > last.end) union[union.length - 1] = { start: last.start, end: span.end };
  }
  return union;
}

/** The spans inside `clip` with at least one call in flight. Calls of no length count for nothing. */
export const busySpans = (calls: readonly CallSpan[], clip: Window): Window[] =>
  unionOf(calls.map((call) => clipSpan(call, clip)).filter((span) => span !== null));

/** What `busy` (in order, not overlapping, inside `window`) leaves of the window. */
export function idleSpans(window: Window, busy: readonly Window[]): Window[] {
  const edges = [window.start, ...busy.flatMap(({ start, end }) => [start, end]), window.end];
  const idle: Window[] = [];
  for (let i = 0; i + 1 < edges.length; i += 2) {
    const [start, end] = [edges[i], edges[i + 1]];
    if (start !== undefined && end !== undefined && start < end) idle.push({ start, end });
  }
  return idle;
}

/** Summed length of spans, ns. */
export const totalLength = (spans: readonly Window[]): Nanos =>
  nanos(spans.reduce((sum, { start, end }) => sum + elapsed(start, end), 0));
