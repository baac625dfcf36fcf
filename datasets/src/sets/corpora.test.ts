import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { loadDataset } from '../catalogue.js';
import { datasetCatalogue } from '../index.js';

const repo = resolve(import.meta.dirname, '../../..');
const corpora = join(resolve(repo, process.env['PERWATT_SHARED'] ?? '../shared'), 'data/corpora');
beforeEach(({ skip }) => skip(!existsSync(corpora), `no reference data in ${corpora}; set PERWATT_SHARED`));

const read = (kind: string, path: string, options: Record<string, unknown> = {}) =>
  loadDataset({ kind, options: { path, ...options } }, { root: corpora, seed: 1 });

// biome-ignore format: a table is read in columns
const files: readonly (readonly [kind: string, path: string, rows: number, subjects: number, knownBad: readonly string[]])[] = [
  ['gsm8k',           'gsm8k/test.jsonl',                               1319, 1,  ['gsm8k-368']],
  ['svamp',           'svamp/test.jsonl',                               1000, 4,  ['chal-680']],
  ['aqua',            'aqua/test.jsonl',                                254,  1,  ['aqua-test-117', 'aqua-test-124', 'aqua-test-126', 'aqua-test-193']],
  ['math-500',        'math500/test.jsonl',                             500,  7,  []],
  ['mmlu-pro',        'mmlu-pro/test.stratified.jsonl',                 1400, 14, []],
  ['mmlu-pro',        'mmlu-pro/test.first.jsonl',                      1398, 2,  []],
  ['2wikimultihopqa', '2wikimultihopqa/dev1000.qa-only.jsonl',          1000, 1,  []],
  ['2wikimultihopqa', '2wikimultihopqa/qa-only.500.jsonl',              500,  1,  []],
  ['musique',         'musique/ans_dev.100.jsonl',                      100,  1,  []],
  ['musique',         'musique/qa-only.500.jsonl',                      500,  1,  []],
  ['planbench',       'planbench/blocksworld.task1_prompts.jsonl',      500,  0,  []],
  ['planbench',       'planbench/blocksworld_3.task1_prompts.jsonl',    100,  1,  []],
  ['planbench',       'planbench/mystery_blocksworld.task1_prompts.jsonl', 200, 0, []],
  ['humaneval',       'humaneval/HumanEval.jsonl',                      164,  1,  []],
  ['cruxeval',        'cruxeval-o/zeroeval_gpt4.first300.jsonl',        300,  1,  []],
];

