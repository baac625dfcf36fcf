import { axisNames, type Provenance } from '@perwatt/core';
import type { Metric, MetricId, MetricValue } from '@perwatt/metrics';
import type { ModeFigures } from './grading.js';
import { most, total } from './load-facts.js';
import type { CellResult, RunResults } from './results-types.js';

type Value = string | number | boolean | null;

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** One field: numbers as they are, missing ones empty, text quoted where needed and made harmless for spreadsheets. */
export function csvField(value: Value): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The columns of a metric: its value with its interval; for figures of energy both parts and the spread beside it. */
interface MetricColumn {
  readonly id: MetricId;
  readonly name: string;
  readonly of: (metric: MetricValue) => Value;
}

const counted = ['attempted', 'scored', 'failed', 'unsettled', 'calls', 'repeats'] as const;

function metricColumns({ id, energy }: Metric<MetricId>): MetricColumn[] {
  const own: [string, MetricColumn['of']][] = [
    [id, ({ value }) => value],
    [`${id}__lo`, ({ lo }) => lo],
    [`${id}__hi`, ({ hi }) => hi],
    [`${id}__interval`, ({ interval }) => interval],
    [`${id}__reason`, ({ reason }) => reason],
  ];
  const parts: typeof own = [
    [`${id}__sampling_lo`, ({ sampling_lo }) => sampling_lo],
    [`${id}__sampling_hi`, ({ sampling_hi }) => sampling_hi],
    [`${id}__sensor_lo`, ({ sensor_lo }) => sensor_lo],
    [`${id}__sensor_hi`, ({ sensor_hi }) => sensor_hi],
    [`${id}__spread_sd`, ({ spread }) => spread?.sd ?? null],
  ];
  return [...own, ...(energy === null ? [] : parts)].map(([name, of]) => ({ id, name, of }));
}

const shareFields = (name: string, share: ModeFigures['accuracy'] | undefined): [string, Value][] => [
  [name, share?.value ?? null],
  [`${name}__lo`, share?.lo ?? null],
  [`${name}__hi`, share?.hi ?? null],
];

/** Accuracy of the run's own grading in one mode, with what of it stands beside the headline. */
function modeFields(mode: 'robust' | 'official', figures: ModeFigures | undefined): [string, Value][] {
  return [
    ...shareFields(`accuracy_${mode}`, figures?.accuracy),
    [`queries_unparsed_${mode}`, figures?.verdicts.unparsed ?? null],
  ];
}

function gradingFields({ grading }: CellResult): [string, Value][] {
  const own = grading?.figures.filter(({ pass }) => pass === 0) ?? [];
  const headline = own.find(({ mode }) => mode === grading?.headline);
  return [
    ['grading', grading?.headline ?? null],
    ...modeFields(
      'robust',
      own.find(({ mode }) => mode === 'robust'),
    ),
    ...modeFields(
      'official',
      own.find(({ mode }) => mode === 'official'),
    ),
    ['verdicts_differ', grading?.differing ?? null],
    ['queries_known_bad', grading?.known_bad_queries ?? null],
    ...shareFields('accuracy_without_known_bad', headline?.without_known_bad),
    ['accuracy_strict', headline?.strict?.value ?? null],
    ['accuracy_answered_only', headline?.answered_only.value ?? null],
    ...attemptFields(headline?.attempts ?? null),
  ];
}

/** Over all repeats of each item. */
function attemptFields(attempts: ModeFigures['attempts']): [string, Value][] {
  const last = attempts?.at.at(-1);
  return [
    ['attempts_k', attempts?.k ?? null],
    ['avg_at_k', attempts?.avg_at_k ?? null],
    ['pass_at_k', last?.pass_at_k ?? null],
    ['pass_all_k', last?.pass_all_k ?? null],
    ['maj_at_k', last?.maj_at_k ?? null],
  ];
}

