import { beforeEach, describe, expect, test } from 'vitest';
import { aiBenchmarks } from './ai-benchmarks.js';
import { ecocompute } from './ecocompute.js';
import { noResults, ofMetric, recordsOf, rowsOf, sharedFile } from './foreign-files.fixture.js';
import { mlEnergy } from './ml-energy.js';
import { powerCap } from './power-cap.js';

beforeEach(({ skip }) => skip(noResults !== null, noResults ?? ''));

const joules = 'energy_per_output_token_j';
const valuesOf = (rows: readonly { readonly value: number | null }[]) =>
  rows.map(({ value }) => value ?? NaN);

describe('ml-energy', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['gpqa',            187, 12, 0.028447, 0.375912, 11.589075],
    ['lm-arena-chat',   328, 18, 0.046696, 0.473498, 21.864374],
    ['sourcegraph-fim',  50,  3, 0.111894, 1.366123, 34.333625],
    ['image-chat',      173, 11, 0.105128, 0.680669, 12.425178],
    ['video-chat',      100,  6, 0.229984, 1.176749, 12.916072],
  ])('%s has the rows and the range that its notes state', async (task, rows, models, least, middle, most) => {
    const all = await rowsOf(mlEnergy, [sharedFile(`ml-energy-v3/${task}.json`)]);
    const energy = ofMetric(all, joules);
    const sorted = valuesOf(energy).sort((a, b) => a - b);
    expect(recordsOf(all)).toBe(rows);
    expect(new Set(all.map(({ model }) => model)).size).toBe(models);
    const picked = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    for (const [i, stated] of [least, middle, most].entries()) {
      expect(Math.abs((picked[i] ?? NaN) - stated)).toBeLessThan(1e-6);
    }
    expect(energy.every((row) => row.dataset === task && row.scope === 'gpu' && row.window === 'steady')).toBe(true);
  });

  test('five files and the index make 838 records of 34 models, none inconsistent or over a limit', async () => {
    const tasks = ['gpqa', 'image-chat', 'index', 'lm-arena-chat', 'sourcegraph-fim', 'video-chat'];
    const all = await rowsOf(
      mlEnergy,
      tasks.map((task) => sharedFile(`ml-energy-v3/${task}.json`)),
    );
    expect(recordsOf(all)).toBe(838);
    expect(all).toHaveLength(8380);
    expect(new Set(all.map(({ model }) => model)).size).toBe(34);
    expect(new Set(all.map(({ accelerator }) => accelerator))).toEqual(new Set(['H100', 'B200']));
    expect(new Set(all.map(({ source_version, date }) => `${source_version} ${date}`))).toEqual(
      new Set(['0cd52da 2026-02-16']),
    );
    const flags = new Set(all.flatMap((row) => row.flags?.split(' ') ?? []));
    expect(flags).toEqual(new Set(['repeated_key']));
  });

  test('rows of one configuration are kept apart, and marked', async () => {
    const all = await rowsOf(mlEnergy, [
      sharedFile('ml-energy-v3/gpqa.json'),
      sharedFile('ml-energy-v3/lm-arena-chat.json'),
    ]);
    const repeated = ofMetric(all, joules).filter((row) => row.flags === 'repeated_key');
    const pairs = repeated.map((row) => [row.dataset, row.concurrency, Number(row.value?.toFixed(6))]);
    expect(pairs.sort()).toEqual([
      ['gpqa', 96, 0.087625],
      ['gpqa', 96, 0.092174],
      ['lm-arena-chat', 256, 0.133473],
      ['lm-arena-chat', 256, 0.147022],
      ['lm-arena-chat', 512, 0.098774],
      ['lm-arena-chat', 512, 0.117508],
    ]);
    expect(repeated.every((row) => row.note?.startsWith('another row'))).toBe(true);
    const widest = (0.117508 - 0.098774) / 0.098774;
    for (const { spread, spread_kind } of repeated) {
      expect(spread_kind).toBe('declared');
      expect(spread).toBeCloseTo(widest, 3);
    }
  });

  test('what the source computed is not called measured', async () => {
    const all = await rowsOf(mlEnergy, [sharedFile('ml-energy-v3/gpqa.json')]);
    const basis = Object.fromEntries(all.map(({ metric, basis }) => [metric, basis]));
    expect(basis).toMatchObject({
      [joules]: 'measured',
      power_w: 'derived',
      'ml-energy:energy_per_request_j': 'allocated',
    });
    const power = ofMetric(all, 'power_w');
    const rate = ofMetric(all, 'tokens_per_s');
    const energy = ofMetric(all, joules);
    for (const [i, { value }] of energy.entries()) {
      const recomputed = (power[i]!.value ?? 0) / (rate[i]!.value ?? 0);
      expect(Math.abs(recomputed / (value ?? 0) - 1)).toBeLessThan(1e-9);
    }
  });

  test('the smallest batch over its limit is the one its notes name', async () => {
    const all = await rowsOf(mlEnergy, [sharedFile('ml-energy-v3/gpqa.json')]);
    const shares = ofMetric(all, 'ml-energy:batch')
      .map((row) => ({
        model: row.model,
        limit: row.concurrency,
        share: (row.value ?? 0) / (row.concurrency ?? 1),
      }))
      .sort((a, b) => a.share - b.share);
    expect(shares[0]).toMatchObject({ model: 'Qwen/Qwen3-8B', limit: 96 });
    expect(shares[0]?.share).toBeCloseTo(0.854, 4);
  });
});

