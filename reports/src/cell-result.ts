import { type CellMetrics, cellMetrics, type PhysicsFinding, shippedCatalogue } from '@perwatt/metrics';
import {
  type CellFile,
  type PowerFileSeries,
  type RunFolder,
  readTextsOf,
  repeatsMade,
  type Scratch,
} from '@perwatt/records';
import { baselineFacts } from './baseline-facts.js';
import { readColumnsOf } from './cell-columns.js';
import { cellInput } from './cell-input.js';
import { type Grading, gradingOf } from './grading.js';
import { loadFacts } from './load-facts.js';
import { physicsFlag, physicsOf } from './physics.js';
import { type RecordFlag, recordFlags } from './record-flags.js';
import type { CellResult, ShownQuery, UnparsedAnswer } from './results-types.js';
import { shownIds, shownQueries, unparsedAnswers } from './shown-queries.js';
import { verdictOf } from './verdict.js';

/** A cell's result before its place among the others is known. */
export type CellDraft = Omit<CellResult, 'on_front'>;

/** A cell computed on its own. */
export interface ComputedCell {
  readonly draft: CellDraft;
  readonly shown: readonly ShownQuery[];
  readonly unparsed: readonly UnparsedAnswer[];
}

interface Computed {
  readonly metrics: CellMetrics;
  readonly physics: readonly PhysicsFinding[];
  readonly torn: readonly string[];
  readonly records: readonly RecordFlag[];
  readonly grading: Grading | null;
}

const draftOf = (
  cell: CellFile,
  { metrics: computed, physics, torn, records, grading }: Computed,
): CellDraft => ({
  cell_id: cell.cell_id,
  point: cell.point,
  position: cell.position,
  status: cell.status,
  failure: cell.failure,
  ...(cell.skipped == null ? {} : { skipped: cell.skipped }),
  verdict: verdictOf(cell, { flags: [...computed.flags, ...physicsFlag(physics), ...records] }),
  repeats: repeatsMade(cell),
  ...(cell.stopping == null ? {} : { stopping: cell.stopping }),
  concurrency: cell.concurrency,
  max_tokens: cell.max_tokens,
  metrics: computed.values,
  by_repeat: computed.by_repeat,
  by_subject: computed.by_subject,
  energy: computed.energy,
  energy_detail: computed.detail,
  baselines: baselineFacts(cell, computed.energy.boundary?.domains.map(({ id }) => id) ?? []),
  counts: computed.counts,
  failed_ratio: computed.failed_ratio,
  guess_rate: computed.guess_rate,
  above_guessing: computed.above_guessing,
  accuracy_bounds: computed.accuracy_bounds,
  grading,
  physics,
  ledgers: cell.ledgers,
  load: loadFacts(cell),
  provenance: cell.provenance,
  torn,
});

export interface ComputeOptions {
  readonly power: readonly PowerFileSeries[];
  /** Memory that one cell after another is computed in; given out anew for each. */
  readonly scratch?: Scratch;
}

/** One cell's result, from its records alone: no other cell's rows are read, and none of these are kept. */
export function computeCell(
  run: RunFolder,
  cell: CellFile,
  { power, scratch }: ComputeOptions,
): ComputedCell {
  const { manifest } = run;
  scratch?.reset();
  const read = readColumnsOf(run, cell, scratch);
  const withheld = cell.provenance?.dataset.withhold === true;
  const texts = withheld ? [] : readTextsOf(run, cell.cell_id, shownIds(read.queries));
  const computed = cellMetrics(cellInput(cell, read, { power, manifest }));
  const physics = physicsOf(
    { cell, metrics: computed.values, energy: computed.energy, in_flight: read.in_flight, manifest },
    shippedCatalogue(),
  );
  return {
    draft: draftOf(cell, {
      metrics: computed,
      physics,
      torn: read.torn,
      records: recordFlags(cell, read),
      grading: gradingOf(run, cell),
    }),
    shown: shownQueries(read.queries, texts, { withheld }),
    unparsed: unparsedAnswers(read.queries, texts),
  };
}
