import { flagsOf } from '@perwatt/core';
import { METRIC_SPEC_VERSION, metrics } from '@perwatt/metrics';
import { createScratch, type PowerFileSeries, type RunFolder } from '@perwatt/records';
import { type CellDraft, type ComputedCell, computeCell } from './cell-result.js';
import { notMeasured } from './not-measured.js';
import { cellsOnFront } from './pareto-cells.js';
import { powerTimeline } from './power-timeline.js';
import { type CellResult, type PowerFacts, RESULTS_VERSION, type RunResults } from './results-types.js';

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
const inOrder = (datasets: readonly string[]) => {
  const places = new Map(datasets.map((id, i) => [id, i]));
  const place = (cell: CellDraft) => places.get(cell.point.dataset) ?? -1;
  const ipj = (cell: CellDraft) => cell.metrics.ipj_per_j.value ?? Number.NEGATIVE_INFINITY;
  return (a: CellDraft, b: CellDraft) => {
    const better = ipj(b) - ipj(a);
    return place(a) - place(b) || (Number.isNaN(better) ? 0 : better) || a.position - b.position;
  };
};

/**
 * Everything a report says of a run, computed from its records, cell by cell. Cells that were planned but never begun have
 * no file and are not in it; cells that failed are, with their reason. `buildResultsOn` does the same on several threads.
 */
export function buildResults(run: RunFolder): RunResults {
  const power = run.powerSeries();
  const scratch = createScratch();
  const computed = run.cells().map((cell) => computeCell(run, cell, { power, scratch }));
  return assembleResults(run, { power, computed });
}

interface Parts {
  readonly power: readonly PowerFileSeries[];
  /** In the order of `run.cells()`. */
  readonly computed: readonly ComputedCell[];
}

/** The results of a run from those of its cells. */
export function assembleResults(run: RunFolder, { power, computed }: Parts): RunResults {
  const { manifest } = run;
  const drafts = computed.map(({ draft }) => draft);
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
    timeline: powerTimeline(power, run.cells(), manifest.clocks),
    unparsed_answers: Object.fromEntries(
      computed.map(({ draft: { cell_id }, unparsed }) => [cell_id, unparsed]),
    ),
    shown_queries: Object.fromEntries(computed.map(({ draft: { cell_id }, shown }) => [cell_id, shown])),
  };
}
