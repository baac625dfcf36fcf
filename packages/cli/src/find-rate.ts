import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { Arrivals, PerwattError } from '@perwatt/core';
import {
  drawSchedule,
  firstRows,
  type ReplayDeps,
  type ReplayOutcome,
  type SearchStep,
  searchStep,
} from '@perwatt/harness';
import { freshSearch, readSearch, type SearchFile, type SearchTrial, writeSearch } from './find-rate-file.js';
import type { SearchPlan } from './find-rate-flags.js';
import { searchLines, searchVerdict, trialLine } from './find-rate-text.js';
import type { Io } from './io.js';
import { calibrated, replayOnce } from './replay-once.js';
import { type PreparedReplay, withReplay } from './replay-prepare.js';
import { keptFlags, type ReplayFlags, type ReplaySession } from './replay-session.js';
import { replayEnergy } from './replay-table.js';

interface World {
  readonly io: Io;
  readonly deps: ReplayDeps;
}

/** A search in its folder, and how much is said of it. */
interface Searching extends World {
  readonly folder: string;
  readonly shown: Pick<ReplayFlags, 'json' | 'quiet'>;
}

/** Every row of the trace; each trial gives them due times of its own. */
const ALL_ROWS: Arrivals = { kind: 'offline' };

/** Searches for the highest rate that meets the limits, in a new folder. */
export async function findRate(session: ReplaySession, plan: SearchPlan, world: World): Promise<void> {
  const { flags, trace, endpoint } = session;
  const { io } = world;
  await withReplay(session, { ...world, arrivals: ALL_ROWS }, async (prepared) => {
    const stamp = io
      .wallTime()
      .toISOString()
      .replaceAll(/[-:]|\..*/g, '')
      .replace('T', '-');
    const name = basename(trace).replaceAll(/[^A-Za-z0-9._-]+/g, '-');
    const out = resolve(io.cwd, flags.out);
    const folder = join(out, `${stamp}Z-find-rate-${name}`);
    mkdirSync(out, { recursive: true });
    mkdirSync(folder);
    const { path, sha256 } = prepared.read.trace;
    const file = freshSearch({ ...plan, trace: { path, sha256 }, endpoint, flags: keptFlags(flags) });
    writeSearch(folder, file);
    await search(file, prepared, { ...world, folder, shown: flags });
  });
}

/** Goes on with a search: trials that ended count, one that was cut off is made again. */
export async function resumeFindRate(folder: string, given: ReplayFlags, world: World): Promise<void> {
  const file = readSearch(folder);
  const { io } = world;
  const searching = { ...world, folder, shown: given };
  if (file.end !== null) return conclude(file, searching);
  const { apiKeyEnv = file.flags.apiKeyEnv } = given;
  const flags: ReplayFlags = {
    ...given,
    ...file.flags,
    ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
    ...(given.quiet === undefined ? {} : { quiet: given.quiet }),
  };
  const session = { flags, trace: resolve(io.cwd, file.trace.path), endpoint: file.endpoint, run: null };
  await withReplay(session, { ...world, arrivals: ALL_ROWS }, async (prepared) => {
    if (prepared.read.trace.sha256 !== file.trace.sha256)
      throw new PerwattError('MATRIX_CHANGED', `trace ${file.trace.path} is no longer the same`, {
        hint: 'Start a new search; trials of two traces must not be mixed.',
      });
    await search(file, prepared, searching);
  });
}

async function search(file: SearchFile, prepared: PreparedReplay, searching: Searching): Promise<void> {
  const { folder, io, shown } = searching;
  const calibrated_per_s = await calibrated(prepared, searching);
  let now = file;
  let step = searchStep(now.trials, now.search);
  while (step.kind === 'trial') {
    const trial = await tryRate(now, { step, prepared, calibrated_per_s }, searching);
    if (trial === null) return interrupted(searching);
    now = { ...now, trials: [...now.trials, trial] };
    writeSearch(folder, now);
    if (!shown.quiet) io.printError(trialLine(trial));
    step = searchStep(now.trials, now.search);
  }
  const { kind: _, ...end } = step;
  now = { ...now, end };
  writeSearch(folder, now);
  conclude(now, searching);
}

