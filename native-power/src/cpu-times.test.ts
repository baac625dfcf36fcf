import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cpuTimes } from './cpu-times.js';

/** A tree of files under a temporary folder. */
function files(contents: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-cpu-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const stat =
  'cpu  100 20 30 1000 500 4 6 70 50 0\ncpu0 50 10 15 500 250 2 3 35 25 0\ncpu1 50 10 15 500 250 2 3 35 25 0\nintr 1\n';

/** A line of `/proc/<pid>/stat`; ticks are user, system, and those of children it waited for. */
const processLine = (pid: number, parent: number, name: string, ticks: readonly number[]) =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 1 2 3 4 ${ticks.join(' ')} 20 0 1 0 100 0 0`;

const host = () =>
  files({
    'proc/stat': stat,
    'proc/10/stat': processLine(10, 1, 'node', [100, 10, 5, 1]),
    'proc/11/stat': processLine(11, 10, 'a) 7 (b', [40, 0, 0, 0]),
    'proc/12/stat': processLine(12, 11, 'grandchild', [8, 0, 0, 0]),
    'proc/20/stat': processLine(20, 1, 'other', [9000, 0, 0, 0]),
    'proc/self/stat': processLine(10, 1, 'node', [1, 1, 1, 1]),
  });

const tick = 10_000_000;

// biome-ignore format: a table is read in columns
test.each<[why: string, pids: number[], ticks: number]>([
  ['a process, its descendants, and children that are gone', [10],      116 + 40 + 8],
  ['a name with brackets and spaces is no field',            [11],      48],
  ['nobody is counted twice',                                [10, 11, 12], 164],
  ['others count on request only',                           [12, 20],  9008],
  ['a process that is gone',                                 [99],      0],
  ['nobody',                                                 [],        0],
])('own time: %s', (_why, pids, ticks) => {
  expect(cpuTimes(host(), pids)).toEqual({ busy_ns: 160 * tick, own_ns: ticks * tick, cpus: 2 });
});

test('a tree without CPU times has none', () => {
  expect(cpuTimes(files({}), [1])).toBeNull();
});

test.skipIf(process.platform !== 'linux')('work done here is seen as ours, and as the host’s', () => {
  const before = cpuTimes('/', [process.pid])!;
  spawnSync(process.execPath, ['-e', 'const end = Date.now() + 300; while (Date.now() < end);']);
  const after = cpuTimes('/', [process.pid])!;
  expect(after.own_ns - before.own_ns).toBeGreaterThan(50e6);
  expect(after.busy_ns - before.busy_ns).toBeGreaterThan(50e6);
});
