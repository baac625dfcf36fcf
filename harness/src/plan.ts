import {
  type AcceleratorEntry,
  type AgentEntry,
  type Dataset,
  type DatasetEntry,
  type Grader,
  type GraderMode,
  type LoadEntry,
  type MatrixFile,
  PerwattError,
  pointAxes,
  type RepeatRule,
  type Sampling,
  type Strategy,
  type StrategyEntry,
  type VariantEntry,
} from '@perwatt/core';
import type { CellFile, CellHashes, CellPoint, CellSettings, OrderFacts, PrunedCell } from '@perwatt/records';
import { axisId } from './axis-id.js';
import { bindingsOf } from './bindings.js';
import { canonicalJson, sha256Hex } from './canonical.js';
import { defaultBlocks, orderCells } from './cell-order.js';
import { datasetSpec } from './dataset-spec.js';
import { type BoundPoint, defineCell } from './define-cell.js';
import type { HarnessDeps, NamedEngine, PreparedModel } from './deps.js';
import type { LoopShape } from './load/drive-loop.js';
import { type Filter, matches, type Point, pointsOf } from './points.js';
import { type Protocol, protocolOf } from './protocols.js';
import { aidsOf, noAids, type StrategyAids } from './strategy-aids.js';
import { type Merged, mergeVariant } from './variants.js';

export type { Filter } from './points.js';

/** One point of the matrix with everything that executing it takes. */
export interface Cell {
  /** Hash of what defines the cell: weights, accelerator, items, strategy and its version, load, seed, protocol. */
  readonly id: string;
  readonly point: CellPoint;
  readonly position: number;
  readonly block: number;
  readonly block_position: number;
  readonly seed: number;
  /** Executions; where a rule ends them, the most. */
  readonly repeats: number;
  readonly rule: RepeatRule | null;
  readonly concurrency: number;
  /** How its queries are sent. */
  readonly loop: LoopShape;
  /** Limits and the steady window's rule that its load names: no part of what is measured, nor of its id. */
  readonly judged: Pick<CellFile, 'slo' | 'steady'>;
  readonly max_tokens: number;
  readonly accelerator: AcceleratorEntry;
  readonly model: PreparedModel;
  /** The model of the axis as `main`, then those behind the strategy's other endpoints. */
  readonly models: readonly BoundModel[];
  readonly dataset: Dataset;
  readonly grader: Grader;
  /** Whose verdicts make the accuracy; every answer is graded in both modes. */
  readonly mode: GraderMode;
  readonly strategy: Strategy;
  readonly params: unknown;
  readonly aids: StrategyAids;
  readonly variant: VariantEntry | null;
  readonly settings: CellSettings;
  /** What is sent with every call beside what the strategy asks for. */
  readonly sampling: Pick<Sampling, 'reasoning_effort'>;
  /** In words what answers it: model, accelerator and server. */
  readonly served_by: string;
  /** Equal for cells that can go on with the same loaded model. */
  readonly load_key: string;
  readonly hashes: CellHashes;
}

/** A model behind an endpoint of a strategy. */
export interface BoundModel {
  /** What the strategy calls it. */
  readonly name: string;
  /** Id of the model in tables. */
  readonly id: string;
  readonly accelerator: AcceleratorEntry;
  readonly model: PreparedModel;
  /** Equal for what can share one client. */
  readonly load_key: string;
}

/** What a run will do: its cells in order, and what was left out, with the reason. */
export interface Plan {
  readonly matrix: MatrixFile;
  readonly matrix_sha256: string;
  readonly protocol: Protocol;
  /** In the order of execution. */
  readonly cells: readonly Cell[];
  readonly left_out: readonly { readonly what: string; readonly reason: string }[];
  /** Points that the matrix itself leaves out, with the reason. */
  readonly pruned: readonly PrunedCell[];
  readonly order_rule: OrderFacts;
}

/**
 * Every cell of the matrix, in its seeded order. Loads the data sets and prepares the models. Throws on mistakes (an
 * unknown name, a wrong parameter, an endpoint that refuses); a model that merely can't be had is left out with its
 * reason as long as another can. Of cells that come to the same one is kept; the others are told as pruned.
 */
