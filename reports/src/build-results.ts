import { flagsOf } from '@perwatt/core';
import {
  type CellMetrics,
  cellMetrics,
  type EnergyDetail,
  energyDetail,
  METRIC_SPEC_VERSION,
  metrics,
  type PhysicsFinding,
  shippedCatalogue,
} from '@perwatt/metrics';
import type { CellFile, RunFolder } from '@perwatt/records';
import { baselineFacts } from './baseline-facts.js';
import { cellInput, hostBaselines, readCell } from './cell-input.js';
import { notMeasured } from './not-measured.js';
import { cellsOnFront } from './pareto-cells.js';
import { mostInFlight, physicsFlag, physicsOf } from './physics.js';
import { powerTimeline } from './power-timeline.js';
import {
  type CellResult,
  type PowerFacts,
  RESULTS_VERSION,
  type RunResults,
  type ShownQuery,
} from './results-types.js';
import { shownQueries } from './shown-queries.js';
import { verdictOf } from './verdict.js';

type Draft = Omit<CellResult, 'on_front'>;

interface Computed {
  readonly metrics: CellMetrics;
  readonly detail: EnergyDetail;
  readonly physics: readonly PhysicsFinding[];
  readonly torn: readonly string[];
}

const resultOf = (cell: CellFile, { metrics: computed, detail, physics, torn }: Computed): Draft => ({
  cell_id: cell.cell_id,
  point: cell.point,
  position: cell.position,
  status: cell.status,
  failure: cell.failure,
  verdict: verdictOf(cell, { flags: [...computed.flags, ...physicsFlag(physics)] }),
  repeats: cell.repeats,
  concurrency: cell.concurrency,
  max_tokens: cell.max_tokens,
  metrics: computed.values,
  energy: computed.energy,
  energy_detail: detail,
  baselines: baselineFacts(cell, computed.energy.boundary?.domains.map(({ id }) => id) ?? []),
  counts: computed.counts,
  failed_ratio: computed.failed_ratio,
  guess_rate: computed.guess_rate,
  above_guessing: computed.above_guessing,
  accuracy_bounds: computed.accuracy_bounds,
  physics,
  ledgers: cell.ledgers,
  provenance: cell.provenance,
  torn,
});

/** Sources by name; a source of several sittings counts once. */
function powerFacts(files: RunFolder['manifest']['power']): PowerFacts[] {
  const sources = new Map<string, PowerFacts>();
  for (const { source, provenance, period_ns, domains, status } of files) {
    const known = sources.get(source) ?? { source, provenance, period_ns, domains, flags: [] };
    const flags = [...known.flags, ...(status === undefined ? [] : flagsOf(status))];
    sources.set(source, { ...known, flags: [...new Set(flags)] });
  }
  return [...sources.values()];
}

/** Cells by data set, best IPJ first; cells without it come last in the order they ran. */
const inOrder = (datasets: readonly string[]) => (a: Draft, b: Draft) => {
  const place = (cell: Draft) => datasets.indexOf(cell.point.dataset);
  const ipj = (cell: Draft) => cell.metrics.ipj_per_j.value ?? Number.NEGATIVE_INFINITY;
  const better = ipj(b) - ipj(a);
  return place(a) - place(b) || (Number.isNaN(better) ? 0 : better) || a.position - b.position;
};

/**
 * Everything a report says of a run, computed from its records. Cells that were planned but never begun have no file and
 * are not in it; cells that failed are, with their reason.
 */
export function buildResults(run: RunFolder): RunResults {
  const { manifest } = run;
  const power = run.powerSeries();
  const files = run.cells();
  const shown_queries: Record<string, readonly ShownQuery[]> = {};
  const drafts = files.map((cell) => {
    const { torn, ...rows } = readCell(run, cell.cell_id);
    shown_queries[cell.cell_id] = shownQueries(rows.queries, run.readTexts(cell.cell_id).rows);
    const input = cellInput(cell, rows, { power });
    const detail = energyDetail(input, hostBaselines(cell));
    const computed = cellMetrics(input);
    const in_flight = mostInFlight(rows.calls);
    const physics = physicsOf(
      { cell, metrics: computed.values, energy: computed.energy, in_flight, manifest },
      shippedCatalogue(),
    );
    return resultOf(cell, { metrics: computed, detail, physics, torn });
  });
  const { axes } = manifest.matrix;
  const datasets = axes.dataset.map(({ id }) => id);
  const front = cellsOnFront(drafts);
  const cells = drafts
    .toSorted(inOrder(datasets))
    .map((cell): CellResult => ({ ...cell, on_front: front.has(cell.cell_id) }));
  const draft = {
    results_version: RESULTS_VERSION,
    metric_spec_version: METRIC_SPEC_VERSION,
    run_id: manifest.run_id,
    name: manifest.matrix.name,
    status: manifest.status,
    perwatt_version: manifest.perwatt_version,
    protocol: manifest.matrix.protocol,
    seed: manifest.matrix.seed,
    matrix_sha256: manifest.matrix_sha256,
    clocks: manifest.clocks,
    host: manifest.host,
    models: axes.model.map(({ id }) => id),
    datasets,
    strategies: axes.strategy.map(({ id }) => id),
    metrics,
    cells,
    power: powerFacts(manifest.power),
    left_out: manifest.left_out,
  };
  return {
    ...draft,
    not_measured: notMeasured(draft),
    timeline: powerTimeline(power, files, manifest.clocks),
    shown_queries,
  };
}
