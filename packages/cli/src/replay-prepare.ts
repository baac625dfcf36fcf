import { openAiClient } from '@perwatt/clients';
import { type Arrivals, type EndpointFacts, PerwattError } from '@perwatt/core';
import type { ReplayDeps } from '@perwatt/harness';
import { parseDuration } from './duration.js';
import type { Io } from './io.js';
import type { ReplayFlags, ReplaySession } from './replay-session.js';
import { textFilePlace } from './replay-text-file.js';
import type { LoadTarget } from './replay-thread-messages.js';
import { type ReadTrace, readTrace, type TraceJob } from './replay-trace-reader.js';
import { checkTurnFlags, policyOf } from './replay-turns.js';
import { parseSlo } from './slo-flags.js';
import { parseSteady } from './steady-flag.js';

/** A replay whose server answers and whose trace is read. */
export interface PreparedReplay {
  readonly session: Pick<ReplaySession, 'flags' | 'run'>;
  readonly read: ReadTrace;
  readonly arrivals: Arrivals | null;
  readonly facts: EndpointFacts;
  readonly target: LoadTarget;
  readonly counting: TraceJob['tokenizer'];
}

interface Preparing {
  readonly io: Io;
  readonly deps: ReplayDeps;
  /** When the calls are due; null in a closed loop. */
  readonly arrivals: Arrivals | null;
}

/** Asks the server what it is, reads the trace, and does `use` with them; the texts of the trace are gone afterwards. */
export async function withReplay<T>(
  session: ReplaySession,
  { io, deps, arrivals }: Preparing,
  use: (prepared: PreparedReplay) => Promise<T>,
): Promise<T> {
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
  const place = textFilePlace();
  try {
    const counting = tokenizerOf(flags, { target, model: facts.model, io });
    const job = traceJob(trace, arrivals, { flags, io, textFile: place.path, counting });
    const read = await readTrace({ ...job, arrays: `${place.path}.rows` }, io.signal);
    const opened = { ...read, rows: place.opened(read.rows) };
    return await use({ session, read: opened, arrivals, facts, target, counting });
  } finally {
    place.close();
  }
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

function keyOf({ apiKeyEnv }: ReplayFlags, io: Io): string | null {
  if (apiKeyEnv === undefined) return null;
  const key = io.env[apiKeyEnv];
  if (key !== undefined && key !== '') return key;
  throw new PerwattError('INPUT_INVALID', `environment variable ${apiKeyEnv} holds no key`);
}
