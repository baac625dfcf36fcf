import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../.venv', import.meta.url));
const list = fileURLToPath(new URL('./peers.txt', import.meta.url));
const python = join(folder, 'bin/python');

/** Versions of the samplers that ours is held against. */
export const peerVersions = () =>
  Object.fromEntries(
    readFileSync(list, 'utf8')
      .split('\n')
      .filter((line) => /^(codecarbon|zeus)==/.test(line))
      .map((line) => line.split('==')),
  );

/**
 * A Python with the pinned samplers in it, made once under `tests/bench/.venv`. Where it can't be made, `python` is null and
 * `problem` says why.
 */
export function peers() {
  const wanted = readFileSync(list, 'utf8');
  const done = join(folder, 'installed.txt');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return { python, problem: null };
  mkdirSync(folder, { recursive: true });
  const steps = [
    ['python3', ['-m', 'venv', folder]],
    [
      python,
      ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '--requirement', list],
    ],
  ];
  for (const [command, args] of steps) {
    console.log(`  ${[command, ...args].join(' ')}`);
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
    if (status === 0) continue;
    const said = error?.message ?? stderr.trim().split('\n').at(-1);
    return { python: null, problem: `${command} ${args.slice(0, 3).join(' ')}: ${said}` };
  }
  writeFileSync(done, wanted);
  return { python, problem: null };
}
