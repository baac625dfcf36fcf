// A run of any size that nobody measured: 24 models × 6 accelerators × 10 data sets, three repeats, every column of
// `queries` filled, made from a seed and written with the library's own writer. For benchmarks and large tests only.
import { createHash } from 'node:crypto';
import { createRng, MatrixFile, SCHEMA_VERSION, seedFrom } from '@perwatt/core';
import { createRun, queryId, SegmentWriter } from '@perwatt/records';

export const shape = { models: 24, accelerators: 6, datasets: 10, repeats: 3 };
const strategies = ['single'];
const rules = ['choice.format', 'choice.bare', 'numeric.last', 'numeric.boxed'];
const verdicts = ['correct', 'incorrect', 'unparsed', 'error'];
const answers = Array.from({ length: 400 }, (_, i) => (i < 10 ? 'ABCDEFGHIJ'[i] : String((i * 37) % 1000)));
const subjects = Array.from({ length: 14 }, (_, i) => `subject ${i + 1}`);
const CELLS_IN_FLIGHT = 3;
const START_NS = 3_600_000_000_000n;
const idle_w = 60;

/**
 * Writes the run folder `<root>/<run_id>` and returns `{ path, cells, rows, batches, bytes, make_s, total_s }`: the bytes of
 * the segments, the time that making up the rows took, and the whole with every folder, sync and manifest.
 * `onCell(done, of)` is called after each cell.
 */
export async function writeBigRun({ root, rows = 2_000_000, seed = 1, run_id = 'big', onCell = () => {} }) {
  const plan = planOf(rows);
  const began = performance.now();
  const run = createRun(root, manifestOf(run_id, plan, seed));
  const power = new Map(plan.axes.accelerator.map((id, i) => [id, 120 + 90 * i]));
  const templates = new Map(plan.axes.dataset.map((id, i) => [id, templateOf(id, plan.items, i)]));
  const written = { rows: 0, batches: 0, bytes: 0 };
  let make_ms = 0;
  const writeCell = async (cell, position, made) => {
    const { cell_id } = cell;
    const metadata = { run_id, cell_id };
    const writer = SegmentWriter.create({
      folder: run.cellFolder(cell_id),
      file: 'queries-0.arrows',
      table: 'queries',
      sitting: 0,
      metadata,
    });
    for (const columns of made.batches) writer.appendArrays(columns);
    const entry = await writer.closeLater();
    run.writeCell(cellOf({ cell, run_id, position, entry, made }));
    written.rows += entry.rows;
    written.batches += entry.batches;
    written.bytes += entry.bytes;
    onCell(position + 1, plan.cells.length);
  };
  const open = new Set();
  for (const [position, cell] of plan.cells.entries()) {
    const t0 = performance.now();
    const template = templates.get(cell.point.dataset);
    const made = columnsOf({
      cell,
      template,
      power_w: power.get(cell.point.accelerator),
      run_id,
      seed,
      position,
    });
    make_ms += performance.now() - t0;
    if (open.size >= CELLS_IN_FLIGHT) await Promise.race(open);
    const writing = writeCell(cell, position, made).finally(() => open.delete(writing));
    open.add(writing);
  }
  await Promise.all(open);
  run.updateManifest({ status: 'done' });
  const total_s = (performance.now() - began) / 1000;
  return { path: run.path, cells: plan.cells.length, ...written, make_s: make_ms / 1000, total_s };
}

function planOf(rows) {
  const { models, accelerators, datasets, repeats } = shape;
  const axis = (prefix, n) =>
    Array.from({ length: n }, (_, i) => `${prefix}-${String(i + 1).padStart(2, '0')}`);
  const axes = {
    model: axis('model', models),
    accelerator: axis('accelerator', accelerators),
    dataset: axis('dataset', datasets),
  };
  const items = Math.max(1, Math.ceil(rows / (models * accelerators * datasets * repeats)));
  const cells = axes.dataset.flatMap((dataset) =>
    axes.accelerator.flatMap((accelerator) =>
      axes.model.map((model) => {
        const point = { model, accelerator, dataset, strategy: strategies[0], load: 'c1' };
        const digest = createHash('sha256').update(JSON.stringify(point)).digest('hex');
        return { cell_id: `c-${digest.slice(0, 16)}`, point };
      }),
    ),
  );
  return { axes, items, cells };
}