export async function planMatrix(matrix: MatrixFile, deps: HarnessDeps, filter: Filter = {}): Promise<Plan> {
  checkFilter(matrix, filter);
  const { kept, pruned } = pointsOf(matrix);
  const points = kept.filter((p) => matches(p.point, filter));
  if (points.length === 0) {
    throw new PerwattError(
      'MATRIX_INVALID',
      'no cell is left after constraints, include, exclude and --filter',
    );
  }
  const bound = points.map((p) => {
    const merged = mergeVariant(p, matrix);
    const { bound, params } = bindStrategy(merged.strategy, p.dataset, deps);
    const needs = bound.needs(params).endpoints;
    return { ...p, merged, bound, params, bindings: bindingsOf(merged.strategy, { matrix, merged, needs }) };
  });
  const datasets = await loadAll(matrix, points, deps);
  const { models, left_out } = await prepareAll(bound, deps, matrix.power?.agents ?? []);
  const traces = await traceTimes(points, deps);
  const protocol = protocolOf(matrix);
  const aids = await aidsOfAll(bound, datasets, deps);
  const cells = bound.flatMap((p) => {
    const [prepared, dataset] = [models.get(modelKey(p.merged)), datasets.get(p.dataset)];
    const others = p.bindings.flatMap((own) => models.get(modelKey(own)) ?? []);
    if (prepared === undefined || dataset === undefined || others.length < p.bindings.length) return [];
    const trace_ns = traces.get(p.load) ?? null;
    const grader = deps.grader(dataset.grader);
    return [
      defineCell(p, {
        matrix,
        protocol,
        prepared,
        others,
        dataset,
        grader,
        trace_ns,
        aids: aids.get(p) ?? noAids,
      }),
    ];
  });
  const distinct = distinctCells(cells);
  const order_rule: OrderFacts = {
    order: matrix.order,
    blocks: matrix.blocks ?? defaultBlocks(matrix.order),
    seed: matrix.seed,
  };
  const ordered = orderCells(distinct.cells, order_rule);
  return {
    matrix,
    matrix_sha256: sha256Hex(canonicalJson(matrix)),
    protocol,
    cells: ordered.map(({ cell, ...place }, position) => ({ ...cell, ...place, position })),
    left_out,
    pruned: [...pruned, ...distinct.pruned],
    order_rule,
  };
}

/** The first of cells that come to the same, in all that decides what is measured. */
function distinctCells(cells: readonly Cell[]) {
  const first = new Map<string, Cell>();
  const pruned: PrunedCell[] = [];
  for (const cell of cells) {
    const known = first.get(cell.id);
    if (known === undefined) first.set(cell.id, cell);
    else pruned.push({ point: cell.point, reason: `comes to the same as ${nameOf(known.point)}` });
  }
  return { cells: [...first.values()], pruned };
}

const nameOf = (point: CellPoint) => Object.values(point).join(' × ');

function checkFilter(matrix: MatrixFile, filter: Filter): void {
  for (const axis of pointAxes) {
    const known = (matrix.axes[axis] ?? []).map((entry) => axisId(entry));
    const unknown = filter[axis]?.find((value) => !known.includes(value));
    if (unknown !== undefined) {
      throw new PerwattError(
        'USAGE',
        `--filter ${axis}=${unknown}: the axis holds ${known.join(', ') || 'nothing'}`,
      );
    }
  }
}

function bindStrategy(entry: StrategyEntry, dataset: DatasetEntry, deps: HarnessDeps) {
  const { id, kind, bind: _, when: __, ...rest } = entry;
  const strategy = deps.strategy(kind ?? id);
  const system = dataset.system === undefined ? {} : { system: dataset.system };
  const params = strategy.params.parse({ ...system, ...rest });
  return { bound: strategy, params };
}

/** What the strategies of the points need beside endpoints; of points whose data set is at hand. */
async function aidsOfAll(
  points: readonly BoundPoint[],
  datasets: ReadonlyMap<DatasetEntry, Dataset>,
  deps: HarnessDeps,
) {
  const aids = new Map<BoundPoint, StrategyAids>();
  for (const p of points) {
    const dataset = datasets.get(p.dataset);
    if (dataset === undefined) continue;
    const needs = p.bound.needs(p.params);
    const concurrency = p.load.arrivals === undefined ? p.load.concurrency : Number.POSITIVE_INFINITY;
    aids.set(p, await aidsOf({ strategy: p.merged.strategy.id, needs, dataset, concurrency, deps }));
  }
  return aids;
}

async function loadAll(matrix: MatrixFile, points: readonly Point[], deps: HarnessDeps) {
  const loaded = new Map<DatasetEntry, Dataset>();
  for (const entry of new Set(points.map((p) => p.dataset))) {
    const { spec, seed } = datasetSpec(entry, matrix);
    loaded.set(entry, await deps.loadDataset(spec, seed));
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

type Served = Pick<Merged, 'model' | 'endpoint' | 'engine'>;

/** Equal for points that need the same weights behind the same server. */
const modelKey = ({ model: { when: _, ...model }, endpoint, engine }: Served): string =>
  canonicalJson({ model, endpoint, engine });

const namedEngine = (
  { model: { engine: id }, engine: entry }: Served,
  agents: readonly AgentEntry[],
): NamedEngine | null => (id === undefined || entry === null ? null : { id, entry, agents });

async function prepareAll(points: readonly BoundPoint[], deps: HarnessDeps, agents: readonly AgentEntry[]) {
  const models = new Map<string, PreparedModel>();
  const left_out: { what: string; reason: string }[] = [];
  let last: PerwattError | null = null;
  const wanted = points.flatMap((p) => [
    { served: p.merged as Served, variant: p.variant },
    ...p.bindings.map((served) => ({ served, variant: null })),
  ]);
  for (const [key, { served, variant: own }] of new Map(wanted.map((one) => [modelKey(one.served), one]))) {
    const { model, endpoint } = served;
    try {
      models.set(key, await deps.prepareModel(model, endpoint, namedEngine(served, agents)));
    } catch (error) {
      if (!(error instanceof PerwattError && error.code === 'MODEL_UNAVAILABLE')) throw error;
      const variant = own === null ? '' : ` (variant ${own.id})`;
      left_out.push({ what: `model ${model.id}${variant}`, reason: error.message });
      last = error;
    }
  }
  if (models.size === 0 && last !== null) throw last;
  return { models, left_out };
}
