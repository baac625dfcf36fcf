import { PerwattError } from '@perwatt/core';
import {
  type ReplayDeps,
  type ReplayOptions,
  type ReplayOutcome,
  type ReplayPlan,
  runReplay,
} from '@perwatt/harness';
import type { RunFolder } from '@perwatt/records';
import { parseDuration } from './duration.js';
import type { Io } from './io.js';
import { checkClient } from './replay-check.js';
import { startReplayDisplay } from './replay-display.js';
import { planOf } from './replay-plan-of.js';
import type { PreparedReplay } from './replay-prepare.js';
import type { ReplayFlags } from './replay-session.js';
import { loadThreads } from './replay-threads.js';
import { tokenCheck } from './replay-token-check.js';
import { openCounter } from './replay-tokens.js';
import type { TraceJob } from './replay-trace-reader.js';
import { parseSlo, sloLimits } from './slo-flags.js';
import { parseSteady } from './steady-flag.js';

/** Calls a second that this client can send; null where it was not tried, or nothing came back. */
export const calibrated = (
  { session: { flags }, read, target }: PreparedReplay,
  { io, deps }: Pick<OnceOptions, 'io' | 'deps'>,
): Promise<number | null> =>
  flags.check
    ? checkClient(read.rows, { workers: flags.workers, target, clock: deps.clock, signal: io.signal })
    : Promise.resolve(null);

interface OnceOptions {
  readonly io: Io;
  readonly deps: ReplayDeps;
  /** Folder that the run's is made in. */
  readonly root: string;
  /** Calls a second that the client can send, where that was tried; null where it was not. */
  readonly calibrated_per_s: number | null;
}

/** Replays what was prepared, or what is left of its run, with a live display unless it is to be quiet. */
export async function replayOnce(
  { session: { flags, run }, read, arrivals, facts, target, counting }: PreparedReplay,
  { io, deps, root, calibrated_per_s }: OnceOptions,
): Promise<ReplayOutcome> {
  const slo = flags.slo === undefined ? {} : parseSlo(flags.slo);
  const seconds = (text: string) => parseDuration(text) / 1000;
  const plan = planOf({ flags, read, arrivals, facts, target });
  checkSame(run, plan);
  let display: { stop(): void } | undefined;
  return runReplay(plan, deps, {
    root,
    ...(run === null ? {} : { run }),
    endpoint: facts,
    workers: flags.workers,
    gaps: flags.gaps,
    openWorker: loadThreads(target),
    baseline_s: seconds(flags.baseline),
    slo,
    judged: judgedOf(flags),
    calibrated_per_s,
    ...(counting === null ? {} : countAnswers(counting)),
    signal: io.signal,
    onStart({ run: made, power, progress }) {
      if (flags.quiet) return;
      io.printError(`run ${made.path}`);
      const watts = () => {
        const all = power.wattsNow();
        const power_w = all.reduce((sum, own) => sum + own.power_w, 0);
        return all.length === 0 ? null : { power_w, estimated: all.some((own) => own.estimated) };
      };
      display = startReplayDisplay(io, () => ({ progress: progress(), power: watts() }));
    },
  }).finally(() => display?.stop());
}

/** What the cell is judged by, as a matrix has it. */
const judgedOf = ({ slo, steady }: ReplayFlags): NonNullable<ReplayOptions['judged']> => ({
  ...(slo === undefined ? {} : { slo: sloLimits(parseSlo(slo)) }),
  ...(steady === undefined ? {} : { steady: parseSteady(steady) }),
});

/** Counts some of the answers when the replay is over. */
function countAnswers({
  name,
  options,
}: NonNullable<TraceJob['tokenizer']>): Pick<ReplayOptions, 'onCalls' | 'settled'> {
  const check = tokenCheck();
  return {
    onCalls: check.take,
    async settled(run, cell_id) {
      const counter = await openCounter(name, options);
      if (counter === null) return;
      try {
        await check.settle(run, cell_id, counter);
      } finally {
        await counter.close();
      }
    },
  };
}

/** Refuses to go on with another trace, model or load than the run was made of. */
function checkSame(run: RunFolder | null, plan: ReplayPlan): void {
  if (run === null || run.manifest.order.includes(plan.cell_id)) return;
  throw new PerwattError(
    'MATRIX_CHANGED',
    `the trace, the model or the load of run ${run.manifest.run_id} is no longer the same`,
    { hint: 'Start a new replay; calls of two loads must not be mixed.' },
  );
}
