import { type EndpointFacts, type Instant, instant } from '@perwatt/core';
import type { ClientHealth, LoadSummary, Slo } from '@perwatt/metrics';
import { type Baseline, type CellFile, createRun, type RunFolder, type Sitting } from '@perwatt/records';
import { boundarySources } from '../boundary-sources.js';
import type { HarnessDeps } from '../deps.js';
import { firstSamples } from '../first-samples.js';
import { openPowerLog, type PowerLog } from '../power-log.js';
import { foreignLoad, idleOver, slept } from '../run-cell.js';
import { type JudgeClientInput, noteClient } from './client-health.js';
import { dealLoad } from './deal.js';
import { type LoadRowArrays, remainingRows } from './load-rows.js';
import { counterNames, type LoadWork, type LoadWorkerParts } from './load-worker.js';
import type { ReplayPlan } from './replay-plan.js';
import { replayCell, replayManifest } from './replay-plan.js';
import { countOf, createReplayCount, type ReplayProgress } from './replay-progress.js';
import { rowsOnDisk, summariseCalls } from './replay-rows.js';
import { openReplaySink, type ReplaySink } from './replay-sink.js';
import { scheduleOf } from './schedule.js';
import { settleReplay } from './settle-replay.js';

/** How a worker's own part went. Null members where it can't be told. */
export type WorkerHealth = Omit<ClientHealth, 'lag_p99_ns' | 'calibrated_per_s'>;

/** One worker of a load, wherever it runs. */
export interface LoadWorker {
  /** Resolves when it can begin. */
  readonly ready: Promise<void>;
  /** Starts it; resolves when all its calls have ended or were given up, and their columns were handed over. */
  run(zero: Instant): Promise<WorkerHealth>;
  /** Sends nothing more and gives up what is in flight. */
  stop(): void;
}

/** Makes a worker whose ended calls go to `onCalls`. */
export type OpenLoadWorker = (work: LoadWork, onCalls: LoadWorkerParts['onCalls']) => LoadWorker;

export interface ReplayOptions {
  /** Folder that run folders are made in. */
  readonly root: string;
  /** The run to go on with; a new one is made otherwise. */
  readonly run?: RunFolder;
  readonly endpoint: EndpointFacts;
  readonly workers: number;
  readonly gaps: boolean;
  readonly openWorker: OpenLoadWorker;
  /** Time that idle power is measured for, before and after, s. */
  readonly baseline_s: number;
  readonly slo: Slo;
  /** Limits and the steady window's rule, for whoever reads the run; what the run has of them stays where they are absent. */
  readonly judged?: Pick<CellFile, 'slo' | 'steady'>;
  /** Rate that the client reached in its calibration, 1/s; null when it was not tried. */
  readonly calibrated_per_s: number | null;
  readonly signal: AbortSignal;
  /** Told of calls that ended, with the rows that their columns are of. */
  readonly onCalls?: (left: LoadRowArrays, ...calls: Parameters<LoadWorkerParts['onCalls']>) => void;
  /** Awaited when the calls are on disk and added up, before the run is let go. */
  readonly settled?: (run: RunFolder, cell_id: string) => Promise<void>;
  readonly onStart?: (view: {
    readonly run: RunFolder;
    readonly power: PowerLog;
    readonly progress: () => ReplayProgress;
  }) => void;
}

export interface ReplayOutcome {
  readonly run: RunFolder;
  readonly cell: CellFile;
  readonly status: 'done' | 'interrupted';
  readonly summary: LoadSummary;
}

export type ReplayDeps = Pick<
  HarnessDeps,
  | 'version'
  | 'clock'
  | 'wallTime'
  | 'bootId'
  | 'suspendedNs'
  | 'hostFacts'
  | 'cpuTimes'
  | 'powerSources'
  | 'openPowerStream'
>;

const FLUSH_MS = 1500;
/** Time that workers get to reach their first call together. */
const HEAD_START_NS = 20_000_000n;

/**
 * Replays a plan, or what is left of it: every row of the trace becomes one call and one row of `calls` and `queries`. A
 * row whose call is on disk is not sent again; one whose call was cut off is.
 */
