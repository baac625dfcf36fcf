import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { graders } from './graders.js';

const built = new URL('../dist/index.js', import.meta.url);
const SIZE = 1_000_000;
const LIMIT_MS = 120_000;

const fill = (piece: string) => piece.repeat(Math.ceil(SIZE / piece.length)).slice(0, SIZE);

/** Texts that make a careless pattern or scanner go over the same characters again and again. */
const hostile: Readonly<Record<string, string>> = {
  digits: fill('7'),
  'thousands groups': `1${fill(',234')}`,
  'lists of numbers': fill('1,'),
  'blanks after an anchor': `Answer:${fill(' ')}`,
  anchors: fill('Answer: '),
  'anchors without answers': fill('the answer is '),
  'words after an anchor': `answer ${fill('a ')}`,
  'labels joined': `The answer is ${fill('A or ')}`,
  'open boxes': fill('\\boxed{'),
  boxes: fill('\\boxed{A}'),
  'closing braces': fill('}'),
  'reasoning opened': fill('<think>'),
  'reasoning closed': fill('</think>'),
  'next questions': `A\n${fill('Q:\n')}`,
  'marks on one line': fill('#### '),
  fractions: fill('1/'),
  exponents: fill('1e'),
  parentheses: fill('(1'),
  equations: `The answer is ${fill('= 1 ')}`,
  'answer elements': fill('<answer>1</answer>'),
  wrappers: fill('[({'),
  emphasis: fill('*'),
  'blank lines': fill('\n'),
  'pairs of surrogates': fill('😀'),
  'refusals begun': fill("I can't "),
  'Chinese anchors': fill('答案'),
};

/** Grades in a thread that can be ended, as a run of a careless pattern cannot be interrupted. */
function gradeAside(prediction: string): Promise<readonly string[]> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.built).then(({ graders }) => {
      const options = ['yes', 'no', 'maybe', '[0]'];
      parentPort.postMessage(graders().flatMap((grader) => [
        ...['robust', 'official'].map((mode) =>
          grader.grade({ prediction: workerData.prediction, gold: grader.id === 'choice' ? 'A' : '5', options, mode }).verdict),
      ]));
    });`;
  const worker = new Worker(code, {
    eval: true,
    execArgv: [],
    workerData: { built: built.href, prediction },
  });
  const guard = setTimeout(() => void worker.terminate(), LIMIT_MS);
  return new Promise<readonly string[]>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the grader did not come to an end')));
  }).finally(() => {
    clearTimeout(guard);
    return worker.terminate();
  });
}

describe('a text of a million characters comes to an end', () => {
  test.for(Object.entries(hostile))('%s', { timeout: LIMIT_MS * 2 }, async ([, prediction], { skip }) => {
    skip(!existsSync(built), 'the package is not built: run `npm run build`');
    expect(await gradeAside(prediction)).toHaveLength(graders().length * 2);
  });
});
