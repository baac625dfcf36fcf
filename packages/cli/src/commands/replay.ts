import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { openAiClient } from '@perwatt/clients';
import {
  type Arrivals,
  type EndpointFacts,
  historySources,
  lateParentPolicies,
  PerwattError,
  zeroOutputPolicies,
} from '@perwatt/core';
import {
  type ReplayDeps,
  type ReplayOptions,
  type ReplayOutcome,
  type ReplayPlan,
  runReplay,
} from '@perwatt/harness';
import type { RunFolder } from '@perwatt/records';
import { Command, Option } from 'commander';
import { parseDuration } from '../duration.js';
import type { Io } from '../io.js';
import { atLeast, positive, shareOf1, whole } from '../number-options.js';
import { arrivalsOf, shapes } from '../replay-arrivals.js';
import { checkClient } from '../replay-check.js';
import { startReplayDisplay } from '../replay-display.js';
import { planOf } from '../replay-plan-of.js';
import { freshReplay, type ReplayFlags, type ReplaySession, resumedReplay } from '../replay-session.js';
import { replaySteady } from '../replay-steady.js';
import { replayEnergy, replayTable } from '../replay-table.js';
import { textFilePlace } from '../replay-text-file.js';
import type { LoadTarget } from '../replay-thread-messages.js';
import { loadThreads } from '../replay-threads.js';
import { tokenCheck } from '../replay-token-check.js';
import { openCounter, parseTokenizer } from '../replay-tokens.js';
import { type ReadTrace, readTrace, type TraceJob } from '../replay-trace-reader.js';
import { checkTurnFlags, policyOf } from '../replay-turns.js';
import { parseSlo, sloLimits } from '../slo-flags.js';
import { parseSteady } from '../steady-flag.js';

const examples = `
Examples:
  perwatt replay azure-code.csv --endpoint http://127.0.0.1:8000 --speed 4 --slo ttft=500ms,tpot=50ms
  perwatt replay trace.jsonl --endpoint http://127.0.0.1:8000 --rate 20 --shape poisson --max-rows 2000
  perwatt replay trace.csv --endpoint http://127.0.0.1:8000 --shape closed --concurrency 64
  perwatt replay --resume runs/20261129-101500Z-replay-azure-code.csv

Every row of the trace is one call of its lengths, with a made-up prompt; blocks that rows share are shared. Without
--rate calls are due at the times of the trace. Latency from schedule is what a user would have waited: the time that a
call spent in this client's queue is in it.

Ends with exit code 0 when every row was sent and at most --max-failed of them failed, 130 after Ctrl-C, else 1.`;

