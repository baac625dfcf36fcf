import {
  blindEvents,
  elapsed,
  type Instant,
  instant,
  type Recorder,
  type SampleColumns,
  type SampleEvent,
  sampleEvents,
} from '@perwatt/core';
import type { Window } from '@perwatt/metrics';
import { accountFor, type DomainAccount } from './power-account.js';
import { keepSamples } from './power-series.js';
import type { RecordedFile, RecordedSource } from './recorded-samples.js';

/** Something that happened to a domain beside plain readings. */
export interface RecordedEvent {
  readonly domain: string;
  readonly event: SampleEvent;
  /** When, ns from the first sample of the file on. */
  readonly at_ns: number;
  /** Time since the last reading with a number, ns; null at the first. */
  readonly since_ns: number | null;
}

/** What a recording came to over a window. */
export interface RecordedAccount {
  readonly accounts: readonly DomainAccount[];
  readonly window: Window;
  /** Of the file's first sample. */
  readonly zero: Instant;
  readonly events: readonly RecordedEvent[];
}

/** Bounds of a window, ns from the first sample of the file on. */
export interface AskedWindow {
  readonly from_ns: number;
  readonly to_ns: number;
}

const plain: ReadonlySet<SampleEvent> = new Set(['first', 'ok', 'same']);

/** Accounts for a recording over the window, or over the time in which every domain that was read at all was being read. */
export function accountRecorded({ sources }: RecordedFile, asked: AskedWindow | null): RecordedAccount {
  const spans = sources.flatMap(spansOf);
  const zero = least(spans.map(({ start }) => start));
  const window =
    asked === null
      ? { start: most(spans.map(({ start }) => start)), end: least(spans.map(({ end }) => end)) }
      : { start: after(zero, asked.from_ns), end: after(zero, asked.to_ns) };
  const accounts = sources.flatMap((own) => {
    const kept = keepSamples(recorderOf(own));
    kept.collect();
    return accountFor(kept.series(), { window, idle: null, period_ns: own.period_ns });
  });
  const events = sources
    .flatMap((own) => eventsOf(own, { window, zero }))
    .toSorted((a, b) => a.at_ns - b.at_ns);
  return { accounts, window, zero, events };
}

const after = (zero: Instant, ns: number): Instant => instant(zero + BigInt(Math.round(ns)));

const least = (times: readonly Instant[]): Instant =>
  times.reduce((a, b) => (a < b ? a : b), times[0] ?? instant(0n));
const most = (times: readonly Instant[]): Instant =>
  times.reduce((a, b) => (a > b ? a : b), times[0] ?? instant(0n));

/** From the first to the last reading of each domain, with or without a number. */
function spansOf({ domains, columns }: RecordedSource): Window[] {
  return domains.flatMap((_, d) => {
    const [first, last] = [columns.domain.indexOf(d), columns.domain.lastIndexOf(d)];
    if (first < 0) return [];
    return [{ start: instant(columns.at_ns[first] ?? 0n), end: instant(columns.at_ns[last] ?? 0n) }];
  });
}

/** Hands a recording over at once, as its recorder would have. */
function recorderOf({ source, domains, raw_units, columns, period_ns, status }: RecordedSource): Recorder {
  return {
    source,
    domains,
    raw_units,
    period_ns,
    drain: () => columns,
    mark: () => instant(columns.at_ns.at(-1) ?? 0n),
    status: () => status ?? { state: 'stopped', reason: null, reads: 0, missed_deadlines: 0, read_ns: 0 },
    stop() {},
  };
}

interface Place {
  readonly window: Window;
  readonly zero: Instant;
}

/** Everything but plain readings inside a window, the time that a gap ends counting. */
function eventsOf({ domains, columns }: RecordedSource, { window, zero }: Place): RecordedEvent[] {
  const inside = (at: Instant) => at >= window.start && at <= window.end;
  return domains.flatMap(({ id }, d) => {
    let seen: Instant | null = null;
    const events: RecordedEvent[] = [];
    for (const { at, event } of readingsOf(columns, d)) {
      const since_ns = seen === null ? null : elapsed(seen, at);
      if (!plain.has(event) && inside(at))
        events.push({ domain: id, event, at_ns: elapsed(zero, at), since_ns });
      if (!blindEvents.has(event)) seen = at;
    }
    return events;
  });
}

function* readingsOf({ domain, event, at_ns }: SampleColumns, d: number) {
  for (const [i, own] of domain.entries()) {
    const name = sampleEvents[event[i] ?? -1];
    if (own === d && name !== undefined) yield { at: instant(at_ns[i] ?? 0n), event: name };
  }
}
