import { createRng, seedFrom } from '@perwatt/core';
import type { RoutingItem } from '@perwatt/metrics';
import { describe, expect, test } from 'vitest';
import type { RouteGroup } from './route-data.js';
import { type RouteQuestion, routerKinds, routeTable } from './route-table.js';
import { routeBlock } from './route-text.js';

/** Long prompts need the strong model, short ones don't. */
function group(given: Partial<RouteGroup> = {}, items = 400): RouteGroup {
  const long = (i: number) => createRng(seedFrom(1, 'long', i))() < 0.4;
  const rows = (repeat: number) =>
    Array.from({ length: items }, (_, i): RoutingItem => {
      const luck = createRng(seedFrom(2, 'luck', i, repeat))();
      const right = (chance: number) => (luck < chance ? 1 : 0);
      const outcome = (score: number, energy_j: number) => ({
        score,
        energy_j,
        flop: energy_j * 1e9,
        cost_usd: null,
      });
      return {
        item_id: `i${i}`,
        outcomes: { small: outcome(right(long(i) ? 0.1 : 0.9), 1), large: outcome(right(0.95), 10) },
      };
    });
  const first = rows(0);
  return {
    accelerator: 'a',
    strategy: 's',
    load: 'c1',
    models: ['small', 'large'],
    repeats: [0, 1],
    items: new Map([
      [0, first],
      [1, rows(1)],
    ]),
    coverage: first.map(({ item_id, outcomes }) => ({
      item_id,
      subject: null,
      guess_rate: 0.25,
      right: Object.fromEntries(Object.entries(outcomes).map(([model, { score }]) => [model, score === 1])),
    })),
    prompts: new Map(
      first.map(({ item_id }, i) => {
        const words = Math.floor(20 * createRng(seedFrom(3, 'words', i))());
        return [item_id, 'word '.repeat((long(i) ? 40 : 3) + words)];
      }),
    ),
    energy_methods: ['isolated'],
    boundaries: ['counter gpu'],
    gaps: ['cost of small: the price file has no such model'],
    ...given,
  };
}

const question: RouteQuestion = {
  resource: 'energy_j',
  routers: routerKinds,
  accuracy: 0.8,
  strong_share: 0.4,
  seed: 3,
};
const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) });

describe('questions whose length tells how hard they are', () => {
  const table = routeTable(group(), question);
  const of = (name: RegExp) => table.rows.find(({ router }) => name.test(router))!;

  test('a learned router saves much and loses little, and lies between random and oracle', () => {
    expect(table).toMatchObject({ strong: 'large', weak: 'small', chosen_repeat: 0, scored_repeat: 1 });
    const [learned, random, oracle] = [of(/^learned/), of(/^random/), of(/^oracle/)];
    expect(learned.in_sample).toBe(false);
    expect(learned.accuracy!).toBeGreaterThan(random.accuracy! + 0.1);
    expect(learned.saving!).toBeGreaterThan(0.4);
    expect(oracle.accuracy!).toBeGreaterThan(learned.accuracy! - 0.03);
    expect(learned.saving!).toBeLessThan(oracle.saving! + 0.1);
    expect(table.learned?.curve.apgr).toBeGreaterThan(0.65);
  });

  test('it learned on one half and was scored on the other', () => {
    const { training_items = 0, held_out_items = 0, model } = table.learned ?? {};
    expect(training_items + held_out_items).toBe(400);
    expect(Math.abs(training_items - 200)).toBeLessThan(40);
    expect(of(/^learned/).items).toBe(held_out_items);
    expect(model).toMatchObject({
      format: 'perwatt-router/1',
      weak: 'small',
      strong: 'large',
      strong_share: 0.4,
    });
    expect((model?.trained.items ?? 0) + (model?.trained.calibration_items ?? 0)).toBe(training_items);
    expect(model?.trained.calibration_items).toBeGreaterThan(0);
  });

  test('length alone does as well here', () => {
    expect(of(/^threshold/).accuracy!).toBeGreaterThan(of(/^random/).accuracy! + 0.1);
  });

  test('an accurate router saves its share of the oracle only where misroutes go to the strong one, and every row has its accuracy', () => {
    const onOne = routeTable(group({ repeats: [0] }), question);
    const find = (name: RegExp) => onOne.rows.find(({ router }) => name.test(router))!;
    const oracle = find(/^oracle/).saving!;
    expect(find(/misroutes to strong/).saving! / oracle).toBeCloseTo(0.8, 9);
    expect(Math.abs(find(/misroutes to cheapest/).saving! / oracle - 0.8)).toBeGreaterThan(0.02);
    expect(find(/misroutes to cheapest/).accuracy!).toBeLessThan(find(/^oracle/).accuracy! - 0.02);
    expect(onOne.rows.every(({ saving, accuracy }) => saving !== null && accuracy !== null)).toBe(true);
    expect(onOne.notes.join('\n')).toMatch(/optimistic/);
  });

  test('coverage stands beside its floor, which guessing at a quarter reaches with two models', () => {
    expect(table.coverage.floor).toBeCloseTo(1 - 0.75 ** 2, 12);
    expect(routeBlock(table).head[1]).toMatch(/guessing alone would cover 43\.8 %; best single model large/);
  });

  test('the same again', () => {
    expect(routeTable(group(), question)).toEqual(table);
  });
});

// biome-ignore format: a table is read in columns
test.each<[why: string, given: Partial<RouteGroup>, asked: Partial<RouteQuestion>, message: RegExp]>([
  ['no price',               {},                                              { resource: 'cost_usd' },            /no item has cost_usd .*: cost of small: the price file/],
  ['an unknown model',       {},                                              { weak: 'huge' },                    /no model "huge", only small, large/],
  ['one model as both',      {},                                              { strong: 'small', weak: 'small' },  /"small" cannot be both/],
  ['meters of two kinds',    { boundaries: ['counter gpu', 'external wall'] }, {},                                  /different boundary: counter gpu and external wall/],
])('%s is refused', (_, given, asked, message) => {
  expect(() => routeTable(group(given, 20), { ...question, ...asked })).toThrowError(refusal(message));
});

test('compute is routed whatever the meters, and too little to learn from is a note', () => {
  const table = routeTable(group({ boundaries: ['counter gpu', 'external wall'] }, 3), {
    ...question,
    resource: 'flop',
  });
  expect(table.learned).toBeNull();
  expect(table.notes.join('\n')).toMatch(/no learned router: /);
  expect(table.rows.some(({ router }) => router === 'oracle')).toBe(true);
});