/** How the queries were sent, and what the server said; of several sittings the sum, and the greatest of gauges. */
function loadFields({ load }: CellResult): [string, Value][] {
  const [loops, servers] = [load.map(({ loop }) => loop), load.map(({ server }) => server)];
  return [
    ['loop', loops.find((loop) => loop !== null)?.kind ?? null],
    ['loop_waited', total(loops, (loop) => loop?.waited)],
    ['loop_most_in_flight', most(loops, (loop) => loop?.most_in_flight)],
    ['server_running_mean', servers.length === 1 ? (servers[0]?.running?.mean ?? null) : null],
    ['server_running_max', most(servers, (server) => server?.running?.max)],
    ['server_waiting_max', most(servers, (server) => server?.waiting?.max)],
    ['server_kv_cache_max_ratio', most(servers, (server) => server?.kv_cache_ratio?.max)],
    ['server_prompt_tokens', total(servers, (server) => server?.prompt_tokens)],
    ['server_generation_tokens', total(servers, (server) => server?.generation_tokens)],
  ];
}

const hasVariants = ({ cells }: RunResults): boolean =>
  cells.some(({ point }) => point.variant !== undefined);

function fieldsOf({ run_id, protocol }: RunResults, cell: CellResult, variants: boolean): [string, Value][] {
  const boundary = cell.energy.boundary;
  const provenance: Provenance | null = boundary?.provenance ?? null;
  return [
    ['run_id', run_id],
    ['cell_id', cell.cell_id],
    ...axisNames.map((axis): [string, Value] => [axis, cell.point[axis]]),
    ...(variants ? [['variant', cell.point.variant ?? null] satisfies [string, Value]] : []),
    ['protocol', protocol],
    ['status', cell.status],
    ['verdict', cell.verdict.state],
    ['verdict_reasons', cell.verdict.reasons.map(({ code }) => code).join(' ')],
    ['energy_provenance', provenance],
    ['energy_domains', boundary === null ? null : boundary.domains.map(({ id }) => id).join(' ')],
    ['energy_gross_j', cell.energy.gross_j],
    ['energy_net_j', cell.energy.net_j],
    ['busy_ns', cell.energy.busy_ns],
    ['coverage_ratio', cell.energy.coverage_ratio],
    ...counted.map((key): [string, Value] => [
      `queries_${key}`.replace('queries_calls', 'calls').replace('queries_repeats', 'repeats'),
      cell.counts[key],
    ]),
    ...gradingFields(cell),
    ...loadFields(cell),
    ['guess_rate', cell.guess_rate],
    ['on_front', cell.on_front],
  ];
}

/** One record a cell: its axes, counts and facts, then every metric with its bounds, how they were made, and why it is missing. */
export function resultRecords(results: RunResults): Readonly<Record<string, Value>>[] {
  const columns = results.metrics.flatMap(metricColumns);
  return results.cells.map((cell) =>
    Object.fromEntries([
      ...fieldsOf(results, cell, hasVariants(results)),
      ...columns.map(({ id, name, of }) => [name, of(cell.metrics[id])] as const),
    ]),
  );
}

/** `results.csv`: one row a cell, one head; every metric with its bounds, how they were made, and why it is missing. */
export const resultsCsv = (results: RunResults): string => resultsCsvOf([results]);

/** The cells of several runs in one table. */
export function resultsCsvOf(runs: readonly RunResults[]): string {
  const cells = runs.flatMap((results) => results.cells.map((cell) => ({ results, cell })));
  const variants = runs.some(hasVariants);
  const rows = cells.map(({ results, cell }) => fieldsOf(results, cell, variants));
  const columns = (runs[0]?.metrics ?? []).flatMap(metricColumns);
  const [first] = rows;
  const head =
    first === undefined
      ? ['run_id', 'cell_id']
      : [...first.map(([name]) => csvField(name)), ...columns.map(({ name }) => name)];
  const lines = cells.map(({ cell: { metrics } }, i) => {
    const own = (rows[i] ?? []).map(([, value]) => csvField(value));
    return [...own, ...columns.map(({ id, of }) => csvField(of(metrics[id])))].join(',');
  });
  return `${[head.join(','), ...lines].join('\n')}\n`;
}
