import { resolve } from 'node:path';
import { type Dataset, type Grader, type GraderMode, PerwattError } from '@perwatt/core';
import { loadDataset } from '@perwatt/datasets';
import { datasetSpec, judgedAhead, type RegradedCell, regradeCell } from '@perwatt/harness';
import { type CellFile, openRun, type RunFolder } from '@perwatt/records';
import { pulledFiles } from '../datasets-store.js';
import { type GradingWorld, graderOf } from '../grading-world.js';
import type { Io } from '../io.js';
import { pointText } from '../run-display.js';
import { textTable } from '../text-table.js';

/** Flags of `perwatt grade RUN`. */
export interface GradeRunFlags {
  /** Default: the grader of each cell. */
  readonly grader?: string;
  /** Default: both. */
  readonly mode?: GraderMode;
  readonly dataset?: readonly string[];
  readonly path?: readonly string[];
  readonly policy?: readonly string[];
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface Parts {
  readonly io: Io;
  readonly version: string;
  readonly grading: GradingWorld;
}

/**
 * Grades the stored answers of a run again, into segments of their own, and prints what changed. Throws what loading the data
 * sets throws, `DATASET_CHANGED` when one is no longer what was asked, `RUN_IN_USE` while the run is at work.
 */
export async function gradeRun(
  path: string,
  flags: GradeRunFlags,
  { io, version, grading }: Parts,
): Promise<void> {
  const run = openRun(resolve(io.cwd, path));
  if (run.manifest.matrix.simulate !== undefined)
    throw new PerwattError(
      'INPUT_INVALID',
      `run ${run.manifest.run_id} is simulated; its answers are no texts`,
    );
  const release = flags.dryRun ? () => {} : run.lock();
  try {
    const regraded = await regradeAll(run, flags, { io, version, grading });
    if (flags.json) io.print(JSON.stringify({ run_id: run.manifest.run_id, cells: regraded }, null, 2));
    else for (const line of report(regraded, flags, io)) io.print(line);
  } finally {
    release();
  }
}

async function regradeAll(run: RunFolder, flags: GradeRunFlags, parts: Parts): Promise<RegradedCell[]> {
  const cells = wanted(run, flags.dataset ?? []);
  const datasets = await load(run, cells, { io: parts.io, paths: pathsOf(flags.path ?? []) });
  const chosen = flags.grader === undefined ? null : graderOf(flags.grader);
  const regraded: RegradedCell[] = [];
  for (const cell of cells) {
    const dataset = datasets.get(cell.point.dataset);
    const done = dataset === undefined ? null : await regrade(run, cell, { dataset, chosen, flags, parts });
    if (done !== null) regraded.push(done);
  }
  return regraded;
}

interface Regrading {
  readonly dataset: Dataset;
  /** Null for the cell's own. */
  readonly chosen: Grader | null;
  readonly flags: GradeRunFlags;
  readonly parts: Parts;
}

/** Grades a cell again; where something judges in place of the grader, it is asked before anything is written. */
async function regrade(
  run: RunFolder,
  cell: CellFile,
  { dataset, chosen, flags, parts: { io, version, grading } }: Regrading,
): Promise<RegradedCell | null> {
  const grader = chosen ?? graderOf(cell.provenance?.grader.id ?? dataset.grader);
  const spec = {
    dataset,
    modes: flags.mode === undefined ? (['robust', 'official'] as const) : [flags.mode],
    policy: Object.fromEntries((flags.policy ?? []).map(policyOf)),
    perwatt_version: version,
  };
  await grading.prepare(grader.id);
  const late = grading.late(grader.id);
  const ask = (standIn: Grader) => {
    regradeCell(run, cell, { ...spec, grader: standIn, dry_run: true });
  };
  const knowing = late === null ? grader : await judgedAhead(grader, ask, { late, signal: io.signal });
  return regradeCell(run, cell, { ...spec, grader: knowing, dry_run: flags.dryRun === true });
}

/** Cells that have answers and are of the data sets asked for. */
function wanted(run: RunFolder, names: readonly string[]): CellFile[] {
  const cells = run.cells().filter(({ sittings }) => sittings.length > 0);
  if (cells.some(({ replay }) => replay !== undefined))
    throw new PerwattError(
      'INPUT_INVALID',
      `${run.path} is a replay: its answers have no gold to be graded by`,
      {
        hint: 'Grade a run of a matrix.',
      },
    );
  const known = new Set(cells.map(({ point }) => point.dataset));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new PerwattError(
      'USAGE',
      `--dataset ${unknown}: the run has ${[...known].join(', ') || 'no cells'}`,
    );
  return names.length === 0 ? cells : cells.filter(({ point }) => names.includes(point.dataset));
}

interface Loading {
  readonly io: Io;
  readonly paths: ReadonlyMap<string, string>;
}

async function load(run: RunFolder, cells: readonly CellFile[], { io, paths }: Loading) {
  const { matrix } = run.manifest;
  const loaded = new Map<string, Dataset>();
  for (const name of new Set(cells.map(({ point }) => point.dataset))) {
    const entry = matrix.axes.dataset.find(({ id }) => id === name);
    if (entry === undefined)
      throw new PerwattError(
        'RUN_INVALID',
        `the matrix of run ${run.manifest.run_id} has no data set "${name}"`,
      );
    const path = paths.get(name);
    const { spec, seed } = datasetSpec(path === undefined ? entry : { ...entry, path }, matrix);
    loaded.set(
      name,
      await loadDataset(spec, { root: io.cwd, seed, signal: io.signal, pulled: pulledFiles(io) }),
    );
  }
  return loaded;
}

const pathsOf = (texts: readonly string[]) => new Map(texts.map((text) => pair(text, '--path')));

function policyOf(text: string): readonly [string, unknown] {
  const [name, value] = pair(text, '--policy');
  try {
    return [name, JSON.parse(value)];
  } catch {
    return [name, value];
  }
}

function pair(text: string, flag: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new PerwattError('USAGE', `${flag} ${text} is not name=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const percent = (value: number | null): string => (value === null ? '–' : `${(value * 100).toFixed(1)} %`);

function* report(cells: readonly RegradedCell[], flags: GradeRunFlags, io: Io): Generator<string> {
  if (cells.length === 0) yield 'no answers to grade';
  for (const cell of cells) {
    const { point, grader, grader_version, answers, modes, changed } = cell;
    yield `${pointText(point)}: ${answers} answers, ${grader} ${grader_version}`;
    for (const { mode, before, after, compared, changed: n } of modes)
      yield `  ${mode.padEnd(8)} accuracy ${percent(before)} before, ${percent(after)} now; ${n} of ${compared} verdicts changed`;
    if (changed.length > 0) yield* changes(cell, io);
  }
  if (cells.length > 0)
    yield flags.dryRun
      ? 'nothing was written'
      : 'written beside the grades that were there; `perwatt report` shows both';
}

const columns = [
  { name: 'item', right: false },
  { name: 'mode', right: false },
  { name: 'old', right: false },
  { name: 'new', right: false },
  { name: 'answer', right: false },
  { name: 'rule', right: false },
  { name: 'excerpt', right: false },
];

const changes = ({ changed }: RegradedCell, io: Io): string[] =>
  textTable(
    columns,
    changed.map(({ item_id, repeat, mode, before, after, excerpt }) => [
      repeat === 0 ? item_id : `${item_id} (repeat ${repeat})`,
      mode,
      before.verdict,
      after.verdict,
      after.extracted ?? '–',
      after.rule ?? '–',
      excerpt ?? '–',
    ]),
    io.columns ?? 160,
  );
