import type { Cell, Plan } from './plan.js';

/** What a cell would take at most, before anything is sent. */
export interface CellEstimate {
  readonly cell_id: string;
  readonly queries: number;
  /** Upper bounds: every attempt made, every completion as long as allowed. */
  readonly calls: number;
  readonly completion_tokens: number;
  /** Rough; null for a model behind an endpoint, whose speed nobody knows here. */
  readonly seconds: number | null;
}

/** What a plan would take; `seconds` is null unless that of every cell can be guessed. */
export interface PlanEstimate {
  readonly cells: readonly CellEstimate[];
  readonly queries: number;
  readonly calls: number;
  readonly seconds: number | null;
  /** How `seconds` was guessed. */
  readonly basis: string;
}

/** Memory traffic one CPU thread sustains while decoding, a cautious figure for any recent machine. */
const BYTES_PER_S = 6e9;
const SECONDS_PER_CALL = 0.1;

/** The price of a plan: queries and calls exactly, time roughly. */
export function estimatePlan(plan: Plan): PlanEstimate {
  const cells = plan.cells.map((cell) => estimateCell(cell, plan));
  const seconds = cells.every((c) => c.seconds !== null) ? sum(cells.map((c) => c.seconds ?? 0)) : null;
  return {
    cells,
    queries: sum(cells.map((c) => c.queries)),
    calls: sum(cells.map((c) => c.calls)),
    seconds,
    basis: 'weights read once per token at 6 GB/s, 0.1 s a call, completions half as long as allowed',
  };
}

function estimateCell(cell: Cell, { protocol, matrix }: Plan): CellEstimate {
  const queries = cell.dataset.items.length * cell.repeats;
  const calls = queries * cell.strategy.calls(cell.params);
  const completion_tokens = calls * cell.max_tokens;
  const baselines = matrix.power?.sources?.length === 0 ? 0 : protocol.shared_baselines ? 1 : 4;
  const idle_s = baselines * protocol.baseline_s + protocol.cooldown_s;
  const bytes = cell.model.weight_bytes;
  const busy_s =
    bytes === null ? null : (completion_tokens / 2) * (bytes / BYTES_PER_S) + calls * SECONDS_PER_CALL;
  return {
    cell_id: cell.id,
    queries,
    calls,
    completion_tokens,
    seconds: busy_s === null ? null : busy_s + idle_s,
  };
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