describe('the published files', () => {
  test.each(files)('%s: %s loads whole', async (kind, path, rows, subjects, knownBad) => {
    const dataset = await read(kind, path);
    expect(dataset.items).toHaveLength(rows);
    expect(dataset.left_out).toBeUndefined();
    expect(dataset.known_bad).toEqual(knownBad);
    if (subjects > 0) expect(new Set(dataset.items.map((i) => i.subject)).size).toBe(subjects);
    const copies = datasetCatalogue().find((e) => e.id === kind)?.card?.copies ?? [];
    expect(copies.find((copy) => copy.sha256 === dataset.files?.[0]?.sha256)?.rows).toBe(rows);
  });

  test('GSM8K: every gold is a whole number, two are negative', async () => {
    const { items } = await read('gsm8k', 'gsm8k/test.jsonl');
    expect(items.every((i) => /^-?\d+$/.test(i.gold))).toBe(true);
    expect(items.filter((i) => i.gold.startsWith('-'))).toHaveLength(2);
  });

  test('AQuA: options lose their labels, and a text that stands twice makes an alias', async () => {
    const { items, guess_rate } = await read('aqua', 'aqua/test.jsonl');
    expect(guess_rate).toBeCloseTo(0.2);
    expect(items.flatMap((i) => i.options ?? []).filter((text) => /^[A-E]\)/.test(text))).toEqual([]);
    const doubled = items.filter((i) => i.aliases !== undefined);
    expect(doubled.map(({ id, gold, aliases }) => [id, gold, aliases])).toEqual([
      ['aqua-test-117', 'C', ['A']],
      ['aqua-test-124', 'E', ['B']],
      ['aqua-test-126', 'B', ['D']],
      ['aqua-test-193', 'D', ['C']],
    ]);
  });

  test('MMLU-Pro: every key is among the options', async () => {
    const { items, guess_rate } = await read('mmlu-pro', 'mmlu-pro/test.stratified.jsonl');
    expect(guess_rate).toBeGreaterThan(0.1);
    expect(guess_rate).toBeLessThan(0.15);
    for (const { gold, options } of items) expect(gold.charCodeAt(0) - 65).toBeLessThan(options!.length);
  });

  test('2WikiMultiHopQA: an answer is a text or a list of names', async () => {
    const { items } = await read('2wikimultihopqa', '2wikimultihopqa/dev1000.qa-only.jsonl');
    expect(Math.max(...items.map((i) => i.aliases?.length ?? 0))).toBeGreaterThan(200);
    expect(items.filter((i) => i.gold === 'yes')).toHaveLength(60);
    expect(items.filter((i) => i.gold === 'no')).toHaveLength(23);
    await expect(
      read('2wikimultihopqa', '2wikimultihopqa/dev1000.qa-only.jsonl', { prompt: 'official' }),
    ).rejects.toMatchObject({
      message: expect.stringContaining('the prompt asks for {passages}, which this row does not have'),
    });
  });

  test('MuSiQue: paragraphs, support and aliases', async () => {
    const { items } = await read('musique', 'musique/ans_dev.100.jsonl', { prompt: 'official' });
    expect(items.filter((i) => i.aliases !== undefined)).toHaveLength(34);
    for (const { data, prompt } of items) {
      expect(data).toMatchObject({ kind: 'em_f1', f1: 'squad2', answerable: true });
      expect(data?.['support']).toHaveLength(2);
      expect(prompt).toContain('Passage 20:');
    }
  });

  test('PlanBench: the facts told in text are those of the planning problems', async () => {
    const { items } = await read('planbench', 'planbench/blocksworld.task1_prompts.jsonl');
    const lines = readFileSync(join(corpora, 'planbench/blocksworld.instances.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const problems = new Map(
      lines.map((line) => {
        const { instance, pddl } = JSON.parse(line) as { instance: number; pddl: string };
        return [`blocksworld-${instance}`, pddl];
      }),
    );
    for (const { id, data } of items) {
      const pddl = problems.get(id)!;
      const at = pddl.indexOf('(:goal');
      expect(sorted(data?.['init'])).toEqual(factsIn(pddl.slice(0, at)));
      expect(sorted(data?.['goal'])).toEqual(factsIn(pddl.slice(at)));
    }
  });

  test.each([
    ['blocksworld', 'blocksworld'],
    ['blocksworld_3', 'blocksworld-3'],
    ['mystery_blocksworld', 'mystery-blocksworld'],
  ])('PlanBench: objects of the gold plans of %s are those of the facts', async (file, set) => {
    const { items } = await read('planbench', `planbench/${file}.task1_prompts.jsonl`);
    expect(items[0]?.id).toBe(`${set}-2`);
    for (const { gold, data } of items) {
      const symbols = Object.values(data?.['objects'] as Record<string, string>);
      const steps = gold.split('\n');
      expect(steps.filter((step) => !/^\([a-z-]+( [a-z])+\)$/.test(step))).toEqual([]);
      const used = steps.flatMap((step) => step.slice(1, -1).split(' ').slice(1));
      expect(symbols).toEqual(expect.arrayContaining(used));
    }
  });

  test('HumanEval: what a checker runs is all there', async () => {
    const { items } = await read('humaneval', 'humaneval/HumanEval.jsonl');
    for (const { data } of items) {
      expect(data?.['prompt']).toContain(`def ${data?.['entry_point']}(`);
      expect(data?.['test']).toContain('def check(');
    }
  });
});

const factsIn = (pddl: string) =>
  [...pddl.matchAll(/\((?:handempty|ontable \w+|clear \w+|on \w+ \w+|holding \w+)\)/g)]
    .map(([fact]) => fact.slice(1, -1))
    .sort();

const sorted = (facts: unknown) => (facts as string[][]).map((fact) => fact.join(' ')).sort();
