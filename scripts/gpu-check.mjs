#!/usr/bin/env node
// Reads an NVIDIA GPU by Perwatt's sampler and by `nvidia-smi` at once, around a load, and puts their joules side by side.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measure, nowNs, powerSources, probePower } from '@perwatt/native-power';

const help = `node scripts/gpu-check.mjs [options] [-- COMMAND …]

Energy of every NVIDIA GPU by its counter, by its integrated power and by nvidia-smi's power, over one span: the command
with --around seconds before and after it, or --seconds of whatever runs. Build first: npm run build.

  --seconds N   without a command: how long to watch (default 10)
  --around N    with one: how long to watch before and after it (default 2)
  --period N    time between two readings of Perwatt's, ms (default 20)
  --smi N       time between two readings of nvidia-smi's, ms (default 100)
  --json        print one JSON object
  --help        show this

PERWATT_NVML_LIB names libnvidia-ml where it lies elsewhere. The exit code is that of the command; 1: there is no GPU to
read, or nothing could be measured; 2: wrong usage.
`;

const numbers = { seconds: 10, around: 2, period: 20, smi: 100 };

/** The options, with numbers as such. Ends the process on a wrong one. */
function options() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        ...Object.fromEntries(Object.keys(numbers).map((name) => [name, { type: 'string' }])),
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const read = Object.entries(numbers).map(([name, usual]) => {
      const value = values[name] === undefined ? usual : Number(values[name]);
      if (!(value > 0)) throw new Error(`--${name} is ${values[name]}, not a number above 0`);
      return [name, value];
    });
    return { ...values, ...Object.fromEntries(read), command: positionals };
  } catch (error) {
    console.error(`error: ${error.message}\nhint: --help shows what there is`);
    process.exit(2);
  }
}

/** The NVML source; ends the process, saying why, where there is none. */
function openSource() {
  const { PERWATT_NVML_LIB: nvml } = process.env;
  const place = { libraries: nvml ? { nvml } : {} };
  const probes = probePower(place);
  const probe = probes.find(({ name }) => name === 'nvml') ?? probes[0];
  const source = powerSources(place).find(({ name }) => name === 'nvml');
  if (probe?.usable && source !== undefined) return source;
  console.error(`error: no NVIDIA GPU can be read here: ${probe?.detail ?? 'the addon has no such source'}`);
  if (probe?.fix) console.error(`hint: ${probe.fix}`);
  process.exit(1);
}

/** The field of nvidia-smi that is nearest to the sampler's, or null with the reason why there is none. */
function smiField() {
  let problem = '';
  for (const field of ['power.draw.instant', 'power.draw']) {
    const args = [`--query-gpu=${field}`, '--format=csv,noheader,nounits'];
    const { status, stdout, stderr, error } = spawnSync('nvidia-smi', args, {
      encoding: 'utf8',
      timeout: 30_000,
    });
    if (error) return { field: null, problem: `nvidia-smi cannot be run: ${error.message}` };
    if (status === 0 && /^\s*\d/.test(stdout)) return { field, problem: null };
    problem = `nvidia-smi tells no ${field}: ${(stderr || stdout).trim() || `exit code ${status}`}`;
  }
  return { field: null, problem };
}

/** `2026/11/30 03:20:05.123` of this host's wall clock, in ms since 1970; NaN for anything else. */
const wallMs = (text) => {
  const parts = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3})$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return Number.NaN;
  const [year, month, ...rest] = parts;
  return new Date(year, month - 1, ...rest).getTime();
};

