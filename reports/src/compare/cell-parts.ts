import type { QueryRow } from '@perwatt/core';
import { type CellInput, cellMetrics } from '@perwatt/metrics';
import type { RunFolder } from '@perwatt/records';
import { readCell, rowsInput } from '../cell-input.js';
import type { CellResult, RunResults } from '../results-types.js';
import type { ComparableCell, ComparableFigure } from './comparable.js';
import { boundaryText, figuresOf } from './comparable-run.js';

/** What a cell's figures may be split by. */
export const cellParts = ['cell', 'subject', 'repeat', 'phase'] as const;
/** One of `cellParts`. */
export type CellPart = (typeof cellParts)[number];

/** Figures of a cell or of a part of it. */
export interface PartFigures {
  readonly cell: Pick<ComparableCell, 'run_id' | 'record' | 'axes' | 'verdict' | 'tier'>;
  /** Name of the part; null for the whole cell. */
  readonly part: string | null;
  readonly figures: Readonly<Record<string, ComparableFigure>>;
}

function nameOf(query: QueryRow, by: 'subject' | 'repeat'): string {
  return by === 'repeat' ? String(query.repeat) : (query.subject ?? '–');
}

/**
 * The rows of a cell by part. Calls go with their query: where several are in flight at once, energy over the busy time of a
 * part includes what others were doing meanwhile.
 */
function partsOf(input: CellInput, by: 'subject' | 'repeat'): Map<string, CellInput> {
  const names = new Map(input.queries.map((query) => [query.query_id, nameOf(query, by)]));
  const order = [...new Set(names.values())];
  const sorted = by === 'repeat' ? order.toSorted((a, b) => Number(a) - Number(b)) : order.toSorted();
  return new Map(
    sorted.map((name) => [
      name,
      {
        ...input,
        queries: input.queries.filter(({ query_id }) => names.get(query_id) === name),
        calls: input.calls.filter(({ query_id }) => names.get(query_id) === name),
      },
    ]),
  );
}

const overlapping = 'its calls overlapped with others, so its energy holds part of theirs';

/** Marks energy of a part whose calls were not alone. */
function marked(figures: Record<string, ComparableFigure>, concurrency: number, by: string) {
  if (concurrency === 1 || by === 'repeat') return figures;
  return Object.fromEntries(
    Object.entries(figures).map(([id, figure]) => [
      id,
      figure.provenance === null ? figure : { ...figure, note: figure.note ?? overlapping },
    ]),
  );
}

/** Figures of each subject or repeat of every cell of a measured run, by the definitions of whole cells. */
export function partFigures(
  run: RunFolder,
  cells: readonly ComparableCell[],
  by: 'subject' | 'repeat',
): PartFigures[] {
  const power = run.powerSeries();
  const files = new Map(run.cells().map((file) => [`${file.run_id}/${file.cell_id}`, file]));
  return cells.flatMap((cell) => {
    const file = files.get(cell.record);
    if (file === undefined) return [];
    const { torn: _torn, ...rows } = readCell(run, file.cell_id);
    return [...partsOf(rowsInput(file, rows, { power, manifest: run.manifest }), by)].map(
      ([part, input]): PartFigures => {
        const computed = cellMetrics(input);
        const figures = figuresOf(computed.values, computed.energy);
        return { cell, part, figures: marked(figures, file.concurrency, by) };
      },
    );
  });
}

const phaseFigure = (cell: CellResult, values: Partial<ComparableFigure>): ComparableFigure => ({
  metric: 'energy_j',
  title: 'Energy of the phase',
  unit: 'J',
  better: 'lower',
  value: null,
  lo: null,
  hi: null,
  interval: null,
  sampling_lo: null,
  sampling_hi: null,
  sensor_lo: null,
  sensor_hi: null,
  n: null,
  spread: null,
  provenance: cell.energy.boundary?.provenance ?? null,
  boundary: boundaryText(cell.energy),
  statistic: 'mean',
  bound: 'none',
  rankable: true,
  reason: null,
  note: null,
  ...values,
});

/** Energy by phase of the calls (prefill, decode, rest) of every cell. */
export function phaseFigures(results: RunResults, cells: readonly ComparableCell[]): PartFigures[] {
  const byRecord = new Map(results.cells.map((cell) => [`${results.run_id}/${cell.cell_id}`, cell]));
  return cells.flatMap((cell): PartFigures[] => {
    const result = byRecord.get(cell.record);
    if (result === undefined) return [];
    const { phases, reason, method } = result.energy_detail.phases;
    if (phases === null) return [{ cell, part: '–', figures: { energy_j: phaseFigure(result, { reason }) } }];
    return Object.entries(phases)
      .filter(([, { calls }]) => calls > 0)
      .map(([part, { energy_j, lo_j, hi_j, calls }]) => ({
        cell,
        part,
        figures: {
          energy_j: phaseFigure(result, {
            value: energy_j,
            lo: lo_j,
            hi: hi_j,
            interval: 'sensor_bounds',
            sensor_lo: lo_j,
            sensor_hi: hi_j,
            n: calls,
            note: method === 'isolated' ? null : 'time in which several calls ran is shared equally',
          }),
        },
      }));
  });
}
