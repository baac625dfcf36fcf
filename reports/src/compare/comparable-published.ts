import type { PublishedRow } from '@perwatt/core';
import {
  type Catalogue,
  declaredSpread,
  FEWEST_REPEATS,
  findAccelerator,
  findModel,
  type Metric,
  metrics,
  type RunSpread,
  t95,
} from '@perwatt/metrics';
import type { PublishedRun } from '@perwatt/records';
import type { ComparableCell, ComparableFigure } from './comparable.js';
import { knownYear } from './known-year.js';

/** Knobs of a source that only name its model again. */
const labels: ReadonlySet<string> = new Set(['nickname', 'architecture']);

/** Share of a value that two figures of one source may differ by without meaning anything. */
const declaredHalf = (share: number): number => Math.log1p(share) / Math.SQRT2;

const unknownSpread = (n: number | null, reason: string): RunSpread => ({
  sd: null,
  lo: null,
  hi: null,
  sd_ratio: null,
  repeats: n ?? 0,
  source: 'unknown',
  reason,
});

/** The spread that a figure was published with, over its value. */
function spreadOf({ value, spread, spread_kind, n }: PublishedRow): RunSpread {
  if (value === null || value === 0 || spread === null) return unknownSpread(n, 'no spread is published');
  return declaredSpread(value, spread_kind === 'sd' ? spread / Math.abs(value) : spread);
}

/**
 * Half of the interval of a figure's logarithm. A declared share is that of a difference, so either side carries its part
 * of it; a spread over runs needs three of them. Null where nothing is known.
 */
function halfOf({ spread_kind, n }: PublishedRow, spread: RunSpread): number | null {
  const share = spread.sd_ratio;
  if (share === null) return null;
  if (spread_kind === 'declared') return declaredHalf(share);
  return n === null || n < FEWEST_REPEATS ? null : (t95(n - 1) * share) / Math.sqrt(n);
}

const directions: Readonly<Record<string, Metric['better']>> = {
  J: 'lower',
  W: 'neither',
  ns: 'lower',
  '1/s': 'higher',
  '1/J': 'higher',
  '1/W': 'higher',
};

/** The 95 % interval that a published spread gives. */
function samplingOf(row: PublishedRow, spread: RunSpread) {
  const half = row.value === null || row.value <= 0 ? null : halfOf(row, spread);
  return half === null || row.value === null
    ? { sampling_lo: null, sampling_hi: null }
    : { sampling_lo: row.value * Math.exp(-half), sampling_hi: row.value * Math.exp(half) };
}

/** What is shown beside the value: the range of the source, else what its spread gives. */
function shownInterval(
  row: PublishedRow,
  { sampling_lo: lo, sampling_hi: hi }: ReturnType<typeof samplingOf>,
) {
  if (row.lo !== null || row.hi !== null) return { lo: row.lo, hi: row.hi, interval: 'published_range' };
  return { lo, hi, interval: lo === null ? null : 'published_spread' };
}

function figureOf(row: PublishedRow): ComparableFigure {
  const known = metrics.find(({ id }) => id === row.metric);
  const spread = spreadOf(row);
  const sampling = samplingOf(row, spread);
  const powered = row.scope !== null;
  return {
    metric: metricName(row),
    title: known?.title ?? row.metric,
    unit: row.unit,
    better: known?.better ?? directions[row.unit] ?? 'neither',
    value: row.value,
    ...shownInterval(row, sampling),
    ...sampling,
    sensor_lo: null,
    sensor_hi: null,
    n: row.n,
    spread,
    provenance: powered ? 'published' : null,
    boundary: powered ? `${row.scope} (${row.boundary ?? 'not described'})` : null,
    statistic: row.statistic,
    bound: row.bound === 'upper' ? 'upper' : 'none',
    rankable: row.rankable || row.value === null,
    reason: row.reason,
    note: row.note,
  };
}

/** Metrics that stand several times in a record, as quantiles do, carry their statistic in the name. */
const metricName = ({ metric, statistic }: PublishedRow): string =>
  /^(median|p\d+)$/.test(statistic) && metric.includes(':') ? `${metric}@${statistic}` : metric;

function axesOf(row: PublishedRow): Record<string, string> {
  const setting = JSON.parse(row.setting) as Readonly<Record<string, unknown>>;
  const own = {
    model: row.model,
    accelerator: row.accelerator,
    dataset: row.dataset,
    load: row.concurrency === null ? null : `c${row.concurrency}`,
    weight_format: row.weight_format,
    devices: row.devices,
    engine: row.engine,
    phase: row.phase === 'all' ? null : row.phase,
    item: row.item_id,
  };
  const knobs = Object.entries(setting).filter(([name]) => !labels.has(name));
  const known = [...Object.entries(own), ...knobs].filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}

function cellOf(rows: readonly PublishedRow[], first: PublishedRow, catalogue: Catalogue): ComparableCell {
  const flags = [...new Set(rows.flatMap(({ flags }) => flags?.split(' ') ?? []))];
  const model = first.model === null ? null : findModel(catalogue, first.model);
  const device = first.accelerator === null ? null : findAccelerator(catalogue, first.accelerator);
  return {
    run_id: first.run_id,
    record: `${first.run_id}/${first.source_file}:${first.source_row}${first.item_id === null ? '' : `:${first.item_id}`}`,
    tier: 'published',
    axes: axesOf(first),
    workload: { source: first.source, window: first.window },
    circumstances: { version: first.source_version ?? 'not known' },
    figures: Object.fromEntries(rows.map((row) => [metricName(row), figureOf(row)])),
    verdict: {
      state: flags.length > 0 ? 'flagged' : 'valid',
      reasons: flags.map((code) => ({ code, text: code.replaceAll('_', ' '), fix: null })),
    },
    repeats: null,
    contributions: null,
    latencies: null,
    energy: null,
    host: first.accelerator ?? 'not known',
    years: {
      model: knownYear(model, catalogue.models),
      accelerator: knownYear(device, catalogue.accelerators),
    },
  };
}

/** The configurations of a published run; figures over a whole file are none and stay out. */
export const comparablePublished = ({ rows }: PublishedRun, catalogue: Catalogue): ComparableCell[] =>
  recordsOf(
    rows.filter(({ source_row }) => source_row > 0),
    catalogue,
  );

/** What a published run tells of configurations and of whole files; figures of single queries stay out. */
export const publishedRecords = ({ rows }: PublishedRun, catalogue: Catalogue): ComparableCell[] =>
  recordsOf(
    rows.filter(({ item_id }) => item_id === null),
    catalogue,
  );

function recordsOf(rows: readonly PublishedRow[], catalogue: Catalogue): ComparableCell[] {
  const records = new Map<string, PublishedRow[]>();
  for (const row of rows) {
    const key = `${row.source_file}\n${row.source_row}\n${row.item_id ?? ''}\n${row.phase}`;
    records.set(key, [...(records.get(key) ?? []), row]);
  }
  return [...records.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [cellOf(group, first, catalogue)];
  });
}