/** `perwatt replay`: the calls of a trace against any OpenAI-compatible server, with power sampled all the while. */
export const replayCommand = (io: Io, deps: ReplayDeps): Command =>
  new Command('replay')
    .description('Replay a trace against an OpenAI-compatible server, timed from its schedule')
    .argument('[trace]', 'trace file; `perwatt trace inspect` says what it holds')
    .option('--endpoint <url>', 'base address of the server, with or without /v1')
    .option('--model <name>', 'model as the server knows it; default: the only one it lists')
    .addOption(new Option('--api <api>', 'what is called').choices(['chat', 'completion']).default('chat'))
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--format <format>', 'format of the trace; default: by its header')
    .option('--speed <factor>', '2 replays twice as fast', positive)
    .option('--from <time>', 'leave out what the trace holds before this time, for example 10min')
    .option('--to <time>', 'leave out what it holds from this time on')
    .option('--rate <n>', 'calls per second, instead of the times of the trace', positive)
    .addOption(
      new Option('--shape <shape>', 'how calls arrive; default: trace, or poisson with --rate').choices(
        shapes,
      ),
    )
    .option('--smoothness <k>', 'shape of gamma gaps: 1 is Poisson, below 1 comes in bursts', positive)
    .option('--ramp-from <n>', 'rate at the start of a ramp, calls per second', atLeast(0))
    .option('--ramp <time>', 'length of a ramp of the rate, or of a closed loop')
    .addOption(
      new Option('--ramp-curve <curve>', 'how the rate of a ramp grows in time; default: linear').choices([
        'linear',
        'exponential',
      ]),
    )
    .option('--steps <stages>', 'rates one after another, for example 2/30s,8/1min; 0 is a pause')
    .option('--concurrency <n>', 'most calls in flight, over all workers', whole(1, 1_000_000))
    .option('--max-rows <n>', 'stop after so many rows of the trace', whole(1, 2 ** 31))
    .addOption(
      new Option(
        '--zero-output <policy>',
        'rows that gave no token: send them for one token, or leave them out',
      )
        .choices(zeroOutputPolicies.filter((policy) => policy !== 'keep'))
        .default('replay-as-1'),
    )
    .addOption(
      new Option(
        '--prompts <source>',
        'prompts of the lengths of the trace, or its own texts; default: its texts where it carries any',
      ).choices(['made-up', 'trace']),
    )
    .addOption(
      new Option(
        '--late-parent <policy>',
        'play the conversations of the trace; a turn that is due before the one it goes on from has ended waits for it, is left out with what follows, or is sent at its time',
      ).choices(lateParentPolicies),
    )
    .option('--think <time>', 'with --late-parent wait: time from the end of a late turn to the next')
    .addOption(
      new Option(
        '--history <source>',
        "whose answers the earlier turns are sent with: the trace's (default), or those that the server has just given",
      ).choices(historySources),
    )
    .option(
      '--tokenizer <name>',
      'who counts prompts and answers here: words (one common word a token), server (its /tokenize), embedded:<model>',
      parseTokenizer,
    )
    .option('--template-tokens <n>', 'tokens that the server adds around a prompt', whole(0, 1 << 20))
    .option('--input-tokens <n>', 'length of prompts that the trace does not tell', whole(1, 1 << 24))
    .option('--output-tokens <n>', 'length of answers that the trace does not tell', whole(1, 1 << 24))
    .option(
      '--workers <n>',
      'threads that send',
      whole(1, 64),
      Math.max(1, Math.min(4, availableParallelism() - 1)),
    )
    .option('--seed <n>', 'seed of drawn arrivals', whole(0, 2 ** 31 - 1), 42)
    .option('--slo <limits>', 'limits of a good call: ttft=500ms,tpot=50ms,e2e=10s')
    .option(
      '--steady <rule>',
      'figures over the steady window too: plateau=0.9, batch_full=32, trim=10% or trim=30s,10s',
    )
    .option('--max-failed <share>', 'share of calls that may fail, 0 to 1', shareOf1, 0.05)
    .option('--headers-timeout <time>', 'longest wait for a response to begin', '120s')
    .option('--idle-timeout <time>', 'longest silence inside a response', '60s')
    .option('--baseline <time>', 'time that idle power is measured for, before and after', '3s')
    .option('--power <sources>', '`none`, or names of power sources separated by commas')
    .option('--no-gaps', "don't keep the gaps between tokens of every call")
    .option('--no-check', "don't try first how many calls a second this client can send")
    .option('--out <dir>', 'folder that run folders are made in', 'runs')
    .option('--resume <run>', 'go on with this run folder: only rows without a call on disk are sent')
    .option('--json', 'print the result as JSON')
    .option('--quiet', 'no progress display')
    .addHelpText('after', examples)
    .action(async (trace: string | undefined, flags: ReplayFlags) => {
      const session =
        flags.resume === undefined ? freshReplay(trace, flags, io) : resumedReplay(trace, flags, io);
      await replay(session, io, deps);
    });

