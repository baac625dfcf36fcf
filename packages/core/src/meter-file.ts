import * as z from 'zod';
import { name } from './matrix-name.js';
import { scopes } from './power.js';

const meter = {
  id: name.describe('Name of the meter in tables'),
  scope: z.enum(scopes).optional().describe('What the meter covers; default: wall, for dcmi system'),
  update_ms: z
    .number()
    .positive()
    .max(3_600_000)
    .optional()
    .describe('How often it renews its value; default 1000'),
  accuracy: z.number().min(0).max(1).optional().describe('Declared relative error, 0…1'),
  quantum: z.number().positive().optional().describe('Smallest step, W or J'),
  max_power_w: z.number().positive().max(1e7).optional().describe('More than it can show; default 10000'),
  clock_error_ms: z.number().min(0).optional().describe('How far its stamps may be off; widens the bounds'),
  period_ms: z.number().min(10).max(3_600_000).optional().describe('Time between readings; default 1000'),
  timeout_ms: z.number().min(10).max(600_000).optional().describe('Longest wait for a reading'),
};
const unit = z
  .enum(['W', 'kW', 'mW', 'uW', 'J', 'kJ', 'mJ', 'uJ', 'Wh', 'kWh', 'mWh'])
  .describe('Unit of the number: power makes a gauge, energy a counter');
const authorization_env = z
  .string()
  .optional()
  .describe('Environment variable that holds the value of the Authorization header');
const httpUrl = z.url({ protocol: /^https?$/ });
const range = z.union([z.number().positive(), z.literal('Auto')]).optional();
const column = z.union([z.string().min(1), z.int().min(0)]);

/** A power meter beside the host, as the matrix file names it. */
export const Meter = z.discriminatedUnion('kind', [
  z.strictObject({
    ...meter,
    kind: z.literal('http-json'),
    url: httpUrl,
    pointer: z.string().describe('JSON pointer to the number, for example /apower'),
    unit,
    authorization_env,
  }),
  z
    .strictObject({
      ...meter,
      kind: z.literal('prometheus'),
      url: httpUrl.describe("An exporter's page (with `metric`), or a server's address (with `query`)"),
      metric: z.string().min(1).optional(),
      labels: z.record(z.string(), z.string()).optional().describe('Labels that single the series out'),
      query: z.string().min(1).optional().describe('A query that gives one number'),
      unit,
      authorization_env,
    })
    .refine(
      (m) => (m.metric === undefined) !== (m.query === undefined),
      'give `metric` or `query`, and not both',
    ),
  z.strictObject({
    ...meter,
    kind: z.literal('ptdaemon'),
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).optional().describe('Default 8888'),
    channels: z.int().min(0).max(64).optional().describe('Channels shown beside the whole'),
    volts: range.describe('Range to fix while measuring'),
    amps: range.describe('Range to fix while measuring'),
    interval_ms: z
      .number()
      .min(100)
      .max(60_000)
      .optional()
      .describe('Time between its samples; default 1000'),
  }),
  z.strictObject({
    ...meter,
    kind: z.literal('tail'),
    path: z.string().min(1).describe('File that rows are appended to, from the folder of the matrix'),
    format: z.enum(['csv', 'jsonl']),
    time: column.describe(
      'Column of the stamp: a name or a number from 0; for jsonl a key or a JSON pointer',
    ),
    value: column.describe('Column of the number'),
    time_format: z.enum(['unix_s', 'unix_ms', 'unix_us', 'unix_ns', 'iso']).default('unix_s'),
    unit,
    separator: z.string().min(1).max(4).optional().describe('Between columns; default a comma'),
    clock_offset_ms: z.number().optional().describe("How far the rows' clock is ahead of this host's"),
  }),
  z.strictObject({
    ...meter,
    kind: z.literal('dcmi'),
    command: z.array(z.string()).min(1).optional().describe('Default: ipmitool dcmi power reading'),
  }),
  z.strictObject({
    id: meter.id,
    kind: z.literal('replay'),
    path: z
      .string()
      .min(1)
      .describe(
        'Samples that `perwatt power --out` or a run kept, from the folder of the matrix; played back at the pace they were taken',
      ),
  }),
]);

/** Another host whose agent measures its power, as the matrix file names it. */
export const Agent = z.strictObject({
  id: name.describe('Name of the host in tables'),
  url: httpUrl.describe('Address that `perwatt agent` printed there'),
  token_env: z.string().min(1).describe("Environment variable that holds the agent's token"),
  sources: z.array(z.string()).min(1).optional().describe('Sources to follow; default: all it offers'),
  max_power_w: z
    .number()
    .positive()
    .max(1e7)
    .optional()
    .describe('More than one domain can draw; default 10000'),
});
