import { createRng, type Domain, SCHEMA_VERSION, sampleEvents, seedFrom } from '@perwatt/core';
import {
  type Baseline,
  type CellFile,
  type CellPoint,
  createRun,
  queryId,
  type RunFolder,
  type RunManifest,
  SegmentWriter,
} from '@perwatt/records';
import { testDomain } from '@perwatt/test-kit';
import { BOOT, hex, manifestOf, ns, type SyntheticOptions, text } from './synthetic-manifest.fixture.js';
import { callRows, queryRow, type SyntheticQuery, textRows } from './synthetic-rows.fixture.js';

export type { SyntheticOptions };

const rapl = testDomain({
  id: 'rapl:0:package-0',
  source: 'rapl',
  provenance: 'counter',
  quantum: 6.1e-5,
});
const estimate = testDomain({
  id: 'estimate:cpu',
  source: 'estimate-cpu-load',
  kind: 'estimate',
  provenance: 'estimated',
  update_period_ns: 1e8,
  note: 'P = TDP_share × (0.3 + 0.7 × u^2); TDP 65 W by table, 2 of 8 threads; host power is unknowable on a virtual machine',
});

interface World {
  readonly options: Required<SyntheticOptions>;
  readonly run: RunFolder;
  readonly domain: Domain | null;
  /** `[from_s, watts]` in order. */
  readonly watts: [number, number][];
  now_s: number;
}

const idleWatts = 9.5;

/** A power file read every 100 ms over what the cells did, with a little noise and the estimator's band. */
function writePower({ run, domain, watts, now_s }: World): RunManifest['power'] {
  if (domain === null) return [];
  const random = createRng(9);
  const count = Math.ceil(now_s * 10);
  let step = 0;
  const powers = Array.from({ length: count }, (_, i) => {
    while ((watts[step + 1]?.[0] ?? Number.POSITIVE_INFINITY) <= i / 10) step += 1;
    return (watts[step]?.[1] ?? idleWatts) * (0.97 + 0.06 * random());
  });
  const booked = new Float64Array(count);
  for (let i = 1; i < count; i++) booked[i] = (booked[i - 1] ?? 0) + (powers[i - 1] ?? 0) / 10;
  const band = (share: number) =>
    domain.kind === 'estimate' ? booked.map((joules) => joules * share) : booked;
  const file = `${domain.source}-0.arrows`;
  const writer = SegmentWriter.create({
    folder: run.powerFolder,
    file,
    table: 'samples',
    sitting: 0,
    metadata: {},
  });
  writer.appendColumns(
    {
      at_ns: BigInt64Array.from({ length: count }, (_, i) => ns(i / 10)),
      read_ns: new Float64Array(count).fill(8_000),
      domain: new Uint16Array(count),
      raw: BigInt64Array.from(booked, (joules) => BigInt(Math.round(joules * 1e6))),
      raw_valid: new Uint8Array(count).fill(1),
      event: new Uint8Array(count).fill(sampleEvents.indexOf('ok')),
      booked_energy_j: booked,
      booked_lo_j: band(0.5),
      booked_hi_j: band(1.8),
      power_w: Float64Array.from(powers),
      power_valid: new Uint8Array(count).fill(domain.kind === 'estimate' ? 1 : 0),
    },
    { domains: [domain.id], raw_units: ['uJ'] },
  );
  const segment = writer.close();
  const { source, provenance } = domain;
  return [{ file, source, provenance, period_ns: 1e8, domains: [domain], boot_id: BOOT, segment }];
}

function baseline(world: World, when: Baseline['when'], seconds: number): Baseline {
  const start = world.now_s;
  world.watts.push([start, idleWatts]);
  world.now_s += seconds;
  const power_w = when === 'before' ? idleWatts : idleWatts + 0.2;
  const power = { power_w, lo_w: power_w - 0.1, hi_w: power_w + 0.1, reason: null };
  return {
    kind: 'loaded_idle',
    when,
    start_ns: text(start),
    end_ns: text(world.now_s),
    shared: world.options.protocol === 'quick',
    powers: world.domain === null ? [] : [{ domain: world.domain.id, ...power }],
  };
}

/** How good and how hungry a cell is, by its place on the axes. */
function characterOf(world: World, point: CellPoint) {
  const { models, strategies, accelerators } = world.options;
  const [model, strategy] = [models.indexOf(point.model), strategies.indexOf(point.strategy)];
  const factor = 1.6 ** accelerators.indexOf(point.accelerator);
  const hard = point.dataset === 'choice';
  return {
    accuracy: Math.min(0.35 + 0.22 * model + 0.08 * strategy - (hard ? 0.1 : 0), 0.97),
    watts: (22 + 9 * model) * factor,
    call_s: 0.35 + 0.3 * model,
    calls: strategy === 0 ? 1 : 3,
    tokens: 9 + 3 * model,
  };
}

const others = ['incorrect', 'incorrect', 'unparsed', 'truncated'] as const;

function queriesOf(world: World, { cell_id, point }: CellFile, failing: number): SyntheticQuery[] {
  const { items, repeats } = world.options;
  const random = createRng(seedFrom(7, cell_id));
  const character = characterOf(world, point);
  return Array.from({ length: items * repeats }, (_, i) => {
    const length = character.call_s * character.calls * (0.85 + 0.3 * random());
    const start = world.now_s;
    world.watts.push([start, character.watts], [start + length, idleWatts + 4]);
    world.now_s += length + 0.02;
    const item_id = `${point.dataset}-${i % items}`;
    const repeat = Math.floor(i / items);
    const right = random() < character.accuracy ? 'correct' : (others[i % others.length] ?? 'incorrect');
    return {
      run_id: world.run.manifest.run_id,
      cell_id,
      query_id: queryId(cell_id, item_id, repeat),
      item_id,
      repeat,
      point,
      start_ns: ns(start),
      end_ns: ns(start + length),
      calls: character.calls,
      tokens: character.tokens,
      verdict: random() < failing ? 'error' : right,
      energy_j: world.domain === null ? null : character.watts * length,
      method: world.options.method,
    };
  });
}

