import * as z from 'zod';
import type { RunResults } from '../results-types.js';

/** Version of `summary.json`. A reader refuses a newer one. */
export const SUMMARY_VERSION = 1;

const nullable = z.number().nullable();

const Figure = z
  .strictObject({
    value: nullable.describe('Null with a reason'),
    unit: z.string().describe('SI without prefixes; `1` for ratios'),
    lo: nullable.describe('Lower end of the interval'),
    hi: nullable.describe('Upper end of the interval'),
    interval: z.string().nullable().describe('How the interval was made; null where there is none'),
    reason: z.string().nullable().describe('Why the value is null'),
    provenance: z.string().nullable().describe('Where the joules are from; null for figures without energy'),
  })
  .describe('One metric of one cell');

const Cell = z.strictObject({
  cell_id: z.string(),
  point: z.record(z.string(), z.string()).describe('Value on every axis'),
  status: z.string(),
  verdict: z.enum(['valid', 'flagged', 'invalid']).describe('Whether its figures may be quoted'),
  reasons: z
    .array(z.strictObject({ code: z.string(), text: z.string() }))
    .describe('Why it is flagged or invalid'),
  queries: z.int().min(0).describe('Queries attempted'),
  repeats: z.int().min(0),
  on_front: z.boolean().describe('On the front of accuracy against energy per query of its workload'),
  metrics: z.record(z.string(), Figure).describe('Every metric, by its id'),
});

const Run = z.strictObject({
  run_id: z.string(),
  name: z.string(),
  status: z.string(),
  protocol: z.string(),
  perwatt_version: z.string(),
  started: z.string().nullable().describe('Wall time of the first start (ISO 8601, UTC)'),
  matrix_sha256: z.string(),
  folder: z.string().describe('Folder of its files within the publication'),
  system: z.strictObject({
    os: z.string(),
    kernel: z.string(),
    arch: z.string(),
    cpu: z.string().nullable(),
    cores: z.number().nullable(),
    threads: z.number(),
    memory_bytes: z.number(),
    virtual_machine: z.string().nullable(),
  }),
  power: z
    .array(
      z.strictObject({
        source: z.string(),
        provenance: z.string(),
        period_ns: z.number(),
        scopes: z.array(z.string()),
      }),
    )
    .describe('What power was read from'),
  not_measured: z.array(z.strictObject({ code: z.string(), text: z.string() })),
  cells: z.array(Cell),
});

/** `summary.json`: what a publication holds, for machines. */
export const PublicationSummary = z.strictObject({
  summary_version: z.literal(SUMMARY_VERSION),
  title: z.string(),
  metric_spec_version: z.int(),
  metrics: z
    .array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        unit: z.string(),
        better: z.string(),
        formula: z.string(),
        definition: z.string(),
      }),
    )
    .describe('What the metrics mean'),
  redacted: z
    .strictObject({
      hosts: z.int().min(0),
      users: z.int().min(0),
      home_paths: z.int().min(0),
      secrets: z.int().min(0),
      texts: z.boolean().describe('Whether prompts and completions were left out'),
    })
    .describe('What was taken out, and how often'),
  runs: z.array(Run).min(1),
});
export type PublicationSummary = z.infer<typeof PublicationSummary>;

/** JSON Schema (draft 2020-12) of `summary.json`, for validators. */
export const summaryJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(PublicationSummary),
  title: 'Summary of a Perwatt publication',
});

export interface SummaryInput {
  readonly title: string;
  readonly runs: readonly { readonly results: RunResults; readonly folder: string }[];
  readonly redacted: PublicationSummary['redacted'];
}

/** The summary of a publication. */
export function publicationSummary({ title, runs, redacted }: SummaryInput): PublicationSummary {
  const [first] = runs;
  return {
    summary_version: SUMMARY_VERSION,
    title,
    metric_spec_version: first?.results.metric_spec_version ?? 0,
    metrics: (first?.results.metrics ?? []).map(({ id, title: name, unit, better, formula, definition }) => ({
      id,
      title: name,
      unit,
      better,
      formula,
      definition,
    })),
    redacted,
    runs: runs.map(({ results, folder }) => runOf(results, folder)),
  };
}

function runOf(results: RunResults, folder: string): PublicationSummary['runs'][number] {
  const { os, kernel, arch, cpu, cores, threads, memory_bytes, virtual_machine } = results.host;
  return {
    run_id: results.run_id,
    name: results.name,
    status: results.status,
    protocol: results.protocol,
    perwatt_version: results.perwatt_version,
    started: results.clocks[0]?.wall_time ?? null,
    matrix_sha256: results.matrix_sha256,
    folder,
    system: { os, kernel, arch, cpu, cores, threads, memory_bytes, virtual_machine },
    power: results.power.map(({ source, provenance, period_ns, domains }) => ({
      source,
      provenance,
      period_ns,
      scopes: [...new Set(domains.map(({ scope }) => scope))].sort(),
    })),
    not_measured: results.not_measured.map(({ code, text }) => ({ code, text })),
    cells: results.cells.map(cellOf),
  };
}

function cellOf(cell: RunResults['cells'][number]): PublicationSummary['runs'][number]['cells'][number] {
  const metrics = Object.entries(cell.metrics).map(([id, metric]) => {
    const { value, unit, lo, hi, interval, reason, provenance } = metric;
    return [id, { value, unit, lo, hi, interval, reason, provenance }] as const;
  });
  return {
    cell_id: cell.cell_id,
    point: Object.fromEntries(
      Object.entries(cell.point).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    status: cell.status,
    verdict: cell.verdict.state,
    reasons: cell.verdict.reasons.map(({ code, text }) => ({ code, text })),
    queries: cell.counts.attempted,
    repeats: cell.counts.repeats,
    on_front: cell.on_front,
    metrics: Object.fromEntries(metrics),
  };
}
