import { type CallRow, type Instant, type Item, instant } from '@perwatt/core';
import { meanPower } from '@perwatt/metrics';
import {
  type Baseline,
  type CellCapFacts,
  type CellFile,
  type CoolDownFacts,
  completedQueries,
  type DeviceFacts,
  type DriftFacts,
  type LoopFacts,
  type ObservedFacts,
  queryId,
  type RunFolder,
  repeatsMade,
  type Sitting,
  type StoppingFacts,
} from '@perwatt/records';
import { type BoundClients, clientFor, factsOf } from './bound-clients.js';
import { arrivalSeed } from './define-cell.js';
import { type HarnessDeps, pause } from './deps.js';
import { watchServer } from './engines/server-watch.js';
import { liveEnergy } from './live-energy.js';
import { driveLoop } from './load/drive-loop.js';
import type { Cell, Plan } from './plan.js';
import type { PowerLog } from './power-log.js';
import { createPrefixes, type Prefixes } from './prefixes.js';
import type { Progress } from './progress.js';
import { answerRow, runQuery } from './run-query.js';
import { sendRepeats } from './run-repeats.js';
import { openSittingLog, type SittingLog } from './sitting-log.js';
import { warmUp } from './warm-up.js';

export interface CellWorld {
  readonly run: RunFolder;
  readonly plan: Plan;
  readonly deps: HarnessDeps;
  /** Of this host, as they were at the start. */
  readonly devices: readonly DeviceFacts[];
  readonly power: PowerLog;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Ends the run with this error; what was written stays. For failures outside a call, such as a full disk. */
  readonly fail: (error: unknown) => void;
}

const FLUSH_MS = 1500;

/** Idle power over the protocol's time from now, or null when nothing is read or the run was stopped meanwhile. */
export function measureIdle(
  { power, plan, signal, progress, deps }: CellWorld,
  { kind, when, shared }: Pick<Baseline, 'kind' | 'when' | 'shared'>,
): Promise<Baseline | null> {
  if (power.domains.length > 0)
    progress.phase(`${kind === 'host_idle' ? 'host idle' : 'model idle'}, ${when}`);
  const seconds = plan.protocol.baseline_s;
  return idleOver(power, { kind, when, shared, seconds, signal, timer: deps.timer });
}

interface IdleSpan extends Pick<Baseline, 'kind' | 'when' | 'shared'> {
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly timer?: HarnessDeps['timer'];
}

/** Idle power over some seconds from now, or null when nothing is read or `signal` aborts. */
export async function idleOver(
  power: PowerLog,
  { kind, when, shared, seconds, signal, timer }: IdleSpan,
): Promise<Baseline | null> {
  if (power.domains.length === 0 || seconds <= 0) return null;
  const start = power.mark();
  await pause(seconds * 1000, signal, timer);
  const end = power.mark();
  if (signal.aborted || start === null || end === null) return null;
  power.drain();
  const powers = power.series().map((series) => {
    const { power_w, lo_w, hi_w, reason } = meanPower(series, { start, end });
    return { domain: series.domain.id, power_w, lo_w, hi_w, reason };
  });
  return { kind, when, start_ns: String(start), end_ns: String(end), shared, powers };
}

/** A query that has no answer yet. */
export interface OpenQuery {
  readonly item: Item;
  readonly repeat: number;
}

/** What remains of a cell: its items and repeats less the queries that already have an answer. */
export function openQueries(cell: Cell, run: RunFolder): OpenQuery[] {
  const { answered } = completedQueries(run, cell.id);
  const repeats = repeatsMade(run.readCell(cell.id));
  const todo: OpenQuery[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const item of cell.dataset.items) {
      if (!answered.has(queryId(cell.id, item.id, repeat))) todo.push({ item, repeat });
    }
  }
  return todo;
}

export interface SittingInput {
  readonly clients: BoundClients;
  /** Baselines taken before this sitting that hold for it too. */
  readonly baselines: readonly Baseline[];
  /** How the wait for an idle machine ended; null where there was no gate. */
  readonly cool_down: CoolDownFacts | null;
  /** The power limit that was set and read back; null where there is none. */
  readonly power_cap: CellCapFacts | null;
  readonly observed: ObservedFacts;
  /** In what that differs from before; null where it doesn't. */
  readonly drift: DriftFacts | null;
}

/**
 * One sitting: warm-up, then every open query of the cell with `concurrency` of them in flight. The cell's file says
 * `open` from the start of the window until the sitting is settled, so that a crash is seen by the resume.
 */
