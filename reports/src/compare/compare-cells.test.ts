import { describe, expect, test } from 'vitest';
import { type DrawnCell, drawnCell } from './comparable.fixture.js';
import { compareCells } from './compare-cells.js';
import { compareFronts } from './compare-fronts.js';
import { compareYears } from './compare-years.js';
import { drawCells } from './draws.js';
import { yearBlocks } from './front-text.js';

const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) });

const two = (a: DrawnCell, b: DrawnCell) => [
  drawnCell({ ...a, axes: { accelerator: 'a', ...a.axes }, seed: 1 }),
  drawnCell({ ...b, axes: { accelerator: 'b', ...b.axes }, seed: 2 }),
];

const rowOf = (a: DrawnCell, b: DrawnCell, metric = 'energy_per_query_j', by = 'accelerator') =>
  compareCells(two(a, b), { by, metrics: [metric] }).rows[0];

describe('the verdict', () => {
  // biome-ignore format: a table is read in columns
  test.each<[why: string, a: DrawnCell, b: DrawnCell, verdict: string | null, reason: RegExp]>([
    ['twice the energy',                      { noise: 0.02 }, { noise: 0.02, energy_j: 20 },             'different',                   /exclude no difference/],
    ['the same energy',                       { noise: 0.02 }, { noise: 0.02 },                           'within noise',                /includes no difference/],
    ['3 % apart on sensors good for 5 %',     { band: 0.05, host: 'x' }, { band: 0.05, energy_j: 10.4, host: 'y' }, 'not resolved by the sensors', /the bounds of the sensors allow it/],
    ['twice the energy on such sensors',      { band: 0.05 }, { band: 0.05, energy_j: 20 },               'different',                   /./],
    ['two repeats, twice the energy',         { repeats: 2 }, { repeats: 2, energy_j: 20 },               'within noise',                /^between-run spread unknown: fewer than 3/],
    ['one of the cells is invalid',           {}, { energy_j: 20, state: 'invalid' },                     null,                          /b .*is invalid: it drifted/],
    ['a flagged cell is judged',              { noise: 0.02 }, { noise: 0.02, energy_j: 20, state: 'flagged' }, 'different',             /./],
  ])('%s', (_, a, b, verdict, reason) => {
    const row = rowOf(a, b);
    expect(row?.verdict).toBe(verdict);
    expect(row?.reason).toMatch(reason);
  });

  test('cells of different load are not ranked by IPW, and are by IPJ', () => {
    const cells = [drawnCell({}), drawnCell({ axes: { load: 'c8' }, energy_j: 20, seed: 3 })];
    const [ipw, ipj] = compareCells(cells, { by: 'load', metrics: ['ipw_per_w', 'ipj_per_j'] }).rows;
    expect([ipw?.verdict, ipw?.reason]).toEqual([
      null,
      'not ranked: IPW depends on load, and these have c1 and c8',
    ]);
    expect(ipj?.verdict).toBe('different');
    expect(compareCells(cells, { by: 'load' }).metrics).not.toContain('ipw_per_w');
  });

  test('of two systems of one kind, at most one comparison in twenty says different', () => {
    const said = Array.from({ length: 150 }, (_, seed) => {
      const cells = [
        drawnCell({ axes: { accelerator: 'a' }, noise: 0.05, items: 25, seed: 2 * seed }),
        drawnCell({ axes: { accelerator: 'b' }, noise: 0.05, items: 25, seed: 2 * seed + 1 }),
      ];
      return compareCells(cells, { by: 'accelerator', metrics: ['energy_per_query_j', 'ipj_per_j'] }).rows;
    });
    const wrong = said.filter((rows) => rows.some(({ verdict }) => verdict === 'different')).length;
    expect(wrong).toBeLessThanOrEqual(0.05 * said.length + 3);
  });
});