/** What all cells of one data set have in common: ids, subjects and prompt lengths of its items, by row. */
function templateOf(dataset, items, index) {
  const rng = createRng(seedFrom(7, dataset));
  const length = items * shape.repeats;
  const ids = Array.from({ length: items }, (_, i) => `${dataset}/${i + 1}`);
  const rowItem = (i) => i % items;
  const at = { item: new Int32Array(length + 1), query: new Int32Array(length + 1) };
  const cell = `c-${'0'.repeat(16)}`;
  const itemBytes = [];
  const queryBytes = [];
  for (let i = 0; i < length; i++) {
    const item = ids[rowItem(i)];
    itemBytes.push(Buffer.from(item));
    queryBytes.push(Buffer.from(queryId(cell, item, Math.floor(i / items))));
    at.item[i + 1] = at.item[i] + itemBytes[i].length;
    at.query[i + 1] = at.query[i] + queryBytes[i].length;
  }
  const perItem = (make) => {
    const values = Array.from({ length: items }, make);
    return (array) => array.map((_, i) => values[rowItem(i)]);
  };
  return {
    length,
    items,
    choice: index % 2 === 0,
    item_id: { offsets: at.item, bytes: Buffer.concat(itemBytes) },
    query_id: { offsets: at.query, bytes: Buffer.concat(queryBytes) },
    subject: perItem(() => Math.floor(rng() * subjects.length))(new Uint8Array(length)),
    prompt_tokens: perItem(() => 40 + Math.floor(rng() * 400))(new Uint32Array(length)),
    hardness: perItem(() => rng())(new Float64Array(length)),
    repeat: new Uint16Array(length).map((_, i) => Math.floor(i / items)),
    constant: {
      zero: new Uint8Array(length),
      one: new Uint32Array(length).fill(1),
      sitting: new Uint16Array(length),
      version: new Uint16Array(length).fill(2),
    },
  };
}

function columnsOf({ cell, template: t, power_w, run_id, seed, position }) {
  const { length, choice } = t;
  const n = length;
  const name = (value) => ({ indices: t.constant.zero, names: [value] });
  const model = Number(cell.point.model.slice(-2));
  const skill = 0.25 + 0.028 * model;
  const step_ns = 4e6 + 1.5e6 * model;
  const next = randomBits(seedFrom(seed, cell.cell_id));
  const u32 = () => new Uint32Array(n);
  const f64 = () => new Float64Array(n);
  const c = {
    scheduled: new BigInt64Array(n),
    start: new BigInt64Array(n),
    end: new BigInt64Array(n),
    completion: u32(),
    cached: u32(),
    reasoning: u32(),
    score: f64(),
    gross: f64(),
    net: f64(),
    lo: f64(),
    hi: f64(),
  };
  const failed = new Uint8Array(n);
  const verdict = new Uint8Array(n);
  const rule = new Uint8Array(n);
  const answer = new Uint16Array(n);
  const valid = new Uint8Array(n);
  const stamps = { scheduled: halves(c.scheduled), start: halves(c.start), end: halves(c.end) };
  let now = Number(START_NS) + position * 1e9;
  let gross_j = 0;
  const [first, kinds] = choice ? [0, 10] : [10, 390];
  for (let i = 0; i < n; i++) {
    const a = next();
    const b = next();
    const d = next();
    const tokens = 8 + (a & 127) + ((a >>> 7) & (b & 127));
    const wait = b >>> 12;
    const duration = Math.round(
      step_ns * tokens * (0.9 + (d >>> 8) / 0x1000000 / 5) + t.prompt_tokens[i] * 3e4,
    );
    put(stamps.scheduled, i, now);
    put(stamps.start, i, now + wait);
    now += wait + duration;
    put(stamps.end, i, now);
    verdict[i] = verdictOf(a, t.hardness[i] * 0.7 + ((b & 4095) / 4096) * 0.3 < skill, (d & 1023) === 0);
    failed[i] = (verdict[i] >> 1) & verdict[i] & 1;
    valid[i] = verdict[i] < 2 ? 1 : 0;
    c.score[i] = verdict[i] === 0 ? 1 : 0;
    rule[i] = (choice ? 0 : 2) + ((a >>> 14) & 1);
    answer[i] = first + ((a >>> 16) % kinds);
    c.completion[i] = tokens;
    c.cached[i] = t.prompt_tokens[i] & ~15;
    c.reasoning[i] = tokens >> 2;
    const seconds = duration / 1e9;
    const joules = seconds * power_w * (0.95 + (next() >>> 8) / 0x1000000 / 10);
    c.gross[i] = joules;
    c.net[i] = joules - seconds * idle_w;
    c.lo[i] = joules * 0.985 - 0.002;
    c.hi[i] = joules * 1.015 + 0.002;
    gross_j += joules;
  }
  const one = { values: t.constant.one };
  const tokens = (values) => ({ values });
  const texts = answerTexts(answer, valid);
  return {
    gross_j,
    start_ns: START_NS + BigInt(position) * 1_000_000_000n,
    end_ns: BigInt(Math.round(now)),
    batches: [
      {
        run_id: name(run_id),
        cell_id: name(cell.cell_id),
        query_id: { offsets: t.query_id.offsets, bytes: stamped(t.query_id, cell.cell_id) },
        item_id: t.item_id,
        repeat: { values: t.repeat },
        sitting: { values: t.constant.sitting },
        dataset: name(cell.point.dataset),
        subject: { indices: t.subject, names: subjects },
        strategy: name(cell.point.strategy),
        model: name(cell.point.model),
        accelerator: name(cell.point.accelerator),
        scheduled_ns: { values: c.scheduled },
        start_ns: { values: c.start },
        end_ns: { values: c.end },
        calls: one,
        rounds: one,
        prompt_tokens: tokens(t.prompt_tokens),
        completion_tokens: tokens(c.completion),
        cached_tokens: tokens(c.cached),
        reasoning_tokens: tokens(c.reasoning),
        sequential_tokens: tokens(c.completion),
        token_source: name('usage'),
        status: { indices: failed, names: ['answered', 'failed'] },
        error_code: { indices: t.constant.zero, names: ['timeout'], valid: failed },
        verdict: { indices: verdict, names: verdicts },
        score: { values: c.score },
        extracted: { ...texts, valid },
        rule: { indices: rule, names: rules, valid },
        grader: name(choice ? 'choice' : 'numeric'),
        grader_version: { values: t.constant.version },
        energy_gross_j: { values: c.gross },
        energy_net_j: { values: c.net },
        energy_lo_j: { values: c.lo },
        energy_hi_j: { values: c.hi },
        energy_method: name('isolated'),
      },
    ],
  };
}

