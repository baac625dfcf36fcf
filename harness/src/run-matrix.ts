import { type MatrixFile, PerwattError, type PowerSource, pointAxes, SCHEMA_VERSION } from '@perwatt/core';
import { METRIC_SPEC_VERSION } from '@perwatt/metrics';
import {
  type CellFile,
  createRun,
  type DeviceFacts,
  type RunFolder,
  type RunManifest,
} from '@perwatt/records';
import { boundarySources } from './boundary-sources.js';
import { canonicalJson, differences, sha256Hex } from './canonical.js';
import { checkAccelerators } from './check-accelerators.js';
import type { HarnessDeps } from './deps.js';
import { firstSamples } from './first-samples.js';
import { gradedAhead } from './grade-ahead.js';
import { kernelsAround, readyKernels } from './kernel-runs.js';
import { type Cell, type Filter, type Plan, planMatrix } from './plan.js';
import { openPowerLog, type PowerLog } from './power-log.js';
import { type CellResult, createProgress, type Progress } from './progress.js';
import type { Protocol } from './protocols.js';
import type { CellWorld } from './run-cell.js';
import { powerCapsOf, runCells } from './run-cells.js';
import { settleCell } from './settle.js';

/** Where a run is written, what ends it, and who is told. */
export interface RunOptions {
  /** Folder that run folders are made in. */
  readonly root: string;
  /** Ends the run cleanly: calls in flight are dropped, everything finished is kept, a resume goes on. */
  readonly signal: AbortSignal;
  /** Told the run's progress, folder and meter before the first cell. */
  readonly onStart?: (progress: Progress, run: RunFolder, power: Pick<PowerLog, 'wattsNow'>) => void;
  readonly onCell?: (result: CellResult) => void;
}

/** How a run ended, with the cells of this start of it. */
export interface RunOutcome {
  readonly run: RunFolder;
  readonly status: 'done' | 'interrupted';
  readonly results: readonly CellResult[];
}

/** Executes a plan in a new run folder. A cell that fails is recorded and the run goes on. */
export async function runPlan(plan: Plan, deps: HarnessDeps, options: RunOptions): Promise<RunOutcome> {
  const devices = (await deps.devices?.()) ?? [];
  checkAccelerators(plan, devices);
  await readyKernels(plan.matrix, deps);
  const sources = await readable(plan.matrix.power, deps);
  const now = deps.wallTime();
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace(/\..*/, 'Z').replace('T', '-');
  const manifest: RunManifest = {
    schema_version: SCHEMA_VERSION,
    metric_spec_version: METRIC_SPEC_VERSION,
    run_id: `${stamp}-${plan.matrix.name}`,
    perwatt_version: deps.version,
    status: 'running',
    matrix: plan.matrix,
    matrix_sha256: plan.matrix_sha256,
    order: plan.cells.map((cell) => cell.id),
    host: deps.hostFacts(),
    clocks: [],
    left_out: plan.left_out,
    power: [],
    order_rule: plan.order_rule,
    ...(plan.pruned.length === 0 ? {} : { pruned: plan.pruned }),
  };
  const run = createRun(options.root, manifest);
  const release = run.lock();
  try {
    for (const cell of plan.cells) run.writeCell(plannedCell(cell, manifest.run_id));
    return await execute(plan, run, { deps, options, sources, devices });
  } finally {
    release();
  }
}

/** The sources of a run, and what of them counts. Throws before anything is written. */
async function readable(power: MatrixFile['power'], deps: HarnessDeps): Promise<readonly PowerSource[]> {
  const sources = await deps.powerSources(power);
  boundarySources(sources, power);
  return sources;
}

export interface ResumeInput {
  readonly deps: HarnessDeps;
  readonly options: RunOptions;
  /** Replaces the protocol of the matrix; for tests. */
  readonly protocol?: Protocol;
}

/**
 * Goes on with a run: settles what a crash left open, then does what is missing. Refuses when the matrix, its data or
 * its models are no longer what the run was made of, naming what changed. What only finished cells need is not asked
 * for; where all are finished nothing is done and `results` is empty. A run put together from several is refused while cells
 * are open: its facts of host, clock and power are those of the places it was made in.
 *
 * @param matrix the file as it is now, or null to take the run's own
 */
export async function resumeRun(
  run: RunFolder,
  matrix: MatrixFile | null,
  { deps, options, protocol }: ResumeInput,
): Promise<RunOutcome> {
  const { manifest } = run;
  if (matrix !== null && sha256Hex(canonicalJson(matrix)) !== manifest.matrix_sha256) {
    const changes = differences(manifest.matrix, matrix).slice(0, 10).join('; ');
    throw new PerwattError('MATRIX_CHANGED', `the matrix of run ${manifest.run_id} has changed: ${changes}`);
  }
  const release = run.lock();
  try {
    if (manifest.merged === undefined)
      await powerCapsOf(run, manifest.matrix, { deps, signal: options.signal }).restore();
    const known = new Map(run.cells().map((cell) => [cell.cell_id, cell]));
    const open = manifest.order.filter((id) => known.get(id)?.status !== 'done');
    if (open.length === 0) {
      run.updateManifest({ status: 'done' });
      return { run, status: 'done', results: [] };
    }
    refuseMerged(manifest, open.length);
    await readyKernels(manifest.matrix, deps);
    const sources = await readable(manifest.matrix.power, deps);
    const full = await planMatrix(manifest.matrix, deps, filterOf(open, known));
    const plan = inOrder({ ...full, protocol: protocol ?? full.protocol }, { run, open, known });
    const devices = (await deps.devices?.()) ?? [];
    checkAccelerators(plan, devices);
    for (const cell of plan.cells) {
      if (!known.has(cell.id)) run.writeCell(plannedCell(cell, manifest.run_id));
    }
    return await execute(plan, run, { deps, options, sources, devices });
  } finally {
    release();
  }
}

