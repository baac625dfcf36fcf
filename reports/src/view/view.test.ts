import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CellFile, createRun, type RunFolder, type RunManifest, SegmentWriter } from '@perwatt/records';
import { testDomain } from '@perwatt/test-kit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { syntheticRun } from '../synthetic-run.fixture.js';
import { callRow } from './live-rows.fixture.js';
import { createRateTally } from './rate-tally.js';
import { createRunWatch } from './run-watch.js';
import { startViewServer, type ViewServer } from './view-server.js';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-view-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const domain = testDomain({ id: 'rapl:0:package-0', source: 'rapl', provenance: 'counter' });

/** A run that has just begun: one cell, one recorder, nothing on record yet. */
function begun(): {
  run: RunFolder;
  cell: CellFile;
  calls: SegmentWriter<'calls'>;
  samples: SegmentWriter<'samples'>;
} {
  const made = syntheticRun({ root, run_id: 'made', items: 1, models: ['tiny'], strategies: ['single'] });
  const [first] = made.cells();
  const manifest: RunManifest = {
    ...made.manifest,
    run_id: 'live',
    status: 'running',
    order: [first!.cell_id],
    power: [],
  };
  const run = createRun(root, manifest);
  const power = {
    file: 'rapl-0.arrows',
    source: 'rapl',
    provenance: 'counter',
    period_ns: 1e8,
    domains: [domain],
    boot_id: null,
    segment: null,
  } as const;
  run.updateManifest({ power: [power] });
  const dataset = { ...first!.provenance!.dataset, items: 10_000 };
  const cell: CellFile = {
    ...first!,
    run_id: 'live',
    status: 'running',
    segments: [],
    ledgers: [],
    sittings: [],
    provenance: { ...first!.provenance!, dataset },
  };
  run.writeCell(cell);
  const writer = <T extends 'calls' | 'samples'>(folder: string, table: T, file: string) =>
    SegmentWriter.create({ folder, file, table, sitting: 0, metadata: {} });
  return {
    run,
    cell,
    calls: writer(run.cellFolder(cell.cell_id), 'calls', 'calls-0.arrows'),
    samples: writer(run.powerFolder, 'samples', power.file),
  };
}

const zeroOf = ({ manifest }: RunFolder) => BigInt(manifest.clocks[0]!.at_ns);
const SECOND = 1_000_000_000n;

/** One second of a run: 20 W, and `n` calls of 7 tokens. */
function second(live: ReturnType<typeof begun>, at: number, n: number): void {
  const zero = zeroOf(live.run);
  live.samples.append(
    [0, 1].map((half) => {
      const booked = 20 * (at + half / 2);
      return {
        at_ns: zero + BigInt(at) * SECOND + BigInt(half) * (SECOND / 2n),
        read_ns: 1,
        domain: domain.id,
        raw: 1n,
        unit: 'uj',
        event: 'ok',
        booked_energy_j: booked,
        booked_lo_j: booked,
        booked_hi_j: booked,
        power_w: null,
      };
    }),
  );
  live.samples.flush();
  live.calls.append(
    Array.from({ length: n }, (_, i) =>
      callRow(live.cell, { seq: at * n + i, end_ns: zero + BigInt(at) * SECOND, tokens: 7 }),
    ),
  );
  live.calls.flush();
}

test('a run that is written at speed is followed call by call, each byte read once, within its limit', () => {
  const live = begun();
  const watch = createRunWatch(live.run.path, { most_bytes: 2_000_000 });
  expect(watch.look()).toMatchObject({
    status: 'running',
    cells_done: 0,
    queries_planned: 10_000,
    tokens_per_s: null,
    power: { total_w: null },
  });
  for (let at = 0; at < 20; at++) {
    second(live, at, 500);
    const state = watch.look();
    expect(state.cells[0]).toMatchObject({
      calls: 500 * (at + 1),
      failed: 0,
      tokens: 3500 * (at + 1),
      queries: 0,
      accuracy: null,
    });
    expect(state.bytes_last).toBeLessThan(2_000_000);
    expect(state.behind).toBe(false);
  }
  const state = watch.look();
  expect(state.calls_per_s).toBe(500);
  expect(state.tokens_per_s).toBe(3500);
  expect(state.power.total_w).toBeCloseTo(20, 6);
  expect(state.power.domains[0]?.t_s.at(-1)).toBeCloseTo(19.5, 6);
  expect(state.queries_done).toBe(10_000);
  expect(state.bytes_last).toBe(0);
  const written = ['calls', 'samples'].reduce(
    (sum, table) => sum + statSync(live[table as 'calls'].path).size,
    0,
  );
  expect(state.bytes_read).toBeLessThan(written + 20_000);
});

