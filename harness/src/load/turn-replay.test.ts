import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HistorySource, LateParentPolicy, LoadEntry, Message } from '@perwatt/core';
import { parseQueryId, type RunFolder, scanColumns, verifyRun } from '@perwatt/records';
import { expect, onTestFinished, test } from 'vitest';
import { fakeWorld, temporaryFolder } from '../world.fixture.js';
import { type FakeEngineOptions, workersHere } from './fake-engine.fixture.js';
import { type LoadRowArrays, sharedRows } from './load-rows.js';
import { planReplay } from './replay-plan.js';
import { type ReplayOptions, runReplay } from './replay-run.js';
import type { TurnTexts } from './turn-arrays.js';

interface Said {
  readonly messages: readonly Message[];
  readonly answer: string | null;
}

/** Texts of a trace as a file, an entry a place. */
function textsIn(folder: string, said: readonly Said[]): TurnTexts {
  const parts = said.flatMap(({ messages, answer }) => [
    messages.map((message) => JSON.stringify(message)).join(','),
    answer === null ? '' : JSON.stringify(answer),
  ]);
  const offsets = new Float64Array(parts.length + 1);
  for (const [i, part] of parts.entries()) offsets[i + 1] = (offsets[i] ?? 0) + Buffer.byteLength(part);
  const path = join(folder, 'texts');
  writeFileSync(path, parts.join(''));
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  return { fd, offsets, whole: false, tokens: null };
}

interface Talk {
  /** Due times, ms; null for a closed loop. */
  readonly due_ms: readonly number[] | null;
  readonly parent: readonly number[];
  readonly texts?: TurnTexts;
}

function rowsOf({ due_ms, parent, texts }: Talk): LoadRowArrays {
  const rows = sharedRows(parent.length);
  for (const [i] of parent.entries()) {
    rows.row[i] = 100 + i;
    rows.input_tokens[i] = 5;
    rows.output_tokens[i] = 2;
    rows.due_ns[i] = (due_ms?.[i] ?? 0) * 1e6;
  }
  const turns = {
    slot: Uint32Array.from(parent, (_, i) => i),
    parent: Int32Array.from(parent),
    row: Uint32Array.from(rows.row),
    texts: texts ?? null,
  };
  return { ...rows, due_ns: due_ms === null ? new Float64Array() : rows.due_ns, blocks: null, turns };
}

interface Play {
  readonly policy: LateParentPolicy | null;
  readonly history?: HistorySource;
  readonly load?: Omit<LoadEntry, 'id'>;
}

const planOf = (rows: LoadRowArrays, { policy, history = 'trace', load }: Play) =>
  planReplay({
    trace: { path: 'talk.jsonl', format: 'qwen-bailian', sha256: 'bb' },
    settings: {},
    endpoint: { url: 'http://127.0.0.1:1', api: 'chat', idle_timeout_s: 1, headers_timeout_s: 1 },
    model: 'm',
    load: load ?? { concurrency: 1, arrivals: { kind: 'offline' } },
    seed: 1,
    rows,
    turns: { policy, think_ns: 0, history, answers_every: null },
  });

const deps = fakeWorld();

const optionsOf = (engine: Partial<FakeEngineOptions>, own: Partial<ReplayOptions> = {}): ReplayOptions => ({
  root: temporaryFolder(),
  endpoint: {
    kind: 'http',
    endpoint: 'http://127.0.0.1:1/v1',
    engine: null,
    engine_version: null,
    model: 'm',
    model_sha256: null,
    quantisation: null,
    chat_template_sha256: null,
    context_tokens: null,
    threads: null,
    pids: [],
  },
  workers: 2,
  gaps: true,
  openWorker: workersHere({ clock: deps.clock, call_ms: 1, ...engine }),
  baseline_s: 0.05,
  slo: {},
  calibrated_per_s: null,
  signal: new AbortController().signal,
  ...own,
});

/** Rows of `replayed`, by the number of their row. */
function replayedOf(run: RunFolder) {
  const found = new Map<number, Record<string, unknown>>();
  const [cell] = run.cells();
  scanColumns(run, { cellId: cell?.cell_id ?? '', table: 'replayed' }, (batch) => {
    const [id, parent, history] = [batch.text('query_id'), batch.text('parent'), batch.text('history')];
    const [from, late] = [batch.number('parent_row'), batch.number('late_ns')];
    for (let i = 0; i < batch.rows; i++)
      found.set(Number(parseQueryId(id(i) ?? '')?.item_id), {
        parent: parent(i),
        parent_row: from(i),
        late_ns: late(i),
        history: history(i),
      });
  });
  return found;
}

