import type { CallRow, QueryRow } from '@perwatt/core';
import {
  type Catalogue,
  type CoverageItem,
  callFlop,
  type ModelShape,
  type PriceFile,
  type RouteOutcome,
  type RoutingItem,
  tokenCostOf,
} from '@perwatt/metrics';
import type { CellFile, RunFolder } from '@perwatt/records';
import { readCell } from '../cell-input.js';
import { modelEntry } from '../physics.js';

/** Cells of one accelerator, strategy and load that differ in model and data set: what a router chooses among. */
export interface RouteGroup {
  readonly accelerator: string;
  readonly strategy: string;
  readonly load: string;
  readonly models: readonly string[];
  /** Repeats that every cell has, in order. */
  readonly repeats: readonly number[];
  /** Items by repeat, each with what every model made of it. */
  readonly items: ReadonlyMap<number, readonly RoutingItem[]>;
  readonly coverage: readonly CoverageItem[];
  /** First prompt by item, where texts were kept. */
  readonly prompts: ReadonlyMap<string, string>;
  /** How queries came by their energy: `isolated`, `time_share` … */
  readonly energy_methods: readonly string[];
  /** Provenance and scopes of the cells' energy, each kind once. */
  readonly boundaries: readonly string[];
  /** Why a resource isn't known, by model. */
  readonly gaps: readonly string[];
}

export interface RouteSources {
  readonly catalogue: Catalogue;
  readonly prices: PriceFile;
  /** Models of the set; all where left out. */
  readonly models?: readonly string[];
}

interface ModelFacts {
  readonly shape: ModelShape | null;
  /** Names that prices may know it by. */
  readonly names: readonly string[];
}

