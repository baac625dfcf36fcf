import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { type HarnessDeps, openPowerLog } from '@perwatt/harness';
import { type Checkpoint, parseCheckpoint, phaseEnds, recipeById, restoreTrainer } from '@perwatt/recipes';
import type { TrainingFacts, TrainingRun } from '@perwatt/records';
import type { Io } from './io.js';
import type { JobMessage } from './train-messages.js';
import { openTrainRows, type TrainRows } from './train-rows.js';
import { meterIdle, type OpenSitting, openSitting } from './train-sitting.js';
import { openTrainThread, type TrainThread } from './train-thread.js';

/** How a seed fares, for a display. */
export interface SeedProgress {
  readonly training: string;
  readonly seed: number;
  readonly step: number;
  readonly steps: number;
  /** Of the last evaluation, and the step that it was after; null before the first. */
  readonly accuracy: number | null;
  readonly evaluated: number | null;
}

/** What a session of training needs beside its run. */
export interface TrainSession {
  readonly io: Io;
  readonly deps: HarnessDeps;
  readonly threads: number;
  /** Names of power sources, an empty list for none; the best present where undefined. */
  readonly sources: readonly string[] | undefined;
  readonly period_ms: number | undefined;
  /** How long the idle host is metered before and after, ms; 0 for not at all. */
  readonly idle_ms: number;
  readonly onProgress: (progress: SeedProgress) => void;
}

interface SeedJob {
  readonly facts: TrainingFacts;
  readonly seed: number;
  readonly from: Checkpoint | null;
}

/**
 * Trains what a run lacks, seeds side by side, with power sampled all the while. Rows are on the disk before the checkpoint
 * that follows them. Returns how it ended; a failing seed ends the others and is thrown once everything is closed.
 */
export async function trainRun(run: TrainingRun, session: TrainSession): Promise<'done' | 'interrupted'> {
  const { io, deps, threads } = session;
  const jobs = jobsOf(run);
  if (jobs.length === 0) {
    run.updateManifest({ status: 'done' });
    return 'done';
  }
  const sources = await deps.powerSources(
    session.sources === undefined ? undefined : { sources: [...session.sources] },
  );
  const boot_id = deps.bootId();
  const power = openPowerLog(run, sources, {
    period_ms: session.period_ms,
    boot_id,
    openStream: deps.openPowerStream,
  });
  const looking = setInterval(() => power.drain(), 1000);
  const idling = {
    power,
    clock: deps.clock,
    idle_ms: sources.length === 0 ? 0 : session.idle_ms,
    signal: io.signal,
  };
  const idle = await meterIdle('before', idling);
  const wall_time = deps.wallTime().toISOString();
  const start_ns = String(power.mark() ?? deps.clock.now());
  const sitting = openSitting(run, { boot_id, start_ns, threads, idle, wall_time });
  const rows = openTrainRows(run, sitting.sitting);
  const openLine = (signal: AbortSignal) => openTrainLine(run, { rows, sitting, session, signal });
  try {
    await eachOn(threads, jobs, openLine, io.signal);
    sitting.end(String(power.mark() ?? deps.clock.now()));
    sitting.addIdle(await meterIdle('after', idling));
  } finally {
    clearInterval(looking);
    sitting.end(String(deps.clock.now()));
    power.mark();
    power.close();
    rows.close();
    run.updateManifest({ status: jobsOf(run).length === 0 ? 'done' : 'interrupted' });
  }
  return run.manifest.status === 'done' ? 'done' : 'interrupted';
}

/** Seeds that have not reached their last step, each with the latest checkpoint that it left. */
function jobsOf(run: TrainingRun): SeedJob[] {
  return run.manifest.trainings.flatMap((facts) =>
    facts.seeds.flatMap((seed): SeedJob[] => {
      const step = latestStep(run, facts, seed);
      if (step === facts.steps) return [];
      return [{ facts, seed, from: step === null ? null : readCheckpoint(run, { facts, seed, step }) }];
    }),
  );
}

/** Steps of the checkpoints that a seed left. */
function stepsKept(run: TrainingRun, { name }: TrainingFacts, seed: number): number[] {
  const folder = dirname(run.checkpointPath(name, seed, 0));
  const head = `${name}-seed-${seed}-step-`;
  return (existsSync(folder) ? readdirSync(folder) : []).flatMap((file) => {
    const step = file.startsWith(head) ? /^(\d+)\.json$/.exec(file.slice(head.length))?.[1] : undefined;
    return step === undefined ? [] : [Number(step)];
  });
}

function latestStep(run: TrainingRun, facts: TrainingFacts, seed: number): number | null {
  const steps = stepsKept(run, facts, seed);
  return steps.length === 0 ? null : Math.max(...steps);
}

function readCheckpoint(
  run: TrainingRun,
  { facts, seed, step }: { readonly facts: TrainingFacts; readonly seed: number; readonly step: number },
): Checkpoint {
  const path = run.checkpointPath(facts.name, seed, step);
  const checkpoint = parseCheckpoint(readFileSync(path, 'utf8'), path);
  const recipe = recipeById(facts.recipe);
  if (facts.version !== recipe.version)
    throw new PerwattError(
      'CHECKPOINT_INVALID',
      `training ${facts.name} is of version ${facts.version} of recipe ${facts.recipe}, this is version ${recipe.version}`,
    );
  try {
    restoreTrainer(recipe, checkpoint);
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
    throw new PerwattError(error.code, `${path}: ${error.message}`, { hint: error.hint, cause: error });
  }
  const own = { ...facts.params, seed, step };
  const theirs = { ...checkpoint.params, seed: checkpoint.seed, step: checkpoint.step };
  const odd = Object.keys({ ...own, ...theirs }).find(
    (name) => Reflect.get(own, name) !== Reflect.get(theirs, name),
  );
  if (odd === undefined) return checkpoint;
  const [asked, found] = [Reflect.get(own, odd), Reflect.get(theirs, odd)];
  throw new PerwattError(
    'CHECKPOINT_INVALID',
    `${path}: the checkpoint is of ${odd} ${found}, the training of ${odd} ${asked}`,
  );
}

