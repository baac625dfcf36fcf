import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Item } from '@perwatt/core';
import { tableFromJSON, tableToIPC } from 'apache-arrow';
import { afterAll, describe, expect, test } from 'vitest';
import { loadDataset } from '../catalogue.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-sets-'));
afterAll(() => rmSync(root, { recursive: true }));

type Options = Record<string, unknown>;

const loadFile = (kind: string, path: string, options: Options = {}, seed = 1) =>
  loadDataset({ kind, options: { path, ...options } }, { root, seed });

function load(kind: string, records: readonly unknown[], options: Options = {}, seed = 1) {
  writeFileSync(join(root, 'data.json'), JSON.stringify(records));
  return loadFile(kind, 'data.json', options, seed);
}

async function parquet(path: string, select: string): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`COPY (${select}) TO '${join(root, path)}' (FORMAT parquet)`);
  connection.closeSync();
}

const only = (items: readonly Item[]): Item => {
  expect(items).toHaveLength(1);
  return items[0]!;
};

describe('records of sets', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [kind: string, record: object, item: object, why: string]>([
    ['svamp',     { ID: 'chal-1', Body: 'Two birds.', Question: 'And three?', Answer: 5.5, Type: 'Common-Divison' },
                  { id: 'chal-1', gold: '5.5', subject: 'Common-Division' }, 'a misspelt type'],
    ['svamp',     { ID: 'chal-2', Body: 'Two birds.', Question: 'And three?', Answer: '-145.0' },
                  { gold: '-145', subject: null, prompt: expect.stringMatching(/^Two birds\. And three\?\n/) }, 'a whole answer written as a decimal'],
    ['aime-2024', { ID: '2024-I-1', Problem: 'p', Solution: 's', Answer: 33 },
                  { id: 'aime-2024-2024-I-1', gold: '33' }, 'capital names and a number'],
    ['aime-2025', { problem: 'p', answer: '033' },
                  { id: 'aime-2025-0', gold: '33' }, 'leading zeros'],
    ['math',      { problem: 'p', level: 'Level 5', type: 'Algebra', solution: 'so $\\boxed{\\frac{1}{2}}$, that is \\fbox{x_{3}}.' },
                  { gold: 'x_{3}', subject: 'Algebra', data: { kind: 'facts', level: '5' } }, 'the last box, braces matched'],
    ['math',      { problem: 'p', level: 'Level 5', type: 'Algebra', solution: 'so $\\boxed 7$.' },
                  { gold: '7' }, 'a box without braces'],
    ['arc',       { id: 'q', question: { stem: 'Red?', choices: [{ text: 'sky', label: '1' }, { text: 'blood', label: '2' }] }, answerKey: '2' },
                  { id: 'q', gold: 'B', options: ['sky', 'blood'] }, 'numbers for labels, official form'],
    ['arc',       { id: 'q', question: 'Red?', choices: { text: ['sky', 'blood'], label: ['A', 'B'] }, answerKey: 'A' },
                  { gold: 'A' }, 'columns of choices'],
    ['supergpqa', { uuid: 'u', question: 'q', options: ['x', 'y'], answer: 'y', answer_letter: 'B', discipline: 'Law', difficulty: 'hard' },
                  { id: 'u', gold: 'B', subject: 'Law', data: { kind: 'facts', level: 'hard' } }, 'a key with its text'],
    ['hotpotqa',  { _id: 'h', question: 'q', answer: 'yes', type: 'comparison', supporting_facts: [['T', 1]], context: [['T', ['a.', ' b.']]] },
                  { id: 'h', gold: 'yes', subject: 'comparison', data: { kind: 'em_f1', f1: 'hotpot', support: [['T', 1]] } }, 'lists of pairs'],
    ['hotpotqa',  { id: 'h', question: 'q', answer: 'x', supporting_facts: { title: ['T'], sent_id: [0] }, context: { title: ['T'], sentences: [['a.']] } },
                  { data: { kind: 'em_f1', f1: 'hotpot', support: [['T', 0]] }, prompt: expect.stringContaining('Passage 1:\nT\na.') }, 'columns'],
    ['2wikimultihopqa', { _id: 'w', question: 'q', answer: 'x', context: '[["T", ["a."]]]', supporting_facts: '[["T", 0]]', evidences: '[["s", "r", "o"]]' },
                  { data: { kind: 'em_f1', f1: 'hotpot', support: [['T', 0]], evidence: [['s', 'r', 'o']] } }, 'lists as JSON texts'],
    ['musique',   { id: '3hop__1', question: 'q', answer: 'x', answer_aliases: ['X', 'x', 'y'], answerable: false, paragraphs: [{ idx: 4, title: 'T', paragraph_text: 'p', is_supporting: true }] },
                  { subject: '3 hops', aliases: ['X', 'y'], data: { kind: 'em_f1', f1: 'squad2', answerable: false, support: [[4]] } }, 'aliases without the gold'],
    ['cruxeval',  { id: 'sample_0', code: 'def f(x):\n  return x', input: '"a"', output: "'a'" },
                  { gold: "'a'", data: { kind: 'literal', language: 'python' }, prompt: expect.stringContaining('assert f("a") == ??') }, 'its own records'],
    ['natural-reasoning', { question: 'Why?', reference_answer: 'So.', responses: [] },
                  { gold: 'So.', prompt: 'Why?', data: { kind: 'judge', way: 'reference', question: 'Why?' } }, 'with a reference'],
    ['autologi',  { idx: 3, prompt: 'Seat them.', lang: 'en', code: { Inputs_Check_code: 'def inputs_check(i): ...', Constraint_List_code: 'constraint_list = []' } },
                  { id: 'autologi-en-3', gold: '', data: { kind: 'verifier', language: 'python', traverse: null, constraints: 'constraint_list = []', inputs_check: 'def inputs_check(i): ...' } }, 'a checker for a gold'],
    ['zebralogic', { id: 'lgp-2x1', size: '2*1', puzzle: 'Who?', solution: { header: ['House', 'Name'], rows: [['1', 'Ann'], ['2', 'Bob']] } },
                  { subject: '2*1', gold: '{"solution":{"House 1":{"Name":"Ann"},"House 2":{"Name":"Bob"}}}', data: { kind: 'puzzle_cells', header: ['House', 'Name'], rows: [['1', 'Ann'], ['2', 'Bob']] } }, 'a grid'],
    ['ipw-mixed', { problem: 'p', answer: 'a', subject: 'wildchat', dataset_metadata: '{"source": "WildChat", "n": 1}', model_answers: {} },
                  { id: 'ipw-0', gold: 'a', data: { kind: 'judge', way: 'pairwise', question: 'p', facts: { source: 'WildChat' } } }, 'a chat'],
    ['ipw-mixed', { problem: 'p', answer: 'a', subject: 'physics', dataset_metadata: '' },
                  { data: { kind: 'judge', way: 'reference', question: 'p' } }, 'a question with a reference'],
  ])('%s: %j becomes %j (%s)', async (kind, record, item) => {
    expect(only((await load(kind, [record])).items)).toMatchObject(item);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [kind: string, record: object, message: string]>([
    ['aime-2024', { problem: 'p', answer: '1000' },                   'the answer is "1000", not a whole number from 0 to 999'],
    ['svamp',     { ID: '1', Body: 'b', Question: 'q', Answer: 'two' }, 'field "Answer" is "two", not a number'],
    ['aqua',      { question: 'q', options: ['A)1', 'B)2'], correct: 'C' }, 'field "correct" is "C", none of the 2 options'],
    ['math',      { problem: 'p', level: 1, type: 't', solution: 'no box' }, 'field "solution" has no \\boxed{} that closes'],
    ['math',      { problem: 'p', level: 1, type: 't', solution: '\\boxed{1' }, 'field "solution" has no \\boxed{} that closes'],
    ['supergpqa', { uuid: 'u', question: 'q', options: ['x', 'y'], answer: 'x', answer_letter: 'B', discipline: 'd' }, 'field "answer" is not the text of option B'],
    ['arc',       { id: 'q', question: 'q', choices: { text: ['a'], label: ['A', 'B'] }, answerKey: 'A' }, 'field "choices" has no texts and labels'],
    ['arc',       { id: 'q', question: 'q', choices: { text: ['a', 'b'], label: ['A', 'B'] }, answerKey: '3' }, 'field "answerKey" is "3", none of A, B'],
    ['hotpotqa',  { id: 'h', question: 'q', answer: '' },             'field "answer" is missing or empty'],
    ['hotpotqa',  { id: 'h', question: 'q', answer: 'x', context: [['T']] }, 'field "context" has an entry that is no title with sentences'],
    ['musique',   { id: 'm', question: 'q', answer: 'x', paragraphs: [{}] }, 'paragraph 1 has no "idx", "title" and "paragraph_text"'],
    ['zebralogic', { id: 'z', size: '1*1', puzzle: 'p', solution: { header: ['House', 'Name'], rows: [['1', '___']] } }, 'the solution is blanked out, as in the public copy'],
    ['zebralogic', { id: 'z', size: '1*1', puzzle: 'p', solution: { header: ['House', 'Name'], rows: [['1']] } }, 'row 1 of "solution" is no list of 2 texts'],
    ['truthfulqa-mc', { question: 'q', mc1_targets: { a: 0, b: 0 } }, 'field "mc1_targets" has 0 true options, not one'],
    ['wildchat-1m', { conversation_hash: 'c', language: 'English', conversation: 'hi' }, 'field "conversation" is no list of turns'],
    ['planbench', { instance_id: 1, query: '[STATEMENT] nothing', ground_truth_plan: '(x)' }, 'field "query" has a statement that is not understood'],
    ['ipw-mixed', { problem: 'p', answer: 'a', subject: 's', dataset_metadata: '{' }, 'field "dataset_metadata" is not JSON'],
  ])('%s: %j is an error: %s', async (kind, record, message) => {
    await expect(load(kind, [record])).rejects.toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: expect.stringContaining(`data.json entry 1: ${message}`),
    });
  });
});

