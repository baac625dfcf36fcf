import { availableParallelism, tmpdir } from 'node:os';
import {
  type Client,
  type EndpointEntry,
  type Grader,
  type Grading,
  type LateGrader,
  type MatrixFile,
  PerwattError,
} from '@perwatt/core';
import { worldOf } from '@perwatt/datasets';
import {
  codeGrader,
  createGraderPool,
  environmentGrader,
  type GraderPool,
  graderById,
  graders,
  type JudgeModel,
  judgeGrader,
  openSandbox,
  verifierGrader,
} from '@perwatt/graders';
import { endpointClient } from './endpoint-client.js';
import type { Io } from './io.js';
import { replyCache } from './reply-cache.js';

const environment = environmentGrader(worldOf);

/** Every grader, the one of generated worlds among them. */
export const allGraders = (): readonly Grader[] =>
  [...graders(), environment].toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** The grader of a name. Throws `GRADER_UNKNOWN` with the nearest name. */
export const graderOf = (id: string): Grader => (id === environment.id ? environment : graderById(id));

/** A model that grades, at an endpoint. */
export interface RaterPlace {
  readonly model: string;
  readonly url: string;
  /** Not opened yet. */
  readonly client: () => Client;
  readonly settings: Omit<NonNullable<Grading['verifier']>, 'endpoint' | 'model'>;
}

export interface GradingWorldOptions {
  readonly io: Io;
  readonly allow_code: boolean;
  readonly judge: RaterPlace | null;
  readonly verifier: RaterPlace | null;
}

/** What grades beside the graders themselves. */
export interface GradingWorld {
  /** Makes ready what judges in place of a grader. Throws what opening a sandbox or reaching a judge throws. */
  prepare(grader: string): Promise<void>;
  /** What judges in place of a grader; null where the grader itself does. */
  late(grader: string): LateGrader | null;
}

/** Graders that may take long: they grade in threads that can be killed. */
const slow: ReadonlySet<string> = new Set(['math', 'plan']);

/** Threads for slow graders, the sandbox for code, the models that judge: each made when it is first needed. */
export function gradingWorld(options: GradingWorldOptions): GradingWorld {
  const ready = new Map<string, LateGrader>();
  let pool: GraderPool | null = null;
  return {
    async prepare(grader) {
      const late = ready.has(grader) ? null : await opened(grader, options);
      if (late !== null) ready.set(grader, late);
    },
    late(grader) {
      const own = ready.get(grader);
      if (own !== undefined) return own;
      if (!slow.has(grader)) return null;
      pool ??= openPool();
      return pool?.late(grader) ?? null;
    },
  };
}

/** What a grader needs from outside; null where it needs nothing, or is not given it. */
async function opened(
  grader: string,
  { io, allow_code, judge, verifier }: GradingWorldOptions,
): Promise<LateGrader | null> {
  if (grader === 'code') return allow_code ? sandboxed(io) : null;
  if (grader === 'judge') return judge === null ? null : judgeGrader(await rater(judge, io));
  if (grader !== 'verifier' || verifier === null) return null;
  const { threshold } = verifier.settings;
  return verifierGrader({ ...(await rater(verifier, io)), ...(threshold !== undefined && { threshold }) });
}

/** Null without built files: the grades are the same in this thread. */
function openPool(): GraderPool | null {
  try {
    return createGraderPool({ workers: availableParallelism() });
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'BUILD_MISSING') return null;
    throw error;
  }
}

async function sandboxed(io: Io): Promise<LateGrader> {
  const path = `${io.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`;
  const sandbox = await openSandbox({ tmp: tmpdir(), path, root: process.getuid?.() === 0 });
  return codeGrader({ sandbox, workers: Math.max(1, availableParallelism() - 1) });
}

async function rater({ model, url, client, settings }: RaterPlace, io: Io): Promise<JudgeModel> {
  const lent = whileAsked(client);
  const endpoint = await lent.open();
  const { max_tokens, temperature, workers } = settings;
  return {
    client: lent,
    endpoint,
    model,
    identity: url,
    sampling: {
      ...(max_tokens !== undefined && { max_tokens }),
      ...(temperature !== undefined && { temperature }),
    },
    ...(workers !== undefined && { workers }),
    cache: replyCache(io),
  };
}

/** A client that is open only while it is asked, so that no connection of a judge is open while something is measured. */
function whileAsked(make: () => Client): Client {
  let inner: Promise<Client> | null = null;
  let asked = 0;
  const opened = async () => {
    const client = make();
    await client.open();
    return client;
  };
  const release = async () => {
    const client = inner;
    inner = null;
    await (await client?.catch(() => null))?.close();
  };
  return {
    async open() {
      const client = make();
      try {
        return await client.open();
      } finally {
        await client.close();
      }
    },
    async call(request, options) {
      asked += 1;
      inner ??= opened();
      try {
        return await (await inner).call(request, options);
      } finally {
        asked -= 1;
        if (asked === 0) await new Promise((resolve) => setImmediate(resolve));
        if (asked === 0) await release();
      }
    },
    close: async () => {
      if (inner !== null) await release();
    },
  };
}

/** What grades beside the graders of a matrix. Throws `ENDPOINT_UNKNOWN` for an endpoint that it has not. */
export function gradingOf(
  { grading, endpoints }: Pick<Partial<MatrixFile>, 'grading' | 'endpoints'>,
  io: Io,
): GradingWorld {
  const place = (rater: Grading['judge'] | Grading['verifier']): RaterPlace | null => {
    if (rater === undefined) return null;
    const { endpoint: name, model, ...settings } = rater;
    const endpoint = endpointOf(name, endpoints);
    return { model, url: endpoint.url, client: endpointClient(endpoint, model, io), settings };
  };
  return gradingWorld({
    io,
    allow_code: grading?.allow_code === true,
    judge: place(grading?.judge),
    verifier: place(grading?.verifier),
  });
}

function endpointOf(name: string, endpoints: MatrixFile['endpoints']): EndpointEntry {
  const entry = endpoints?.[name];
  if (entry !== undefined) return entry;
  const known = Object.keys(endpoints ?? {}).join(', ') || 'none';
  throw new PerwattError('ENDPOINT_UNKNOWN', `grading names the endpoint "${name}"; endpoints: ${known}`);
}