async function replay(session: ReplaySession, io: Io, deps: ReplayDeps): Promise<void> {
  const { flags, trace, endpoint } = session;
  checkTurnFlags(flags);
  if (flags.slo !== undefined) parseSlo(flags.slo);
  if (flags.steady !== undefined) parseSteady(flags.steady);
  const target: LoadTarget = {
    url: endpoint,
    api: flags.api,
    api_key: keyOf(flags, io),
    headers_timeout_ms: parseDuration(flags.headersTimeout),
    idle_timeout_ms: parseDuration(flags.idleTimeout),
  };
  const facts = await factsOf(target, flags.model, deps);
  const arrivals = arrivalsOf(flags, trace);
  const place = textFilePlace();
  try {
    const counting = tokenizerOf(flags, { target, model: facts.model, io });
    const job = traceJob(trace, arrivals, { flags, io, textFile: place.path, counting });
    const read = await readTrace({ ...job, arrays: `${place.path}.rows` }, io.signal);
    const opened = { ...read, rows: place.opened(read.rows) };
    await replayRead({ session, read: opened, arrivals, facts, target, counting }, io, deps);
  } finally {
    place.close();
  }
}

interface Prepared {
  readonly session: ReplaySession;
  readonly read: ReadTrace;
  readonly arrivals: Arrivals | null;
  readonly facts: EndpointFacts;
  readonly target: LoadTarget;
  readonly counting: TraceJob['tokenizer'];
}

async function replayRead(
  { session: { flags, run }, read, arrivals, facts, target, counting }: Prepared,
  io: Io,
  deps: ReplayDeps,
): Promise<void> {
  const slo = flags.slo === undefined ? {} : parseSlo(flags.slo);
  const seconds = (text: string) => parseDuration(text) / 1000;
  const plan = planOf({ flags, read, arrivals, facts, target });
  checkSame(run, plan);
  const calibrated_per_s = flags.check
    ? await checkClient(plan.rows, { workers: flags.workers, target, clock: deps.clock, signal: io.signal })
    : null;
  let display: { stop(): void } | undefined;
  const outcome = await runReplay(plan, deps, {
    root: resolve(io.cwd, flags.out),
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
  conclude(outcome, flags, io);
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

function tokenizerOf(
  { tokenizer = 'words', model: asked }: ReplayFlags,
  { target, model, io }: { readonly target: LoadTarget; readonly model: string; readonly io: Io },
): TraceJob['tokenizer'] {
  if (tokenizer === 'words') return null;
  const { url, api_key } = target;
  return { name: tokenizer, options: { url, api_key, model: asked ?? model, env: { ...io.env } } };
}

interface JobParts {
  readonly flags: ReplayFlags;
  readonly io: Io;
  readonly textFile: string;
  readonly counting: TraceJob['tokenizer'];
}

function traceJob(
  path: string,
  arrivals: Arrivals | null,
  { flags, io, textFile, counting }: JobParts,
): TraceJob {
  const { zeroOutput, format, maxRows, seed, inputTokens, outputTokens, prompts, templateTokens } = flags;
  return {
    load: {
      path,
      root: io.cwd,
      zeroOutput,
      ...(format === undefined ? {} : { format }),
      ...(maxRows === undefined ? {} : { limit: maxRows }),
    },
    calls: {
      arrivals,
      seed,
      input_tokens: inputTokens ?? null,
      output_tokens: outputTokens ?? null,
      turns: policyOf(flags) !== null,
      textFile,
      ...(prompts === undefined ? {} : { prompts }),
      ...(templateTokens === undefined ? {} : { template_tokens: templateTokens }),
    },
    tokenizer: counting,
  };
}

async function factsOf(
  target: LoadTarget,
  model: string | undefined,
  deps: ReplayDeps,
): Promise<EndpointFacts> {
  const client = openAiClient({
    url: target.url,
    api: target.api,
    clock: deps.clock,
    ...(model === undefined ? {} : { model }),
    ...(target.api_key === null ? {} : { apiKey: target.api_key }),
  });
  try {
    return await client.open();
  } finally {
    await client.close();
  }
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

function keyOf({ apiKeyEnv }: ReplayFlags, io: Io): string | null {
  if (apiKeyEnv === undefined) return null;
  const key = io.env[apiKeyEnv];
  if (key !== undefined && key !== '') return key;
  throw new PerwattError('INPUT_INVALID', `environment variable ${apiKeyEnv} holds no key`);
}
