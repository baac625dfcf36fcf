import { type PointAxis, pointAxes } from '@perwatt/core';
import type { Catalogue } from '@perwatt/metrics';
import type { RunFolder } from '@perwatt/records';
import { cellsOnFront } from '../pareto-cells.js';
import type { CellResult, RunResults } from '../results-types.js';

/** A run of a site: its results, and its folder where pages may read more than results hold. */
export interface SiteRun {
  readonly results: RunResults;
  /** Null where only the results are at hand: pages then have aggregates alone. */
  readonly run: RunFolder | null;
}

/** One cell in its run. */
export interface SiteCell {
  /** Unique in the site, and the name of its page. */
  readonly key: string;
  /** The cell with `key` for its id and the site's name of its accelerator. */
  readonly cell: CellResult;
  /** Its id in its own run. */
  readonly cell_id: string;
  readonly run: SiteRun;
}

/** Runs as pages see them. */
export interface Site {
  readonly runs: readonly SiteRun[];
  readonly cells: readonly SiteCell[];
  /**
   * All runs as one: cells under their keys, names of all runs in order of first appearance, fronts over all of them. What
   * only a run of its own has (timeline, host, clocks) is the first one's.
   */
  readonly merged: RunResults;
  readonly catalogue: Catalogue;
}

const union = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];

/** Letters, digits and a few marks: a name that is a file name everywhere. */
const safeName = (text: string): string =>
  text
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 80) || 'x';

/** Names by cell, unique over all runs whatever their ids are. */
function keysOf(runs: readonly SiteRun[]): string[][] {
  const taken = new Set<string>();
  const free = (wanted: string): string => {
    let name = wanted;
    for (let i = 2; taken.has(name.toLowerCase()); i++) name = `${wanted}-${i}`;
    taken.add(name.toLowerCase());
    return name;
  };
  return runs.map(({ results }) =>
    results.cells.map(({ cell_id }) =>
      free(runs.length === 1 ? safeName(cell_id) : `${safeName(results.run_id)}.${safeName(cell_id)}`),
    ),
  );
}

/** Accelerators that runs on several hosts call the same are several devices: those get their host's name. */
function acceleratorName(runs: readonly SiteRun[]): (results: RunResults, accelerator: string) => string {
  const hosts = new Map<string, Set<string>>();
  for (const { results } of runs)
    for (const { point } of results.cells)
      hosts.set(point.accelerator, (hosts.get(point.accelerator) ?? new Set()).add(results.host.hostname));
  return (results, accelerator) =>
    (hosts.get(accelerator)?.size ?? 1) > 1 ? `${accelerator} on ${results.host.hostname}` : accelerator;
}

const rekeyed = <T>(
  cells: readonly SiteCell[],
  of: (results: RunResults) => Readonly<Record<string, T>>,
): Record<string, T> =>
  Object.fromEntries(
    cells.flatMap(({ key, cell_id, run }) => {
      const value = of(run.results)[cell_id];
      return value === undefined ? [] : [[key, value]];
    }),
  );

function mergedResults(runs: readonly SiteRun[], cells: readonly SiteCell[]): RunResults {
  const all = runs.map(({ results }) => results);
  const [first] = all;
  if (first === undefined) throw new RangeError('a site of no run');
  const datasets = union(all.map((results) => results.datasets));
  const front = runs.length === 1 ? null : cellsOnFront(cells.map(({ cell }) => cell));
  const place = new Map(datasets.map((dataset, i) => [dataset, i]));
  const ordered = [...cells].sort(
    (a, b) => (place.get(a.cell.point.dataset) ?? 0) - (place.get(b.cell.point.dataset) ?? 0),
  );
  const notes = new Map(all.flatMap((results) => results.not_measured.map((note) => [note.text, note])));
  return {
    ...first,
    name: union([all.map(({ name }) => name)]).join(' + '),
    models: union(all.map(({ models }) => models)),
    datasets,
    strategies: union(all.map(({ strategies }) => strategies)),
    cells: ordered.map(({ cell }) =>
      front === null ? cell : { ...cell, on_front: front.has(cell.cell_id) },
    ),
    power: all.flatMap(({ power }) => power),
    left_out: all.flatMap(({ left_out }) => left_out),
    not_measured: [...notes.values()],
    shown_queries: rekeyed(cells, (results) => results.shown_queries),
    unparsed_answers: rekeyed(cells, (results) => results.unparsed_answers),
  };
}

/** The runs of a site put side by side. Throws `RangeError` for none. */
export function siteOf(runs: readonly SiteRun[], catalogue: Catalogue): Site {
  const keys = keysOf(runs);
  const named = acceleratorName(runs);
  const cells = runs.flatMap((run, r) =>
    run.results.cells.map((cell, i): SiteCell => {
      const key = keys[r]?.[i] ?? cell.cell_id;
      const accelerator = named(run.results, cell.point.accelerator);
      return {
        key,
        cell: { ...cell, cell_id: key, point: { ...cell.point, accelerator } },
        cell_id: cell.cell_id,
        run,
      };
    }),
  );
  return { runs, cells, merged: mergedResults(runs, cells), catalogue };
}

/** Ids of the runs of cells, by key: the same point in two runs is two cells. */
export function runIds({ cells }: Pick<Site, 'cells'>): (key: string) => string {
  const ids = new Map(cells.map(({ key, run }) => [key, run.results.run_id] as const));
  return (key) => ids.get(key) ?? '';
}

/** Names a cell on some axes. */
export type CellNamer = (cell: CellResult, axes: readonly PointAxis[]) => string;

/** Names of cells; a point that several runs have is told apart by its run. */
export function cellNamer(site: Pick<Site, 'cells'>): CellNamer {
  const runOf = runIds(site);
  const runs = new Map<string, Set<string>>();
  const keyOf = ({ point }: CellResult) => JSON.stringify(pointAxes.map((axis) => point[axis] ?? null));
  for (const { cell } of site.cells)
    runs.set(keyOf(cell), (runs.get(keyOf(cell)) ?? new Set<string>()).add(runOf(cell.cell_id)));
  return (cell, axes) => {
    const name = axes.flatMap((axis) => cell.point[axis] ?? []).join(' · ');
    return (runs.get(keyOf(cell))?.size ?? 1) > 1 ? `${name} · ${runOf(cell.cell_id)}` : name;
  };
}

/** Address of a cell's page, from the site's root. */
export const cellAddress = (key: string): string => `cells/${key}.html`;