export async function runReplay(
  plan: ReplayPlan,
  deps: ReplayDeps,
  options: ReplayOptions,
): Promise<ReplayOutcome> {
  const sources = await deps.powerSources(plan.matrix.power);
  const boundary = boundarySources(sources, plan.matrix.power);
  const run = options.run ?? createRun(options.root, replayManifest(plan, deps));
  const release = run.lock();
  try {
    if (options.run === undefined) run.writeCell(replayCell(plan, run.manifest.run_id, options));
    if (options.judged !== undefined) run.writeCell({ ...run.readCell(plan.cell_id), ...options.judged });
    startClock(run, deps);
    settleCrashed(run, plan);
    const power = openPowerLog(run, sources, {
      period_ms: plan.matrix.power?.period_ms,
      boot_id: deps.bootId(),
      openStream: deps.openPowerStream,
      boundary,
    });
    const client = await sitWith(power, { run, plan, deps, options, power });
    const summary = summariseCalls(run, plan.cell_id, options.slo);
    if (client !== null) noteClient(run, plan.cell_id, { ...client, summary });
    if (client !== null) await options.settled?.(run, plan.cell_id);
    const cell = run.readCell(plan.cell_id);
    const status = cell.status === 'done' ? 'done' : 'interrupted';
    run.updateManifest({ status });
    return { run, cell, status, summary };
  } finally {
    release();
  }
}

async function sitWith(power: PowerLog, session: Session) {
  try {
    await firstSamples(power, session.options.signal);
    return await sit(session);
  } finally {
    power.close();
  }
}

function startClock(run: RunFolder, deps: ReplayDeps): void {
  const now = {
    boot_id: deps.bootId(),
    at_ns: String(deps.clock.now()),
    wall_time: deps.wallTime().toISOString(),
  };
  run.updateManifest({ status: 'running', clocks: [...run.manifest.clocks, now] });
}

function settleCrashed(run: RunFolder, plan: ReplayPlan): void {
  const open = run.readCell(plan.cell_id).sittings.filter(({ state }) => state === 'open');
  for (const { sitting } of open)
    settleReplay(run, plan.cell_id, { sitting, expected: plan.rows.row.length, live: null });
}

interface Session {
  readonly run: RunFolder;
  readonly plan: ReplayPlan;
  readonly deps: ReplayDeps;
  readonly options: ReplayOptions;
  readonly power: PowerLog;
}

