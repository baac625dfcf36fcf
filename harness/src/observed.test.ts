import type { EndpointFacts } from '@perwatt/core';
import { type DeviceFacts, openRun } from '@perwatt/records';
import { expect, test } from 'vitest';
import type { HarnessDeps } from './deps.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { virtualWorld } from './virtual-world.fixture.js';
import { quickPlan, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;

/** A world whose servers report these facts at their n-th start, counted over all models. */
function reporting(facts: (start: number) => Partial<EndpointFacts>, onCall = () => {}): HarnessDeps {
  const { deps } = virtualWorld({
    items: 3,
    call_ns: () => {
      onCall();
      return 1e6;
    },
  });
  let starts = 0;
  return {
    ...deps,
    async prepareModel(entry, endpoint) {
      const model = await deps.prepareModel(entry, endpoint);
      const client: typeof model.client = (place) => {
        const made = model.client(place);
        const open = async () => ({ ...(await made.open()), ...facts(starts++) });
        return { ...made, open };
      };
      return { ...model, client };
    },
  };
}

const server = (
  port: number,
  more: Partial<NonNullable<EndpointFacts['server']>> = {},
): Partial<EndpointFacts> => ({
  kind: 'http',
  endpoint: `http://127.0.0.1:${port}/v1`,
  engine: 'vllm',
  pids: [port],
  server: {
    id: 'e',
    kind: 'vllm',
    version: '0.9.1',
    argv: ['vllm', 'serve', '--port', String(port)],
    model: 'm',
    request_model: 'm',
    image: null,
    image_digest: null,
    agent: null,
    ready_ms: port,
    log: `e-${port}.log`,
    ...more,
  },
});

const matrix = `
name: t
protocol: quick
order: interleave
blocks: none
axes:
  model: [m1, m2]
  dataset: [d1, d2]
`;

const ran = async (deps: HarnessDeps, text = matrix) => {
  const { run } = await runPlan(await quickPlan(text, deps), deps, {
    root: temporaryFolder(),
    signal: never,
  });
  return run.cells();
};

const drifts = (cells: Awaited<ReturnType<typeof ran>>) =>
  cells.flatMap(
    (cell) => cell.verdict?.reasons.filter(({ code }) => code === 'drift').map(({ text }) => text) ?? [],
  );

test('a server that is the same but for its port, process, log and start is the same', async () => {
  const cells = await ran(reporting((start) => server(8000 + start)));
  expect(drifts(cells)).toEqual([]);
  expect(new Set(cells.map(({ hashes }) => hashes?.observed)).size).toBe(1);
  expect(cells[0]?.sittings[0]?.observed).toMatchObject({
    sha256: cells[0]?.hashes?.observed,
    facts: {
      endpoints: { main: { engine: 'vllm', server: { argv: ['vllm', 'serve', '--port', '{port}'] } } },
    },
  });
});

// biome-ignore format: a table is read in columns
test.each<[what: string, later: Partial<EndpointFacts>, change: string]>([
  ['engine version', server(1, { version: '0.9.2' }),                           'endpoints.main.server.version: "0.9.1" → "0.9.2"'],
  ['flags',          server(1, { argv: ['vllm', 'serve', '--port', '1', '-x'] }), 'endpoints.main.server.argv[4]: absent → "-x"'],
  ['image',          server(1, { image_digest: 'sha256:b' }),                   'endpoints.main.server.image_digest: null → "sha256:b"'],
  ['model',          { ...server(1), model: 'other' },                          'endpoints.main.model: "scripted" → "other"'],
  ['quantisation',   { ...server(1), quantisation: 'Q4' },                      'endpoints.main.quantisation: null → "Q4"'],
  ['template',       { ...server(1), chat_template_sha256: 'ff' },              'endpoints.main.chat_template_sha256: null → "ff"'],
])('another %s within a run flags the cells of the model after it, and says what changed', async (_, later, change) => {
  const cells = await ran(reporting((start) => (start < 2 ? server(9000 + start) : later)));
  const [first, second] = cells;
  expect(drifts(cells)).toEqual([
    `what answered it is not what answered sitting 0 of ${first?.cell_id}: ${change}`,
    `what answered it is not what answered sitting 0 of ${second?.cell_id}: ${change}`,
  ]);
  expect(cells.map(({ sittings }) => sittings[0]?.drift !== undefined)).toEqual([false, false, true, true]);
});

const one = 'name: t\nprotocol: quick\naxes: { model: [m1], dataset: [d1] }';

const gpu = (driver: string): DeviceFacts => ({
  kind: 'gpu',
  name: 'H100',
  memory_bytes: 1,
  power_limit_w: 700,
  driver,
});

async function resumedOn(text: string, [before, after]: readonly [DeviceFacts, DeviceFacts]) {
  const stop = new AbortController();
  let calls = 0;
  const first = reporting(
    () => ({}),
    () => {
      calls += 1;
      if (calls === 3) stop.abort();
    },
  );
  const plan = await quickPlan(text, first);
  const { run } = await runPlan(
    plan,
    { ...first, devices: async () => [before] },
    { root: temporaryFolder(), signal: stop.signal },
  );
  const again = await resumeRun(openRun(run.path), null, {
    deps: { ...reporting(() => ({})), devices: async () => [after] },
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  return again.run;
}

test('another driver at the resume flags the cell, and the manifest has the devices of the last start', async () => {
  const text = one.replace('model: [m1]', 'model: [m1], accelerator: [{ id: g, kind: gpu }]');
  const run = await resumedOn(text, [gpu('570.1'), gpu('575.2')]);
  expect(run.manifest.devices).toEqual([gpu('575.2')]);
  const cells = run.cells();
  expect(cells[0]?.sittings.map(({ drift }) => drift?.changes ?? null)).toEqual([
    null,
    ['devices[0].driver: "570.1" → "575.2"'],
  ]);
  expect(drifts(cells)).toHaveLength(1);
});

test('a device that a cell does not run on is none of its business', async () => {
  const run = await resumedOn(one, [gpu('570.1'), gpu('575.2')]);
  expect(drifts(run.cells())).toEqual([]);
});