/** nvidia-smi in its loop: its readings by GPU, on the sampler's clock. */
function startSmi(field, everyMs) {
  const offset = Number(nowNs()) - Date.now() * 1e6;
  const child = spawn(
    'nvidia-smi',
    [`--query-gpu=timestamp,uuid,${field}`, '--format=csv,noheader,nounits', `--loop-ms=${everyMs}`],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const readings = new Map();
  let last = Number.NEGATIVE_INFINITY;
  let ended = false;
  child.on('error', () => {
    ended = true;
  });
  child.on('exit', () => {
    ended = true;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [time = '', uuid = '', watts = ''] = line.split(',').map((part) => part.trim());
    const at = wallMs(time) * 1e6 + offset;
    const power_w = watts === '' ? Number.NaN : Number(watts);
    if (!Number.isFinite(at) || !Number.isFinite(power_w)) return;
    last = at;
    readings.set(uuid, [...(readings.get(uuid) ?? []), { at, power_w }]);
  });
  return {
    readings,
    /** Waits for a reading later than `at`, for 5 s at most. */
    async past(at) {
      for (let tries = 0; tries < 250 && last <= at && !ended; tries += 1) await pause(20);
    },
    async stop() {
      if (ended) return;
      const exit = once(child, 'exit');
      child.kill();
      await exit;
    },
  };
}

/** Energy under straight lines between readings, its edges interpolated, J; null where readings don't span the window. */
function trapezoid(readings, { start, end }) {
  const inside = readings.filter(({ at }) => at > start && at < end);
  const at = (time) => {
    const next = readings.findIndex((reading) => reading.at >= time);
    const [a, b] = [readings[next - 1], readings[next]];
    return a === undefined || b === undefined
      ? null
      : { at: time, power_w: a.power_w + ((b.power_w - a.power_w) * (time - a.at)) / (b.at - a.at) };
  };
  const edges = [at(start), at(end)];
  if (edges.includes(null)) return null;
  const points = [edges[0], ...inside, edges[1]];
  const areas = points.slice(1).map((b, i) => ((points[i].power_w + b.power_w) / 2) * (b.at - points[i].at));
  return areas.reduce((sum, area) => sum + area, 0) / 1e9;
}

function runCommand([file, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', ({ message }) => resolve({ code: 127, problem: `cannot run ${file}: ${message}` }));
    child.on('exit', (code, signal) =>
      resolve({ code: code ?? 128, problem: signal && `ended by ${signal}` }),
    );
  });
}

/** Runs the load, or waits; returns its exit code. */
async function load({ command, seconds, around }) {
  if (command.length === 0) {
    await pause(seconds * 1000);
    return { code: 0, problem: null, load_s: null };
  }
  await pause(around * 1000);
  const before = nowNs();
  const end = await runCommand(command);
  const load_s = Number(nowNs() - before) / 1e9;
  await pause(around * 1000);
  return { ...end, load_s };
}

const ratio = (a, b) => (a === null || b === null || !(b > 0) ? null : a / b);

/** One GPU's joules by every way that there is. */
function compared(uuid, { domains, observed, smi_j, smi_readings }) {
  const of = (what) => domains.find(({ domain }) => domain.id === `nvml:${uuid}:${what}`);
  const told = (part) => {
    if (part === undefined) return null;
    const { energy_j, lo_j, hi_j, mean_power_w, reason, domain } = part;
    const seen = observed.find((one) => one.domain === domain.id);
    const update_ms = seen?.update_period_ns == null ? null : seen.update_period_ns / 1e6;
    return { energy_j, lo_j, hi_j, mean_power_w, reason, update_ms, update_reason: seen?.reason ?? null };
  };
  const [counter, integral] = [told(of('energy')), told(of('power'))];
  return {
    uuid,
    counter,
    integral,
    smi_energy_j: smi_j,
    smi_readings,
    counter_over_integral: ratio(counter?.energy_j ?? null, integral?.energy_j ?? null),
    counter_over_smi: ratio(counter?.energy_j ?? null, smi_j),
    integral_over_smi: ratio(integral?.energy_j ?? null, smi_j),
  };
}

const figure = (value, digits, unit = '') => (value === null ? '-' : `${value.toFixed(digits)}${unit}`);