/** One sitting over what is left; null where nothing is. */
async function sit(session: Session): Promise<Omit<JudgeClientInput, 'summary'> | null> {
  let client: Omit<JudgeClientInput, 'summary'> | null = null;
  const { run, plan, options, power, deps } = session;
  const done = rowsOnDisk(run, plan.cell_id);
  const left = remainingRows(plan.rows, done);
  if (left.row.length === 0) return null;
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  const sitting = run.readCell(plan.cell_id).sittings.length;
  const tally = createReplayCount({ rows: plan.rows.row.length, before: done.size, left });
  options.onStart?.({ run, power, progress: () => tally.now(deps.clock.now()) });
  const sink = openReplaySink({
    run,
    plan,
    power,
    left,
    sitting,
    onCalls: (columns, facts) => {
      tally.add(columns);
      options.onCalls?.(left, columns, facts);
    },
  });
  const works = deal(session, left);
  tally.follow(works);
  const workers = works.map((work) => options.openWorker(work, sink.take));
  const stop = () => {
    for (const worker of workers) worker.stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  const upkeep = setInterval(() => {
    try {
      power.drain();
      sink.flush();
    } catch (error) {
      broken.abort(error);
    }
  }, FLUSH_MS);
  try {
    await Promise.all(workers.map(({ ready }) => ready));
    tally.phase('idle power, before');
    const baseline = { kind: 'loaded_idle', shared: false, seconds: options.baseline_s, signal } as const;
    const before = await idleOver(power, { ...baseline, when: 'before' });
    const opened = open(session, { sitting, left, before });
    tally.phase('replaying');
    const zero = instant(deps.clock.now() + HEAD_START_NS);
    tally.begin(zero);
    if (signal.aborted) stop();
    const health = await Promise.all(workers.map((worker) => worker.run(zero)));
    const ended = closeWindow(session, { opened, sink, works });
    tally.phase('idle power, after');
    const after = await idleOver(power, { ...baseline, when: 'after' });
    tally.phase('adding up');
    settleReplay(run, plan.cell_id, { sitting, expected: plan.rows.row.length, live: { power, after } });
    client = { health, sitting: ended, calibrated_per_s: options.calibrated_per_s };
  } finally {
    clearInterval(upkeep);
    signal.removeEventListener('abort', stop);
    stop();
  }
  if (broken.signal.aborted) throw broken.signal.reason;
  return client;
}

/** The calls that are left, dealt to the workers. */
function deal({ plan, options }: Session, rows: LoadRowArrays): LoadWork[] {
  const { load, model, endpoint } = plan.spec;
  const closed = load.arrivals === undefined;
  const cap = closed ? load.concurrency : (load.cap ?? null);
  const cursor = new Int32Array(new SharedArrayBuffer(4));
  return dealLoad(options.workers, cap).map((share) => ({
    rows,
    share: closed ? { ...share, first: 0, step: 1 } : share,
    workers: options.workers,
    closed: closed ? { concurrency: load.concurrency, ramp_s: load.ramp_s ?? 0 } : null,
    cursor,
    counters: new Int32Array(new SharedArrayBuffer(4 * counterNames.length)),
    model,
    api: endpoint.api,
    gaps: options.gaps,
    connections: share.cap ?? MOST_CONNECTIONS,
    turns: plan.spec.turns ?? null,
  }));
}

const turnsPlayed = ({ spec }: ReplayPlan) => ({
  policy: spec.turns?.policy ?? null,
  think_s: (spec.turns?.think_ns ?? 0) / 1e9,
  history: spec.turns?.history ?? 'trace',
});

/** Connections of one worker without a cap; ports of one address run out at some 28,000. */
const MOST_CONNECTIONS = 8192;

interface Opening {
  readonly sitting: number;
  readonly left: LoadRowArrays;
  readonly before: Baseline | null;
}

interface OpenSitting {
  readonly sitting: Sitting;
  readonly cpu: ReturnType<ReplayDeps['cpuTimes']>;
  readonly slept: number | null;
  readonly schedule: { readonly sha256: string; readonly offered_per_s: number | null } | null;
}

function open({ run, plan, deps, options, power }: Session, { sitting, left, before }: Opening): OpenSitting {
  const schedule = left.due_ns.length === 0 ? null : scheduleOf(left.due_ns);
  const opened: Sitting = {
    sitting,
    state: 'open',
    boot_id: deps.bootId(),
    start_ns: String(power.mark() ?? deps.clock.now()),
    end_ns: null,
    warmup_calls: 0,
    baselines: before === null ? [] : [before],
    foreign_load_ratio: null,
    suspended: null,
  };
  const cell = run.readCell(plan.cell_id);
  run.writeCell({ ...cell, status: 'running', sittings: [...cell.sittings, opened] });
  const cpu = deps.cpuTimes(options.endpoint.pids);
  return { sitting: opened, cpu, slept: deps.suspendedNs(), schedule };
}

interface Closing {
  readonly opened: OpenSitting;
  readonly sink: ReplaySink;
  readonly works: readonly LoadWork[];
}

function closeWindow({ run, plan, deps, options, power }: Session, { opened, sink, works }: Closing) {
  const { sitting, schedule } = opened;
  const end = instant(power.mark() ?? deps.clock.now());
  power.drain();
  const turns = sink.turns();
  const segments = sink.close();
  const start = instant(BigInt(sitting.start_ns));
  const closed: Sitting = {
    ...sitting,
    end_ns: String(end),
    foreign_load_ratio: foreignLoad(opened.cpu, deps.cpuTimes(options.endpoint.pids), { start, end }),
    suspended: slept(opened.slept, deps.suspendedNs()),
    loop: {
      kind: schedule === null ? 'closed' : 'open',
      schedule_sha256: schedule?.sha256 ?? null,
      offered_per_s: schedule?.offered_per_s ?? null,
      due: schedule === null ? null : (works[0]?.rows.due_ns.length ?? 0),
      waited: schedule === null ? null : countOf(works, 'waited'),
      most_in_flight: countOf(works, 'most_in_flight'),
      ...(turns === null || (plan.spec.turns?.policy ?? null) === null
        ? {}
        : { turns: { ...turnsPlayed(plan), ...turns } }),
    },
  };
  const cell = run.readCell(plan.cell_id);
  const sittings = cell.sittings.map((s) => (s.sitting === closed.sitting ? closed : s));
  run.writeCell({ ...cell, sittings, segments: [...cell.segments, ...segments] });
  return closed;
}