interface LinePlace {
  readonly rows: TrainRows;
  readonly sitting: OpenSitting;
  readonly session: TrainSession;
  readonly signal: AbortSignal;
}

/** A thread that trains one seed after the other. */
function openTrainLine(run: TrainingRun, { rows, sitting, session, signal }: LinePlace): Line<SeedJob> {
  const start_ns = String(session.deps.clock.now());
  const thread = openTrainThread(signal, (at_ns) =>
    sitting.addAside({ kind: 'start', start_ns, end_ns: String(at_ns) }),
  );
  return {
    work: (job) => trainJob(run, job, { rows, sitting, session, thread }),
    close: () => thread.close(),
  };
}

interface JobPlace extends Omit<LinePlace, 'signal'> {
  readonly thread: TrainThread;
}

function trainJob(
  run: TrainingRun,
  { facts, seed, from }: SeedJob,
  { rows, sitting, session, thread }: JobPlace,
) {
  const owner = { training: facts.name, recipe: facts.recipe, seed };
  let accuracy: number | null = null;
  let evaluated: number | null = null;
  const tell = (step: number) =>
    session.onProgress({ training: facts.name, seed, step, steps: facts.steps, accuracy, evaluated });
  const onMessage = (message: JobMessage) => {
    if (message.kind === 'step') {
      rows.addStep(owner, message.record, message.stamps);
      return tell(message.record.step);
    }
    if (message.kind === 'eval') {
      const { scores, step } = message.record;
      rows.addEval(owner, message.record, message.stamps);
      accuracy = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      evaluated = step;
      return tell(step);
    }
    if (message.kind === 'aside') {
      const { start_ns, end_ns } = message.stamps;
      return sitting.addAside({ kind: 'votes', start_ns: String(start_ns), end_ns: String(end_ns) });
    }
    rows.flush();
    keepCheckpoint(run, { facts, seed, checkpoint: message.checkpoint });
  };
  return thread.train({ recipe: facts.recipe, params: facts.params, seed, from }, onMessage);
}

/** Writes a checkpoint; of those before it only the untrained policy and the ends of phases stay. */
function keepCheckpoint(
  run: TrainingRun,
  {
    facts,
    seed,
    checkpoint,
  }: { readonly facts: TrainingFacts; readonly seed: number; readonly checkpoint: Checkpoint },
): void {
  const kept = [0, checkpoint.step, ...phaseEnds(facts.phases ?? [])];
  const before = stepsKept(run, facts, seed).filter((step) => !kept.includes(step));
  run.writeText(run.checkpointPath(facts.name, seed, checkpoint.step), `${JSON.stringify(checkpoint)}\n`);
  for (const step of before) rmSync(run.checkpointPath(facts.name, seed, step), { force: true });
}

/** Something that works on one item after the other. */
interface Line<I> {
  readonly work: (item: I) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Works on all items in so many lines; the first failure ends the others and is thrown when they have ended. */
async function eachOn<I>(
  width: number,
  items: readonly I[],
  open: (signal: AbortSignal) => Line<I>,
  signal: AbortSignal,
): Promise<void> {
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  const queue = [...items];
  const line = async () => {
    const own = open(both);
    try {
      for (let item = queue.shift(); item !== undefined && !both.aborted; item = queue.shift())
        await own.work(item);
    } finally {
      await own.close();
    }
  };
  const lines = Array.from({ length: Math.min(width, items.length) }, () =>
    line().catch((error: unknown) => {
      ending.abort();
      throw error;
    }),
  );
  const ended = await Promise.allSettled(lines);
  const failed = ended.find((own) => own.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Items of a training's policies as a data set file for a matrix, beside its tables. */
export function writeItems(run: TrainingRun, { count }: { readonly count: number }): void {
  for (const facts of run.manifest.trainings) {
    const items = recipeById(facts.recipe).serve?.items(facts.seeds[0] ?? 0, count) ?? [];
    if (items.length === 0) continue;
    const lines = items.map(({ id, prompt, target }) => JSON.stringify({ id, prompt, gold: target }));
    run.writeText(join(run.path, `items-${facts.name}.jsonl`), `${lines.join('\n')}\n`);
  }
}

/** Writes the models that trained policies give in formats of others: of the first seed, once it has ended. */
export function writeModels(run: TrainingRun): void {
  for (const facts of run.manifest.trainings) {
    const recipe = recipeById(facts.recipe);
    const [seed = 0] = facts.seeds;
    if (recipe.model === undefined || latestStep(run, facts, seed) !== facts.steps) continue;
    const trainer = restoreTrainer(recipe, readCheckpoint(run, { facts, seed, step: facts.steps }));
    const model = recipe.model.of(trainer, seed);
    run.writeText(
      join(run.path, `${recipe.model.name}-${facts.name}.json`),
      `${JSON.stringify(model, null, 2)}\n`,
    );
  }
}
