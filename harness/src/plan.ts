import {
  type AcceleratorEntry,
  type AxisName,
  axisNames,
  createRng,
  type Dataset,
  type DatasetEntry,
  type Grader,
  type LoadEntry,
  type MatrixFile,
  type ModelEntry,
  PerwattError,
  type Strategy,
  type StrategyEntry,
  seedFrom,
} from '@perwatt/core';
import type { CellPoint } from '@perwatt/records';
import { canonicalJson, sha256Hex } from './canonical.js';
import type { HarnessDeps, PreparedModel } from './deps.js';
import { type LoopShape, scheduleFor } from './load/drive-loop.js';
import { axisId } from './parse-matrix.js';
import { type Protocol, protocols } from './protocols.js';

/** One point of the matrix with everything that executing it takes. */
export interface Cell {
  /** Hash of what defines the cell: weights, accelerator, items, strategy and its version, load, seed, protocol. */
  readonly id: string;
  readonly point: CellPoint;
  readonly position: number;
  readonly seed: number;
  readonly repeats: number;
  readonly concurrency: number;
  /** How its queries are sent. */
  readonly loop: LoopShape;
  readonly max_tokens: number;
  readonly accelerator: AcceleratorEntry;
  readonly model: PreparedModel;
  readonly dataset: Dataset;
  readonly grader: Grader;
  readonly strategy: Strategy;
  readonly params: unknown;
}

/** What a run will do: its cells in order, and what was left out, with the reason. */
export interface Plan {
  readonly matrix: MatrixFile;
  readonly matrix_sha256: string;
  readonly protocol: Protocol;
  /** In the order of execution. */
  readonly cells: readonly Cell[];
  readonly left_out: readonly { readonly what: string; readonly reason: string }[];
}

/** `axis=value` of the command line: only cells that match every filter are kept; values of one axis are alternatives. */
export type Filter = Readonly<Partial<Record<AxisName, readonly string[]>>>;

/**
 * Every cell of the matrix, in its seeded order. Loads the data sets and prepares the models. Throws on mistakes (an
 * unknown name, a wrong parameter, an endpoint that refuses); a model that merely can't be had is left out with its
 * reason as long as another can.
 */
export async function planMatrix(matrix: MatrixFile, deps: HarnessDeps, filter: Filter = {}): Promise<Plan> {
  checkFilter(matrix, filter);
  const points = product(matrix).filter((p) => kept(p.point, matrix) && matches(p.point, filter));
  if (points.length === 0) {
    throw new PerwattError('MATRIX_INVALID', 'no cell is left after include, exclude and --filter');
  }
  const bound = points.map((p) => ({ ...p, ...bindStrategy(p.strategy, p.dataset, deps) }));
  const datasets = await loadAll(matrix, points, deps);
  const { models, left_out } = await prepareAll(matrix, points, deps);
  const traces = await traceTimes(points, deps);
  const protocol = protocols[matrix.protocol];
  const cells = bound.flatMap((p) => {
    const [prepared, dataset] = [models.get(p.model), datasets.get(p.dataset)];
    if (prepared === undefined || dataset === undefined) return [];
    const trace_ns = traces.get(p.load) ?? null;
    const grader = deps.grader(dataset.grader);
    return [defineCell(p, { matrix, protocol, prepared, dataset, grader, trace_ns })];
  });
  const ordered = matrix.order === 'shuffle' ? shuffle(cells, seedFrom(matrix.seed, 'cell order')) : cells;
  return {
    matrix,
    matrix_sha256: sha256Hex(canonicalJson(matrix)),
    protocol,
    cells: ordered.map((cell, position) => ({ ...cell, position })),
    left_out,
  };
}

interface Point {
  readonly point: CellPoint;
  readonly model: ModelEntry;
  readonly accelerator: AcceleratorEntry;
  readonly dataset: DatasetEntry;
  readonly strategy: StrategyEntry;
  readonly load: LoadEntry;
}

function product({ axes }: MatrixFile): Point[] {
  return axes.model.flatMap((model) =>
    axes.accelerator.flatMap((accelerator) =>
      axes.dataset.flatMap((dataset) =>
        axes.strategy.flatMap((strategy) =>
          axes.load.map((load) => toPoint({ model, accelerator, dataset, strategy, load })),
        ),
      ),
    ),
  );
}

const toPoint = (entries: Omit<Point, 'point'>): Point => ({
  point: Object.fromEntries(axisNames.map((axis) => [axis, axisId(entries[axis])])) as CellPoint,
  ...entries,
});

const kept = (point: CellPoint, { include, exclude }: MatrixFile) =>
  (include === undefined || include.some((rule) => matches(point, texts(rule)))) &&
  !(exclude ?? []).some((rule) => matches(point, texts(rule)));

type Rule = NonNullable<MatrixFile['include']>[number];

const texts = (rule: Rule): Filter =>
  Object.fromEntries(Object.entries(rule).map(([axis, value]) => [axis, [value].flat().map(String)]));

const matches = (point: CellPoint, filter: Filter) =>
  axisNames.every((axis) => filter[axis]?.includes(point[axis]) ?? true);

function checkFilter(matrix: MatrixFile, filter: Filter): void {
  for (const axis of axisNames) {
    const known = matrix.axes[axis].map((entry) => axisId(entry));
    const unknown = filter[axis]?.find((value) => !known.includes(value));
    if (unknown !== undefined) {
      throw new PerwattError('USAGE', `--filter ${axis}=${unknown}: the axis holds ${known.join(', ')}`);
    }
  }
}