/** Sum over calls; null where one isn't known, or there is none. */
function summed(calls: readonly CallRow[], of: (call: CallRow) => number | null): number | null {
  const values = calls.map(of);
  return values.length === 0 || values.some((value) => value === null)
    ? null
    : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

const isCount = (value: number | null): value is number => value !== null && value >= 0;

/** Price of a call: the middle of what providers ask; null without a price or a count. */
function priceOf(call: CallRow, names: readonly string[], prices: PriceFile): number | null {
  const { prompt_tokens, completion_tokens, cached_tokens } = call;
  if (!(isCount(prompt_tokens) && isCount(completion_tokens))) return null;
  const cached = Math.min(cached_tokens ?? 0, prompt_tokens);
  for (const name of names) {
    const cost = tokenCostOf(prices, name, { prompt_tokens, completion_tokens, cached_tokens: cached });
    if (cost !== null) return (cost.lo + cost.hi) / 2;
  }
  return null;
}

interface CellRows {
  readonly file: CellFile;
  readonly queries: readonly QueryRow[];
  readonly calls: ReadonlyMap<string, readonly CallRow[]>;
  readonly facts: ModelFacts;
}

function readRows(run: RunFolder, file: CellFile, catalogue: Catalogue): CellRows {
  const { queries, calls } = readCell(run, file.cell_id);
  const byQuery = new Map<string, CallRow[]>();
  for (const call of calls.filter(({ phase }) => phase === 'measure')) {
    const own = byQuery.get(call.query_id);
    if (own === undefined) byQuery.set(call.query_id, [call]);
    else own.push(call);
  }
  const entry = modelEntry(file, run.manifest, catalogue).entry;
  const names = [file.point.model, entry?.id ?? '', entry?.hf_repo ?? ''].filter((name) => name !== '');
  return { file, queries, calls: byQuery, facts: { shape: entry?.shape ?? null, names } };
}

const itemId = (file: CellFile, query: QueryRow): string => `${file.point.dataset}/${query.item_id}`;

function outcomeOf(query: QueryRow, { calls, facts }: CellRows, prices: PriceFile): RouteOutcome {
  const own = calls.get(query.query_id) ?? [];
  return {
    score: query.score,
    energy_j: query.energy_gross_j,
    flop: summed(own, (call) => callFlop(facts.shape, call)),
    cost_usd: summed(own, (call) => priceOf(call, facts.names, prices)),
  };
}

type Outcomes = Map<string, Record<string, RouteOutcome>>;

function itemsByRepeat(cells: readonly CellRows[], prices: PriceFile): Map<number, Outcomes> {
  const repeats = new Map<number, Outcomes>();
  for (const cell of cells) {
    for (const query of cell.queries) {
      const items = repeats.get(query.repeat) ?? new Map<string, Record<string, RouteOutcome>>();
      repeats.set(query.repeat, items);
      const id = itemId(cell.file, query);
      const outcomes = items.get(id) ?? {};
      outcomes[cell.file.point.model] = outcomeOf(query, cell, prices);
      items.set(id, outcomes);
    }
  }
  return repeats;
}

/** What each model made of each item in the first repeat, with the chance of a guess. */
function coverageItems(cells: readonly CellRows[], repeat: number): CoverageItem[] {
  const items = new Map<
    string,
    { subject: string | null; guess_rate: number | null; right: Record<string, boolean | null> }
  >();
  for (const { file, queries } of cells) {
    const guess_rate = file.provenance?.dataset.guess_rate ?? null;
    for (const query of queries.filter((candidate) => candidate.repeat === repeat)) {
      const id = itemId(file, query);
      const item = items.get(id) ?? { subject: query.subject, guess_rate, right: {} };
      item.right[file.point.model] = query.score === null ? null : query.score >= 1;
      items.set(id, item);
    }
  }
  return [...items].map(([item_id, item]) => ({ item_id, ...item }));
}

function promptsOf(run: RunFolder, cells: readonly CellRows[]): Map<string, string> {
  const prompts = new Map<string, string>();
  for (const { file, queries } of cells) {
    const ids = new Map(queries.map((query) => [query.query_id, itemId(file, query)]));
    for (const { query_id, kind, text } of run.readTexts(file.cell_id).rows) {
      const id = ids.get(query_id);
      if (kind === 'prompt' && text !== null && id !== undefined && !prompts.has(id)) prompts.set(id, text);
    }
  }
  return prompts;
}

/** What a cell's energy is of, by its ledgers: `counter package`. */
function boundaryOf(run: RunFolder, { ledgers }: CellFile): string {
  const domains = new Map(
    run.manifest.power.flatMap((file) => file.domains.map((domain) => [domain.id, domain])),
  );
  const parts = ledgers
    .filter(({ in_total }) => in_total)
    .map(({ domain }) => domains.get(domain))
    .map((domain) => (domain === undefined ? 'unknown' : `${domain.provenance} ${domain.scope}`));
  return [...new Set(parts)].sort().join(' + ');
}

function gapsOf(cells: readonly CellRows[], items: ReadonlyMap<number, Outcomes>): string[] {
  const models = [...new Set(cells.map(({ file }) => file.point.model))];
  const outcomes = [...items.values()].flatMap((own) => [...own.values()]);
  const unknown = (model: string, resource: 'energy_j' | 'flop' | 'cost_usd') =>
    outcomes.every((own) => (own[model]?.[resource] ?? null) === null);
  return models.flatMap((model) => [
    ...(unknown(model, 'energy_j') ? [`energy of ${model}: no query has any`] : []),
    ...(unknown(model, 'flop') ? [`compute of ${model}: its shape or its tokens are not known`] : []),
    ...(unknown(model, 'cost_usd') ? [`cost of ${model}: the price file has no such model`] : []),
  ]);
}

/** The groups of a run's finished cells that routing may choose within, each of at least two models. */
export function routeGroups(run: RunFolder, { catalogue, prices, models }: RouteSources): RouteGroup[] {
  const files = run
    .cells()
    .filter(
      ({ status, point }) => status === 'done' && (models === undefined || models.includes(point.model)),
    );
  const groups = new Map<string, CellFile[]>();
  for (const file of files) {
    const { accelerator, strategy, load } = file.point;
    const key = JSON.stringify([accelerator, strategy, load]);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()].flatMap((group): RouteGroup[] => {
    const names = [...new Set(group.map(({ point }) => point.model))];
    const [first] = group;
    if (first === undefined || names.length < 2) return [];
    const cells = group.map((file) => readRows(run, file, catalogue));
    const items = itemsByRepeat(cells, prices);
    const { accelerator, strategy, load } = first.point;
    const repeats = [...items.keys()].sort((a, b) => a - b);
    return [
      {
        accelerator,
        strategy,
        load,
        models: names,
        repeats,
        items: new Map(
          [...items].map(([repeat, own]) => [
            repeat,
            [...own].map(([item_id, outcomes]) => ({ item_id, outcomes })),
          ]),
        ),
        coverage: coverageItems(cells, repeats[0] ?? 0),
        prompts: promptsOf(run, cells),
        energy_methods: [
          ...new Set(cells.flatMap(({ queries }) => queries.map(({ energy_method }) => energy_method))),
        ],
        boundaries: [...new Set(group.map((file) => boundaryOf(run, file)))],
        gaps: gapsOf(cells, items),
      },
    ];
  });
}