describe('ai-benchmarks', () => {
  const read = () => rowsOf(aiBenchmarks, [sharedFile('geerlingguy-ai-benchmarks/results.csv')]);

  test('has 102 rows of 62 systems, 16 without watts, and the models its notes count', async () => {
    const all = await read();
    const energy = ofMetric(all, joules);
    expect([recordsOf(all), energy.filter(({ value }) => value === null).length]).toEqual([102, 16]);
    expect(new Set(energy.map(({ accelerator }) => accelerator)).size).toBe(62);
    const counts: Record<string, number> = {};
    for (const { model } of energy) counts[model ?? ''] = (counts[model ?? ''] ?? 0) + 1;
    expect(counts).toEqual({
      'DeepSeek R1 14b': 24,
      'DeepSeek R1 671b': 2,
      'gpt-oss 20b': 13,
      'Llama 3.2:3b': 52,
      'Llama 3.1:70b': 8,
      'Llama 3.1:405b': 3,
    });
    const known = valuesOf(energy.filter(({ value }) => value !== null));
    expect([Math.min(...known).toFixed(4), Math.max(...known).toFixed(4)]).toEqual(['0.7286', '133.9450']);
  });

  test('a peak bounds the energy from above, an average does not, and neither is ranked', async () => {
    const energy = ofMetric(await read(), joules);
    const peak = energy.find(({ value }) => Math.abs((value ?? 0) - 5.018920964428587) < 1e-12);
    expect(peak).toMatchObject({ statistic: 'peak', bound: 'upper', rankable: false, scope: 'wall' });
    const mean = energy.filter(({ statistic }) => statistic === 'mean');
    expect(mean).toEqual([
      expect.objectContaining({
        value: 114.11483253588517,
        bound: 'none',
        scope: 'wall',
        model: 'DeepSeek R1 671b',
      }),
    ]);
    expect(energy.some(({ rankable }) => rankable)).toBe(false);
  });

  test('a row without watts has its rate, and no energy', async () => {
    const all = await read();
    const without = all.filter(({ reason }) => reason === 'no_power_published');
    expect(without).toHaveLength(32);
    expect(without.every(({ value, rankable }) => value === null && !rankable)).toBe(true);
    expect(ofMetric(all, 'tokens_per_s').every(({ value }) => (value ?? 0) > 0)).toBe(true);
  });
});

