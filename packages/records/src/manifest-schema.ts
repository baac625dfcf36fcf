import { provenances, SteadyRule, tables } from '@perwatt/core';
import * as z from 'zod';
import { isFileName } from './file-names.js';

// Loose on purpose: what a later version of the same schema adds passes through; what code here relies on is checked.

const instant = z.string().regex(/^-?\d+$/, 'expected a decimal string of ns');
const count = z.int().min(0);
const file = z.string().refine(isFileName, 'expected the name of a file in the same folder');

const Segment = z.looseObject({
  file,
  table: z.enum(Object.keys(tables)),
  sitting: count,
  rows: count,
  batches: count,
  bytes: count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected a sha256 in hex'),
});

const PowerDomain = z.looseObject({ id: z.string(), source: z.string(), in_total: z.boolean() });

const Power = z.looseObject({
  file,
  source: z.string(),
  provenance: z.enum(provenances),
  period_ns: z.number(),
  domains: z.array(PowerDomain),
  boot_id: z.string().nullable(),
  segment: Segment.nullable(),
  channels: z.looseObject({ file, segment: Segment.nullable() }).nullish(),
});

/** What is checked of `run.json`. */
export const RunSchema = z.looseObject({
  schema_version: z.int().min(1),
  metric_spec_version: z.int(),
  run_id: z.string(),
  status: z.enum(['running', 'done', 'interrupted']),
  matrix: z.looseObject({ name: z.string(), axes: z.looseObject({}) }),
  matrix_sha256: z.string(),
  order: z.array(z.string()),
  host: z.looseObject({}),
  clocks: z.array(z.looseObject({ boot_id: z.string().nullable(), at_ns: instant, wall_time: z.string() })),
  left_out: z.array(z.looseObject({ what: z.string(), reason: z.string() })),
  power: z.array(Power),
});

const SittingSchema = z.looseObject({
  sitting: count,
  state: z.enum(['open', 'closed', 'crashed']),
  start_ns: instant,
  end_ns: instant.nullable(),
  baselines: z.array(
    z.looseObject({ start_ns: instant, end_ns: instant, powers: z.array(z.looseObject({})) }),
  ),
});

/** What is checked of `cell.json`. */
export const CellSchema = z.looseObject({
  schema_version: z.int().min(1),
  run_id: z.string(),
  cell_id: z.string(),
  point: z.record(z.string(), z.string()),
  position: count,
  repeats: count,
  concurrency: count,
  status: z.enum(['planned', 'running', 'done', 'failed']),
  sittings: z.array(SittingSchema),
  ledgers: z.array(z.looseObject({ domain: z.string() })),
  segments: z.array(Segment),
  slo: z.record(z.string(), z.number().positive()).optional(),
  steady: SteadyRule.optional(),
});
