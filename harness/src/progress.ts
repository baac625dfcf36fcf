import type { CallRow, Clock, Instant } from '@perwatt/core';
import type { CellPoint } from '@perwatt/records';
import type { Cell } from './plan.js';

/** A finished cell as the live display shows it. */
export interface CellResult {
  readonly point: CellPoint;
  readonly status: 'done' | 'failed' | 'interrupted' | 'skipped';
  /** Why it failed or was skipped, where that is known. */
  readonly failure: string | null;
  readonly verdict: 'valid' | 'flagged' | 'invalid' | null;
  /** Share of scored queries that were right; null when none was scored. */
  readonly accuracy: number | null;
  readonly queries: number;
  readonly seconds: number;
}

/** Where a run stands, for a display. Null where nothing is known yet. */
export interface ProgressSnapshot {
  readonly cells_done: number;
  readonly cells: number;
  readonly queries_done: number;
  readonly queries: number;
  readonly point: CellPoint | null;
  readonly phase: string;
  readonly cell_queries_done: number;
  readonly cell_queries: number;
  /** Output tokens per second over the last seconds; null before the first call ended and outside measured windows. */
  readonly tokens_per_s: number | null;
  readonly eta_s: number | null;
  readonly results: readonly CellResult[];
}

/** Counts what a run has done. Cheap enough to be fed inside measured windows; the display asks for snapshots. */
export interface Progress {
  cellStarted(cell: Cell, open: number): void;
  phase(name: string): void;
  callEnded(call: CallRow): void;
  queryEnded(): void;
  /** So many queries of the cell need not be sent after all. */
  queriesSpared(count: number): void;
  /** Returns the result with its time. */
  cellEnded(result: Omit<CellResult, 'seconds'>): CellResult;
  /** A cell with so many open queries won't be tried. */
  cellSkipped(cell: Cell, skip: { readonly open: number; readonly reason: string }): CellResult;
  snapshot(): ProgressSnapshot;
}

const RATE_WINDOW_NS = 5_000_000_000n;

export function createProgress(cells: readonly Cell[], clock: Clock): Progress {
  let total = cells.reduce((sum, cell) => sum + cell.dataset.items.length * cell.repeats, 0);
  const started = clock.now();
  const results: CellResult[] = [];
  let recent: { at: Instant; tokens: number }[] = [];
  let current: { cell: Cell; since: Instant; open: number; done: number } | null = null;
  let done = 0;
  let skipped = 0;
  let phase = 'starting';
  return {
    cellStarted(cell, open) {
      const already = cell.dataset.items.length * cell.repeats - open;
      current = { cell, since: clock.now(), open, done: 0 };
      done += already;
      skipped += already;
      recent = [];
    },
    phase(name) {
      phase = name;
    },
    callEnded(call) {
      const at = clock.now();
      recent = recent.filter((r) => at - r.at < RATE_WINDOW_NS);
      recent.push({ at, tokens: call.completion_tokens ?? 0 });
    },
    queryEnded() {
      done += 1;
      if (current !== null) current.done += 1;
    },
    queriesSpared(count) {
      total -= count;
      if (current !== null) current.open -= count;
    },
    cellEnded(result) {
      const seconds = current === null ? 0 : Number(clock.now() - current.since) / 1e9;
      const timed = { ...result, seconds };
      results.push(timed);
      current = null;
      return timed;
    },
    cellSkipped({ point, dataset, repeats }, { open, reason }) {
      const already = dataset.items.length * repeats - open;
      done += already;
      skipped += already;
      total -= open;
      const result = {
        point,
        status: 'skipped' as const,
        failure: reason,
        verdict: null,
        accuracy: null,
        queries: already,
        seconds: 0,
      };
      results.push(result);
      return result;
    },
    snapshot() {
      const now = clock.now();
      const fresh = done - skipped;
      const elapsed_s = Number(now - started) / 1e9;
      return {
        cells_done: results.length,
        cells: cells.length,
        queries_done: done,
        queries: total,
        point: current?.cell.point ?? null,
        phase,
        cell_queries_done: current?.done ?? 0,
        cell_queries: current?.open ?? 0,
        tokens_per_s: phase === 'measuring' ? rate(recent, now) : null,
        eta_s: fresh === 0 || done >= total ? null : (elapsed_s / fresh) * (total - done),
        results: [...results],
      };
    },
  };
}

function rate(recent: readonly { at: Instant; tokens: number }[], now: Instant): number | null {
  const [first] = recent;
  const span = first === undefined ? 0 : Number(now - first.at) / 1e9;
  if (span <= 0) return null;
  return recent.slice(1).reduce((sum, r) => sum + r.tokens, 0) / span || null;
}
