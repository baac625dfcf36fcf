import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PowercapTree, powercapTree } from './power-powercap-tree.js';

export interface LiveCounterOptions {
  /** Power whatever happens, W. */
  readonly idle_w: number;
  /** Power of each core that the watched threads keep busy, W. */
  readonly busy_w: number;
  /** Value after which the counter begins again at 0, µJ. */
  readonly max_uj: number;
  /** How often it is renewed, ms. */
  readonly period_ms: number;
  /** Names of the threads that are watched, of the process whose id stands in `pidFile`: a regular expression. */
  readonly threads: string;
}

/** The counter at one moment: when it was written, on the monotonic clock, and what it should have counted by then. */
export interface CounterMoment {
  readonly at_ns: number;
  /** Energy since it began, J; never wraps. */
  readonly energy_j: number;
  /** Time that the watched threads have computed, s. */
  readonly busy_s: number;
}

/** A powercap tree whose package counter a process of its own keeps going at a known power. Linux only: it reads `/proc`. */
export interface LiveCounter {
  readonly root: string;
  /** Where the process that is watched has to write its id. */
  readonly pidFile: string;
  /** Lets the counter stand still from now on, as one does whose driver has died. */
  freeze(): void;
  /** Stops it; everything it wrote, in order. */
  stop(): Promise<CounterMoment[]>;
  remove(): void;
}

const source = ({ idle_w, busy_w, max_uj, threads, period_ms }: LiveCounterOptions, files: LiveFiles) => `
import { openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { setPriority } from 'node:os';
// Hardware counts whatever the load; where it is allowed, so does this.
try { setPriority(-20); } catch {}
const counter = openSync(${JSON.stringify(files.counter)}, 'r+');
const trace = openSync(${JSON.stringify(files.trace)}, 'a');
const named = new RegExp(${JSON.stringify(threads)});
const read = (path) => { try { return readFileSync(path, 'utf8'); } catch { return ''; } };
const seen = new Map();
function busyNanos() {
  const pid = read(${JSON.stringify(files.pid)}).trim();
  if (pid !== '') {
    const folder = '/proc/' + pid + '/task';
    let tasks = [];
    try { tasks = readdirSync(folder); } catch {}
    for (const task of tasks) {
      if (seen.get(task) === null) continue;
      if (!seen.has(task) && !named.test(read(folder + '/' + task + '/comm'))) continue;
      const ran = Number(read(folder + '/' + task + '/schedstat').split(' ')[0]);
      if (ran > 0) seen.set(task, ran);
    }
  }
  let sum = 0;
  for (const ran of seen.values()) sum += ran;
  return sum;
}
let frozen = false;
process.on('message', () => { frozen = true; });
process.on('disconnect', () => process.exit(0));
let last = process.hrtime.bigint();
let [busy, joules] = [0, 0];
(function tick() {
  const ran = busyNanos();
  const now = process.hrtime.bigint();
  if (!frozen) joules += (${idle_w} * Number(now - last) + ${busy_w} * (ran - busy)) * 1e-9;
  [last, busy] = [now, ran];
  const uj = Math.round(joules * 1e6) % ${max_uj + 1};
  writeSync(counter, String(uj).padStart(15, '0') + '\\n', 0);
  const written = process.hrtime.bigint();
  writeSync(trace, written + ' ' + joules + ' ' + busy * 1e-9 + '\\n');
  setTimeout(tick, ${period_ms});
})();
`;

interface LiveFiles {
  readonly counter: string;
  readonly trace: string;
  readonly pid: string;
}

/** Starts one. */
export async function liveCounter(options: LiveCounterOptions): Promise<LiveCounter> {
  const tree: PowercapTree = powercapTree([
    { zone: 'intel-rapl:0', name: 'package-0', max_uj: options.max_uj },
  ]);
  writeFileSync(join(tree.file('intel-rapl:0'), '../constraint_0_max_power_uw'), '100000000\n');
  const files: LiveFiles = {
    counter: tree.file('intel-rapl:0'),
    trace: join(tree.root, 'trace'),
    pid: join(tree.root, 'pid'),
  };
  const program = join(tree.root, 'counter.mjs');
  writeFileSync(program, source(options, files));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await started(files.trace, child);
  return {
    root: tree.root,
    pidFile: files.pid,
    freeze: () => void child.send('freeze'),
    async stop() {
      if (child.connected) child.disconnect();
      if (child.exitCode === null) await once(child, 'exit');
      return moments(files.trace);
    },
    remove: tree.remove,
  };
}

/** Waits for its first value. */
async function started(trace: string, child: ChildProcess): Promise<void> {
  while (!existsSync(trace) || readFileSync(trace, 'utf8') === '') {
    if (child.exitCode !== null) throw new Error(`the counter ended with exit code ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const moments = (trace: string): CounterMoment[] =>
  readFileSync(trace, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [at_ns, energy_j, busy_s] = line.split(' ').map(Number);
      return { at_ns: at_ns ?? 0, energy_j: energy_j ?? 0, busy_s: busy_s ?? 0 };
    });

/** The last thing written by a moment. */
export function momentAt(trace: readonly CounterMoment[], at_ns: number): CounterMoment {
  let [low, high] = [0, trace.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((trace[middle]?.at_ns ?? 0) <= at_ns) low = middle;
    else high = middle - 1;
  }
  return trace[low] ?? { at_ns: 0, energy_j: 0, busy_s: 0 };
}