function writeCell(world: World, cell: CellFile, failing: number): void {
  const { run, options } = world;
  run.writeCell(cell);
  const folder = run.cellFolder(cell.cell_id);
  const before = baseline(world, 'before', 3);
  const start = world.now_s;
  const queries = queriesOf(world, cell, failing);
  const end = world.now_s;
  const after = baseline(world, 'after', 3);
  const open = <T extends 'queries' | 'calls' | 'texts'>(table: T) =>
    SegmentWriter.create({ folder, file: `${table}-0.arrows`, table, sitting: 0, metadata: {} });
  const writers = { queries: open('queries'), calls: open('calls'), texts: open('texts') };
  writers.queries.append(queries.map(queryRow));
  writers.calls.append(queries.flatMap(callRows));
  writers.texts.append(
    queries.flatMap((q) =>
      textRows(q, {
        prompt: `What is 5 + 7? ${options.text}`,
        completion: `5 + 7 = 12 ${options.text}${options.completion}`,
      }),
    ),
  );
  const segments = Object.values(writers).map((writer) => writer.close());
  const queries_j = queries.reduce((sum, { energy_j }) => sum + (energy_j ?? 0), 0);
  const unattributed_j = (idleWatts + 4) * 0.02 * queries.length;
  const quick = {
    code: 'quick',
    text: 'protocol quick: 3 s baselines, 1 repeat',
    fix: 'Run the matrix with `protocol: standard`.',
  };
  const reasons = options.protocol === 'quick' ? [quick] : [];
  run.writeCell({
    ...cell,
    status: 'done',
    verdict: { state: reasons.length > 0 ? 'flagged' : 'valid', reasons },
    segments,
    ledgers:
      world.domain === null
        ? []
        : [
            {
              domain: world.domain.id,
              in_total: true,
              meter_j: queries_j + unattributed_j,
              queries_j,
              unattributed_j,
              lost_work_j: 0,
              coverage_ratio: 1,
              reason: null,
            },
          ],
    sittings: [
      {
        sitting: 0,
        state: 'closed',
        boot_id: BOOT,
        start_ns: text(start),
        end_ns: text(end),
        warmup_calls: 2,
        baselines: [before, after],
        foreign_load_ratio: 0.01,
        suspended: false,
      },
    ],
  });
}

function emptyCell(world: World, point: CellPoint, position: number): CellFile {
  const { options, run } = world;
  const choice = point.dataset === 'choice';
  return {
    schema_version: SCHEMA_VERSION,
    run_id: run.manifest.run_id,
    cell_id: `c${position.toString(16).padStart(12, '0')}`,
    point,
    position,
    seed: 42,
    repeats: options.repeats,
    concurrency: 1,
    max_tokens: 24,
    status: 'running',
    failure: null,
    verdict: null,
    provenance: {
      endpoint: {
        kind: options.endpoint === null ? 'embedded' : 'http',
        endpoint: options.endpoint ?? 'embedded',
        engine: 'llama.cpp',
        engine_version: 'b4321',
        model: `${point.model}.gguf`,
        model_sha256: hex('a'),
        quantisation: 'Q4_1',
        chat_template_sha256: hex('b'),
        context_tokens: 2048,
        threads: 1,
        pids: [],
      },
      dataset: {
        id: point.dataset,
        version: 1,
        digest: hex('c'),
        items: options.items,
        licence: 'CC0-1.0',
        guess_rate: choice ? 0.25 : 0,
      },
      strategy: { id: point.strategy, version: 1, params: point.strategy === 'single' ? {} : { k: 3 } },
      grader: { id: choice ? 'choice' : 'numeric', version: 1 },
      protocol: options.protocol,
    },
    sittings: [],
    ledgers: [],
    segments: [],
  };
}

/** A run folder as the harness leaves it: 2 data sets times the given models and strategies, always the same numbers. */
export function syntheticRun(given: SyntheticOptions): RunFolder {
  const options: Required<SyntheticOptions> = {
    models: ['smollm2-135m', 'gemma3-270m'],
    strategies: ['single', 'self_consistency'],
    accelerators: ['host-cpu'],
    run_id: 'quickstart-20261129-120000',
    method: 'time_share',
    items: 30,
    repeats: 1,
    power: 'counter',
    protocol: 'standard',
    endpoint: null,
    text: '',
    completion: '',
    failing: 0,
    ...given,
  };
  const run = createRun(options.root, manifestOf(options));
  const domain = { counter: rapl, estimated: estimate, none: null }[options.power];
  const world: World = { options, run, domain, watts: [[0, idleWatts]], now_s: 2 };
  const points = options.models.flatMap((model) =>
    ['arithmetic', 'choice'].flatMap((dataset) =>
      options.strategies.flatMap((strategy) =>
        options.accelerators.map((accelerator) => ({ model, accelerator, dataset, strategy, load: 'c1' })),
      ),
    ),
  );
  points.forEach((point, position) => {
    writeCell(world, emptyCell(world, point, position), position === points.length - 1 ? options.failing : 0);
  });
  world.now_s += 2;
  run.updateManifest({ power: writePower(world), order: run.cells().map(({ cell_id }) => cell_id) });
  return run;
}
