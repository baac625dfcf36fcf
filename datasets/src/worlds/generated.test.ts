import { createHash } from 'node:crypto';
import { PerwattError } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loadDataset } from '../catalogue.js';
import { allGenerated } from './all-generated.js';
import { actionText } from './episode.js';
import { worldOf } from './worlds.js';

type Options = Record<string, unknown>;

const load = (kind: string, options: Options = {}, rest: { limit?: number; seed?: number } = {}) =>
  loadDataset({ kind, options, limit: 8, ...rest }, { root: '/', seed: 42 });

const kinds = allGenerated.map(({ entry }) => entry.id);
const levelsOf = (kind: string) =>
  Number(/^1 to (\d+)/.exec(allGenerated.find((l) => l.entry.id === kind)!.entry.options[0]!.summary)![1]);

/** Every set at every level. */
const all = kinds.flatMap((kind) => Array.from({ length: levelsOf(kind) }, (_, i) => [kind, i + 1] as const));

describe.each(all)('%s at level %i', (kind, level) => {
  test('the same seed gives the same questions, another gives others; a lower limit gives the first of them', async () => {
    const [a, b, other, few] = await Promise.all([
      load(kind, { level }),
      load(kind, { level }),
      load(kind, { level }, { seed: 7 }),
      load(kind, { level }, { limit: 3 }),
    ]);
    expect(b).toEqual(a);
    expect(other.digest).not.toBe(a.digest);
    expect(few.items).toEqual(a.items.slice(0, 3));
    expect(a.items).toHaveLength(8);
  });

  test('ids and prompts differ, ids are fit for file names, data is plain JSON', async () => {
    const { items, ...facts } = await load(kind, { level }, { limit: 20 });
    expect(facts).toMatchObject({ id: kind, kind: 'generated', licence: 'Apache-2.0' });
    expect(new Set(items.map((i) => i.id)).size).toBe(items.length);
    // What a game's secret is tells its items apart; no prompt shows it.
    if (kind !== 'guess-number') expect(new Set(items.map((i) => i.prompt)).size).toBe(items.length);
    expect(items.map((i) => i.id).filter((id) => !/^[\w-]{1,80}$/.test(id))).toEqual([]);
    for (const item of items) expect(JSON.parse(JSON.stringify(item))).toEqual(item);
  });

  test('no prompt holds its gold answer, whole or, in a world, its actions in their order', async () => {
    const { items, grader } = await load(kind, { level }, { limit: 12 });
    for (const { prompt, gold, data } of items) {
      if (grader === 'em_f1') continue;
      expect(gold).not.toBe('');
      const lines = gold.split('\n');
      expect(lines.length > 2 && lines.every((line) => prompt.includes(line)), gold).toBe(false);
      if (gold.length > 12) expect(prompt).not.toContain(gold);
      expect(prompt).not.toContain(JSON.stringify(data));
    }
  });
});

describe.each(kinds)('%s', (kind) => {
  test('one question has one id whatever the seed', async () => {
    const seeds = await Promise.all([1, 2, 3].map((seed) => load(kind, {}, { seed, limit: 12 })));
    const byId = new Map(seeds.flatMap(({ items }) => items).map((item) => [item.id, item]));
    for (const { items } of seeds) for (const item of items) expect(byId.get(item.id)).toEqual(item);
  });

  test.each<readonly [options: Options, message: string]>([
    [{ level: 0 }, `data set "${kind}": option "level" is 0, not a whole number from 1 to ${levelsOf(kind)}`],
    [{ level: 'hard' }, `data set "${kind}": option "level" is "hard", not a whole number`],
    [{ levle: 1 }, `data set "${kind}": unknown option "levle"; did you mean "level"?`],
  ])('%j is an error: %s', async (options, message) => {
    const error = await load(kind, options).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PerwattError);
    expect(error).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(message) });
  });

  test('loading ends with its signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(loadDataset({ kind, options: {} }, { root: '/', seed: 1, signal })).rejects.toThrow(
      'enough',
    );
  });
});

test('the digests of ten questions are those of every other run and machine', async () => {
  const digests = await Promise.all(
    kinds.map(async (kind) => [kind, (await load(kind, {}, { limit: 10 })).digest.slice(0, 12)] as const),
  );
  expect(Object.fromEntries(digests)).toMatchInlineSnapshot(`
    {
      "blocksworld": "9664a1065a96",
      "code_f": "2ac8b1cac4f8",
      "code_i": "b655ac1f3969",
      "code_o": "e8233610bbea",
      "detective": "a06846ff90a6",
      "guess-number": "0b1f06b6575e",
      "household": "cbcab5a57b33",
      "multi-hop": "0394d8c37afd",
      "shared-prefix": "e319d09395bd",
      "shop": "5c917bd1b556",
      "zebra": "794cd8cb5bca",
    }
  `);
});

describe('an action as an actor writes it', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [written: string, action: string, why: string]>([
    ['go to fridge 1',                       'go to fridge 1',   'as it is'],
    ['Action: go to fridge 1.',              'go to fridge 1',   'a label and a full stop'],
    ['> go to fridge 1',                     'go to fridge 1',   'a prompt sign'],
    ['think first\n\n**Action:** `look`\n\n', 'look',            'the last line, marks left out'],
    ['1. open drawer 2',                     'open drawer 2',    'a numbered list'],
    ['- search[red shoes]',                  'search[red shoes]', 'a list, brackets kept'],
    ['-3',                                   '-3',               'a sign is no list'],
    ['1234',                                 '1234',             'a number is no list'],
    ['',                                     '',                 'nothing'],
    ['``` \n look \n ```',                   'look',             'a block of code'],
  ])('%j is %j: %s', (written, action) => {
    expect(actionText(written)).toBe(action);
  });
});

describe('items in worlds', () => {
  test.each(kinds)('%s: every item that names a world can be opened in it', async (kind) => {
    const { items, grader } = await load(kind, {}, { limit: 3 });
    for (const item of items) {
      const world = worldOf(item);
      if (grader === 'environment') expect(world).not.toBeNull();
      if (world !== null) expect(world.open(item).won()).toBe(false);
    }
  });
});

test('the hash that names items is the one of the platform', () => {
  expect(createHash('sha256').update('a').digest('hex').slice(0, 12)).toBe('ca978112ca1b');
});