/** Two conversations of three turns each, whose turns come faster than answers. */
const talk = { due_ms: [0, 0, 5, 5, 10, 10], parent: [-1, -1, 0, 1, 2, 3] };

test('turns wait for the end of those they go on from, and how late they were is on record', async () => {
  const plan = planOf(rowsOf(talk), { policy: 'wait' });
  const { run, cell, summary } = await runReplay(plan, deps, optionsOf({ call_ms: 40 }));
  expect(summary).toMatchObject({ calls: 6, ok: 6 });
  expect(cell.sittings[0]?.loop?.turns).toMatchObject({ policy: 'wait', late: 4, dropped: 0 });
  const calls = new Map(run.readCalls(cell.cell_id).rows.map((c) => [parseQueryId(c.query_id)?.item_id, c]));
  const said = replayedOf(run);
  for (const [row, from] of [
    [102, 100],
    [103, 101],
    [104, 102],
    [105, 103],
  ] as const) {
    const [own, parent] = [calls.get(String(row)), calls.get(String(from))];
    expect(own!.dispatch_ns).toBeGreaterThanOrEqual(parent!.end_ns);
    expect(said.get(row)).toMatchObject({ parent: 'late', parent_row: from });
    expect(said.get(row)?.['late_ns']).toBeGreaterThan(20e6);
    expect(Number(own!.sched_ns! - parent!.end_ns)).toBeLessThan(20e6);
  }
  expect(said.get(100)).toMatchObject({ parent: 'none', parent_row: null, late_ns: null });
  expect(verifyRun(run.path).findings).toEqual([]);
});

test('turns that are late are left out with what follows them, and every row is accounted for', async () => {
  const sent: string[] = [];
  const plan = planOf(rowsOf(talk), { policy: 'drop' });
  const engine = { call_ms: 40, onSend: (body: string) => void sent.push(body) };
  const { run, cell, status, summary } = await runReplay(plan, deps, optionsOf(engine));
  expect(sent).toHaveLength(2);
  expect(status).toBe('done');
  expect(summary).toMatchObject({ calls: 6, ok: 2, dropped: 4, failed: 0 });
  expect(summary.times.lag?.n).toBe(2);
  expect(cell.sittings[0]?.loop?.turns).toMatchObject({ policy: 'drop', late: 2, dropped: 4 });
  const said = replayedOf(run);
  expect([102, 104].map((row) => said.get(row)?.['parent'])).toEqual(['late', 'dropped']);
  expect(run.readQueries(cell.cell_id).rows).toHaveLength(6);
  expect(verifyRun(run.path).findings).toEqual([]);
});

test('turns may go out at their times all the same', async () => {
  const plan = planOf(rowsOf(talk), { policy: 'send' });
  const { run, cell, summary } = await runReplay(plan, deps, optionsOf({ call_ms: 40 }));
  expect(summary).toMatchObject({ ok: 6, dropped: 0 });
  expect(cell.sittings[0]?.loop?.turns).toMatchObject({ late: 4, dropped: 0 });
  expect(replayedOf(run).get(104)).toMatchObject({ parent: 'late', late_ns: null });
});

const words: readonly Said[] = [
  {
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'q0' },
    ],
    answer: 'traced 0',
  },
  { messages: [{ role: 'user', content: 'q1' }], answer: null },
  { messages: [{ role: 'user', content: 'q2' }], answer: 'traced 2' },
];

const messagesOf = (bodies: readonly string[]) =>
  bodies.map((body) => (JSON.parse(body) as { messages: Message[] }).messages.map(({ content }) => content));

