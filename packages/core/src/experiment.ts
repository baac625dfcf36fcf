import * as z from 'zod';

/** How the cells of a run follow one another. */
export const cellOrders = ['shuffle', 'interleave', 'latin', 'as-written'] as const;
/** One of `cellOrders`. */
export type CellOrder = (typeof cellOrders)[number];

/** What the cells of one block share: the model as it is loaded, the value of an axis, or nothing (no blocks). */
export const blockKinds = [
  'loaded',
  'model',
  'accelerator',
  'dataset',
  'strategy',
  'load',
  'variant',
  'none',
] as const;
/** One of `blockKinds`. */
export type BlockKind = (typeof blockKinds)[number];

/** Key `order`. */
export const Order = z
  .enum(cellOrders)
  .describe(
    'Order of the cells: `shuffle` (seeded), `interleave` (neighbours differ in the first axis that varies), `latin` (every treatment takes every place of a block equally often, as far as there are blocks), `as-written`',
  );

/** Key `blocks`. */
export const Blocks = z
  .enum(blockKinds)
  .describe(
    'Cells that stay together: those that share a loaded model (`loaded`), the value of an axis, or none. Orders then permute blocks, and cells within blocks. Default: `loaded` for `interleave` and `latin`, else `none`',
  );

/** Metrics that a rule on repeats can watch: those that no grading is needed for. */
export const stopMetrics = [
  'energy_per_query_j',
  'energy_per_output_token_j',
  'power_w',
  'tokens_per_s',
  'query_time_s',
] as const;
/** One of `stopMetrics`. */
export type StopMetric = (typeof stopMetrics)[number];

const RepeatRule = z
  .strictObject({
    min: z.int().min(3).max(1000).default(5).describe('Repeats before the interval is looked at'),
    max: z.int().min(3).max(1000).describe('Repeats at which it stops at the latest'),
    until: z.strictObject({
      metric: z.enum(stopMetrics).describe('Metric whose 95 % interval over repeats must be narrow'),
      rel_half_width: z
        .number()
        .positive()
        .max(1)
        .describe('Half of the interval, as a share of the mean, at which it is narrow'),
    }),
  })
  .refine(({ min, max }) => max >= min, '`max` is below `min`');

/** Key `repeats`. */
export const Repeats = z
  .union([z.int().positive().max(1000), RepeatRule])
  .describe(
    'Executions of each cell, or `{ min, max, until: { metric, rel_half_width } }`: repeat until the interval of a metric is narrow. Default: by protocol',
  );
/** A number of repeats, or the rule by which they end. */
export type Repeats = z.infer<typeof Repeats>;
/** The rule by which the repeats of a cell end. */
export type RepeatRule = z.infer<typeof RepeatRule>;

const WarmUpRule = z.strictObject({
  until: z.literal('stable'),
  window: z
    .int()
    .min(2)
    .max(50)
    .default(3)
    .describe('Calls in a row whose tokens per second and watts must agree'),
  tolerance: z
    .number()
    .positive()
    .max(1)
    .default(0.05)
    .describe('Greatest spread among them, as a share of their mean'),
  max_calls: z
    .int()
    .min(2)
    .max(10_000)
    .default(50)
    .describe('Calls at which it gives up, and the cell is flagged'),
  max_s: z.number().positive().max(86_400).default(300).describe('Time at which it gives up (s)'),
});

/** Key `warm_up`. */
export const WarmUp = z
  .union([z.strictObject({ calls: z.int().min(0).max(10_000) }), WarmUpRule])
  .describe(
    'Calls before the measured window: `{ calls: n }`, or `{ until: stable }`. Default: a number by protocol',
  );
export type WarmUp = z.infer<typeof WarmUp>;
export type WarmUpRule = z.infer<typeof WarmUpRule>;

/** Key `cool_down`. */
export const CoolDown = z
  .union([
    z.strictObject({ seconds: z.number().min(0).max(86_400).describe('A fixed pause (s)') }),
    z.strictObject({
      until: z.literal('baseline'),
      temperature_c: z
        .number()
        .positive()
        .max(100)
        .default(5)
        .describe('How far above its idle reading every temperature may be (°C)'),
      floor_c: z
        .number()
        .min(0)
        .max(150)
        .default(35)
        .describe('A temperature below this is cool whatever the idle reading was (°C)'),
      power_w: z.number().positive().max(1e6).default(3).describe('How far above idle a domain may draw (W)'),
      power_ratio: z
        .number()
        .min(0)
        .max(10)
        .default(0.05)
        .describe('… or as a share of its idle power; the greater of the two counts'),
      hold_s: z.number().min(0).max(3600).default(10).describe('How long it must stay so (s)'),
      max_s: z
        .number()
        .positive()
        .max(86_400)
        .default(300)
        .describe('Time at which it gives up and goes on (s)'),
    }),
  ])
  .describe(
    'Pause between cells: `{ seconds }`, or `{ until: baseline }`: until temperatures and power are back in a band of what they were when idle; where neither is read the pause of the protocol is kept. Cells that began without are flagged `warm_start`. Default: a pause by protocol',
  );