function refuseMerged({ run_id, merged }: RunManifest, open: number): void {
  if (merged === undefined) return;
  const parts = merged.map((part) => part.run_id).join(', ');
  throw new PerwattError(
    'INPUT_INVALID',
    `run ${run_id} was merged from ${parts}; ${open} of its cells are open`,
    {
      hint: 'Resume the runs it was merged from where they were made, then merge them again.',
    },
  );
}

/** Keeps what the open cells are made of; everything where a crash left one without its file. */
function filterOf(open: readonly string[], known: KnownCells): Filter {
  const points = open.map((id) => known.get(id)?.point);
  if (points.includes(undefined)) return {};
  const values = pointAxes.map((axis) => [axis, points.flatMap((p) => p?.[axis] ?? [])] as const);
  return Object.fromEntries(values.filter(([, named]) => named.length > 0));
}

type KnownCells = ReadonlyMap<string, CellFile>;

interface OpenCells {
  readonly run: RunFolder;
  readonly open: readonly string[];
  readonly known: KnownCells;
}

/** The plan's cells as the run holds them. A cell that is gone or new means that something it is made of changed. */
function inOrder(plan: Plan, { run, open, known }: OpenCells): Plan {
  const cells = open.map((id) => {
    const cell = plan.cells.find((c) => c.id === id);
    if (cell !== undefined) return { ...cell, ...placeIn(run, known.get(id), id) };
    const point = Object.values(known.get(id)?.point ?? {}).join(' × ');
    const missing = plan.left_out.map(({ reason }) => reason).join('; ');
    throw new PerwattError(
      missing === '' ? 'MATRIX_CHANGED' : 'MODEL_UNAVAILABLE',
      `cell ${id} (${point}) of run ${run.manifest.run_id} can't be made again: ${
        missing || 'its model, data set, strategy or their versions changed'
      }`,
    );
  });
  return { ...plan, cells };
}

/** Where a cell stood when the run was planned; a resume plans only what is open. */
function placeIn(
  { manifest }: RunFolder,
  file: CellFile | undefined,
  id: string,
): Pick<Cell, 'position' | 'block' | 'block_position'> {
  const position = manifest.order.indexOf(id);
  return { position, block: file?.block ?? 0, block_position: file?.block_position ?? position };
}

const plannedCell = (cell: Cell, run_id: string): CellFile => ({
  schema_version: SCHEMA_VERSION,
  run_id,
  cell_id: cell.id,
  point: cell.point,
  position: cell.position,
  block: cell.block,
  block_position: cell.block_position,
  seed: cell.seed,
  repeats: cell.repeats,
  concurrency: cell.concurrency,
  max_tokens: cell.max_tokens,
  status: 'planned',
  failure: null,
  verdict: null,
  provenance: null,
  sittings: [],
  ledgers: [],
  segments: [],
  hashes: cell.hashes,
  ...(cell.variant === null ? {} : { variant: cell.variant }),
  settings: cell.settings,
  ...cell.judged,
});

interface Execution {
  readonly deps: HarnessDeps;
  readonly sources: readonly PowerSource[];
  readonly options: RunOptions;
  readonly devices: readonly DeviceFacts[];
}

async function execute(
  plan: Plan,
  run: RunFolder,
  { deps, options, sources, devices }: Execution,
): Promise<RunOutcome> {
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  run.updateManifest({
    status: 'running',
    ...(devices.length === 0 ? {} : { devices }),
    clocks: [
      ...run.manifest.clocks,
      {
        boot_id: deps.bootId(),
        at_ns: String(deps.clock.now()),
        wall_time: deps.wallTime().toISOString(),
      },
    ],
  });
  await settleCrashed(plan, run, { deps, signal });
  const power = openPowerLog(run, sources, {
    period_ms: plan.matrix.power?.period_ms,
    boot_id: deps.bootId(),
    openStream: deps.openPowerStream,
    boundary: boundarySources(sources, plan.matrix.power),
  });
  const progress = createProgress(plan.cells, deps.clock);
  options.onStart?.(progress, run, power);
  const fail = (error: unknown) => broken.abort(error);
  const draining = setInterval(() => {
    try {
      power.drain();
    } catch (error) {
      fail(error);
    }
  }, 1000);
  const world: CellWorld = { run, plan, deps, devices, power, progress, signal, fail };
  try {
    await firstSamples(power, signal);
    const around = { matrix: plan.matrix, deps, signal, progress };
    await kernelsAround(run, 'before', around);
    await runCells(world, options.onCell);
    await kernelsAround(run, 'after', around);
  } catch (error) {
    fail(error);
  }
  clearInterval(draining);
  try {
    power.close();
  } catch (error) {
    fail(error);
  }
  if (broken.signal.aborted) throw broken.signal.reason;
  const status = signal.aborted ? 'interrupted' : 'done';
  run.updateManifest({ status });
  return { run, status, results: progress.snapshot().results };
}

/** A sitting that is still open was cut off by a crash. What it finished is graded and attributed before anything new. */
async function settleCrashed(
  plan: Plan,
  run: RunFolder,
  { deps, signal }: { readonly deps: HarnessDeps; readonly signal: AbortSignal },
): Promise<void> {
  for (const cell of plan.cells) {
    const file = run.readCell(cell.id);
    const open = file.sittings.filter((s) => s.state === 'open');
    const late = deps.lateGrader?.(cell.grader.id) ?? null;
    for (const { sitting } of open) {
      const judged = await gradedAhead(cell, { run, sitting, late, signal });
      settleCell(judged, { run, plan, sitting, live: null });
    }
  }
}