describe('ecocompute', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['a800_summary.csv',       15, 'CC-BY-4.0', '08f1142', 'A800-SXM4-80GB'],
    ['rtx5090.csv',             8, 'CC-BY-4.0', '3f733b0', 'RTX 5090'],
    ['t4.csv',                  8, 'CC-BY-4.0', '3f733b0', 'T4'],
    ['a800_batch_raw.csv',     70, 'MIT',       '12d7ad1', 'A800-SXM4-80GB'],
    ['a800_batch_summary.csv',  7, 'MIT',       '12d7ad1', 'A800-SXM4-80GB'],
  ])('%s has its rows, licence, version and card', async (name, records, licence, version, accelerator) => {
    const rows = await rowsOf(ecocompute, [sharedFile(`ecocompute/${name}`)]);
    expect(recordsOf(rows)).toBe(records);
    for (const row of rows) expect(row).toMatchObject({ licence, source_version: version, accelerator });
  });

  test('rounded energies are flagged, and only those', async () => {
    const flagged = async (name: string) => {
      const rows = ofMetric(await rowsOf(ecocompute, [sharedFile(`ecocompute/${name}`)]), joules);
      return rows.filter((row) => row.flags?.includes('rounded') || row.flags?.includes('inconsistent'))
        .length;
    };
    expect([await flagged('rtx5090.csv'), await flagged('t4.csv')]).toEqual([0, 0]);
    const rows = ofMetric(await rowsOf(ecocompute, [sharedFile('ecocompute/a800_summary.csv')]), joules);
    expect(rows.filter(({ flags }) => flags === 'rounded')).toHaveLength(14);
    expect(rows.some(({ flags }) => flags?.includes('inconsistent'))).toBe(false);
  });

  test('a perplexity better when quantised, and weights that nearly fill the card, are suspect', async () => {
    const rows = await rowsOf(
      ecocompute,
      ['a800_summary', 'rtx5090', 't4'].map((name) => sharedFile(`ecocompute/${name}.csv`)),
    );
    const suspect = rows.filter(({ flags }) => flags?.includes('suspect'));
    expect(suspect.map((row) => [row.model, row.weight_format, row.metric])).toEqual([
      ['Yi-1.5-9B', 'fp16', 'ecocompute:perplexity_wikitext2'],
      ...['energy_per_output_token_j', 'power_w', 'tokens_per_s'].map((metric) => [
        'Qwen2-7B',
        'fp16',
        metric,
      ]),
    ]);
  });

  test('ten runs of every batch size agree with their summary', async () => {
    const raw = ofMetric(await rowsOf(ecocompute, [sharedFile('ecocompute/a800_batch_raw.csv')]), joules);
    const summary = ofMetric(
      await rowsOf(ecocompute, [sharedFile('ecocompute/a800_batch_summary.csv')]),
      joules,
    );
    expect(summary.map(({ concurrency }) => concurrency)).toEqual([1, 2, 4, 8, 16, 32, 64]);
    for (const { concurrency, value, spread, n } of summary) {
      const runs = valuesOf(raw.filter((row) => row.concurrency === concurrency));
      const mean = runs.reduce((a, b) => a + b, 0) / runs.length;
      const sd = Math.sqrt(runs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (runs.length - 1));
      expect([runs.length, n]).toEqual([10, 10]);
      expect(mean).toBeCloseTo(value ?? NaN, 4);
      expect(sd).toBeCloseTo(spread ?? NaN, 4);
    }
    expect(raw.every(({ flags }) => flags === null)).toBe(true);
  });
});

describe('power-cap', () => {
  const read = () => rowsOf(powerCap, [sharedFile('qwen38-mtp-power-cap/rtx5090_power_cap.csv')]);
  const at = async (cap: number, depth: number) => {
    const wanted = (row: { readonly setting: string }) => {
      const setting = JSON.parse(row.setting) as { power_cap_w: number; draft_depth: number };
      return setting.power_cap_w === cap && setting.draft_depth === depth;
    };
    return ofMetric(await read(), joules).find(wanted)!;
  };

  // biome-ignore format: a table is read in columns
  test.each([
    [600, 0, '7.179', 'cap_not_reached'],
    [550, 0, '7.166', 'cap_not_reached'],
    [400, 0, '5.716', null],
    [600, 4, '3.714', null],
    [400, 4, '3.095', null],
  ])('cap %i W, depth %i: %s J a token', async (cap, depth, value, flags) => {
    const row = await at(cap, depth);
    expect(row.value?.toFixed(3)).toBe(value);
    expect(row.flags).toBe(flags);
  });

  test('has 35 rows of one board while decoding, its watts a percentile and its joules a bound', async () => {
    const rows = await read();
    expect(recordsOf(rows)).toBe(35);
    for (const row of rows) expect(row).toMatchObject({ window: 'decode', phase: 'decode', devices: 1 });
    for (const row of ofMetric(rows, joules)) expect(row).toMatchObject({ statistic: 'p95', bound: 'upper' });
    expect(ofMetric(rows, 'qwen38-mtp:draft_acceptance')).toHaveLength(30);
  });
});

test('all results together: 1,083 records, each row with its provenance, licence and digest-pinned version', async () => {
  const files = {
    ml: ['gpqa', 'image-chat', 'lm-arena-chat', 'sourcegraph-fim', 'video-chat'].map(
      (n) => `ml-energy-v3/${n}.json`,
    ),
    eco: ['a800_summary', 'rtx5090', 't4', 'a800_batch_raw', 'a800_batch_summary'].map(
      (n) => `ecocompute/${n}.csv`,
    ),
  };
  const all = [
    ...(await rowsOf(mlEnergy, files.ml.map(sharedFile))),
    ...(await rowsOf(aiBenchmarks, [sharedFile('geerlingguy-ai-benchmarks/results.csv')])),
    ...(await rowsOf(ecocompute, files.eco.map(sharedFile))),
    ...(await rowsOf(powerCap, [sharedFile('qwen38-mtp-power-cap/rtx5090_power_cap.csv')])),
  ];
  expect(recordsOf(all)).toBe(838 + 102 + 31 + 70 + 7 + 35);
  for (const row of all) {
    expect(row.provenance).toBe('published');
    expect(row.source_version).not.toBe(null);
    expect(row.value === null).toBe(row.reason !== null);
  }
});
