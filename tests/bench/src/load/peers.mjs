import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folderOf = (name) => fileURLToPath(new URL(`../../.venv/load/${name}`, import.meta.url));
const listOf = (name) => fileURLToPath(new URL(`./${name}.txt`, import.meta.url));

/** The version of a program that ours is held against. */
export const peerVersion = (name) =>
  readFileSync(listOf(name), 'utf8').match(new RegExp(`^${name}==(.*)$`, 'm'))?.[1] ?? null;

/**
 * A Python environment with the pinned program, made once under `tests/bench/.venv/load`. Where it can't be made, `bin` is null and
 * `problem` says why.
 */
export function peer(name) {
  const folder = folderOf(name);
  const wanted = readFileSync(listOf(name), 'utf8');
  const done = join(folder, 'installed.txt');
  const bin = join(folder, 'bin');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return { bin, problem: null };
  mkdirSync(folder, { recursive: true });
  const steps = [
    ['python3', ['-m', 'venv', folder]],
    [join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', listOf(name)]],
  ];
  for (const [command, args] of steps) {
    console.log(`  ${[command, ...args].join(' ')}`);
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
    if (status === 0) continue;
    const said = error?.message ?? stderr.trim().split('\n').at(-1);
    return { bin: null, problem: `${command} ${args.slice(0, 3).join(' ')}: ${said}` };
  }
  writeFileSync(done, wanted);
  return { bin, problem: null };
}

/** A program that the machine may have; where it hasn't, `problem` says how it comes by it. */
export function installed(name, hint) {
  const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' });
  return status === 0 ? { bin: stdout.trim(), problem: null } : { bin: null, problem: `not found; ${hint}` };
}
