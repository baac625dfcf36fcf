import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksNames } from './blocks.js';
import { plan } from './plan.js';
import { readPlanOfficially } from './plan-read.js';

const data = {
  kind: 'plan',
  domain: 'blocksworld',
  objects: { 'red block': 'a', 'blue block': 'b' },
  init: [['handempty'], ['ontable', 'a'], ['on', 'b', 'a'], ['clear', 'b']],
  goal: [['on', 'a', 'b']],
};
const gold = '(unstack b a)\n(put-down b)\n(pick-up a)\n(stack a b)';

describe('plans of two blocks', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    [gold, 'correct', null, 'PDDL steps'],
    ['1. Unstack the blue block from on top of the red block\n2. Put the blue block down\n3. Pick up the red block\n4. Stack the red block on top of the blue block', 'correct', null, 'numbered, with other words'],
    ['I think that will do:\n[PLAN]\nunstack the blue block from on top of the red block\nput down the blue block\npick up the red block\nstack the red block on top of the blue block\n[PLAN END]\npick up the blue block', 'correct', null, 'what follows the end mark does not count'],
    ['pick up the red block', 'incorrect', 'step 1 (pick-up a) needs clear a', 'a block below another'],
    ['unstack the blue block from on top of the red block\nput down the blue block', 'incorrect', 'the plan ends without on a b', 'stops too early'],
    ['unstack the blue block', 'incorrect', 'step 1 (unstack b) is no action with 1 objects', 'an object is missing'],
    ['stack the blue block on top of the blue block', 'incorrect', 'step 1 (stack b b) needs holding b', 'on itself'],
    ['The blocks are nice.', 'unparsed', 'no line of it is a step of a plan', 'no plan'],
  ] as const)('%j', (prediction, verdict, reason, _why) => {
    const grade = plan.grade({ prediction, gold, data });
    expect(grade).toMatchObject({ verdict, reason });
  });

  test('a valid plan that is longer than the gold one is right and not flagged short', () => {
    const longer = `(unstack b a)\n(stack b a)\n${gold}`;
    expect(plan.grade({ prediction: longer, gold, data })).toMatchObject({ verdict: 'correct', flags: [] });
    expect(plan.grade({ prediction: gold, gold, data }).flags).toEqual(['as-short-as-gold']);
  });

  test('obfuscated names, where an article is no object', () => {
    const mystery = {
      kind: 'plan',
      domain: 'mystery-blocksworld',
      objects: { 'object a': 'a', 'object b': 'b' },
      init: [['harmony'], ['planet', 'a'], ['craves', 'b', 'a'], ['province', 'b']],
      goal: [['craves', 'a', 'b']],
    };
    const prediction =
      'feast object b from object a\nsuccumb object b\nattack object a\novercome object a from object b';
    expect(plan.grade({ prediction, gold: '', data: mystery }).verdict).toBe('correct');
  });

  test('without a problem there is nothing to check', () => {
    expect(plan.grade({ prediction: gold, gold })).toMatchObject({ verdict: 'unscored', score: null });
    expect(() => plan.grade({ prediction: gold, gold, data: { ...data, domain: 'depots' } })).toThrow(
      'domain is "depots"',
    );
  });
});

const shared = resolve(import.meta.dirname, '../../..', process.env['PERWATT_SHARED'] ?? '../shared');
const folder = join(shared, 'data/corpora/planbench');

describe('published plans with the verdicts of a validator', () => {
  interface Labelled {
    readonly domain: string;
    readonly instance_id: number;
    readonly llm_raw_response: string;
    readonly extracted_llm_plan: readonly string[];
    readonly llm_correct: boolean;
  }
  const lines = <T>(file: string): T[] =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  const colours = 'red blue orange yellow white magenta black cyan green violet silver gold'.split(' ');
  const objects = Object.fromEntries(
    colours.map((colour, i) => [`${colour} block`, 'abcdefghijkl'.charAt(i)]),
  );

  const problems = () => {
    const all = new Map<string, unknown>();
    for (const domain of ['blocksworld', 'blocksworld_3'])
      for (const { instance, pddl } of lines<{ instance: number | string; pddl: string }>(
        `${domain}.instances.jsonl`,
      )) {
        const facts = (part: string) =>
          [...part.matchAll(/\((?<fact>[a-z]+(?: [a-z])*)\)/g)].map((m) => m.groups!['fact']!.split(' '));
        const [, init = '', goal = ''] = /\(:init(?<init>[\s\S]*)\(:goal(?<goal>[\s\S]*)/.exec(
          pddl.toLowerCase(),
        )!;
        const number = /\d+/.exec(`${instance}`)![0];
        all.set(`${domain} ${number}`, {
          kind: 'plan',
          domain: 'blocksworld',
          objects,
          init: facts(init),
          goal: facts(goal),
        });
      }
    return all;
  };

  test('598 of 599 verdicts are the same; the other plan is valid, and the official reader drops one of its lines', ({
    skip,
  }) => {
    skip(!existsSync(folder), `no reference data in ${shared}; set PERWATT_SHARED`);
    const known = problems();
    const unlike: string[] = [];
    const rows = lines<Labelled>('labelled_plans.jsonl');
    expect(rows.length).toBe(599);
    for (const row of rows) {
      const problem = known.get(`${row.domain} ${row.instance_id}`) as Record<string, unknown>;
      const input = { prediction: row.llm_raw_response, gold: '', data: problem };
      const official = plan.grade({ ...input, mode: 'official' });
      expect(official.verdict === 'correct', `${row.domain} ${row.instance_id}`).toBe(row.llm_correct);
      if ((plan.grade(input).verdict === 'correct') !== row.llm_correct)
        unlike.push(`${row.domain} ${row.instance_id}`);
    }
    expect(unlike).toEqual(['blocksworld 31']);
  });

  test('the official reader gives the published steps', ({ skip }) => {
    skip(!existsSync(folder), `no reference data in ${shared}; set PERWATT_SHARED`);
    for (const row of lines<Labelled>('labelled_plans.jsonl')) {
      const read = readPlanOfficially(row.llm_raw_response, { names: blocksNames.blocksworld, objects });
      const steps = (read?.steps ?? []).map(({ action, objects: on }) => `(${[action, ...on].join(' ')})`);
      expect(steps, `${row.domain} ${row.instance_id}`).toEqual(row.extracted_llm_plan);
    }
  });
});
