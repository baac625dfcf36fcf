import { createHash } from 'node:crypto';
import { arrivalStream, type DrawnArrivals } from './arrival-stream.js';

/** When each call of an open loop is due. */
export interface Schedule {
  /** ns from the start of the load, never falling; whole numbers, exact up to 104 days. May lie in shared memory. */
  readonly due_ns: Float64Array;
  /** Of the due times as little-endian doubles: equal schedules have equal digests. */
  readonly sha256: string;
  /** Mean rate over the span of the schedule, 1/s; null below two calls and where all are due at once. */
  readonly offered_per_s: number | null;
}

export interface ScheduleOptions {
  /** Most calls. A shape that ends earlier gives fewer. */
  readonly count: number;
  readonly seed: number;
  /** Times past this are left out, s. */
  readonly until_s?: number;
}

/** The schedule of arrivals that follow from a formula: a pure function of the description, the seed and the count. */
export function drawSchedule(arrivals: DrawnArrivals, options: ScheduleOptions): Schedule {
  const due = sharedDoubles(options.count);
  const next = arrivalStream(arrivals, options.seed);
  const until = (options.until_s ?? Number.POSITIVE_INFINITY) * 1e9;
  let length = 0;
  for (let at = next(); at !== null && at < until && length < options.count; at = next()) due[length++] = at;
  return scheduleOf(due.subarray(0, length));
}

export interface TraceSpan {
  /** 2 halves every time. */
  readonly speed: number;
  readonly from_s: number;
  readonly to_s?: number | undefined;
}

/** A schedule from the times of a trace, and which of its rows are in it. */
export interface TraceSchedule extends Schedule {
  /** Index of each call's row in `at_ns`. */
  readonly row: Uint32Array;
}

/** @param at_ns times of the rows, never falling, ns from the first */
export function traceSchedule(
  at_ns: ArrayLike<number>,
  { speed, from_s, to_s = Number.POSITIVE_INFINITY }: TraceSpan,
): TraceSchedule {
  const [from, to] = [from_s * 1e9, to_s * 1e9];
  let first = 0;
  while (first < at_ns.length && (at_ns[first] ?? 0) < from) first += 1;
  let end = first;
  while (end < at_ns.length && (at_ns[end] ?? 0) < to) end += 1;
  const due = sharedDoubles(end - first);
  const row = new Uint32Array(new SharedArrayBuffer(4 * (end - first)));
  for (let i = 0; i < due.length; i++) {
    row[i] = first + i;
    due[i] = Math.round(((at_ns[first + i] ?? 0) - from) / speed);
  }
  return { ...scheduleOf(due), row };
}

/** What a list of due times amounts to. */
export function scheduleOf(due_ns: Float64Array): Schedule {
  const [first = 0, last = 0] = [due_ns[0], due_ns.at(-1)];
  const offered_per_s = last > first ? ((due_ns.length - 1) / (last - first)) * 1e9 : null;
  return { due_ns, sha256: digestOf(due_ns), offered_per_s };
}

function digestOf(due: Float64Array): string {
  const hash = createHash('sha256');
  const block = new Float64Array(Math.min(due.length, 65_536));
  for (let at = 0; at < due.length; at += block.length) {
    const part = due.subarray(at, at + block.length);
    block.set(part);
    hash.update(new Uint8Array(block.buffer, 0, part.byteLength));
  }
  return hash.digest('hex');
}

const sharedDoubles = (length: number): Float64Array => new Float64Array(new SharedArrayBuffer(8 * length));