describe('what is refused', () => {
  test.each([
    [
      'boundary',
      { scope: 'gpu' },
      { scope: 'wall' },
      /energy_per_query_j of m \/ a .* and m \/ b .* differ in boundary "gpu" and "wall"/,
    ],
    ['workload', { digest: 'x' }, { digest: 'y' }, /differ in items "d x" and "d y"/],
  ] as const)('%s', (_, a, b, message) => {
    expect(() => rowOf(a, b)).toThrowError(refusal(message));
    const [row] = compareCells(two(a, b), {
      by: 'accelerator',
      metrics: ['energy_per_query_j'],
      allow_mixed: true,
    }).rows;
    expect(row?.mixed).toHaveLength(1);
  });

  test('other items are not paired by their names', () => {
    const cells = two({ digest: 'x' }, { digest: 'y' });
    const [row] = compareCells(cells, {
      by: 'accelerator',
      metrics: ['energy_per_query_j'],
      allow_mixed: true,
    }).rows;
    expect(row?.estimate).toMatchObject({ pairing: 'unpaired', unpaired_reason: 'the items differ' });
  });

  test('accuracy alone doesn’t care about the boundary', () => {
    expect(rowOf({ scope: 'gpu' }, { scope: 'wall', accuracy: 0.9 }, 'accuracy')?.verdict).toBe('different');
  });

  test('several cells of one value are not guessed at', () => {
    const cells = [
      drawnCell({ record: '1' }),
      drawnCell({ record: '2' }),
      drawnCell({ record: '3', axes: { accelerator: 'b' } }),
    ];
    expect(() => compareCells(cells, { by: 'accelerator' })).toThrowError(
      refusal(/2 cells of one configuration/),
    );
    expect(compareCells(cells.slice(0, 2), { by: 'record', metrics: ['accuracy'] }).rows).toHaveLength(1);
  });
});

test('unequal items pair on what both have, and say what was left out', () => {
  const row = rowOf({ items: 60 }, { items: 50, energy_j: 20 });
  expect(row?.estimate).toMatchObject({ pairing: 'paired', items: 50, dropped_items: 10 });
});

describe('draws', () => {
  const cells = [drawnCell({ record: '1' }), drawnCell({ record: '2', energy_j: 20 })];

  test('move cells together: a ratio of the same items spreads less than either', () => {
    const draws = drawCells(cells, ['energy_per_query_j'], { draws: 300 });
    const [a, b] = ['1', '2'].map((record) => (draws.get(record)?.['energy_per_query_j'] ?? []).map(Number));
    const cv = (values: readonly number[]) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) / mean;
    };
    expect(cv(a!.map((value, i) => value / b![i]!))).toBeLessThan(0.3 * cv(a!));
  });

  test('the spread of the draws is that of the interval', () => {
    const noisy = [drawnCell({ record: '1', noise: 0.1, repeats: 12 })];
    const values = (drawCells(noisy, ['energy_per_query_j']).get('1')?.['energy_per_query_j'] ?? []).map(
      Number,
    );
    const sorted = values.toSorted((x, y) => x - y);
    const { lo, hi } = noisy[0]!.figures['energy_per_query_j']!;
    const ratio = Math.log(sorted[975]! / sorted[24]!) / Math.log(hi! / lo!);
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(1.25);
  });

  test('the same draws every time', () => {
    expect(drawCells(cells, ['ipj_per_j'], { draws: 5 })).toEqual(
      drawCells(cells, ['ipj_per_j'], { draws: 5 }),
    );
  });
});

