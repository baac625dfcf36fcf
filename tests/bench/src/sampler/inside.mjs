// Runs in a mount namespace of its own: makes the host up over /sys/class, then measures there. Writes a JSON file.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { energyOf } from './load.mjs';
import { buildOthers, buildPowercap, PACKAGES, powercapZones, vendorScripts } from './tree.mjs';
import { cpuTime, memoryOf } from './usage.mjs';

const CLASS = '/sys/class';
const options = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { libraries, wake, python, rounds, windows, window_s, fast_windows, fast_window_s, load_s, parts } =
  options;
const scratch = mkdtempSync(join(tmpdir(), 'perwatt-bench-inside-'));
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const usage = (pid) => ({ at_ns: Number(process.hrtime.bigint()), ...cpuTime(pid) });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const now = () => process.hrtime.bigint();
const progress = (text) => process.stderr.write(`  ${text}\n`);
const SECOND = 1_000_000_000n;

const RAPL = 'rapl-powercap';
const SOURCES = [
  RAPL,
  'amd-energy',
  'intel-gpu-hwmon',
  'nvml',
  'amd-smi',
  'amdgpu-hwmon',
  'jetson-rails',
  'acpi-power-meter',
  'battery',
  'estimate-cpu-load',
];

const others = setUp();

function setUp() {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'noatime', 'perwatt', CLASS], {
    encoding: 'utf8',
  });
  if (mounted.status !== 0) throw new Error(`no tmpfs over ${CLASS}: ${mounted.stderr?.trim()}`);
  buildPowercap(CLASS, powercapZones(CLASS, { t0_ns: now() }));
  for (const [vendor, library] of Object.entries(libraries))
    writeFileSync(`${library}.script`, vendorScripts[vendor]);
  return buildOthers(CLASS);
}