function meterLine(name, meter) {
  if (meter === null) return `  ${name.padEnd(10)} not offered`;
  const { energy_j, lo_j, hi_j, mean_power_w, reason, update_ms, update_reason } = meter;
  const period =
    update_ms === null ? `unknown (${update_reason ?? 'not watched'})` : `${update_ms.toFixed(1)} ms`;
  const energy =
    energy_j === null
      ? `unknown: ${reason}`
      : `${energy_j.toFixed(2)} J (${lo_j.toFixed(2)}..${hi_j.toFixed(2)} J)  mean ${mean_power_w.toFixed(1)} W`;
  return `  ${name.padEnd(10)} ${energy}  renewed every ${period}`;
}

function* lines({ duration_s, load_s, smi, gpus, sampler }) {
  yield `${duration_s.toFixed(2)} s${load_s === null ? '' : `, the command ${load_s.toFixed(2)} s of it`}`;
  for (const gpu of gpus) {
    yield gpu.uuid;
    yield meterLine('counter', gpu.counter);
    yield meterLine('integral', gpu.integral);
    if (smi.field !== null)
      yield `  nvidia-smi ${figure(gpu.smi_energy_j, 2, ' J')}  ${smi.field}, ${gpu.smi_readings} readings`;
    const { counter_over_integral, counter_over_smi, integral_over_smi } = gpu;
    const shares = [counter_over_integral, counter_over_smi, integral_over_smi].map((one) => figure(one, 4));
    yield `  ratios     counter/integral ${shares[0]}  counter/nvidia-smi ${shares[1]}  integral/nvidia-smi ${shares[2]}`;
  }
  if (smi.problem !== null) yield `without nvidia-smi: ${smi.problem}`;
  yield `sampler: ${sampler.reads} readings, ${figure(sampler.mean_read_us, 0, ' µs')} each, ${sampler.missed_deadlines} deadlines missed`;
  for (const flag of sampler.flags) yield `flag: ${flag}`;
}

async function main() {
  const chosen = options();
  if (chosen.help) return console.log(help);
  const source = openSource();
  const { field, problem } = smiField();
  const smi = field === null ? null : startSmi(field, chosen.smi);
  let recorder = null;
  const watched = { ...source, start: (how) => (recorder = source.start(how)) };
  let span = { start: 0, end: 0 };
  try {
    await smi?.past(Number.NEGATIVE_INFINITY);
    await smi?.past(Number(nowNs()));
    const work = async () => {
      const start = Number(nowNs());
      const end = await load(chosen);
      span = { start, end: Number(nowNs()) };
      return end;
    };
    const { value, duration_ns, domains } = await measure(work, {
      sources: [watched],
      period_ns: chosen.period * 1e6,
    });
    await smi?.past(span.end);
    const { observed = [], flags = [], reads, read_ns, missed_deadlines } = recorder.status();
    const uuids = [...new Set(domains.map(({ domain }) => domain.id.split(':').slice(1, -1).join(':')))];
    const gpus = uuids.map((uuid) => {
      const readings = smi?.readings.get(uuid) ?? [];
      return compared(uuid, {
        domains,
        observed,
        smi_j: trapezoid(readings, span),
        smi_readings: readings.filter(({ at }) => at >= span.start && at <= span.end).length,
      });
    });
    const mean_read_us = reads === 0 ? null : read_ns / reads / 1e3;
    const sampler = { reads, mean_read_us, missed_deadlines, flags };
    const result = {
      duration_s: duration_ns / 1e9,
      load_s: value.load_s,
      smi: { field, problem },
      gpus,
      sampler,
    };
    if (value.problem) console.error(`error: ${value.problem}`);
    if (chosen.json) console.log(JSON.stringify({ ...result, exit_code: value.code }));
    else for (const line of lines(result)) console.log(line);
    process.exitCode = value.code;
  } finally {
    await smi?.stop();
  }
}

main().catch((error) => {
  console.error(`error: ${error.message}${error.hint ? `\nhint: ${error.hint}` : ''}`);
  process.exitCode = 1;
});
