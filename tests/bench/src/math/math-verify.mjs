import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../.venv/math', import.meta.url));
const list = fileURLToPath(new URL('./math_verify.txt', import.meta.url));
const script = fileURLToPath(new URL('./math_verify_pairs.py', import.meta.url));
const python = join(folder, 'bin/python');

/** The version that ours is held against. */
export const mathVerifyVersion = () => readFileSync(list, 'utf8').match(/^math-verify==(.*)$/m)?.[1] ?? null;

/** Makes a Python with the pinned Math-Verify in it, once, under `tests/bench/.venv/math`; why it can't be made, or null. */
export function prepareMathVerify() {
  const wanted = readFileSync(list, 'utf8');
  const done = join(folder, 'installed.txt');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return null;
  mkdirSync(folder, { recursive: true });
  const steps = [
    ['python3', ['-m', 'venv', folder]],
    [python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', list]],
  ];
  for (const [command, args] of steps) {
    console.log(`  ${[command, ...args].join(' ')}`);
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
    if (status === 0) continue;
    return `${command} ${args.slice(0, 3).join(' ')}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
  }
  writeFileSync(done, wanted);
  return null;
}

/** Its verdicts (null where it raised) and the CPU seconds of each of `rounds` passes over the pairs. */
export function runMathVerify(pairs, rounds) {
  const input = JSON.stringify({ pairs: pairs.map(({ gold, answer }) => [gold, answer]), rounds });
  const { status, stdout, stderr, error } = spawnSync(python, [script], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0)
    throw new Error(`Math-Verify ended with ${status}: ${error?.message ?? stderr.slice(-400)}`);
  return JSON.parse(stdout);
}
