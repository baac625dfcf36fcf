import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CatalogueModel, WeightsWorld } from '@perwatt/clients';
import { ggufFixture } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import type { Io } from '../io.js';
import { modelsCommand } from './models.js';

const weights = Buffer.from(ggufFixture());
const sha256 = createHash('sha256').update(weights).digest('hex');
const model = (id: string): CatalogueModel => ({
  id,
  name: id,
  family: 'Tiny',
  tuning: 'base',
  params_total: 3_000_000,
  params_active: id === 'sparse' ? 1_000_000 : 3_000_000,
  context_tokens: 512,
  release_date: '2026-01-01',
  licence: 'Apache-2.0',
  quantisation: 'Q8_0',
  file: `${id}.gguf`,
  locations: [{ kind: 'hub', repo: `org/${id}`, revision: 'main', file: `${id}.gguf` }],
});
const pin = (file: string) => ({ file, bytes: weights.length, sha256 });

/** Runs the command over a catalogue of two models, of which `here` are in the cache. */
async function run(args: string[], here: readonly string[] = ['dense'], io: Partial<Io> = {}) {
  const cache = mkdtempSync(join(tmpdir(), 'perwatt-models-'));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  for (const id of here) {
    const path = join(cache, 'models', id, `${id}.gguf`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, weights);
  }
  let now = 0;
  const world: Partial<WeightsWorld> = {
    catalogue: [model('dense'), model('sparse')],
    lock: { files: { dense: pin('dense.gguf'), sparse: pin('sparse.gguf') }, wheels: {} },
    home: cache,
  };
  const recorded = recordedIo({
    env: { PERWATT_CACHE: cache, HF_HUB_OFFLINE: '1' },
    cwd: cache,
    wallTime: () => {
      now += 1000;
      return new Date(now);
    },
    ...io,
  });
  const command = modelsCommand(recorded.io, world);
  const error: unknown = await command.parseAsync(args, { from: 'user' }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { ...recorded.result, error, cache };
}

describe('list', () => {
  test('shows each model with its facts and whether it is here', async () => {
    const { out, cache } = await run(['list']);
    expect(out[1]).toMatch(/^dense +Tiny +base +3 M +Q8_0 +\S+ MB +2026-01-01 +Apache-2\.0 +here$/);
    expect(out[2]).toMatch(/^sparse .* 3 M \(1 M active\) .* not here$/);
    expect(out[3]).toBe(`cache: ${cache}`);
  });

  test('is JSON on request', async () => {
    const { out, cache } = await run(['list', '--json']);
    expect(JSON.parse(out.join(''))).toMatchObject({
      cache,
      models: [
        { id: 'dense', sha256, path: join(cache, 'models/dense/dense.gguf') },
        { id: 'sparse', path: null },
      ],
    });
  });
});

describe('verify', () => {
  test('checks what is here', async () => {
    const { out, code, err } = await run(['verify', '--json']);
    expect(out.map((line) => JSON.parse(line))).toMatchObject([{ model: 'dense', sha256, found: 'cache' }]);
    expect(code).toBe(0);
    expect(err).toEqual([expect.stringMatching(/^dense: verify dense\.gguf \(0\.\d MB\)$/)]);
  });

  test('takes paths', async () => {
    const { out } = await run(['verify', './models/dense/dense.gguf', '--json']);
    expect(JSON.parse(out.join(''))).toMatchObject({ id: null, sha256, found: 'path' });
  });

  test('says so when nothing is here', async () => {
    const { out, err, code } = await run(['verify'], []);
    expect({ out, code }).toEqual({ out: [], code: 0 });
    expect(err).toEqual([expect.stringContaining('perwatt models pull')]);
  });
});

describe('pull', () => {
  test('a single model that cannot be had is the error of the command', async () => {
    const { error, out } = await run(['pull', 'sparse']);
    expect(error).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('HF_HUB_OFFLINE is set'),
    });
    expect(out).toEqual([]);
  });

  test('of several, one that fails does not keep the others away', async () => {
    const { out, err, code, error } = await run(['pull', '--json'], ['sparse']);
    expect(error).toBeNull();
    expect(code).toBe(1);
    expect(out.map((line) => JSON.parse(line))).toMatchObject([
      { model: 'dense', error: { code: 'MODEL_UNAVAILABLE' } },
      { model: 'sparse', sha256 },
    ]);
    expect(err).toContainEqual(expect.stringMatching(/^error\[MODEL_UNAVAILABLE\]: model "dense"/));
  });

  test('on a terminal the bar fits its width and is cleared at the end', async () => {
    const { drawn } = await run(['pull', 'dense'], ['dense'], { columns: 40 });
    expect(drawn.length).toBeGreaterThan(1);
    const clear = '\r\u001b[2K';
    for (const frame of drawn) {
      expect(frame.startsWith(clear)).toBe(true);
      expect(frame.slice(clear.length).length).toBeLessThan(40);
    }
    expect(drawn[0]).toContain('%');
    expect(drawn.at(-1)).toBe(clear);
  });

  test('Ctrl-C is no bug: it says how to go on', async () => {
    const { error, err, code } = await run(['pull', 'dense'], ['dense'], { signal: AbortSignal.abort() });
    expect(error).toBeNull();
    expect(code).toBe(130);
    expect(err.at(-1)).toMatch(/^stopped; dense is not complete/);
  });
});
