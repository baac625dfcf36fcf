import { pointAxes } from '@perwatt/core';
import type { ComparisonVerdict, MetricId } from '@perwatt/metrics';
import type { ComparableCell } from '../compare/comparable.js';
import { circumstancesOf, figuresOf, workloadOf } from '../compare/comparable-run.js';
import { compareCells } from '../compare/compare-cells.js';
import type { ComparedSide } from '../compare/comparison.js';
import type { RunResults } from '../results-types.js';

/** Results as `results.json` holds them. */
export type StoredResults = Omit<RunResults, 'timeline' | 'shown_queries' | 'unparsed_answers'>;

/** One metric of one cell that came out otherwise. */
export interface ChangedFigure {
  readonly cell: string;
  readonly metric: string;
  readonly unit: string;
  readonly old: Pick<ComparedSide, 'value' | 'lo' | 'hi' | 'reason'>;
  readonly new: Pick<ComparedSide, 'value' | 'lo' | 'hi' | 'reason'>;
  /** New over old, or new less old for accuracy; null where one is missing. */
  readonly effect: {
    readonly scale: 'ratio' | 'difference';
    readonly value: number;
    readonly lo: number;
    readonly hi: number;
  } | null;
  readonly verdict: ComparisonVerdict | null;
  readonly why: string;
}

/** Something that made the figures and is another now. */
export interface ChangedFact {
  /** `run`, or the cell. */
  readonly where: string;
  readonly what: string;
  readonly old: string;
  readonly new: string;
}

/** What parts two publications. */
export interface ResultsDiff {
  readonly cells: {
    readonly shared: number;
    readonly added: readonly string[];
    readonly removed: readonly string[];
  };
  readonly verdicts: readonly ChangedFact[];
  readonly facts: readonly ChangedFact[];
  readonly figures: readonly ChangedFigure[];
  /** Figures that came out the same, to the last digits. */
  readonly unchanged: number;
}

type Cell = StoredResults['cells'][number];

const keyOf = ({ point }: Cell): string => pointAxes.flatMap((axis) => point[axis] ?? []).join(' / ');

/** Relative difference up to which a figure is the same. */
const SAME = 1e-12;

/**
 * What changed between two results: cells that came or went, verdicts, facts that made the figures, and every figure that came
 * out otherwise with its intervals and whether the difference is more than noise. Cells are the same where all axes are.
 */
export function diffResults(old: readonly StoredResults[], next: readonly StoredResults[]): ResultsDiff {
  const [before, after] = [cellsByKey(old), cellsByKey(next)];
  const shared = [...after.keys()].filter((key) => before.has(key));
  const both = shared.flatMap((key): [string, Placed, Placed][] => {
    const [a, b] = [before.get(key), after.get(key)];
    return a === undefined || b === undefined ? [] : [[key, a, b]];
  });
  const figures = both.flatMap(([key, a, b]) => changedFigures(key, a, b));
  const changed = figures.filter(({ same }) => !same);
  return {
    cells: {
      shared: shared.length,
      added: [...after.keys()].filter((key) => !before.has(key)),
      removed: [...before.keys()].filter((key) => !after.has(key)),
    },
    verdicts: both.flatMap(([key, a, b]) => changedVerdict(key, a.cell, b.cell)),
    facts: [...runFacts(old, next), ...both.flatMap(([key, a, b]) => cellFacts(key, a, b))],
    figures: changed.map(({ same: _same, ...figure }) => figure),
    unchanged: figures.length - changed.length,
  };
}

interface Placed {
  readonly results: StoredResults;
  readonly cell: Cell;
}

/** Cells by the values of their axes; of several with the same ones the first. */
function cellsByKey(runs: readonly StoredResults[]): ReadonlyMap<string, Placed> {
  const cells = new Map<string, Placed>();
  for (const results of runs)
    for (const cell of results.cells) if (!cells.has(keyOf(cell))) cells.set(keyOf(cell), { results, cell });
  return cells;
}

