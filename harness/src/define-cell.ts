import { isAbsolute } from 'node:path';
import {
  type Dataset,
  type Grader,
  type LoadEntry,
  type MatrixFile,
  PerwattError,
  type Strategy,
  seedFrom,
} from '@perwatt/core';
import type { CellPoint } from '@perwatt/records';
import type { Binding } from './bindings.js';
import { canonicalJson, sha256Hex } from './canonical.js';
import { declaredHash, settingsOf } from './cell-settings.js';
import type { PreparedModel } from './deps.js';
import { type LoopShape, scheduleFor } from './load/drive-loop.js';
import type { BoundModel, Cell } from './plan.js';
import type { Point } from './points.js';
import type { Protocol } from './protocols.js';
import type { StrategyAids } from './strategy-aids.js';
import type { Merged } from './variants.js';

/** A point with its settings merged and its strategy bound. */
export interface BoundPoint extends Point {
  readonly merged: Merged;
  readonly bound: Strategy;
  readonly params: unknown;
  readonly bindings: readonly Binding[];
}

/** What a cell is made of beside its point. */
export interface Loaded {
  readonly matrix: MatrixFile;
  readonly protocol: Protocol;
  readonly prepared: PreparedModel;
  /** Of the bindings, in their order. */
  readonly others: readonly PreparedModel[];
  readonly dataset: Dataset;
  readonly grader: Grader;
  readonly trace_ns: Float64Array | null;
  readonly aids: StrategyAids;
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

/**
 * A value without a path that is absolute: where a file lies says nothing of what is measured, and what it holds has a digest of
 * its own. A relative path stays, as in the ids of older runs.
 */
function placeless(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const path: unknown = (value as Readonly<Record<string, unknown>>)[key];
  return typeof path === 'string' && isAbsolute(path) ? { ...value, [key]: undefined } : value;
}

function hashedLoad(load: LoadEntry, trace_ns: Float64Array | null) {
  const { arrivals } = load;
  if (arrivals?.kind !== 'trace' || trace_ns === null || !isAbsolute(arrivals.path)) return load;
  return { ...load, arrivals: placeless(arrivals, 'path'), times_sha256: sha256Hex(trace_ns.join()) };
}

function repeatsOf({ repeats }: MatrixFile, protocol: Protocol): Pick<Cell, 'repeats' | 'rule'> {
  if (typeof repeats === 'object') return { repeats: repeats.until.max, rule: repeats };
  return { repeats: repeats ?? protocol.repeats, rule: null };
}

/** A cell, not in order yet. Its id is a hash of all that decides what is measured. */
export function defineCell(p: BoundPoint, loaded: Loaded): Cell {
  const { matrix, protocol, prepared, dataset, grader, trace_ns, aids } = loaded;
  const { point, merged, bound: strategy, params, variant, bindings } = p;
  const { repeats, rule } = repeatsOf(matrix, protocol);
  const max_tokens = variant?.max_tokens ?? p.dataset.max_tokens ?? dataset.answer_tokens;
  const { when: _, expect: ____, ...accelerator } = merged.accelerator;
  const { when: __, slo, steady, ...load } = p.load;
  const reasoning_effort = variant?.reasoning_effort;
  const mode = p.dataset.grading ?? 'robust';
  const definition = {
    model: {
      id: p.model.id,
      sha256: prepared.sha256,
      request: prepared.request_model,
      endpoint: merged.model.endpoint,
      engine: merged.engine ?? undefined,
      settings: variant?.endpoint === undefined ? undefined : merged.endpoint,
    },
    accelerator,
    dataset: {
      id: point.dataset,
      digest: dataset.digest,
      grader: grader.id,
      grading: mode === 'robust' ? undefined : mode,
    },
    strategy: {
      id: strategy.id,
      version: strategy.version,
      params: placeless(params, 'router'),
      router: aids.router?.sha256,
    },
    load: hashedLoad(load, trace_ns),
    max_tokens,
    repeats: rule ?? repeats,
    seed: matrix.seed,
    protocol: matrix.protocol,
    reasoning_effort,
    power_cap_w: variant?.power_cap_w,
    warm_up: matrix.warm_up,
    bind:
      bindings.length === 0 ? undefined : bindings.map((own, i) => boundDefinition(own, loaded.others[i])),
  };
  const resolved = sha256Hex(canonicalJson(definition));
  const id = `c-${resolved.slice(0, 16)}`;
  const seed = seedFrom(matrix.seed, 'cell', id);
  const { concurrency } = p.load;
  const loop = loopOf(p.load, trace_ns);
  const models = modelsOf(p, loaded);
  checkLength(point, loop, {
    count: dataset.items.length * (rule === null ? repeats : 1),
    seed: arrivalSeed({ seed }),
  });
  return {
    id,
    point,
    position: 0,
    block: 0,
    block_position: 0,
    seed,
    repeats,
    rule,
    concurrency,
    loop,
    judged: { ...(slo && { slo }), ...(steady && { steady }) },
    max_tokens,
    accelerator: merged.accelerator,
    model: prepared,
    models,
    dataset,
    grader,
    mode,
    strategy,
    params,
    aids,
    variant,
    settings: settingsOf(merged, variant),
    sampling: reasoning_effort === undefined ? {} : { reasoning_effort },
    served_by: servedBy(p),
    load_key: [...new Set(models.map((own) => own.load_key))].join(' + '),
    hashes: { declared: declaredHash(p, matrix), resolved },
  };
}

/** What of a bound model decides what is measured. */
const boundDefinition = ({ name, model, engine, accelerator }: Binding, prepared?: PreparedModel) => {
  const { when: _, expect: __, ...device } = accelerator;
  return {
    name,
    model: {
      id: model.id,
      sha256: prepared?.sha256,
      request: prepared?.request_model,
      endpoint: model.endpoint,
      engine: engine ?? undefined,
    },
    accelerator: device,
  };
};

/** The model of the axis as `main`, then those that the strategy binds; one that is the same as another shares its key. */
function modelsOf(p: BoundPoint, { prepared, others }: Loaded): BoundModel[] {
  const { accelerator } = p.merged;
  const { concurrency } = p.load;
  const main: BoundModel = {
    name: 'main',
    id: p.point.model,
    accelerator,
    model: prepared,
    load_key: prepared.keep ?? `${loadedOn(p)} × ${concurrency}`,
  };
  const bound = p.bindings.flatMap((own, i): BoundModel[] => {
    const model = others[i];
    if (model === undefined) return [];
    const same = model === prepared && own.accelerator.id === accelerator.id;
    const load_key = same
      ? main.load_key
      : (model.keep ?? `${own.model.id} on ${own.accelerator.id} × ${concurrency}`);
    return [{ name: own.name, id: own.model.id, accelerator: own.accelerator, model, load_key }];
  });
  return [main, ...bound];
}

/** Names a loaded model: a variant counts where it changes the model, what serves it, or the device. */
function loadedOn({ point, variant, merged, model, accelerator }: BoundPoint): string {
  const loads =
    canonicalJson(merged.model) !== canonicalJson(model) ||
    canonicalJson(merged.accelerator) !== canonicalJson(accelerator) ||
    variant?.endpoint !== undefined ||
    variant?.engine !== undefined;
  const changed = loads && variant !== null ? ` (${variant.id})` : '';
  return `${point.model}${changed} on ${point.accelerator}`;
}

function servedBy(p: BoundPoint): string {
  const { endpoint, engine } = p.merged.model;
  const server =
    endpoint === undefined
      ? engine === undefined
        ? ''
        : ` by engine ${engine}`
      : ` at endpoint ${endpoint}`;
  const others = [...new Set(p.bindings.map(({ model }) => model.id))].filter((id) => id !== p.point.model);
  return `${loadedOn(p)}${server}${others.length === 0 ? '' : ` with ${others.join(', ')}`}`;
}