function verdictOf(bits, right, broken) {
  if (broken) return 3;
  if (right) return 0;
  return (bits & 0x1f00) === 0 ? 2 : 1;
}

/** xorshift32: 32 random bits a call. */
function randomBits(seed) {
  let x = seed | 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

const halves = (stamps) => new Uint32Array(stamps.buffer);

/** Writes a whole number below 2^53 into an int64 without making a bigint. */
function put(pairs, i, value) {
  const high = Math.floor(value / 0x100000000);
  pairs[2 * i] = value - high * 0x100000000;
  pairs[2 * i + 1] = high;
}

const answerBytes = answers.map((text) => Buffer.from(text));

function answerTexts(answer, valid) {
  const offsets = new Int32Array(answer.length + 1);
  const bytes = Buffer.alloc(answer.length * 3);
  let end = 0;
  for (let i = 0; i < answer.length; i++) {
    if (valid[i] === 1) {
      const text = answerBytes[answer[i]];
      for (let k = 0; k < text.length; k++) bytes[end + k] = text[k];
      end += text.length;
    }
    offsets[i + 1] = end;
  }
  return { offsets, bytes: bytes.subarray(0, end) };
}

/** The ids of a template with a cell's own id, which is as long, at the start of each. */
function stamped({ offsets, bytes }, cell_id) {
  const id = Buffer.from(cell_id);
  const own = Buffer.from(bytes);
  for (let i = 0; i + 1 < offsets.length; i++) {
    const at = offsets[i];
    for (let k = 2; k < id.length; k++) own[at + k] = id[k];
  }
  return own;
}

function manifestOf(run_id, { axes, cells }, seed) {
  const ids = (names) => names.map((id) => ({ id }));
  const matrix = MatrixFile.parse({
    name: 'big',
    seed,
    repeats: shape.repeats,
    axes: { model: ids(axes.model), accelerator: ids(axes.accelerator), dataset: ids(axes.dataset) },
  });
  return {
    schema_version: SCHEMA_VERSION,
    metric_spec_version: 1,
    run_id,
    perwatt_version: '0.1.0',
    status: 'running',
    matrix,
    matrix_sha256: createHash('sha256').update(JSON.stringify(matrix)).digest('hex'),
    order: cells.map(({ cell_id }) => cell_id),
    host: {
      hostname: 'nowhere',
      os: 'Linux',
      kernel: 'none',
      arch: 'x64',
      cpu: null,
      threads: 1,
      cores: null,
      memory_bytes: 0,
      virtual_machine: null,
      governor: null,
      node: 'none',
    },
    clocks: [{ boot_id: null, at_ns: '0', wall_time: '2026-01-01T00:00:00.000Z' }],
    left_out: [],
    power: [],
  };
}

function cellOf({ cell, run_id, position, entry, made }) {
  const window = { start_ns: String(made.start_ns), end_ns: String(made.end_ns) };
  return {
    schema_version: SCHEMA_VERSION,
    run_id,
    cell_id: cell.cell_id,
    point: cell.point,
    position,
    seed: position,
    repeats: shape.repeats,
    concurrency: 1,
    max_tokens: 512,
    status: 'done',
    failure: null,
    verdict: { state: 'flagged', reasons: [{ code: 'made_up', text: 'nobody measured this', fix: null }] },
    provenance: null,
    sittings: [
      {
        sitting: 0,
        state: 'closed',
        boot_id: null,
        ...window,
        warmup_calls: 0,
        baselines: [],
        foreign_load_ratio: null,
        suspended: null,
      },
    ],
    ledgers: [
      {
        domain: 'made-up',
        in_total: true,
        meter_j: made.gross_j + 1,
        queries_j: made.gross_j,
        unattributed_j: 1,
        lost_work_j: 0,
        coverage_ratio: 1,
        reason: null,
      },
    ],
    segments: [entry],
  };
}
