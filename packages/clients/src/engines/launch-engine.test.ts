import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { instant, type PerwattError, type RunningEngine } from '@perwatt/core';
import { executable, fakeVllm } from '@perwatt/test-kit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { entryOf, temporaryFolder } from './fake-engine.fixture.js';
import { launchEngine } from './launch-engine.js';

const clock = { now: () => instant(process.hrtime.bigint()) };

interface Launch {
  readonly env?: Record<string, string>;
  readonly entry?: Record<string, unknown>;
  readonly signal?: AbortSignal;
}

function launcher() {
  const folder = temporaryFolder();
  const path = fakeVllm(folder);
  const told: string[] = [];
  return {
    folder,
    told,
    log: (n: number) => readFileSync(join(folder, 'logs', `v-${n}.log`), 'utf8'),
    async launch({
      env = {},
      entry = {},
      signal = new AbortController().signal,
    }: Launch = {}): Promise<RunningEngine> {
      const engine = await launchEngine({
        id: 'v',
        entry: entryOf({
          kind: 'vllm',
          command: [path, 'serve'],
          env,
          ready_timeout_s: 20,
          stop_timeout_s: 2,
          ...entry,
        }),
        model: 'org/model',
        name: 'mine',
        env: process.env,
        cwd: folder,
        log_folder: join(folder, 'logs'),
        clock,
        signal,
        onProgress: (text) => told.push(text),
      });
      onTestFinished(() => engine.stop());
      return engine;
    },
  };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
};

const failure = async (started: Promise<unknown>): Promise<PerwattError> => {
  const error = await started.then(
    () => null,
    (reason: PerwattError) => reason,
  );
  expect(error?.name).toBe('PerwattError');
  return error!;
};

test('an engine that is healthy late is waited for, and says what it is', async () => {
  const { launch, told, log } = launcher();
  const engine = await launch({
    env: { FAKE_LATE_MS: '1500' },
    entry: { context_tokens: 512, flags: ['--seed', 1] },
  });
  expect(engine.facts).toMatchObject({
    id: 'v',
    kind: 'vllm',
    version: '9.8.7',
    model: 'org/model',
    image: null,
    image_digest: null,
    agent: null,
    log: 'v-0.log',
  });
  expect(engine.facts.argv.slice(1)).toEqual([
    ...['serve', 'org/model', '--served-model-name', 'mine', '--host', '127.0.0.1', '--port'],
    ...[new URL(engine.url).port, '--max-model-len', '512', '--seed', '1'],
  ]);
  expect(engine.facts.ready_ms).toBeGreaterThan(1400);
  expect(engine.profile).toBe('vllm');
  expect(told.some((text) => /^starting v, \d+ s: INFO/.test(text))).toBe(true);
  expect(log(0)).toContain('INFO listening');
  expect(engine.died.aborted).toBe(false);
  await engine.stop();
  expect(log(0)).toContain('INFO bye');
  expect(engine.died.aborted).toBe(false);
  expect(engine.pids.some(isAlive)).toBe(false);
});