describe('fronts', () => {
  test('stand apart by boundary, unless asked otherwise', () => {
    const cells = [drawnCell({ record: '1', scope: 'gpu' }), drawnCell({ record: '2', scope: 'wall' })];
    const metrics = ['accuracy', 'energy_per_query_j'];
    expect(compareFronts(cells, { metrics }).map(({ points }) => points.length)).toEqual([1, 1]);
    const [one, ...more] = compareFronts(cells, { metrics, allow_mixed: true });
    expect([one?.points.length, one?.mixed, more.length]).toEqual([2, true, 0]);
  });

  test('a point that wins by far is on it in every draw, one that loses in none', () => {
    const cells = [
      drawnCell({ record: '1', accuracy: 0.9 }),
      drawnCell({ record: '2', accuracy: 0.2, energy_j: 50 }),
    ];
    const [front] = compareFronts(cells, { metrics: ['accuracy', 'energy_per_query_j'] });
    expect(front?.points.map(({ on_front, share }) => [on_front, share])).toEqual([
      [true, 1],
      [false, 0],
    ]);
    expect(front?.reference).toEqual({
      accuracy: 0,
      energy_per_query_j: cells[1]!.figures['energy_per_query_j']!.value,
    });
  });

  test.each([
    [['accuracy'], /give two or three/],
    [['accuracy', 'accuracy'], /give two or three/],
    [['accuracy', 'joy'], /no figure "joy"/],
  ])('%j is refused', (metrics, message) => {
    expect(() => compareFronts([drawnCell({})], { metrics })).toThrowError(refusal(message));
  });
});

describe('years', () => {
  const at = (model: string, accelerator: string, energy_j: number, accuracy: number) =>
    drawnCell({
      axes: { model, accelerator },
      energy_j,
      accuracy,
      noise: 0.01,
      years: { model: model === 'old' ? 2023 : 2025, accelerator: accelerator === 'old' ? 2022 : 2024 },
    });
  const cells = [
    at('old', 'old', 20, 0.25),
    at('new', 'old', 20, 0.75),
    at('old', 'new', 10, 0.25),
    at('new', 'new', 10, 0.75),
  ];

  test('a gain splits into its factors, with intervals', () => {
    const { table, splits } = compareYears(cells, 'ipj_per_j');
    expect(table.entries).toHaveLength(4);
    const [{ split, pair, years } = { split: null, pair: null, years: null }] = splits;
    expect([pair, years]).toEqual([
      { model: ['old', 'new'], accelerator: ['old', 'new'] },
      { model: [2023, 2025], accelerator: [2022, 2024] },
    ]);
    const ofRight = 0.75 / 0.25;
    expect(split?.mean.hardware.value).toBeCloseTo(2, 1);
    expect(Math.abs((split?.mean.model.value ?? 0) / ofRight - 1)).toBeLessThan(0.35);
    expect((split?.mean.model.value ?? 0) * (split?.mean.hardware.value ?? 0)).toBeCloseTo(
      split?.gain.value ?? 0,
      9,
    );
    expect(split?.mean.hardware.lo).toBeLessThan(2.1);
    expect(split?.mean.hardware.hi).toBeGreaterThan(1.9);
  });

  test('joules are turned over, so that more is better, and the paper stands in a block of its own', () => {
    const years = compareYears(cells, 'energy_per_query_j');
    expect(years.inverted).toBe(true);
    expect(years.splits[0]?.split.mean.hardware.value).toBeCloseTo(2, 1);
    const blocks = yearBlocks(years);
    expect(blocks[0]?.head).toEqual(['1 / energy_per_query_j by year of release']);
    expect(blocks.at(-1)?.head[0]).toMatch(/^published by others, not measured here/);
    expect(
      blocks
        .slice(0, -1)
        .flatMap(({ grid }) => grid.rows.flat())
        .join(' '),
    ).not.toMatch(/5\.3 x/);
  });

  test('a missing corner is named, and cells without years are left out', () => {
    const { splits, table } = compareYears(
      [...cells.slice(0, 2), cells[3]!, drawnCell({ axes: { model: 'z' } })],
      'ipj_per_j',
    );
    expect(splits[0]?.split.hardware_first.hardware.reason).toBe('no cell of old on new');
    expect(table.left_out).toEqual([
      { model: 'z', accelerator: 'a', reason: 'release year of the model unknown' },
    ]);
  });
});
