import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loaded } from './binding.js';
import { stubProblem, vendorStub } from './vendor-stub.fixture.js';

const script = fileURLToPath(new URL('../../scripts/gpu-check.mjs', import.meta.url));
const built = existsSync(new URL('../dist/index.js', import.meta.url));
const problem = loaded.problem ?? stubProblem ?? (built ? null : 'native-power is not built');
if (problem !== null) process.stderr.write(`tests of gpu-check skipped: ${problem}\n`);

/** A GPU at 100 W whose counter says so too. */
const gpu = `fixed
0, 0, index, 0, 0, 0, 0
0, 0, uuid, 0, 0, 0, GPU-A
0, 0, 188, 0, 0, 1, 350000
0, 0, 83, 0, 0, 3, 1000+100000
0, 0, 186, 0, 0, 1, 100000
`;

/** Shows 125 W by `power.draw`, and `instant` W by the newer field, which older drivers refuse. */
const smi = (instant: number | null) => `#!${process.execPath}
const args = process.argv.slice(2).join(' ');
const fields = /--query-gpu=(\\S+)/.exec(args)[1].split(',');
const watts = { 'power.draw': 125, 'power.draw.instant': ${instant} };
const field = fields.at(-1);
if (watts[field] === null) {
  console.log('Field "' + field + '" is not a valid field to query.');
  process.exit(2);
}
const two = (value, digits = 2) => String(value).padStart(digits, '0');
const row = () => {
  const t = new Date();
  const day = [t.getFullYear(), two(t.getMonth() + 1), two(t.getDate())].join('/');
  const time = [t.getHours(), t.getMinutes(), t.getSeconds()].map((part) => two(part)).join(':');
  const stamp = day + ' ' + time + '.' + two(t.getMilliseconds(), 3);
  const values = { timestamp: stamp, uuid: 'GPU-A', [field]: watts[field].toFixed(2) };
  console.log(fields.map((name) => values[name]).join(', '));
};
row();
const every = /--loop-ms=(\\d+)/.exec(args);
if (every) setInterval(row, Number(every[1]));
`;

interface World {
  readonly nvml?: string;
  /** Text of the fake nvidia-smi; null: there is none. */
  readonly smi?: string | null;
}

function check(args: readonly string[], { nvml = gpu, smi: text = null }: World = {}) {
  const stub = vendorStub('nvml', nvml);
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-smi-'));
  onTestFinished(() => {
    stub.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  if (text !== null) writeFileSync(join(folder, 'nvidia-smi'), text, { mode: 0o755 });
  const env = {
    ...process.env,
    PERWATT_NVML_LIB: stub.library,
    PATH: [folder, '/usr/bin', '/bin'].join(delimiter),
  };
  return spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' });
}

describe.skipIf(problem !== null)('gpu-check', () => {
  test('puts the counter, its integrated power and nvidia-smi side by side, around a command', () => {
    const load = ['--', process.execPath, '-e', 'setTimeout(() => process.exit(3), 300)'];
    const { stdout, stderr, status } = check(['--around', '0.4', '--json', '--smi', '30', ...load], {
      smi: smi(125),
    });
    expect(stderr).toBe('');
    expect(status).toBe(3);
    const { gpus, duration_s, load_s, smi: by, sampler } = JSON.parse(stdout);
    expect(by).toEqual({ field: 'power.draw.instant', problem: null });
    expect(load_s).toBeGreaterThan(0.3);
    expect(duration_s).toBeGreaterThan(load_s + 0.7);
    expect(gpus).toHaveLength(1);
    const [{ uuid, counter, integral, ...ratios }] = gpus;
    expect(uuid).toBe('GPU-A');
    expect(counter.energy_j / duration_s).toBeGreaterThan(80);
    expect(counter.lo_j).toBeLessThanOrEqual(counter.energy_j);
    expect(integral.energy_j).toBeLessThanOrEqual(integral.hi_j);
    expect(counter).toHaveProperty('update_ms');
    expect(ratios.counter_over_integral).toBeCloseTo(1, 1);
    expect(ratios.counter_over_smi).toBeCloseTo(0.8, 1);
    expect(ratios.smi_readings).toBeGreaterThan(2);
    expect(sampler.reads).toBeGreaterThan(2);
  });

  test('an older driver is asked for its plain power, and people are told in lines', () => {
    const { stdout, status } = check(['--seconds', '0.5', '--smi', '30'], { smi: smi(null) });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}counter {4}\d+\.\d\d J \(.* J\) {2}mean \d+\.\d W {2}renewed every /m);
    expect(stdout).toMatch(/^ {2}nvidia-smi \d+\.\d\d J {2}power\.draw, \d+ readings$/m);
    expect(stdout).toMatch(/counter\/nvidia-smi 0\.\d{4}/);
  });

  test('without nvidia-smi the sampler goes on, and it is said', () => {
    const { stdout, status } = check(['--seconds', '0.3']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^without nvidia-smi: nvidia-smi cannot be run: .*ENOENT/m);
    expect(stdout).toMatch(/counter\/nvidia-smi -/);
  });

  test('a machine without a GPU is told at once', () => {
    const { stdout, stderr, status } = check(['--seconds', '60'], { nvml: '' });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: no NVIDIA GPU can be read here: the driver shows no GPU/);
  });

  test.each([
    ['a word', ['--seconds', 'long'], /--seconds is long, not a number above 0/],
    ['an unknown option', ['--minutes', '1'], /--minutes/],
  ])('%s is a wrong usage', (_why, args, message) => {
    const { stderr, status } = check(args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });

  test('a command that is not there is an error beside the figures', () => {
    const { stderr, status } = check(['--around', '0.2', '--', 'no-such-load']);
    expect(status).toBe(127);
    expect(stderr).toMatch(/^error: cannot run no-such-load: /);
  });
});
