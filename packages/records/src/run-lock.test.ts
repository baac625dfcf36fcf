import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownIdentity } from './process-identity.js';
import { lockFolder } from './run-lock.js';

let folder = '';
let procRoot = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-lock-'));
  procRoot = mkdtempSync(join(tmpdir(), 'perwatt-proc-'));
  mkdirSync(join(procRoot, 'sys/kernel/random'), { recursive: true });
  writeFileSync(join(procRoot, 'sys/kernel/random/boot_id'), 'boot-2\n');
  processes({ [process.pid]: ['R', 100] });
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(procRoot, { recursive: true, force: true });
});

/** A `/proc` with these processes: state and start time. */
function processes(list: Readonly<Record<number, readonly [string, number]>>): void {
  for (const [pid, [state, start]] of Object.entries(list)) {
    mkdirSync(join(procRoot, pid), { recursive: true });
    const fields = [state, ...Array.from({ length: 18 }, () => 0), start, 0, 0];
    writeFileSync(join(procRoot, pid, 'stat'), `${pid} (a ) name) ${fields.join(' ')}\n`);
  }
}

const heldBy = (changes: object) =>
  writeFileSync(
    join(folder, 'lock'),
    JSON.stringify({ pid: 77, hostname: hostname(), boot_id: 'boot-2', start_ticks: 500, ...changes }),
  );
const inUse = expect.objectContaining({ name: 'PerwattError', code: 'RUN_IN_USE' });

test('a lock is held until it is given back, and leaves nothing', () => {
  const release = lockFolder(folder, procRoot);
  expect(readdirSync(folder)).toEqual(['lock']);
  expect(() => lockFolder(folder, procRoot)).toThrowError(inUse);
  release();
  expect(readdirSync(folder)).toEqual([]);
  const again = lockFolder(folder, procRoot);
  release();
  expect(existsSync(join(folder, 'lock'))).toBe(true);
  again();
});

describe('a lock left behind', () => {
  // biome-ignore format: a table is read in columns
  test.each<[string, object, boolean, string]>([
    ['by a process at work',           {},                              false, 'it is alive'],
    ['by a process that has ended',    { pid: 78 },                     true,  'no such process'],
    ['by an id that was given anew',   { start_ticks: 499 },            true,  'another process has that id now'],
    ['by a zombie',                    { pid: 79 },                     true,  'it has ended, its parent has not looked'],
    ['before the last boot',           { boot_id: 'boot-1' },           true,  'nothing outlives a boot'],
    ['by another host',                { hostname: 'elsewhere' },       false, 'it cannot be asked'],
    ['without a start time',           { start_ticks: null },           false, 'the id is all there is to go by'],
  ])('%s', (_, owner, taken) => {
    processes({ 77: ['S', 500], 79: ['Z', 500] });
    heldBy(owner);
    if (taken) {
      const release = lockFolder(folder, procRoot);
      expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')).pid).toBe(process.pid);
      expect(readdirSync(folder)).toEqual(['lock']);
      release();
    } else {
      expect(() => lockFolder(folder, procRoot)).toThrowError(inUse);
      expect(readdirSync(folder)).toEqual(['lock']);
    }
  });

  test.each(['', '{"pid":', '[]', '{"pid":"1"}'])("with the text %j is nobody's", (text) => {
    writeFileSync(join(folder, 'lock'), text);
    lockFolder(folder, procRoot)();
    expect(existsSync(join(folder, 'lock'))).toBe(false);
  });

  test('with a take-over that died half-way is taken over all the same', () => {
    heldBy({ pid: 78 });
    writeFileSync(join(folder, 'lock.takeover'), readFileSync(join(folder, 'lock')));
    lockFolder(folder, procRoot)();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is left to the process that is taking it over', () => {
    processes({ 77: ['S', 500] });
    heldBy({ pid: 77 });
    writeFileSync(join(folder, 'lock.takeover'), readFileSync(join(folder, 'lock')));
    heldBy({ pid: 78 });
    expect(() => lockFolder(folder, procRoot)).toThrowError(inUse);
  });

  test('names its holder, and for another host the way out', () => {
    heldBy({ hostname: 'elsewhere' });
    expect(() => lockFolder(folder, procRoot)).toThrowError(
      expect.objectContaining({
        message: `${join(folder, 'lock')} is held by process 77 on elsewhere`,
        hint: expect.stringContaining('delete'),
      }),
    );
  });
});

test('where the system keeps no /proc, a process is asked by signal', () => {
  const none = join(procRoot, 'none');
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  heldBy({ pid: ended, boot_id: null, start_ticks: null });
  const release = lockFolder(folder, none);
  expect(() => lockFolder(folder, none)).toThrowError(inUse);
  release();
});

test('a real process holds its lock until it is killed', async ({ skip }) => {
  if (ownIdentity('/proc').start_ticks === null) return skip('this system has no /proc');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")']);
  try {
    await once(child.stdout, 'data');
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const start_ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    heldBy({ ...ownIdentity('/proc'), pid: child.pid, start_ticks });
    expect(() => lockFolder(folder)).toThrowError(inUse);
    child.kill('SIGKILL');
    await once(child, 'exit');
    lockFolder(folder)();
  } finally {
    child.kill('SIGKILL');
  }
});