function comparable(tag: string, { results, cell }: Placed): ComparableCell {
  return {
    run_id: tag,
    record: `${tag}/${cell.cell_id}`,
    tier: 'measured',
    axes: Object.fromEntries(
      pointAxes.flatMap((axis) => (cell.point[axis] === undefined ? [] : [[axis, cell.point[axis]]])),
    ),
    workload: workloadOf(cell),
    circumstances: circumstancesOf(cell, results),
    figures: figuresOf(cell.metrics, cell.energy),
    verdict: cell.verdict,
    repeats: cell.counts.repeats,
    contributions: null,
    latencies: null,
    energy: cell.energy,
    host: results.host.hostname,
    years: { model: null, accelerator: null },
  };
}

type MaybeSame = ChangedFigure & { readonly same: boolean };

function changedFigures(key: string, a: Placed, b: Placed): MaybeSame[] {
  const known = new Set(Object.keys(a.cell.metrics));
  const metrics = Object.keys(b.cell.metrics).filter(
    (id) => known.has(id) && hasFigure(a.cell, b.cell, id as MetricId),
  );
  if (metrics.length === 0) return [];
  const { rows } = compareCells([comparable('old', a), comparable('new', b)], {
    by: 'run',
    baseline: 'old',
    metrics,
    allow_mixed: true,
    correction: 'none',
  });
  return rows.map((row) => ({
    cell: key,
    metric: row.metric,
    unit: row.unit,
    old: sideOf(row.baseline),
    new: sideOf(row.other),
    effect:
      row.estimate === null
        ? null
        : {
            scale: row.estimate.scale,
            value: row.estimate.value,
            lo: row.lo ?? row.estimate.lo,
            hi: row.hi ?? row.estimate.hi,
          },
    verdict: row.verdict,
    why: [row.reason, ...row.mixed].join('; '),
    same: sameValue(row.baseline.value, row.other.value),
  }));
}

const hasFigure = (a: Cell, b: Cell, id: MetricId): boolean =>
  a.metrics[id].value !== null || b.metrics[id].value !== null;

const sideOf = ({ value, lo, hi, reason }: ComparedSide): ChangedFigure['old'] => ({ value, lo, hi, reason });

function sameValue(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a === b;
  return Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b));
}

const verdictText = ({ verdict }: Cell): string =>
  [verdict.state, ...verdict.reasons.map(({ code }) => code).sort()].join(' ');

function changedVerdict(where: string, a: Cell, b: Cell): ChangedFact[] {
  const [old, now] = [verdictText(a), verdictText(b)];
  return old === now ? [] : [{ where, what: 'verdict', old, new: now }];
}

/** Facts by name that differ. */
function differing(
  where: string,
  old: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): ChangedFact[] {
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((what) => {
    const [a, b] = [old[what] ?? 'none', now[what] ?? 'none'];
    return a === b ? [] : [{ where, what, old: a, new: b }];
  });
}

const listed = (values: readonly string[]): string => [...new Set(values)].sort().join(', ') || 'none';

function factsOf(runs: readonly StoredResults[]): Record<string, string> {
  const of = (fact: (run: StoredResults) => string | null) =>
    listed(runs.map((run) => fact(run) ?? 'not known'));
  return {
    run: of(({ run_id }) => run_id),
    matrix: of(({ matrix_sha256 }) => matrix_sha256.slice(0, 12)),
    'metric definitions': of(({ metric_spec_version }) => String(metric_spec_version)),
    seed: of(({ seed }) => String(seed)),
    processor: of(({ host }) => host.cpu),
    kernel: of(({ host }) => host.kernel),
    governor: of(({ host }) => host.governor),
    power: listed(
      runs.flatMap(({ power }) => power.map(({ source, provenance }) => `${source} (${provenance})`)),
    ),
  };
}

const runFacts = (old: readonly StoredResults[], next: readonly StoredResults[]): ChangedFact[] =>
  differing('run', factsOf(old), factsOf(next));

function cellFacts(where: string, a: Placed, b: Placed): ChangedFact[] {
  const of = ({ cell, results }: Placed): Record<string, string> => ({
    ...workloadOf(cell),
    ...circumstancesOf(cell, results),
    repeats: String(cell.counts.repeats),
    'joules are': cell.energy.boundary?.provenance ?? 'none',
    'domains of the total': listed(cell.energy.boundary?.domains.map(({ id }) => id) ?? []),
  });
  return differing(where, of(a), of(b));
}