/** A child process that says one thing by line. */
function start(command, args) {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, HOME: scratch },
    cwd: scratch,
  });
  const said = [];
  const waiting = [];
  let problem = '';
  child.stderr.on('data', (text) => {
    problem = `${problem}${text}`.slice(-2000);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{') && !line.startsWith('[')) return;
    const resolve = waiting.shift();
    if (resolve) resolve({ value: JSON.parse(line) });
    else said.push(JSON.parse(line));
  });
  const ended = new Promise((resolve) =>
    child.once('close', (code) => {
      resolve(code);
      for (const settle of waiting.splice(0)) settle({ problem: problem || `exit code ${code}` });
    }),
  );
  return {
    pid: child.pid,
    async next() {
      if (said.length > 0) return said.shift();
      const heard = await new Promise((resolve) => waiting.push(resolve));
      if (heard.problem !== undefined) throw new Error(`${command} ended: ${heard.problem}`);
      return heard.value;
    },
    ask: () => child.stdin.end('\n'),
    ended,
  };
}

const ours = (settings) =>
  start(process.execPath, [file('./ours.mjs'), JSON.stringify({ libraries, ...settings })]);

/** The hardware, for so many seconds; with `wraps_ns`, the packages lap then. */
function startWriter({ seconds, wraps_ns }) {
  const t0_ns = now();
  const fast = powercapZones(CLASS, { t0_ns, wraps_ns });
  const until = t0_ns + BigInt(Math.ceil(seconds)) * SECOND;
  const path = join(scratch, 'writer.json');
  writeFileSync(path, JSON.stringify({ t0: String(t0_ns), until: String(until), fast, slow: others }));
  return { t0_ns, child: start(process.execPath, [file('./writer.mjs'), path]) };
}

/** A process beside one that does nothing, window by window. Shares are of one core. */
async function watched(command, { count, seconds }) {
  const writer = startWriter({ seconds: count * seconds + 8 });
  await sleep(500);
  const [sampler, idle] = [command(), ours({ mode: 'idle' })];
  const { ready } = await sampler.next();
  await idle.next();
  await sleep(3000);
  const [shares, memory, loads] = [[], [], []];
  let before = [usage(sampler.pid), usage(idle.pid)];
  for (let i = 0; i < count; i += 1) {
    for (let s = 0; s < seconds; s += 1) {
      await sleep(1000);
      memory.push([sampler.pid, idle.pid].map(memoryOf));
    }
    const after = [usage(sampler.pid), usage(idle.pid)];
    const share = (k, key) => (after[k][key] - before[k][key]) / (after[k].at_ns - before[k].at_ns);
    const idle_ratio = share(1, 'all_ns');
    loads.push(loadavg()[0]);
    shares.push({
      threads: share(0, 'threads_ns'),
      process: share(0, 'all_ns') - idle_ratio,
      idle: idle_ratio,
    });
    before = after;
  }
  sampler.ask();
  idle.ask();
  const sources = await sampler.next();
  return { ready, shares, memory, loads, sources, renewals: await writer.child.next() };
}

/** Threads that wake up as often and do nothing: what this machine charges for it. */
async function wakeUps(periods_ns, window) {
  const { shares } = await watched(() => start(wake, periods_ns.map(String)), window);
  return shares.map(({ process, idle }) => process + idle);
}

/** The true energy of the packages between two moments, J. */
const truth = (t0_ns, { begin, end }) =>
  PACKAGES.reduce(
    (sum, zone) =>
      sum +
      energyOf(zone.loads, { t0_ns, at_ns: BigInt(end) }) -
      energyOf(zone.loads, { t0_ns, at_ns: BigInt(begin) }),
    0,
  );

/** One sampler over one load, both packages lapping within it. */
async function metered({ command, lead_s, period_ns }) {
  const t0 = now();
  const begin = t0 + BigInt(lead_s) * SECOND;
  const wraps_ns = [0.45, 0.7].map((share) => begin + BigInt(Math.round(share * load_s * 1e9)));
  const { t0_ns, child } = startWriter({ seconds: lead_s + load_s + 2, wraps_ns });
  await sleep(300);
  const settings = { mode: 'measure', begin: String(begin), seconds: load_s, period_ns };
  const sampler = command(settings);
  const said = await sampler.next();
  const true_j = truth(t0_ns, said);
  await sampler.ended;
  const renewals = await child.next();
  const held = said.lo_j === undefined ? null : said.lo_j <= true_j && true_j <= said.hi_j;
  return {
    ...said,
    true_j,
    error: said.energy_j / true_j - 1,
    cpu_per_period_ns: (said.cpu_ns * period_ns) / (Number(said.end) - Number(said.begin)),
    held,
    window_s: load_s,
    renewals_p50_ms: renewals.p50_ms,
    renewals_p99_ms: renewals.p99_ms,
  };
}

const peer = (script) => (settings) => start(python, [file(script), JSON.stringify(settings)]);
const own = (settings) => ours({ ...settings, names: [RAPL] });

/** What is held side by side: a peer that reads once a second, and ours at the same rate. */
const PEERS = [
  { name: 'codecarbon', command: peer('./codecarbon_sampler.py'), period_ns: 1e9, lead_s: 22 },
  { name: 'zeus', command: peer('./zeus_sampler.py'), period_ns: 1e9, lead_s: 22 },
];

/** Python needs longer than this to get ready. */
const OWN_LEAD_S = 5;

async function sideBySide() {
  const result = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, command, period_ns, lead_s } of PEERS) {
      progress(`round ${round + 1} of ${rounds}: ${name} and ours`);
      const theirs = () => metered({ command, lead_s, period_ns });
      const mine = () => metered({ command: own, lead_s: OWN_LEAD_S, period_ns });
      // The order alternates, so that drift of the machine falls on both alike.
      const pair =
        round % 2 === 0 ? [await theirs(), await mine()] : [await mine(), await theirs()].reverse();
      result.push({ round, name, period_ns, load: loadavg()[0], theirs: pair[0], ours: pair[1] });
    }
  }
  return result;
}

/** One reading without timers around it, of each. */
async function bareReadings() {
  const writer = startWriter({ seconds: 45 });
  await sleep(300);
  const found = {};
  const commands = [['ours', own], ...PEERS.map(({ name, command }) => [name, command])];
  for (const [name, command] of commands) {
    const sampler = command({ mode: 'readings' });
    found[name] = (await sampler.next()).cpu_ns;
    await sampler.ended;
  }
  await writer.child.next();
  return found;
}

const result = {};
if (parts.includes('default')) {
  progress(`every source at its default rate, ${windows * window_s} s`);
  const reading = () => ours({ mode: 'read', names: SOURCES });
  result.default = await watched(reading, { count: windows, seconds: window_s });
  const periods_ns = result.default.ready.map(({ period_ns }) => period_ns);
  result.default.wake = await wakeUps(periods_ns, { count: 4, seconds: window_s });
}
if (parts.includes('fast')) {
  progress(`powercap at 1 kHz, ${fast_windows * fast_window_s} s`);
  const reading = () => ours({ mode: 'read', names: [RAPL], period_ns: 1e6 });
  result.fast = await watched(reading, { count: fast_windows, seconds: fast_window_s });
  result.fast.wake = await wakeUps([1e6], { count: 4, seconds: fast_window_s });
}
if (parts.includes('peers')) {
  progress('single readings');
  result.readings = await bareReadings();
  result.pairs = await sideBySide();
}
writeFileSync(options.result, JSON.stringify(result));