export async function runSitting(cell: Cell, input: SittingInput, world: CellWorld): Promise<CellFile> {
  const { clients } = input;
  const { run, deps, power, progress, signal } = world;
  const before = run.readCell(cell.id);
  const index = before.sittings.length;
  const todo = openQueries(cell, run);
  const log = openSittingLog(run, cell.id, index);
  let seq = 0;
  const base = {
    run_id: run.manifest.run_id,
    cell_id: cell.id,
    sitting: index,
    clients,
    signal,
    nextSeq: () => seq++,
  };
  progress.phase('warm-up');
  const warmed = await warmUp(cell, { ...base, log }, world);
  const pids = [...new Set(factsOf(clients).flatMap((facts) => facts.pids))];
  const server = await watchServer(clientFor(clients, 'main').client);
  const cpuBefore = deps.cpuTimes(pids);
  const sleptBefore = deps.suspendedNs();
  const start = power.mark() ?? deps.clock.now();
  const opened: Sitting = {
    sitting: index,
    state: 'open',
    boot_id: deps.bootId(),
    start_ns: String(start),
    end_ns: null,
    warmup_calls: warmed.queries,
    ...(warmed.facts === null ? {} : { warm_up: warmed.facts }),
    ...(input.cool_down === null ? {} : { cool_down: input.cool_down }),
    ...(input.power_cap === null ? {} : { power_cap: input.power_cap }),
    observed: input.observed,
    ...(input.drift === null ? {} : { drift: input.drift }),
    baselines: input.baselines,
    foreign_load_ratio: null,
    suspended: null,
  };
  const running: CellFile = { ...before, status: 'running', sittings: [...before.sittings, opened] };
  run.writeCell(running);
  progress.phase('measuring');
  let sent: Sent | undefined;
  const flushing = setInterval(() => attempt(world, () => flushAll(power, log)), FLUSH_MS);
  try {
    sent = await sendAll(cell, todo, { ...base, log, world, prefixes: createPrefixes() });
  } finally {
    clearInterval(flushing);
  }
  const end = power.mark() ?? deps.clock.now();
  power.drain();
  const server_load = await server.end();
  const segments = log.close();
  const sitting: Sitting = {
    ...opened,
    end_ns: String(end),
    foreign_load_ratio: foreignLoad(cpuBefore, deps.cpuTimes(pids), { start, end: instant(end) }),
    suspended: slept(sleptBefore, deps.suspendedNs()),
    ...(sent?.loop == null ? {} : { loop: sent.loop }),
    server_load,
  };
  const ended: CellFile = {
    ...running,
    sittings: [...before.sittings, sitting],
    segments: [...running.segments, ...segments],
    ...(sent?.stopping === undefined ? {} : { stopping: sent.stopping }),
  };
  run.writeCell(ended);
  return ended;
}

/** Samples first: a call on disk then has the samples of its span on disk too. */
function flushAll(power: PowerLog, log: SittingLog): void {
  power.drain();
  power.flush();
  log.flush();
}

function attempt(world: CellWorld, action: () => void): void {
  try {
    action();
  } catch (error) {
    world.fail(error);
  }
}

interface LoopContext {
  readonly run_id: string;
  readonly cell_id: string;
  readonly sitting: number;
  readonly clients: BoundClients;
  readonly signal: AbortSignal;
  readonly nextSeq: () => number;
  readonly log: SittingLog;
  readonly world: CellWorld;
  readonly prefixes: Prefixes;
}

interface Sent {
  readonly loop: LoopFacts | null;
  readonly stopping?: StoppingFacts;
}

/** Sends what is open: all of it, or repeat by repeat where a rule ends them. */
async function sendAll(cell: Cell, todo: readonly OpenQuery[], context: LoopContext): Promise<Sent> {
  const seed = arrivalSeed(cell);
  if (cell.rule === null) return { loop: await sendQueries(cell, todo, { ...context, seed }) };
  const { clients, world } = context;
  const endpoints = factsOf(clients);
  const calls: CallRow[] = [];
  const onCall = (call: CallRow) => calls.push(call);
  const send = (part: readonly OpenQuery[], own: number) =>
    sendQueries(cell, part, { ...context, seed: own, onCall });
  const sent = await sendRepeats(cell, { todo, endpoints, world, calls, send }, seed);
  if (sent.stopping.stopped !== null)
    world.progress.queriesSpared(todo.filter(({ repeat }) => repeat >= sent.stopping.repeats).length);
  return sent;
}

interface Sending extends LoopContext {
  readonly seed: number;
  readonly onCall?: (call: CallRow) => void;
}

/** Sends queries as the cell's load says; one that was never due stays open. */
function sendQueries(cell: Cell, todo: readonly OpenQuery[], context: Sending): Promise<LoopFacts> {
  const { log, world, signal, seed } = context;
  const metered = cell.strategy.needs(cell.params).energy === true;
  const live = () => ({ energy_j: liveEnergy(world.power, world.deps.clock) });
  const run = async (index: number, sched_ns: Instant | null) => {
    const work = todo[index];
    if (work === undefined || signal.aborted) return;
    const owner = { ...context, query_id: queryId(cell.id, work.item.id, work.repeat) };
    const outcome = await runQuery(cell, work, {
      ...owner,
      sched_ns,
      phase: 'measure',
      ...(metered && { live }),
      onCall: (call, texts) => {
        log.append([call], texts);
        world.progress.callEnded(call);
        context.onCall?.(call);
      },
    });
    if (outcome === null) return;
    log.append([], [answerRow(outcome, owner)]);
    world.progress.queryEnded();
  };
  return driveLoop(cell.loop, {
    count: todo.length,
    seed,
    clock: world.deps.clock,
    signal,
    run,
    ...(world.deps.timer && { timer: world.deps.timer }),
  });
}

type Cpu = ReturnType<HarnessDeps['cpuTimes']>;

/** CPU time of others within the window, as a share of one core. */
export function foreignLoad(
  before: Cpu,
  after: Cpu,
  window: { start: Instant; end: Instant },
): number | null {
  const length = Number(window.end - window.start);
  if (before === null || after === null || length <= 0) return null;
  const host = after.host_busy_ns - before.host_busy_ns;
  const own = after.own_ns - before.own_ns;
  return Math.max(0, (host - own) / length);
}

/** More than 10 ms of sleep within the window; below that the two clocks' readings may merely lie apart. */
export const slept = (before: number | null, after: number | null): boolean | null =>
  before === null || after === null ? null : after - before > 10_000_000;
