// Decode rate of the embedded client over that of the bare engine, in interleaved pairs; and how late the parent's timers are
// while the engine decodes, which is what its work could do to our stamps.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { embeddedClient, resolveModel } from '@perwatt/clients';
import { ggufFixture } from '@perwatt/test-kit';
import { bootstrapMedian, medianOf, quantileOf } from './stats.mjs';

const PAIRS = Number(process.env.PERWATT_BENCH_PAIRS ?? 24);
const TOKENS = 64;
const CONTEXT_TOKENS = 512;
const LEAST_RATIO = 0.97;
const PROMPT = 'Write a long story about a lighthouse, its keeper and the sea.';
const MODEL = process.env.PERWATT_BENCH_MODEL ?? 'smollm2-135m';

export async function run() {
  const threads = Math.max(1, availableParallelism() - 1);
  const { path, name, cleanUp } = await weights();
  const clock = { now: () => process.hrtime.bigint() };
  const client = embeddedClient({
    modelPath: path,
    model: name,
    threads,
    contextTokens: CONTEXT_TOKENS,
    clock,
  });
  const bare = await bareEngine(path, threads);
  const jitter = createJitter();
  try {
    await client.open();
    await embeddedRate(client, name);
    await bare.rate();
    const pairs = [];
    for (let i = 0; i < PAIRS; i += 1) {
      const ours = () => jitter.during(() => embeddedRate(client, name));
      // The order alternates, so that drift of the machine falls on both alike.
      const pair =
        i % 2 === 0 ? [await ours(), await bare.rate()] : [await bare.rate(), await ours()].reverse();
      pairs.push({ embedded: pair[0], bare: pair[1], ratio: pair[0] / pair[1] });
    }
    const { median, low, high } = bootstrapMedian(pairs.map(({ ratio }) => ratio));
    const rate = (key) => medianOf(pairs.map((pair) => pair[key])).toFixed(1);
    const gaps = jitter.gaps_ms();
    return {
      passed: high >= LEAST_RATIO,
      lines: [
        `model ${name}, ${threads} thread(s), ${PAIRS} interleaved pairs of ${TOKENS} tokens`,
        `embedded client ${rate('embedded')} tokens/s, bare engine ${rate('bare')} tokens/s (medians)`,
        `median ratio ${median.toFixed(4)}, 95 % interval ${low.toFixed(4)} to ${high.toFixed(4)} (fails when all of it is below ${LEAST_RATIO})`,
        `clock stamps while decoding: gaps of a 1 ms timer p50 ${quantileOf(gaps, 0.5).toFixed(2)} ms, p99 ${quantileOf(gaps, 0.99).toFixed(2)} ms, max ${quantileOf(gaps, 1).toFixed(2)} ms, n ${gaps.length}`,
      ],
    };
  } finally {
    jitter.stop();
    await client.close();
    bare.stop();
    cleanUp();
  }
}

async function weights() {
  try {
    const found = await resolveModel(MODEL, { env: process.env });
    return { path: found.path, name: MODEL, cleanUp: () => {} };
  } catch (error) {
    console.log(
      `real weights are not here (${error.message}); the random fixture stands in, whose tokens are far cheaper`,
    );
    const folder = mkdtempSync(join(tmpdir(), 'perwatt-bench-'));
    const path = join(folder, 'fixture.gguf');
    writeFileSync(path, ggufFixture());
    return { path, name: 'fixture', cleanUp: () => rmSync(folder, { recursive: true, force: true }) };
  }
}

/** Tokens per second between the first and the last token of one call, by the record's stamps. */
async function embeddedRate(client, model) {
  const record = await client.call({
    model,
    input: { kind: 'completion', prompt: PROMPT },
    sampling: { temperature: 0, top_p: 1, max_tokens: TOKENS },
  });
  if (record.status !== 'ok' || record.n_tokens !== TOKENS)
    throw new Error(
      `the call ended as ${record.status} after ${record.n_tokens} tokens: ${record.error_message ?? record.finish_reason}`,
    );
  const { first_event_ns, last_content_ns } = record.stamps;
  return (TOKENS - 1) / (Number(last_content_ns - first_event_ns) / 1e9);
}

async function bareEngine(path, threads) {
  const file = fileURLToPath(new URL('./bare-engine.mjs', import.meta.url));
  const child = fork(file, [path, String(threads), String(CONTEXT_TOKENS)], { execArgv: [] });
  const ended = new Promise((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the bare engine ended with exit code ${code}`)));
  });
  ended.catch(() => {});
  const next = () => Promise.race([ended, new Promise((resolve) => child.once('message', resolve))]);
  await next();
  return {
    async rate() {
      const answer = next();
      child.send({ prompt: PROMPT, tokens: TOKENS });
      return (await answer).tokens_per_s;
    },
    stop: () => child.kill(),
  };
}

/**
 * Gaps between the ticks of a 1 ms timer in this process. The timer runs all the time, so that both engines decode beside it;
 * only the gaps within `during` are kept.
 */
function createJitter() {
  const gaps = [];
  let keeping = false;
  let before = process.hrtime.bigint();
  const timer = setInterval(() => {
    const now = process.hrtime.bigint();
    if (keeping) gaps.push(Number(now - before) / 1e6);
    before = now;
  }, 1);
  return {
    async during(action) {
      keeping = true;
      try {
        return await action();
      } finally {
        keeping = false;
      }
    },
    stop: () => clearInterval(timer),
    gaps_ms: () => gaps.toSorted((a, b) => a - b),
  };
}