describe('rows that are left out', () => {
  test('questions without a reference are counted, and a file of nothing else is an error', async () => {
    const bare = { question: 'Why?', reference_answer: '' };
    const { items, left_out } = await load('natural-reasoning', [bare, { ...bare, reference_answer: 'x' }]);
    expect([only(items).id, left_out]).toEqual(['natural-reasoning-1', 1]);
    await expect(load('natural-reasoning', [bare, bare])).rejects.toMatchObject({
      message: 'data.json: all 2 rows are left out',
    });
  });

  const chat = (id: string, more: object = {}) => ({
    conversation_hash: id,
    language: 'English',
    model: 'm',
    toxic: false,
    redacted: false,
    conversation: [
      { role: 'user', content: `ask ${id}` },
      { role: 'assistant', content: `reply ${id}` },
      { role: 'user', content: 'more' },
    ],
    ...more,
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [options: Options, ids: readonly string[]]>([
    [{},                        ['a', 'd']],
    [{ flagged: 'keep' },       ['a', 'b', 'd']],
    [{ language: 'German' },    ['d']],
  ])('conversations with %j are %j', async (options, ids) => {
    const chats = [
      chat('a'),
      chat('b', { toxic: true }),
      chat('c', { conversation: [{ role: 'user', content: 'alone' }] }),
      chat('d', { language: 'German' }),
    ];
    const { items, left_out } = await load('wildchat-1m', chats, options);
    expect(items.map((i) => i.id)).toEqual(ids.map((id) => `wildchat-1m-${id}`));
    expect(left_out).toBe(4 - ids.length);
    expect(items[0]).toMatchObject({ prompt: `ask ${ids[0]}`, gold: `reply ${ids[0]}` });
    expect(items[0]?.data).toMatchObject({ kind: 'judge', way: 'pairwise', facts: { turns: '3', model: 'm' } });
  });

  test('LMSYS-Chat: a turn that the moderation flagged is left out', async () => {
    const record = (id: string, flagged: boolean) => ({
      ...chat(id),
      conversation_id: id,
      openai_moderation: [{ flagged: false }, { flagged }],
    });
    const { items } = await load('lmsys-chat-1m', [record('a', true), record('b', false)]);
    expect(only(items).id).toBe('lmsys-chat-1m-b');
  });
});

describe('AR-Bench', () => {
  const opening = {
    time: 'noon',
    suspect: [
      { name: 'Ann', role: 'cook' },
      { name: 'Bob', role: 'guest' },
    ],
  };

  test('the label of a case counts along the opening, and must name the murderer', async () => {
    const record = {
      initial_information: opening,
      suspects: [{ name: 'Bob' }, { name: 'Ann' }],
      label: 1,
      murderer: 'Bob',
    };
    const { items, grader } = await load('ar-bench', [record]);
    expect(grader).toBe('choice');
    expect(only(items)).toMatchObject({
      gold: 'B',
      options: ['Ann', 'Bob'],
      data: { kind: 'dialogue', game: 'detective', turns: 25 },
    });
    await expect(load('ar-bench', [{ ...record, label: 0 }])).rejects.toMatchObject({
      message: expect.stringContaining('field "label" names "Ann", but "murderer" is "Bob"'),
    });
  });

  test('numbers are a bare list, situation puzzles go to the judge', async () => {
    const numbers = await load('ar-bench', ['0123', '9876'], { split: 'gn' });
    expect(numbers.grader).toBe('exact');
    expect(numbers.items.map((i) => i.gold)).toEqual(['0123', '9876']);
    await expect(load('ar-bench', ['0113'], { split: 'gn' })).rejects.toMatchObject({
      message: expect.stringContaining('the secret is "0113", not four different digits'),
    });
    const puzzle = await load('ar-bench', [{ surface: 's', bottom: 'b', key_question: ['k'] }], {
      split: 'sp',
    });
    expect(puzzle.grader).toBe('judge');
    expect(only(puzzle.items)).toMatchObject({ gold: 'b', data: { key_points: ['k'] } });
  });
});

describe('options in a random order', () => {
  const records = Array.from({ length: 40 }, (_, i) => ({
    Question: `q${i}`,
    'Correct Answer': 'right',
    'Incorrect Answer 1': 'x',
    'Incorrect Answer 2': 'y',
    'Incorrect Answer 3': 'z',
  }));

  test('GPQA: the gold follows the right text, the order is kept, by seed and by record', async () => {
    const { items } = await load('gpqa', records);
    for (const { gold, options, data } of items) {
      const at = gold.charCodeAt(0) - 65;
      expect(options?.[at]).toBe('right');
      const permutation = data?.['permutation'] as number[];
      expect(permutation[at]).toBe(0);
      expect(permutation.toSorted()).toEqual([0, 1, 2, 3]);
    }
    expect(new Set(items.map((i) => i.gold))).toEqual(new Set(['A', 'B', 'C', 'D']));
    expect((await load('gpqa', records)).digest).toBe((await load('gpqa', records)).digest);
    expect((await load('gpqa', records, {}, 2)).items.map((i) => i.gold)).not.toEqual(
      items.map((i) => i.gold),
    );
    const later = await load('gpqa', records.slice(20));
    expect(later.items).toEqual(items.slice(20));
  });

  test('TruthfulQA: both forms of the targets give the same item', async () => {
    const [mapping] = (
      await load('truthfulqa-mc', [{ question: 'q', mc1_targets: { yes: 1, no: 0, maybe: 0 } }])
    ).items;
    const [columns] = (
      await load('truthfulqa-mc', [
        { question: 'q', mc1_targets: { choices: ['yes', 'no', 'maybe'], labels: [1, 0, 0] } },
      ])
    ).items;
    expect(mapping).toEqual(columns);
    expect(mapping?.options?.[(mapping.gold.codePointAt(0) ?? 0) - 65]).toBe('yes');
  });
});

describe('forms of files', () => {
  test('Parquet of the hub: nested lists and structs', async () => {
    await parquet(
      'arc.parquet',
      `SELECT 'q' || i AS id, 'Red?' AS question, {'text': ['sky', 'blood'], 'label': ['A', 'B']} AS choices, 'B' AS answerKey FROM range(5000) t(i)`,
    );
    const { items } = await loadFile('arc', 'arc.parquet');
    expect(items).toHaveLength(5000);
    expect(items[4999]).toMatchObject({ id: 'q4999', gold: 'B', options: ['sky', 'blood'] });
  });

  test('Parquet: what is missing is named with its row', async () => {
    await parquet(
      'bad.parquet',
      `SELECT 'q' || i AS id, 'Red?' AS question, {'text': ['sky', 'blood'], 'label': ['A', 'B']} AS choices, CASE WHEN i = 1 THEN NULL ELSE 'B' END AS answerKey FROM range(3) t(i)`,
    );
    await expect(loadFile('arc', 'bad.parquet')).rejects.toMatchObject({
      message: 'bad.parquet row 2: field "answerKey" is missing or empty',
    });
  });

  test('a folder saved with an Arrow stream', async () => {
    mkdirSync(join(root, 'mixed'));
    const table = tableFromJSON([
      { problem: 'p0', answer: 'a0', subject: 'physics', dataset_metadata: '{"source": "x"}' },
      { problem: 'p1', answer: '', subject: 'chat', dataset_metadata: '{}' },
      { problem: 'p2', answer: 'a2', subject: 'chat', dataset_metadata: '{}' },
    ]);
    writeFileSync(join(root, 'mixed/data-00000-of-00001.arrow'), tableToIPC(table, 'stream'));
    writeFileSync(
      join(root, 'mixed/state.json'),
      JSON.stringify({ _data_files: [{ filename: 'data-00000-of-00001.arrow' }] }),
    );
    const { items, left_out } = await loadFile('ipw-mixed', 'mixed');
    expect(left_out).toBe(1);
    expect(items.map((i) => [i.id, i.gold, i.data?.['way']])).toEqual([
      ['ipw-0', 'a0', 'reference'],
      ['ipw-2', 'a2', 'pairwise'],
    ]);
    writeFileSync(join(root, 'file.arrow'), tableToIPC(table, 'file'));
    expect((await loadFile('ipw-mixed', 'file.arrow')).items).toEqual(items);
  });

  test('the prompt file of PlanBench is one object', async () => {
    const query =
      '[STATEMENT]\nAs initial conditions I have that, the red block is clear, the hand is empty and the red block is on the table.\nMy goal is to have that the red block is clear.\n\nMy plan is as follows:\n\n[PLAN]\n';
    const instances = [{ instance_id: 2, query, ground_truth_plan: '(pick-up red)\n(put-down red)\n' }];
    for (const [name, indent] of [
      ['one.json', 4],
      ['line.json', 0],
    ] as const) {
      writeFileSync(join(root, name), JSON.stringify({ task: 't1', instances }, null, indent));
      expect(only((await loadFile('planbench', name)).items)).toMatchObject({
        id: 'blocksworld-2',
        gold: '(pick-up a)\n(put-down a)',
        data: {
          init: [['clear', 'a'], ['handempty'], ['ontable', 'a']],
          goal: [['clear', 'a']],
          objects: { 'red block': 'a' },
        },
      });
    }
  });

  test('comma-separated values, packed', async () => {
    const { gzipSync } = await import('node:zlib');
    const csv =
      'Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n"a, b?",r,x,y,z\n';
    writeFileSync(join(root, 'diamond.csv.gz'), gzipSync(csv));
    expect(only((await loadFile('gpqa', 'diamond.csv.gz')).items).prompt).toContain('a, b?');
  });
});

describe('what is needed', () => {
  test('without a path the error says how to get it', async () => {
    await expect(loadDataset({ kind: 'gpqa', options: {} }, { root, seed: 1 })).rejects.toMatchObject({
      code: 'DATASET_UNAVAILABLE',
      message: 'data set "gpqa" needs the option "path"',
      hint: expect.stringMatching(
        /Accept the terms .* Run `perwatt datasets pull gpqa` with HF_TOKEN set\. .* the hub's data set Idavidrein\/gpqa\./,
      ),
    });
  });

  test('a prompt that there is not is named with those that there are', async () => {
    await expect(load('gsm8k', [], { prompt: 'offical' })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('option "prompt" is "offical", not "ours" or "direct" or "official"'),
    });
  });
});