export type CoolDown = z.infer<typeof CoolDown>;
/** The gate of `cool_down: { until: baseline }`. */
export type ThermalGate = Extract<CoolDown, { readonly until: 'baseline' }>;

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const Test = z.union([
  scalar,
  z.array(scalar).min(1),
  z
    .strictObject({
      not: z.union([scalar, z.array(scalar).min(1)]).optional(),
      lt: z.number().optional(),
      le: z.number().optional(),
      gt: z.number().optional(),
      ge: z.number().optional(),
      set: z.boolean().optional().describe('Whether the setting is given at all'),
    })
    .refine((test) => Object.keys(test).length > 0, 'give one of not, lt, le, gt, ge, set'),
]);
/** What a value must be: a value, one of several, or a comparison. */
export type Test = z.infer<typeof Test>;

/** A condition on a cell, as data. Every member must hold. */
export const Condition = z
  .record(z.string().min(1), Test)
  .describe(
    'Conditions by axis (`model: m1`, `load: [c1, c8]`) or by a setting of an axis value (`load.concurrency: { gt: 8 }`); all must hold',
  );
export type Condition = z.infer<typeof Condition>;

/** Key `constraints`. */
export const Constraint = z
  .strictObject({
    when: Condition.optional().describe('Cells that it is about; default: all'),
    require: Condition.optional().describe('What these must fulfil, or they are left out'),
    forbid: Condition.optional().describe('What these must not fulfil, or they are left out'),
    reason: z.string().min(1).max(300).optional().describe('Why; stands beside every cell that is left out'),
  })
  .refine(
    ({ require, forbid }) => (require === undefined) !== (forbid === undefined),
    'give `require` or `forbid`, and not both',
  );
export type Constraint = z.infer<typeof Constraint>;

const settings = z.record(z.string().min(1), z.unknown());

/** A value of the axis `variant`: named settings that are merged into what the cell is otherwise made of. */
export const variantShape = {
  when: Condition.optional().describe('Cells that the variant exists for; default: all'),
  model: settings.optional().describe('Merged into the model: path, model, endpoint, engine'),
  endpoint: settings.optional().describe("Merged into the model's entry of `endpoints`"),
  engine: settings
    .optional()
    .describe("Merged into the model's entry of `engines`: flags, context_tokens, parallel, quantisation …"),
  accelerator: settings.optional().describe('Merged into the accelerator: threads, gpu'),
  strategy: settings.optional().describe("Merged into the strategy's parameters: temperature …"),
  max_tokens: z.int().positive().optional().describe('Longest completion'),
  reasoning_effort: z
    .string()
    .min(1)
    .max(40)
    .optional()
    .describe('Sent with every call to a chat endpoint: low, medium, high …'),
  power_cap_w: z
    .number()
    .positive()
    .max(1e6)
    .optional()
    .describe('Power limit that `power_cap` sets before the cell (W)'),
};

const argv = z.array(z.string().min(1)).min(1).max(100);

/** Key `power_cap`. */
export const PowerCap = z
  .strictObject({
    set: argv.describe('Command that sets the limit; `{watts}` in it is replaced'),
    read: argv.describe('Command that prints the limit in watts; the first number of its output counts'),
    restore: argv.describe(
      'Command that puts things back after the run, however it ends; `{watts}` is what was read before',
    ),
    tolerance_w: z.number().min(0).max(1e4).default(1).describe('How far the limit read back may be off (W)'),
    settle_s: z.number().min(0).max(600).default(1).describe('Time between setting and reading back (s)'),
    timeout_s: z
      .number()
      .positive()
      .max(600)
      .default(30)
      .describe('Longest that one of the commands may take (s)'),
  })
  .describe('Your own commands that set, read and restore a power limit, for variants with `power_cap_w`');
export type PowerCap = z.infer<typeof PowerCap>;

/** Key `expect` of an accelerator. */
export const Expect = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(200)
      .refine(isPattern, 'not a regular expression')
      .optional()
      .describe("Regular expression that the device's name must match, for example `H100.*SXM`"),
    memory_gib_min: z.number().positive().optional().describe('Least memory of the device (GiB)'),
    memory_gib_max: z.number().positive().optional().describe('Most memory of the device (GiB)'),
    count: z.int().positive().optional().describe('Devices that must fit; default: at least one'),
    otherwise: z
      .enum(['refuse', 'flag'])
      .default('refuse')
      .describe('What happens when none does: nothing is measured, or its cells are flagged'),
  })
  .describe('The exact variant of the device, checked against what is found here');
export type Expect = z.infer<typeof Expect>;

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** Key `breaker`. */
export const Breaker = z
  .union([
    z.literal(false),
    z.strictObject({
      after: z
        .int()
        .positive()
        .max(1000)
        .default(5)
        .describe('Cells of one model or endpoint that fail in a row'),
    }),
  ])
  .describe(
    'After so many failed cells in a row of one model or endpoint the rest of them are skipped; a resume tries them again. `false` turns it off; default: after 5',
  );