// biome-ignore format: a table is read in columns
test.each([
  [{ FAKE_ENDS: '1' }, {}, /^engine "v" ended before it was ready, with code 3; the end of its log .*v-0\.log:\n[\s\S]*ValueError: no such model/, 'its own words say why'],
  [{ FAKE_LATE_MS: '60000' }, { ready_timeout_s: 4, stop_timeout_s: 0.3 }, /^engine "v" was not ready within 4 s \(status 503.*loading/, 'a deadline ends the wait'],
  [{ FAKE_REFUSE: '1' }, {}, /^engine "v" is up but refused its first call for mine \(status 404.*model is not here/, 'healthy is not enough'],
  [{}, { command: ['no-such-program'] }, /^cannot run no-such-program: there is no such program/, 'a program that is not there'],
  [{}, { kind: 'ollama', command: ['x'], quantisation: 'q4' }, /kind ollama has no argument for quantisation/, 'a setting that would be lost'],
])('a start that fails says why and leaves nothing: %j %j', async (env, entry, message, _why) => {
  const { launch, log } = launcher();
  const error = await failure(launch({ env: { ...env, FAKE_HELPER: '1' } as Record<string, string>, entry }));
  expect(error.message).toMatch(message);
  const helper = error.message.startsWith('engine "v" ') && !('kind' in entry) ? Number(/helper (\d+)/.exec(log(0))?.[1]) : null;
  if (helper !== null) expect(isAlive(helper)).toBe(false);
});

test('a port that is taken is refused: another server would be measured', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  const error = await failure(launcher().launch({ entry: { port } }));
  expect(error.code).toBe('SERVER_FAILED');
  expect(error.message).toContain(`port ${port} of 127.0.0.1 can't be listened on: listen EADDRINUSE`);
});

test('a stop while it starts ends it', async () => {
  const stopping = new AbortController();
  const { launch, log } = launcher();
  const started = launch({ env: { FAKE_LATE_MS: '60000', FAKE_HELPER: '1' }, signal: stopping.signal });
  started.catch(() => {});
  await vi.waitFor(() => expect(log(0)).toContain('INFO listening'), 10_000);
  stopping.abort(new Error('enough'));
  await expect(started).rejects.toThrow('enough');
  expect(isAlive(Number(/helper (\d+)/.exec(log(0))?.[1]))).toBe(false);
});

test.each(['1', 'apart'])(
  'an engine that is deaf is killed, and with it what it started (%s)',
  async (how) => {
    const { launch, log } = launcher();
    const engine = await launch({
      env: { FAKE_DEAF: '1', FAKE_HELPER: how },
      entry: { stop_timeout_s: 0.3 },
    });
    const helper = Number(/helper (\d+)/.exec(log(0))?.[1]);
    expect(engine.pids).toContain(helper);
    expect(isAlive(helper)).toBe(true);
    await engine.stop();
    expect([helper, ...engine.pids].filter(isAlive)).toEqual([]);
    expect(log(0)).toContain('not listening');
  },
);

test('an engine that dies says so with the end of its log, and its helpers are ended', async () => {
  const { launch, log } = launcher();
  const engine = await launch({
    env: { FAKE_DIE_AT: '2:3', FAKE_HELPER: '1' },
    entry: { stop_timeout_s: 0.3 },
  });
  const died = new Promise<void>((resolve) => engine.died.addEventListener('abort', () => resolve()));
  await fetch(`${engine.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'mine', messages: [], max_tokens: 8, stream: true }),
  })
    .then((answer) => answer.text())
    .catch(() => null);
  await died;
  const { code, message } = engine.died.reason as PerwattError;
  expect(code).toBe('SERVER_DIED');
  expect(message).toMatch(
    /^engine "v" ended with code 70; the end of its log .*v-0\.log:\n[\s\S]*CUDA error: an illegal memory/,
  );
  const helper = Number(/helper (\d+)/.exec(log(0))?.[1]);
  await vi.waitFor(() => expect(isAlive(helper)).toBe(false), 5000);
});

test('an engine in a container is run by its runtime, and its image has a digest', async () => {
  const { folder, launch } = launcher();
  const told = join(folder, 'docker.log');
  executable(
    folder,
    'docker',
    `#!/bin/sh
echo "$@" >> ${told}
case "$1" in
  image) echo "registry/vllm@sha256:abc123" ;;
  run) while [ "$1" != --entrypoint ]; do case "$1" in --env) export "$2"; shift ;; esac; shift; done; program="$2"; shift 3; exec "$program" "$@" ;;
esac
`,
  );
  const path = process.env['PATH'] ?? '';
  vi.stubEnv('PATH', `${folder}:${path}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const engine = await launch({
    env: { FAKE_LATE_MS: '10' },
    entry: { container: { image: 'registry/vllm:1', args: ['--gpus', 'all'] } },
  });
  expect(engine.facts).toMatchObject({
    image: 'registry/vllm:1',
    image_digest: 'sha256:abc123',
    version: '9.8.7',
  });
  await engine.stop();
  const port = new URL(engine.url).port;
  const lines = readFileSync(told, 'utf8').trim().split('\n');
  expect(lines[0]).toMatch(
    new RegExp(
      `^run --rm --name perwatt-v-${port} --network host --env FAKE_LATE_MS=10 --gpus all --entrypoint .*fake-vllm.mjs registry/vllm:1 serve org/model`,
    ),
  );
  expect(lines.at(-1)).toBe(`rm --force perwatt-v-${port}`);
});

test('LM Studio is asked to serve, to load and to end', async () => {
  const { folder, launch } = launcher();
  const told = join(folder, 'lms.log');
  const fake = fakeVllm(folder);
  executable(
    folder,
    'lms',
    `#!/bin/sh
echo "$@" >> ${told}
case "$1 $2" in
  "server start") setsid ${fake} serve --served-model-name mine --host 127.0.0.1 --port "$4" > ${folder}/daemon.log 2>&1 & echo $! > ${folder}/pid ;;
  "server stop") kill "$(cat ${folder}/pid)" ;;
esac
`,
  );
  const engine = await launch({
    entry: { kind: 'lmstudio', command: [join(folder, 'lms')], context_tokens: 4096 },
  });
  expect(engine.profile).toBe('lmstudio');
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  expect(engine.died.aborted).toBe(false);
  await engine.stop();
  const port = new URL(engine.url).port;
  expect(readFileSync(told, 'utf8').trim().split('\n')).toEqual([
    `server start --port ${port}`,
    'load org/model --identifier mine -y --context-length 4096',
    'server stop',
  ]);
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 5000);
});