// biome-ignore format: a table is read in columns
test.each([
  { history: 'trace',  second: ['be kind', 'q0', 'traced 0', 'q1'], third: ['be kind', 'q0', 'traced 0', 'q1', 'q2'],             states: ['none', 'trace', 'incomplete'], why: "an answer that the trace lacks is left out" },
  { history: 'server', second: ['be kind', 'q0', 'answer 0', 'q1'], third: ['be kind', 'q0', 'answer 0', 'q1', 'answer 1', 'q2'], states: ['none', 'server', 'server'],    why: 'the server has just said it' },
] as const)('a conversation goes on from the answers of the $history: $why', async ({ history, second, third, states }) => {
  const folder = temporaryFolder();
  const sent: string[] = [];
  const rows = rowsOf({ due_ms: [0, 1, 2], parent: [-1, 0, 1], texts: textsIn(folder, words) });
  const engine = { call_ms: 5, onSend: (body: string) => void sent.push(body) };
  const { run } = await runReplay(planOf(rows, { policy: 'wait', history }), deps, optionsOf(engine));
  expect(messagesOf(sent)).toEqual([['be kind', 'q0'], second, third]);
  expect([100, 101, 102].map((row) => replayedOf(run).get(row)?.['history'])).toEqual(states);
});

test('an answer that the server failed to give is that of the trace', async () => {
  const sent: string[] = [];
  const rows = rowsOf({ due_ms: [0, 1, 2], parent: [-1, 0, 1], texts: textsIn(temporaryFolder(), words) });
  const engine = {
    call_ms: 5,
    onSend: (body: string) => void sent.push(body),
    succeeds: (body: string) => body.includes('q1'),
  };
  const { run } = await runReplay(
    planOf(rows, { policy: 'wait', history: 'server' }),
    deps,
    optionsOf(engine),
  );
  expect(messagesOf(sent)[2]).toEqual(['be kind', 'q0', 'traced 0', 'q1', 'answer 1', 'q2']);
  expect(replayedOf(run).get(102)).toMatchObject({ history: 'mixed' });
});

test('a closed loop plays so many conversations at a time, each turn behind the one before it', async () => {
  const parent = Array.from({ length: 40 }, (_, i) => (i < 8 ? -1 : i - 8));
  const rows = rowsOf({ due_ms: null, parent });
  const plan = planOf(rows, { policy: 'wait', load: { concurrency: 3 } });
  const { run, cell, summary } = await runReplay(plan, deps, optionsOf({ call_ms: 2 }));
  expect(summary).toMatchObject({ calls: 40, ok: 40 });
  expect(cell.sittings[0]?.loop).toMatchObject({ kind: 'closed', most_in_flight: 3 });
  const calls = new Map(
    run.readCalls(cell.cell_id).rows.map((c) => [Number(parseQueryId(c.query_id)?.item_id), c]),
  );
  for (const [i, from] of parent.entries())
    if (from >= 0)
      expect(calls.get(100 + i)!.dispatch_ns).toBeGreaterThanOrEqual(calls.get(100 + from)!.end_ns);
});

test('an interrupted replay goes on: no turn is lost or sent twice, and what is gone comes from the trace', async () => {
  const stop = new AbortController();
  const count = 30;
  const said = Array.from({ length: count }, (_, i) => ({
    messages: [{ role: 'user', content: `q${i}` } as const],
    answer: `traced ${i}`,
  }));
  const parent = Array.from({ length: count }, (_, i) => (i < 3 ? -1 : i - 3));
  const rows = rowsOf({ due_ms: parent.map((_, i) => i), parent, texts: textsIn(temporaryFolder(), said) });
  const plan = planOf(rows, { policy: 'wait', history: 'server' });
  let sent = 0;
  const engine = {
    call_ms: 3,
    onSend: () => {
      sent += 1;
      if (sent === 12) stop.abort();
    },
  };
  const options = optionsOf(engine, { signal: stop.signal });
  const first = await runReplay(plan, deps, options);
  expect(first.status).toBe('interrupted');
  const { signal } = new AbortController();
  const again = await runReplay(plan, deps, {
    ...optionsOf({ call_ms: 3 }),
    root: options.root,
    run: first.run,
    signal,
  });
  expect(again.status).toBe('done');
  const ids = again.run
    .readCalls(again.cell.cell_id)
    .rows.map((c) => Number(parseQueryId(c.query_id)?.item_id));
  const finished = new Set(ids);
  expect(finished.size).toBe(count);
  const states = new Set([...replayedOf(again.run).values()].map(({ parent: state }) => state));
  expect(states.has('absent')).toBe(true);
});
