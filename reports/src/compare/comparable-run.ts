import { pointAxes } from '@perwatt/core';
import {
  type Catalogue,
  cellContributions,
  columnsOfRows,
  type LatencyName,
  metrics,
  timesOfCalls,
} from '@perwatt/metrics';
import type { CellFile, RunFolder } from '@perwatt/records';
import { readCell } from '../cell-input.js';
import { acceleratorEntry, modelEntry } from '../physics.js';
import type { CellResult, RunResults } from '../results-types.js';
import type { ComparableCell, ComparableFigure, ItemLatency } from './comparable.js';
import { knownYear } from './known-year.js';

/** The scopes of a boundary in words: `gpu + package`. */
export const boundaryText = ({ boundary }: Pick<CellResult['energy'], 'boundary'>): string | null =>
  boundary === null ? null : [...new Set(boundary.domains.map(({ scope }) => scope))].sort().join(' + ');

/** Every metric of a cell, or of a part of it, as figures of a comparison. */
export function figuresOf(
  values: CellResult['metrics'],
  energy: Pick<CellResult['energy'], 'boundary'>,
): Record<string, ComparableFigure> {
  const boundary = boundaryText(energy);
  return Object.fromEntries(
    metrics.map(({ id, title, better }) => {
      const { provenance, ...value } = values[id];
      const figure: ComparableFigure = {
        ...value,
        metric: id,
        title,
        better,
        provenance,
        boundary: provenance === null ? null : boundary,
        statistic: 'mean',
        bound: 'none',
        rankable: true,
      };
      return [id, figure];
    }),
  );
}

const said = (value: string | number | null | undefined): string => String(value ?? 'not known');

/** What must be the same for two cells to have worked on the same, in words; empty where nothing is known of it. */
export function workloadOf(cell: CellResult): Record<string, string> {
  const { provenance } = cell;
  if (provenance === null) return {};
  const { dataset, grader } = provenance;
  return {
    items: `${dataset.id} ${dataset.digest.slice(0, 12)}`,
    grader: `${grader.id} ${grader.version}`,
    'longest completion': said(cell.max_tokens),
  };
}

/** What else made the figures of a cell, in words. */
export function circumstancesOf(
  cell: CellResult,
  { protocol, perwatt_version }: Pick<RunResults, 'protocol' | 'perwatt_version'>,
): Record<string, string> {
  const endpoint = cell.provenance?.endpoint;
  return {
    quantisation: said(endpoint?.quantisation),
    weights: said(endpoint?.model_sha256?.slice(0, 12)),
    engine: `${said(endpoint?.engine)} ${said(endpoint?.engine_version)}`,
    'chat template': said(endpoint?.chat_template_sha256?.slice(0, 12)),
    threads: said(endpoint?.threads),
    protocol,
    perwatt: perwatt_version,
  };
}

const latencyNames: readonly LatencyName[] = ['ttft_any', 'ttft_content', 'tpot', 'e2e_from_dispatch'];

type Rows = Pick<ComparableCell, 'contributions' | 'latencies'>;

/** What the queries of a cell's measured windows add up to, and how long their calls took. */
function rowsOf(run: RunFolder, cell_id: string): Rows {
  const { queries, calls } = readCell(run, cell_id);
  const { calls: own } = columnsOfRows({ queries, calls });
  const itemOf = (call: number) => queries[own.query[call] ?? -1]?.item_id ?? '';
  const timesOf = (name: LatencyName): ItemLatency[] =>
    Array.from(timesOfCalls(own, name), (ns, call) => ({ item: itemOf(call), ns })).filter(
      ({ ns }) => !Number.isNaN(ns),
    );
  const latencies = Object.fromEntries(latencyNames.map((name) => [name, timesOf(name)])) as Record<
    LatencyName,
    ItemLatency[]
  >;
  return { contributions: cellContributions(queries, calls), latencies };
}

const noRows: Rows = { contributions: null, latencies: null };

/** A run with its results. */
export interface MeasuredRun {
  readonly run: RunFolder;
  readonly results: RunResults;
  /** Reads every query too, for paired comparisons and bootstrap draws. */
  readonly contributions: 'read' | 'skip';
}

/** The cells of a measured run, with their results and what their queries add to them. */
export function comparableRun(
  { run, results, contributions }: MeasuredRun,
  catalogue: Catalogue,
): ComparableCell[] {
  const files = new Map(run.cells().map((cell): [string, CellFile] => [cell.cell_id, cell]));
  return results.cells.flatMap((cell): ComparableCell[] => {
    const file = files.get(cell.cell_id);
    if (file === undefined) return [];
    const model = modelEntry(file, run.manifest, catalogue);
    const accelerator = acceleratorEntry(file, run.manifest, catalogue);
    return [
      {
        run_id: results.run_id,
        record: `${results.run_id}/${cell.cell_id}`,
        tier: 'measured',
        axes: Object.fromEntries(
          pointAxes.flatMap((axis) => (cell.point[axis] === undefined ? [] : [[axis, cell.point[axis]]])),
        ),
        workload: workloadOf(cell),
        circumstances: circumstancesOf(cell, results),
        figures: figuresOf(cell.metrics, cell.energy),
        verdict: cell.verdict,
        repeats: cell.counts.repeats,
        ...(contributions === 'read' ? rowsOf(run, cell.cell_id) : noRows),
        energy: cell.energy,
        host: results.host.hostname,
        years: {
          model: knownYear(model, catalogue.models),
          accelerator: knownYear(accelerator, catalogue.accelerators),
        },
      },
    ];
  });
}
