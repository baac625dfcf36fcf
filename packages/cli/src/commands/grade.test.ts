import { Readable } from 'node:stream';
import { PerwattError } from '@perwatt/core';
import { CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { gradeCommand } from './grade.js';

interface Result {
  readonly out: string[];
  readonly error: unknown;
}

/** Runs the command over chunks of standard input; what it threw is a result like any other. */
async function run(args: readonly string[], stdin: readonly (string | Uint8Array)[]): Promise<Result> {
  const { io, result } = recordedIo({ stdin: Readable.from(stdin) });
  const command = gradeCommand(io, '0.0.0-test')
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const error = await command.parseAsync(args, { from: 'user' }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { out: result.out, error };
}

const line = (fields: object) => `${JSON.stringify(fields)}\n`;
const json = ({ out }: Result) => out.map((text): unknown => JSON.parse(text));

describe('perwatt grade --json', () => {
  test('prints one line for each line, with its id, verdict, span and rule', async () => {
    const result = await run(
      ['--grader', 'choice', '--json'],
      [
        line({ id: 'a', prediction: 'ANSWER: C', gold: 'C', optionCount: 4 }),
        line({ id: 7, prediction: 'I cannot decide.', gold: 'D', optionCount: 10 }),
        line({ prediction: 'The answer is (A).', gold: 'B', optionCount: 4 }),
      ],
    );
    expect(result.error).toBeNull();
    expect(json(result)).toMatchObject([
      { id: 'a', verdict: 'correct', span: [8, 9], rule: 'choice.format', extracted: 'C', score: 1 },
      { id: 7, verdict: 'unparsed', span: null, rule: null, extracted: null, score: 0 },
      { verdict: 'incorrect', span: [15, 16], extracted: 'A', score: 0, mode: 'robust' },
    ]);
    expect(json(result)[2]).not.toHaveProperty('id');
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [fields: object, grade: object, why: string]>([
    [{ finishReason: 'length' },                { verdict: 'truncated', salvaged: '29' }, 'the finish reason in camel case'],
    [{ finish_reason: 'content_filter' },       { verdict: 'refused' },                   'the finish reason as servers name it'],
    [{ policy: { percent: 'strict' } },         { verdict: 'correct' },                   'a policy that changes nothing here'],
    [{ gold: '28.96', policy: { decimals: 0 } }, { verdict: 'correct', flags: ['tolerance-used'] }, 'a policy that does'],
    [{ gold: 29 },                              { verdict: 'correct' },                   'a gold that is a JSON number'],
    [{ kind: 'number', why: 'more to say' },    { verdict: 'correct' },                   'fields that mean nothing here'],
    [{ id: null, policy: null },                { verdict: 'correct' },                   'null is absent'],
  ])('takes %j: %s', async (fields, grade) => {
    const result = await run(['--grader', 'numeric', '--json'], [line({ prediction: 'It is 29.', gold: '29', ...fields })]);
    expect(result.error).toBeNull();
    expect(json(result)).toMatchObject([grade]);
  });

  test('a finish reason and an official mode reach the grader', async () => {
    const stdin = [line({ prediction: 'So 29', gold: '29' }), line({ prediction: '#### 29', gold: '29' })];
    expect(json(await run(['--grader', 'numeric', '--mode', 'official', '--json'], stdin))).toMatchObject([
      { verdict: 'unparsed', mode: 'official' },
      { verdict: 'correct', rule: 'gsm8k.hash', mode: 'official' },
    ]);
  });

  test('CRLF, blank lines, a byte order mark, a cut character and a missing last newline are handled', async () => {
    const bytes = Buffer.from(
      `\uFEFF${line({ prediction: '−5', gold: '-5' }).trimEnd()}\r\n\r\n  \n${line({ prediction: 'x\u2028y 3', gold: '3' }).trimEnd()}`,
    );
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(json(await run(['--grader', 'numeric', '--json'], chunks))).toMatchObject([
      { verdict: 'correct', span: [0, 2] },
      { verdict: 'correct', span: [4, 5] },
    ]);
  });

  test('no input gives no output', async () => {
    expect(await run(['--grader', 'exact', '--json'], [])).toEqual({ out: [], error: null });
  });
});

describe('a malformed line', () => {
  const good = line({ prediction: '4', gold: '4' });

  // biome-ignore format: a table is read in columns
  test.each([
    ['{"prediction": "4"',                          'standard input line 3: not JSON',                     'cut JSON'],
    ['["4", "4"]',                                  'standard input line 3: not a JSON object',            'a list'],
    ['{"gold": "4"}',                               'standard input line 3: "prediction" is missing',      'no prediction'],
    ['{"prediction": "4"}',                         'standard input line 3: "gold" is missing',            'no gold'],
    ['{"prediction": {}, "gold": "4"}',             'standard input line 3: "prediction" is {}, not a text', 'a prediction that is no text'],
    ['{"prediction": "4", "gold": "4", "optionCount": 0}', 'standard input line 3: "optionCount" is 0',    'no options'],
    ['{"prediction": "4", "gold": "4", "policy": {"percnt": "strict"}}', 'standard input line 3: unknown policy "percnt"; did you mean "percent"?', 'an unknown policy'],
  ])('%s is one error that names the line: %s', async (bad, message) => {
    const result = await run(['--grader', 'numeric', '--json'], [good, '\n', `${bad}\n`, good]);
    expect(result.error).toBeInstanceOf(PerwattError);
    expect(result.error).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(message) });
    expect(json(result)).toMatchObject([{ verdict: 'correct' }]);
  });
});

describe('perwatt grade', () => {
  test('prints a table and a count of verdicts', async () => {
    const { out } = await run(
      ['--grader', 'numeric'],
      [line({ id: 'q1', prediction: 'so 7', gold: '7' }), line({ prediction: 'no\nidea', gold: '7' })],
    );
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "id           verdict    extracted            span        rule                   notes
      q1           correct    7                    3–4         numeric.last_sentence
      2            unparsed   –                    –           –                      no number in the answer
      2 graded: 1 correct, 1 unparsed"
    `);
  });

  test('an unknown grader is one error with the nearest name', async () => {
    expect((await run(['--grader', 'numerc'], [])).error).toMatchObject({
      code: 'GRADER_UNKNOWN',
      message: 'unknown grader "numerc"; did you mean "numeric"?',
    });
  });

  test('a missing grader or an unknown mode is wrong usage', async () => {
    expect((await run([], [])).error).toMatchObject({ code: 'USAGE' });
    expect((await run(['--grader', 'exact', '--mode', 'strict'], [])).error).toBeInstanceOf(CommanderError);
  });
});