test('a run that is over is read to its end in several looks, gives its partial results, and is then left alone', () => {
  const run = syntheticRun({ root, items: 40 });
  const watch = createRunWatch(run.path, { most_bytes: 100_000 });
  let state = watch.look();
  let looks = 1;
  while (state.behind && looks < 100) {
    state = watch.look();
    looks += 1;
  }
  expect(looks).toBeGreaterThan(3);
  expect(state).toMatchObject({ status: 'done', cells_done: 8, cells_planned: 8, problems: [] });
  for (const cell of state.cells) {
    const { rows } = run.readQueries(cell.cell_id);
    expect(cell.queries).toBe(40);
    expect(cell.accuracy).toBeCloseTo(
      rows.reduce((sum, { score }) => sum + (score ?? 0), 0) /
        rows.filter(({ score }) => score !== null).length,
      12,
    );
    expect(cell.energy_per_query_j).toBeCloseTo(
      rows.reduce((sum, { energy_gross_j }) => sum + (energy_gross_j ?? 0), 0) / 40,
      9,
    );
  }
  expect(watch.look().bytes_last).toBe(0);
  const texts = readdirSync(run.cellFolder(state.cells[0]!.cell_id)).filter((file) =>
    file.startsWith('texts'),
  );
  expect(texts).toHaveLength(1);
});

test('rates are over whole seconds, and tokens that nobody counted make none', () => {
  const tally = createRateTally();
  expect(tally.rates()).toEqual({ tokens_per_s: null, calls_per_s: null });
  for (let at = 0n; at < 30n; at++) tally.add(at * SECOND, 4);
  expect(tally.rates()).toEqual({ tokens_per_s: 4, calls_per_s: 1 });
  tally.add(29n * SECOND, null);
  tally.add(30n * SECOND, 4);
  expect(tally.rates()).toEqual({ tokens_per_s: null, calls_per_s: 1.1 });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

const ask = (url: string, options: { host?: string; method?: string } = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(
      url,
      {
        method: options.method ?? 'GET',
        ...(options.host === undefined ? {} : { headers: { host: options.host } }),
      },
      (response) => {
        let text = '';
        const done = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
          if (
            String(response.headers['content-type']) === 'text/event-stream' &&
            text.split('\n\n').length > 2
          ) {
            done();
            asked.destroy();
          }
        });
        response.on('end', done);
      },
    );
    asked.on('error', reject);
    asked.end();
  });

describe('the server', () => {
  let server: ViewServer;
  let live: ReturnType<typeof begun>;
  beforeEach(async () => {
    live = begun();
    server = await startViewServer({
      watch: createRunWatch(live.run.path),
      token: 'f'.repeat(32),
      port: 0,
      period_ms: 20,
    });
  });
  afterEach(() => server.close());

  test('gives a page that may run its own script and ask nobody else, the state, and its changes', async () => {
    const page = await ask(server.url);
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; [^;]+; connect-src 'self';/,
    );
    expect(page.text).not.toContain('live');
    second(live, 0, 3);
    expect(JSON.parse((await ask(`${server.url}state`)).text)).toMatchObject({ run_id: 'live' });
    const events = await ask(`${server.url}events`);
    expect(
      events.text
        .split('\n\n')
        .slice(0, 2)
        .map((event) => JSON.parse(event.slice(6)).cells[0].calls),
    ).toEqual([3, 3]);
  });

  // biome-ignore format: a table is read in columns
  test.each<[string, (url: string) => string, { host?: string; method?: string }, number]>([
    ['another token',             (url) => url.replace('f/', 'e/'),        {},                            404],
    ['no token',                  (url) => new URL('/', url).href,         {},                            404],
    ['a path below',              (url) => `${url}state/x`,                {},                            404],
    ['a word every object knows', (url) => `${url}constructor`,            {},                            404],
    ['a name pointed at it',      (url) => url,                            { host: 'evil.example:80' },   403],
    ['another port',              (url) => url,                            { host: '127.0.0.1:1' },       403],
    ['a method that changes',     (url) => url,                            { method: 'POST' },            405],
  ])('refuses %s', async (_what, place, options, status) => {
    const answer = await ask(place(server.url), options);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain('live');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  });

  test('says why a run cannot be read, and goes on', async () => {
    rmSync(join(live.run.path, 'run.json'));
    second(live, 0, 3);
    expect(JSON.parse((await ask(`${server.url}state`)).text)).toMatchObject({ cells: [{ calls: 3 }] });
    writeFileSync(join(live.run.path, 'run.json'), '{');
    await vi.waitFor(async () =>
      expect(JSON.parse((await ask(`${server.url}state`)).text)).toEqual({
        error: expect.stringContaining('is not JSON'),
      }),
    );
  });

  test('on a port that is taken is one clear error', async () => {
    const port = Number(new URL(server.url).port);
    await expect(
      startViewServer({ watch: createRunWatch(live.run.path), token: 't', port, period_ms: 20 }),
    ).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });
});
