import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fc, test as property } from '@fast-check/vitest';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createGraderPool } from './grader-pool.js';
import { graderById, graders } from './graders.js';
import { mathPairs } from './math.fixture.js';

const built = resolve(import.meta.dirname, '../dist/grade-worker.js');
beforeEach(({ skip }) => skip(!existsSync(built), `${built} is missing; run \`npm run build\``));

const folder = mkdtempSync(join(tmpdir(), 'perwatt-pool-'));
const pool = existsSync(built) ? createGraderPool({ workers: 2 }) : null;
afterAll(async () => {
  await pool?.close();
  rmSync(folder, { recursive: true, force: true });
});

const pairs = Object.values(mathPairs).flat();

describe('a pool gives the grades of its graders', () => {
  test.each(graders().map(({ id }) => [id]))('%s', async (id) => {
    const inputs = pairs
      .filter((_, i) => i % 25 === 0)
      .map(([gold, answer]) => ({ gold, prediction: `The answer is ${answer}.` }));
    const found = await Promise.all(inputs.map((input) => pool!.grade(id, input)));
    expect(found).toEqual(inputs.map((input) => graderById(id).grade(input)));
  });

  const text = fc.constantFrom(...pairs.map(([, answer]) => answer));
  property.prop([text, text, fc.string({ maxLength: 300 })], { numRuns: 100 })(
    'for any text',
    async (gold, answer, noise) => {
      const input = { gold, prediction: `${noise} \\boxed{${answer}}` };
      expect(await pool!.grade('math', input)).toEqual(graderById('math').grade(input));
    },
  );

  test('as a late grader, too', async () => {
    const late = pool!.late('numeric');
    expect([late.id, late.version]).toEqual(['numeric', graderById('numeric').version]);
    const stopped = { signal: AbortSignal.abort() };
    for (const options of [{}, stopped])
      expect(await late.gradeLater({ prediction: 'so 7', gold: '7' }, options)).toMatchObject({
        verdict: 'correct',
      });
  });

  test('and its refusals', async () => {
    await expect(
      pool!.grade('math', { prediction: '1', gold: '1', policy: { percnt: 1 } }),
    ).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('did you mean "percent"'),
    });
    await expect(pool!.grade('mth', { prediction: '1', gold: '1' })).rejects.toMatchObject({
      code: 'GRADER_UNKNOWN',
    });
  });
});

// biome-ignore format: a table is read in columns
const monsters: readonly (readonly [text: string, why: string])[] = [
  ['9^{9^{9^{9}}}',                                        'a tower of powers'],
  ['\\boxed{'.repeat(1200),                                'boxes that never close'],
  [`${'{'.repeat(5000)}x${'}'.repeat(5000)}`,              'deep braces'],
  [`${'\\frac{1}{'.repeat(600)}2${'}'.repeat(600)}`,       'deep fractions'],
  [`${'x+'.repeat(4000)}1`,                                'a long sum'],
  [`\\{${'1,'.repeat(3000)}2\\}`,                          'a long set'],
  ['\\pm 1 '.repeat(60),                                   'signs to multiply out'],
  [`${'9'.repeat(9000)}!`,                                 'a factorial of a long number'],
  [`((x+y+z)^{99})^{99}-((x+y+z)^{98})^{98}`,              'powers of a sum'],
  [`\\begin{pmatrix}${'1&'.repeat(300)}1\\end{pmatrix}`,   'a wide matrix'],
  [`${'$ '.repeat(4000)}`,                                 'dollar signs'],
  ['the answer is '.repeat(700),                           'anchors without an answer'],
];

test.each(monsters)('%.20s … (%s) has a verdict', async (text) => {
  for (const id of ['math', 'plan', 'literal']) {
    const grade = await pool!.grade(id, { gold: text, prediction: text });
    expect(typeof grade.verdict).toBe('string');
    expect(grade.reason ?? '').not.toContain('ended by itself');
  }
});

/** A worker whose grader does what `body` says with `task`. */
function entryOf(name: string, body: string): string {
  const file = join(folder, `${name}.mjs`);
  const grade = '{ verdict: "correct", reason: task.input.prediction }';
  const code = `import { parentPort, threadId } from 'node:worker_threads';
    import { readlinkSync } from 'node:fs';
    const thread = (() => { try { return readlinkSync('/proc/thread-self').split('/').at(-1); } catch { return null; } })();
    parentPort.on('message', (task) => {
      if (task.input.prediction === 'bad') { ${body} }
      parentPort.postMessage({ kind: 'grade', grade: ${grade} });
    });
    parentPort.postMessage({ kind: 'ready', thread });`;
  writeFileSync(file, code);
  return file;
}

// biome-ignore format: a table is read in columns
describe.each<readonly [name: string, body: string, reason: RegExp, why: string]>([
  ['loop',   'for (;;);',                                                  /^timeout: grading took more than 200 ms$/, 'never ends'],
  ['regexp', '/^(a+)+$/.test("a".repeat(40) + "b");',                      /^timeout: /,                               'backtracks for ages'],
  ['bigint', '7n ** 60000000n;',                                           /^timeout: /,                               'is one long native call'],
  ['memory', 'const all = []; for (;;) all.push(new Array(1e5).fill(1.5));', /^memory: grading took more than 32 MB$/,  'fills the heap'],
  ['throw',  'throw new Error("broken");',                                 /^broken$/,                                 'is a fault of the grader'],
  ['exit',   'process.exit(3);',                                           /^the grader ended by itself$/,             'ends its thread'],
])('a grader that %ss', (name, body, reason, why) => {
  test(`(it ${why}) costs one answer, and no other`, async () => {
    const own = createGraderPool({ workers: 2, time_limit_ms: 200, memory_mb: 32, entry: entryOf(name, body) });
    const texts = ['a', 'bad', 'b', 'bad', 'c', 'd', 'bad', 'e'];
    const found = await Promise.all(texts.map((prediction) => own.grade('math', { prediction, gold: '' })));
    for (const [i, prediction] of texts.entries()) {
      if (prediction !== 'bad') expect(found[i]).toMatchObject({ verdict: 'correct', reason: prediction });
      else expect(found[i]).toMatchObject({ verdict: 'error', score: 0, reason: expect.stringMatching(reason) });
    }
    await own.close();
  });
});

test('grades under way when a pool is closed are errors, and so are later ones', async () => {
  const own = createGraderPool({ workers: 1, entry: entryOf('stuck', 'for (;;);'), time_limit_ms: 600_000 });
  const inputs = ['bad', 'b', 'c'].map((prediction) => own.grade('math', { prediction, gold: '' }));
  await own.close();
  await own.close();
  const all = await Promise.all([...inputs, own.grade('math', { prediction: 'd', gold: '' })]);
  for (const grade of all)
    expect(grade).toMatchObject({ verdict: 'error', reason: 'the graders were stopped' });
});
