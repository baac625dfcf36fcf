import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';
import { programLanguage } from './language.js';
import { programWorld } from './program-world.js';

const itemOf = (task: string, changed: Record<string, unknown> = {}) => ({
  id: 'test',
  data: {
    kind: 'world',
    world: 'program',
    world_version: 1,
    task,
    question: 'Which?',
    program: 'def f(n): return n % 10',
    pairs: [
      ['13', '3'],
      ['20', '0'],
    ],
    tries: 1,
    max_steps: 20,
    ...changed,
  },
});

const judged = (task: string, answer: string) => {
  const episode = programWorld.open(itemOf(task));
  const step = episode.act(answer);
  return [step.valid, step.done, episode.won(), step.observation];
};

describe('answers', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [task: string, answer: string, valid: boolean, won: boolean, says: string, why: string]>([
    ['code_o', 'Answer: 3',                          true,  true,  'That is right.', 'the value'],
    ['code_o', 'It is 13 % 10.\n**Answer:** `3`.',   true,  true,  'That is right.', 'with marks'],
    ['code_o', 'Answer: 4',                          true,  false, 'That is not what it returns.', 'another value'],
    ['code_o', 'Answer: 3, 3',                       true,  false, 'That is not what it returns.', 'two values'],
    ['code_o', '3',                                  false, false, 'That holds no answer of the form asked for.', 'a number of the reasoning'],
    ['code_o', 'I do not know',                      false, false, 'That holds no answer of the form asked for.', 'no value'],
    ['code_i', 'Answer: 13',                         true,  true,  'That is right.', 'the arguments it was made with'],
    ['code_i', 'Answer: 1003',                       true,  true,  'That is right.', 'any others that give the value'],
    ['code_i', 'Answer: f(-7)',                      true,  true,  'That is right.', 'with the call around them'],
    ['code_i', 'Answer: 14',                         true,  false, 'f(14) returns 4.', 'some that do not'],
    ['code_i', 'Answer: [3]',                        true,  false, 'f([3]) fails: "%" does not take a list.', 'of the wrong kind'],
    ['code_i', 'Answer: 3, 4',                       true,  false, 'f(3, 4) fails: it takes 1 arguments, not 2.', 'too many'],
    ['code_f', 'def f(n): return n % 10',            true,  true,  'That is right.', 'the program'],
    ['code_f', 'So:\n```python\ndef f(n):\n    q = n // 10\n    return n - q * 10\n```\nDone.', true, true, 'That is right.', 'another that does the same, in a block'],
    ['code_f', 'def f(n): return n % 10\nThat is all.', true, true, 'That is right.', 'with words behind it'],
    ['code_f', 'def f(n): return 3',                 true,  false, 'It is right on 1 of 2 inputs.', 'right on what was shown only'],
    ['code_f', 'def f(n): return n / 10',            false, false, 'That holds no answer of the form asked for.', 'beyond the language'],
    ['code_f', 'Answer: 3',                          false, false, 'That holds no answer of the form asked for.', 'no program'],
  ])('%s: %j, valid %s, won %s: %s (%s)', (task, answer, valid, won, says) => {
    expect(judged(task, answer)).toEqual([valid, valid, won, says]);
  });

  test('what holds no answer is no try, and several tries may be given', () => {
    const episode = programWorld.open(itemOf('code_i', { tries: 2 }));
    expect(['Let me see.', 'Answer: 4', 'Answer: 23'].map((answer) => episode.act(answer).done)).toEqual([
      false,
      false,
      true,
    ]);
    expect(episode.won()).toBe(true);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [changed: Record<string, unknown>, message: string]>([
    [{ task: 'code_x' },                       'there is no program task "code_x"'],
    [{ pairs: [] },                            'it has 0 pairs, not 1 to 100'],
    [{ pairs: [['13']] },                      'field "pairs" of its data is [["13"]], not a list of lists of 2 texts'],
    [{ pairs: [['13', 'x']] },                 '"x" is no list of values: something that is no value at character 1'],
    [{ program: 'print(1)' },                  'program: "def" is wanted where "print" stands, at line 1, column 1'],
  ])('%j is refused: %s', (changed, message) => {
    expect(() => programWorld.open(itemOf('code_i', changed))).toThrow(`item "test": ${message}`);
  });
});

/** Pairs whose arguments a question of this kind shows, pairs it is judged by, and whether it shows the program. */
const expected = { code_o: [1, 1, true], code_i: [0, 1, true], code_f: [5, 10, false] } as const;

describe.each([1, 2, 3, 4])('level %i', (level) => {
  test.each(['code_o', 'code_i', 'code_f'] as const)(
    '%s: programs give the outputs told, and no question holds what it asks for',
    async (kind) => {
      const { items } = await loadDataset({ kind, options: { level }, limit: 25 }, { root: '/', seed: 9 });
      for (const { prompt, data } of items) {
        const { program, pairs } = data as unknown as { program: string; pairs: [string, string][] };
        const outputs = pairs.map(([input]) => programLanguage.run(program, input));
        expect(outputs).toMatchObject(pairs.map(([, output]) => ({ ok: true, output })));
        const shown = pairs.filter(([input]) => prompt.includes(`f(${input})`)).length;
        expect([shown, pairs.length, prompt.includes(program)]).toEqual(expected[kind]);
      }
    },
  );
});