interface Trying {
  readonly step: Extract<SearchStep, { readonly kind: 'trial' }>;
  readonly prepared: PreparedReplay;
  readonly calibrated_per_s: number | null;
}

/** One trial: the first rows of the trace at a rate; null when it was interrupted. */
async function tryRate(
  { trial_s, good_share, trials }: SearchFile,
  { step: { rate_per_s, repeat }, prepared, calibrated_per_s }: Trying,
  { folder, io, deps }: Searching,
): Promise<SearchTrial | null> {
  const { read, session } = prepared;
  const { smoothness, shape = 'poisson' } = session.flags;
  const seed = session.flags.seed + repeat;
  const arrivals = Arrivals.parse({
    kind: shape,
    rate_per_s,
    ...(smoothness === undefined ? {} : { smoothness }),
  });
  if (arrivals.kind === 'trace') throw new TypeError('a trace has no rate');
  const count = read.rows.row.length;
  const { due_ns } = drawSchedule(arrivals, { count, seed, until_s: trial_s });
  const { findRate: _, ...own } = session.flags;
  const flags = { ...own, shape, rate: rate_per_s, seed, maxRows: due_ns.length };
  const rows = firstRows(read.rows, due_ns);
  const root = join(folder, `trial-${String(nextFolder(folder)).padStart(3, '0')}`);
  mkdirSync(root);
  const outcome = await replayOnce(
    { ...prepared, session: { flags, run: null }, read: { ...read, rows }, arrivals },
    { io, deps, root, calibrated_per_s },
  );
  if (outcome.status === 'interrupted') return null;
  return trialOf(outcome, { trial: trials.length, rate_per_s, repeat, seed, folder, good_share });
}

/** Number of the next folder of a trial; those of trials that were cut off stay. */
const nextFolder = (folder: string): number =>
  readdirSync(folder).reduce((next, name) => {
    const [, number] = /^trial-(\d+)$/.exec(name) ?? [];
    return number === undefined ? next : Math.max(next, Number(number) + 1);
  }, 0);

interface TrialFacts extends Pick<SearchTrial, 'trial' | 'rate_per_s' | 'repeat' | 'seed'> {
  readonly folder: string;
  readonly good_share: number;
}

function trialOf(
  { run, cell, summary }: ReplayOutcome,
  { folder, good_share, ...facts }: TrialFacts,
): SearchTrial {
  const { good_fraction, times } = summary;
  if (good_fraction === null)
    throw new PerwattError('INPUT_INVALID', 'no limit of --slo applies to the calls of a trial', {
      hint: 'Limit a time that these calls have: one token has no time per token.',
    });
  const { energy_j, energy_per_call_j, energy_per_output_token_j } = replayEnergy(cell, summary);
  return {
    ...facts,
    passed: good_fraction >= good_share,
    run: relative(folder, run.path),
    calls: summary.calls,
    ok: summary.ok,
    failed: summary.failed,
    offered_per_s: summary.offered_per_s,
    achieved_per_s: summary.achieved_per_s,
    goodput_per_s: summary.goodput_per_s,
    good_fraction,
    ttft_any_p99_ns: times.ttft_any?.p99 ?? null,
    tpot_p99_ns: times.tpot?.p99 ?? null,
    e2e_from_schedule_p99_ns: times.e2e_from_schedule?.p99 ?? null,
    energy_j,
    energy_per_call_j,
    energy_per_output_token_j,
    client_limited: cell.replay?.client.at(-1)?.limits.map(({ text }) => text) ?? [],
  };
}

function interrupted({ io, folder }: Searching): void {
  io.printError(`interrupted; go on with: perwatt replay --resume ${folder}`);
  io.setExitCode(130);
}

function conclude(file: SearchFile, { io, folder, shown }: Searching): void {
  const { trials, end, search: bisection, good_share, trial_s } = file;
  if (shown.json) {
    const result = { search: folder, ...end, text: searchVerdict(file), ...bisection, good_share, trial_s };
    io.print(JSON.stringify({ ...result, slo: file.flags.slo, trials }, null, 2));
  } else {
    for (const line of searchLines(file, io.columns ?? 100)) io.print(line);
    io.print(`search    ${folder}`);
  }
  if (end?.verdict === 'lowest_fails' || end?.verdict === 'trials_spent') io.setExitCode(1);
}
