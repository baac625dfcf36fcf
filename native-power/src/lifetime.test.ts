import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loaded } from './binding.js';

const addon = fileURLToPath(new URL('../perwatt-power.node', import.meta.url));

/** Lets a script start a recorder of this host. */
const prelude = `const start = () => require(${JSON.stringify(addon)}).Recorder.start({
  source: 'estimate-cpu-load', root: '/', period_ns: 1e6,
});`;

/** Lets a script count the sampling threads of its process. */
const counting = `
  const { readdirSync, readFileSync } = require('node:fs');
  const threads = () => readdirSync('/proc/self/task')
    .map((id) => readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim())
    .filter((name) => name.startsWith('power')).length;
  const until = (count, poke = () => {}) => new Promise((resolve) => {
    const look = () => { poke(); threads() === count ? resolve() : setTimeout(look, 2); };
    look();
  });`;

/** Runs a script in a process of its own. */
function run(script: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', prelude + counting + script], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, stdout, stderr };
}

describe.skipIf(loaded.binding === null || process.platform !== 'linux')('a recorder nobody stopped', () => {
  test('keeps no process alive', () => {
    expect(run('globalThis.kept = start();')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test('ends with an exit in the middle of it', () => {
    expect(run('globalThis.kept = start(); process.exit(7);')).toEqual({ status: 7, stdout: '', stderr: '' });
  });

  test('ends with the worker that started it', () => {
    const script = `
      const { Worker } = require('node:worker_threads');
      const body = 'const { parentPort } = require("node:worker_threads");' + ${JSON.stringify(prelude)} +
        'globalThis.kept = start(); parentPort.postMessage("up"); setInterval(() => {}, 1000);';
      const worker = new Worker(body, { eval: true });
      worker.once('message', async () => {
        await until(1);
        await worker.terminate();
        console.log(threads());
      });`;
    expect(run(script)).toEqual({ status: 0, stdout: '0\n', stderr: '' });
  });

  test('ends with its worker alone, though it shared a thread with another', () => {
    const script = `
      const { Worker } = require('node:worker_threads');
      const kept = start();
      const body = 'const { parentPort } = require("node:worker_threads");' + ${JSON.stringify(prelude)} +
        'globalThis.kept = start(); parentPort.postMessage("up"); setInterval(() => {}, 1000);';
      const worker = new Worker(body, { eval: true });
      worker.once('message', async () => {
        await until(1);
        await worker.terminate();
        const { reads } = kept.status();
        await new Promise((resolve) => {
          const look = () => (kept.status().reads > reads + 5 ? resolve() : setTimeout(look, 2));
          look();
        });
        console.log(threads(), kept.status().state);
        kept.stop();
        console.log(threads(), kept.status().state);
      });`;
    expect(run(script)).toEqual({ status: 0, stdout: '1 running\n0 stopped\n', stderr: '' });
  });

  test('is stopped when it is collected', () => {
    const script = `
      require('node:v8').setFlagsFromString('--expose-gc');
      const gc = require('node:vm').runInNewContext('gc');
      (() => { start(); })();
      until(1).then(() => until(0, gc)).then(() => console.log('stopped'));`;
    expect(run(script)).toEqual({ status: 0, stdout: 'stopped\n', stderr: '' });
  });
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
