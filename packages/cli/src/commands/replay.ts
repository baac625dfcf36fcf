import { resolve } from 'node:path';
import type { ReplayDeps, ReplayOutcome } from '@perwatt/harness';
import { Command } from 'commander';
import { findRate, resumeFindRate } from '../find-rate.js';
import { isSearchFolder } from '../find-rate-file.js';
import { searchPlanOf } from '../find-rate-flags.js';
import type { Io } from '../io.js';
import { arrivalsOf } from '../replay-arrivals.js';
import { calibrated, replayOnce } from '../replay-once.js';
import { withReplayOptions } from '../replay-options.js';
import { withReplay } from '../replay-prepare.js';
import { freshReplay, type ReplayFlags, type ReplaySession, resumedReplay } from '../replay-session.js';
import { replaySteady } from '../replay-steady.js';
import { replayEnergy, replayTable } from '../replay-table.js';

const examples = `
Examples:
  perwatt replay azure-code.csv --endpoint http://127.0.0.1:8000 --speed 4 --slo ttft=500ms,tpot=50ms
  perwatt replay trace.jsonl --endpoint http://127.0.0.1:8000 --rate 20 --shape poisson --max-rows 2000
  perwatt replay trace.csv --endpoint http://127.0.0.1:8000 --shape closed --concurrency 64
  perwatt replay trace.csv --endpoint http://127.0.0.1:8000 --find-rate 5..200 --slo ttft=500ms,e2e=10s
  perwatt replay --resume runs/20261129-101500Z-replay-azure-code.csv

Every row of the trace is one call of its lengths, with a made-up prompt; blocks that rows share are shared. Without
--rate calls are due at the times of the trace. Latency from schedule is what a user would have waited: the time that a
call spent in this client's queue is in it.

With --find-rate the first rows of the trace are sent at one rate after another, each trial a run of its own in the folder
of the search, and the highest rate that meets the limits is told. --resume goes on with a search too. A search that found
none, or ran out of trials, ends with exit code 1.

Ends with exit code 0 when every row was sent and at most --max-failed of them failed, 130 after Ctrl-C, else 1.`;

/** `perwatt replay`: the calls of a trace against any OpenAI-compatible server, with power sampled all the while. */
export const replayCommand = (io: Io, deps: ReplayDeps): Command =>
  withReplayOptions(
    new Command('replay')
      .description('Replay a trace against an OpenAI-compatible server, timed from its schedule')
      .argument('[trace]', 'trace file; `perwatt trace inspect` says what it holds'),
  )
    .addHelpText('after', examples)
    .action(async (trace: string | undefined, flags: ReplayFlags) => {
      const { resume } = flags;
      if (resume === undefined) return fresh(freshReplay(trace, flags, io), io, deps);
      const folder = resolve(io.cwd, resume);
      if (trace === undefined && isSearchFolder(folder)) return resumeFindRate(folder, flags, { io, deps });
      return replay(resumedReplay(trace, flags, io), io, deps);
    });

async function fresh(session: ReplaySession, io: Io, deps: ReplayDeps): Promise<void> {
  const plan = searchPlanOf(session.flags);
  return plan === null ? replay(session, io, deps) : findRate(session, plan, { io, deps });
}

async function replay(session: ReplaySession, io: Io, deps: ReplayDeps): Promise<void> {
  const { flags, trace } = session;
  const arrivals = arrivalsOf(flags, trace);
  await withReplay(session, { io, deps, arrivals }, async (prepared) => {
    const calibrated_per_s = await calibrated(prepared, { io, deps });
    const root = resolve(io.cwd, flags.out);
    conclude(await replayOnce(prepared, { io, deps, root, calibrated_per_s }), flags, io);
  });
}

function conclude(outcome: ReplayOutcome, flags: ReplayFlags, io: Io): void {
  const { run, cell, status, summary } = outcome;
  const steady = replaySteady(run, cell);
  if (flags.json) {
    const { verdict, replay, sittings } = cell;
    const loop = sittings.at(-1)?.loop ?? null;
    const energy = replayEnergy(cell, summary);
    io.print(
      JSON.stringify(
        {
          run: run.path,
          status,
          ...summary,
          energy,
          steady,
          loop,
          client: replay?.client,
          tokens: replay?.tokens ?? null,
          verdict,
        },
        null,
        2,
      ),
    );
  } else {
    for (const line of replayTable(outcome, { width: io.columns ?? 100, steady })) io.print(line);
    io.print(`run       ${run.path}`);
  }
  if (status === 'interrupted') {
    io.printError(`interrupted; go on with: perwatt replay --resume ${run.path}`);
    io.setExitCode(130);
  } else if (summary.ok === 0 || summary.failed > flags.maxFailed * summary.calls) {
    io.setExitCode(1);
  }
}