function bindStrategy(entry: StrategyEntry, dataset: DatasetEntry, deps: HarnessDeps) {
  const { id, kind, ...rest } = entry;
  const strategy = deps.strategy(kind ?? id);
  const system = dataset.system === undefined ? {} : { system: dataset.system };
  const params = strategy.params.parse({ ...system, ...rest });
  const missing = strategy.needs.endpoints.filter((endpoint) => endpoint !== 'main');
  if (missing.length > 0) {
    throw new PerwattError(
      'ENDPOINT_UNKNOWN',
      `strategy "${id}" needs an endpoint for ${missing.join(', ')}`,
    );
  }
  return { bound: strategy, params };
}

async function loadAll(matrix: MatrixFile, points: readonly Point[], deps: HarnessDeps) {
  const loaded = new Map<DatasetEntry, Dataset>();
  for (const entry of new Set(points.map((p) => p.dataset))) {
    const { id, kind, limit, seed, max_tokens: _, system: __, ...options } = entry;
    const spec = { kind: kind ?? id, options, ...(limit === undefined ? {} : { limit }) };
    loaded.set(entry, await deps.loadDataset(spec, seed ?? seedFrom(matrix.seed, 'dataset', id)));
  }
  return loaded;
}

/** The times of the traces that loads name. */
async function traceTimes(points: readonly Point[], deps: HarnessDeps) {
  const times = new Map<LoadEntry, Float64Array>();
  for (const load of new Set(points.map((p) => p.load))) {
    if (load.arrivals?.kind !== 'trace') continue;
    if (deps.traceTimes === undefined)
      throw new PerwattError('MATRIX_INVALID', `nothing here can read trace ${load.arrivals.path}`);
    times.set(load, await deps.traceTimes(load.arrivals));
  }
  return times;
}

async function prepareAll(matrix: MatrixFile, points: readonly Point[], deps: HarnessDeps) {
  const models = new Map<ModelEntry, PreparedModel>();
  const left_out: { what: string; reason: string }[] = [];
  let last: PerwattError | null = null;
  for (const entry of new Set(points.map((p) => p.model))) {
    const endpoint = entry.endpoint === undefined ? null : (matrix.endpoints?.[entry.endpoint] ?? null);
    try {
      models.set(entry, await deps.prepareModel(entry, endpoint));
    } catch (error) {
      if (!(error instanceof PerwattError && error.code === 'MODEL_UNAVAILABLE')) throw error;
      left_out.push({ what: `model ${entry.id}`, reason: error.message });
      last = error;
    }
  }
  if (models.size === 0 && last !== null) throw last;
  return { models, left_out };
}

interface BoundPoint extends Point {
  readonly bound: Strategy;
  readonly params: unknown;
}

interface Loaded {
  readonly matrix: MatrixFile;
  readonly protocol: Protocol;
  readonly prepared: PreparedModel;
  readonly dataset: Dataset;
  readonly grader: Grader;
  readonly trace_ns: Float64Array | null;
}

/** The seed of a cell's arrivals: the same in every sitting. */
export const arrivalSeed = ({ seed }: Pick<Cell, 'seed'>): number => seedFrom(seed, 'arrivals');

/** Refuses arrivals that end before every query was due. */
function checkLength(
  { load }: CellPoint,
  loop: LoopShape,
  { count, seed }: { readonly count: number; readonly seed: number },
): void {
  if (loop.kind === 'closed') return;
  const due = scheduleFor(loop, { count, seed }).due_ns.length;
  if (due >= count) return;
  throw new PerwattError(
    'MATRIX_INVALID',
    `load "${load}" has arrivals for ${due} queries, but a cell of it has ${count}`,
    { hint: 'Make the load longer, or set `limit` of the data set.' },
  );
}

function loopOf({ arrivals, concurrency, cap, ramp_s }: LoadEntry, trace_ns: Float64Array | null): LoopShape {
  if (arrivals === undefined) return { kind: 'closed', concurrency, ramp_s: ramp_s ?? 0 };
  return { kind: 'open', arrivals, trace_ns, cap: cap ?? null };
}

function defineCell(p: BoundPoint, loaded: Loaded): Cell {
  const { matrix, protocol, prepared, dataset, grader, trace_ns } = loaded;
  const { point, accelerator, bound: strategy, params } = p;
  const repeats = matrix.repeats ?? protocol.repeats;
  const max_tokens = p.dataset.max_tokens ?? dataset.answer_tokens;
  const definition = {
    model: {
      id: p.model.id,
      sha256: prepared.sha256,
      request: prepared.request_model,
      endpoint: p.model.endpoint,
    },

    accelerator,
    dataset: { id: point.dataset, digest: dataset.digest, grader: grader.id },
    strategy: { id: strategy.id, version: strategy.version, params },
    load: p.load,
    max_tokens,
    repeats,
    seed: matrix.seed,
    protocol: matrix.protocol,
  };
  const id = `c-${sha256Hex(canonicalJson(definition)).slice(0, 16)}`;
  const seed = seedFrom(matrix.seed, 'cell', id);
  const { concurrency } = p.load;
  const loop = loopOf(p.load, trace_ns);
  checkLength(point, loop, { count: dataset.items.length * repeats, seed: arrivalSeed({ seed }) });
  return {
    id,
    point,
    position: 0,
    seed,
    repeats,
    concurrency,
    loop,
    max_tokens,
    accelerator,
    model: prepared,
    dataset,
    grader,
    strategy,
    params,
  };
}

/** Fisher and Yates, from a seed. */
function shuffle<T>(values: readonly T[], seed: number): T[] {
  const rng = createRng(seed);
  const out = [...values];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(rng() * (i + 1));
    const [a, b] = [out[i], out[j]];
    if (a !== undefined && b !== undefined) [out[i], out[j]] = [b, a];
  }
  return out;
}
