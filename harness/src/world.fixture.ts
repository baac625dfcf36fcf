import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Clock,
  type Dataset,
  type Grader,
  instant,
  PerwattError,
  type PowerSource,
  type Strategy,
} from '@perwatt/core';
import { type FakeAnswer, fakeClient, steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { onTestFinished } from 'vitest';
import type { HarnessDeps } from './deps.js';
import { parseMatrix } from './parse-matrix.js';
import { type Plan, planMatrix } from './plan.js';
import { protocols } from './protocols.js';

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-harness-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Items `a+b` whose answer is right by the fake model unless a script says otherwise. */
export const sums = (id: string, n: number): Dataset => ({
  id,
  version: 1,
  kind: 'generated',
  grader: 'last-word',
  guess_rate: 0,
  answer_tokens: 8,
  licence: 'none',
  digest: `${id}:${n}`,
  items: Array.from({ length: n }, (_, i) => ({
    id: `${id}-${i}`,
    prompt: `${i}+1`,
    gold: String(i + 1),
    options: null,
    subject: null,
  })),
});

export const lastWord: Grader = {
  id: 'last-word',
  version: 1,
  grade({ prediction, gold, failed }) {
    const extracted = lastWord.extract(prediction, { options: null });
    const verdict = failed ? 'error' : extracted === gold ? 'correct' : 'incorrect';
    const score = verdict === 'correct' ? 1 : 0;
    return {
      verdict,
      score,
      extracted,
      span: null,
      rule: 'last',
      salvaged: null,
      reason: null,
      flags: [],
      mode: 'robust',
    };
  },
  extract: (text) => text.trim().split(' ').at(-1) ?? null,
  same: (a, b) => a === b,
};

/** `calls` parallel calls, the first one's text is the answer; a failed call fails the query. */
export const parallel = (id: string, calls: number): Strategy => ({
  id,
  version: 1,
  summary: 'test',
  needs: () => ({ endpoints: ['main'] }),
  params: { parse: (input) => input },
  calls: () => calls,
  async *run(item, _, { max_tokens }) {
    const results = yield Array.from({ length: calls }, (_, branch) => ({
      id: `${branch}`,
      parents: [],
      role: 'solver' as const,
      endpoint: 'main',
      input: { kind: 'chat' as const, messages: [{ role: 'user' as const, content: item.prompt }] },
      sampling: { temperature: 0, top_p: 1, max_tokens },
      branch,
    }));
    const [first] = results;
    if (first === undefined || first.finish === 'error') {
      return { status: 'failed', reason: 'the call failed', candidates: [] };
    }
    return { status: 'answered', answer: first.text, call_id: first.id, candidates: [], decisions: [] };
  },
});

/** A meter of ten watts, exactly, with a reading every 5 ms. */
const tenWatts = (): PowerSource =>
  steadyPowerSource({
    name: 'fake',
    domains: [testDomain({ id: 'fake:0', source: 'fake', update_period_ns: 50_000_000 })],
    clock,
    period_ns: 5_000_000,
    watts: () => 10,
  });

export interface WorldOptions {
  /** What the model answers to `a+b`; default: the right sum. */
  readonly answer?: (prompt: string, model: string) => FakeAnswer;
  /** Models that can't be had, or whose client fails to open. */
  readonly unavailable?: readonly string[];
  readonly broken?: readonly string[];
  readonly power?: boolean;
  /** Size of every data set. */
  readonly items?: number;
  /** Time a call takes, ms. */
  readonly call_ms?: number;
}

export const rightSum = (prompt: string): FakeAnswer => {
  const [a = 0, b = 0] = prompt.split('+').map(Number);
  const tokens = ['It is ', String(a + b)];
  return { tokens, finish_reason: 'stop', usage: { prompt_tokens: 3, completion_tokens: 2 } };
};

/** A world of fakes: models `m…`, data sets `d…`, strategies `single` and `double`. */
export function fakeWorld(options: WorldOptions = {}): HarnessDeps {
  const { answer = rightSum, unavailable = [], broken = [], items = 4, call_ms = 2 } = options;
  const wait = () => new Promise<void>((resolve) => setTimeout(resolve, call_ms / 2));
  return {
    version: '0.0.0-test',
    clock,
    wallTime: () => new Date(),
    bootId: () => 'boot',
    suspendedNs: () => 0,
    hostFacts: () => ({
      hostname: 'host',
      os: 'test',
      kernel: 'test',
      arch: 'x64',
      cpu: 'test',
      threads: 2,
      cores: 2,
      memory_bytes: 1,
      virtual_machine: null,
      governor: null,
      node: process.version,
    }),
    cpuTimes: () => ({ host_busy_ns: 0, own_ns: 0 }),
    powerSources: () => (options.power === false ? [] : [tenWatts()]),
    loadDataset: async ({ kind, limit }) => sums(kind, limit ?? items),
    grader: () => lastWord,
    strategy: (id) => parallel(id, id === 'double' ? 2 : 1),
    async prepareModel({ id }) {
      if (unavailable.includes(id)) {
        throw new PerwattError('MODEL_UNAVAILABLE', `model ${id} is nowhere to be had`);
      }
      return {
        sha256: id,
        request_model: id,
        weight_bytes: 1e8,
        client() {
          const client = fakeClient({
            clock,
            wait,
            answer: (request) => {
              const { input } = request;
              const prompt = input.kind === 'chat' ? (input.messages.at(-1)?.content ?? '') : input.prompt;
              return answer(prompt, request.model);
            },
          });
          if (!broken.includes(id)) return client;
          return {
            ...client,
            open: () => Promise.reject(new PerwattError('ENGINE_FAILED', `${id} won't load`)),
          };
        },
      };
    },
  };
}

/** A plan of the given YAML whose baselines and pauses take next to no time. */
export async function quickPlan(yaml: string, deps: HarnessDeps): Promise<Plan> {
  const plan = await planMatrix(parseMatrix(yaml, 'm.yaml'), deps);
  return { ...plan, protocol: { ...protocols.quick, baseline_s: 0.05, cooldown_s: 0 } };
}
