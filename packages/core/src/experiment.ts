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
  'tokens_per_j',
  'power_w',
  'tokens_per_s',
] as const;
/** One of `stopMetrics`. */
export type StopMetric = (typeof stopMetrics)[number];

const RepeatRule = z.strictObject({
  until: z
    .strictObject({
      metric: z.enum(stopMetrics).describe('Metric whose 95 % interval over repeats must be narrow'),
      half_width: z
        .number()
        .positive()
        .max(1)
        .describe('Half of the interval as a share of the mean, at which it is narrow: 0.02 for ± 2 %'),
      min: z.int().min(3).max(1000).default(8).describe('Repeats before the interval is looked at'),
      max: z.int().min(3).max(1000).describe('Repeats at which it stops at the latest'),
    })
    .refine(({ min, max }) => max >= min, '`max` is below `min`'),
});

/** Key `repeats`. */
export const Repeats = z
  .union([z.int().positive().max(1000), RepeatRule])
  .describe(
    'Executions of each cell, or `{ until: { metric, half_width, min, max } }`: until the interval of a metric is narrow, at most `max`. Default: by protocol',
  );
/** The rule by which the repeats of a cell end. */
export type RepeatRule = z.infer<typeof RepeatRule>;

const WarmUpRule = z.strictObject({
  until: z.literal('stable'),
  window: z
    .int()
    .min(2)
    .max(50)
    .default(3)
    .describe('Rounds in a row whose tokens per second and watts must agree'),
  tolerance: z
    .number()
    .positive()
    .max(1)
    .default(0.1)
    .describe('Greatest less least of them, as a share of their mean'),
  max_rounds: z.int().min(2).max(10_000).default(30).describe('Rounds at which it gives up'),
  max_s: z.number().positive().max(86_400).default(300).describe('Time at which it gives up (s)'),
});

/** Key `warm_up`. */
export const WarmUp = z
  .union([
    z.strictObject({ calls: z.int().min(0).max(10_000).describe('Queries before the measured window') }),
    WarmUpRule,
  ])
  .describe(
    'Before the measured window of every cell: `{ calls: n }`, or `{ until: stable }`: rounds of the same queries until throughput and power no longer change. Default: a number by protocol',
  );
/** `warm_up: { until: stable }`. */
export type WarmUpRule = z.infer<typeof WarmUpRule>;

const ThermalGate = z.strictObject({
  until: z.literal('idle'),
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
    .describe('A temperature up to this is cool, whatever the idle reading was (°C)'),
  power_w: z.number().positive().max(1e6).default(3).describe('How far above idle a domain may draw (W)'),
  power_ratio: z
    .number()
    .min(0)
    .max(10)
    .default(0.05)
    .describe('The same as a share of its idle power; the greater of the two counts'),
  hold_s: z.number().min(0).max(3600).default(10).describe('How long it must stay so (s)'),
  max_s: z.number().positive().max(86_400).default(300).describe('Time at which it goes on all the same (s)'),
});

/** Key `cool_down`. */
export const CoolDown = z
  .union([
    z.strictObject({ seconds: z.number().min(0).max(86_400).describe('Length of the pause (s)') }),
    ThermalGate,
  ])
  .describe(
    'Between cells: `{ seconds }`, or `{ until: idle }`: until temperatures and power are back at what they were when idle, at most `max_s`, then the cell is flagged `warm_start`; where neither is read, the pause of the protocol. Default: a pause by protocol',
  );
/** `cool_down: { until: idle }`. */
export type ThermalGate = z.infer<typeof ThermalGate>;

/** Key `breaker`. */
export const Breaker = z
  .union([
    z.literal(false),
    z.strictObject({
      after: z.int().positive().max(1000).default(5).describe('Cells in a row that fail'),
    }),
  ])
  .describe(
    'After so many failed cells in a row of one model on one accelerator by one server, the rest of them are skipped, with the reason; a resume tries them again. `false` turns it off; default: after 5',
  );
export type Breaker = z.infer<typeof Breaker>;

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
const placeholder = /\{(?!watts\})[a-z_]+\}/;

/** Key `power_cap`. */
export const PowerCap = z
  .strictObject({
    set: argv.describe(
      'Program and arguments that set the limit; `{watts}` in them is replaced. There is no shell',
    ),
    read: argv.describe('Program and arguments that print the limit in watts: the first number counts'),
    restore: argv.describe(
      'Program and arguments that put things back when the run ends, however it does; `{watts}` is what was read before',
    ),
    tolerance_w: z.number().min(0).max(1e4).default(1).describe('How far the limit read back may be off (W)'),
    settle_s: z.number().min(0).max(600).default(1).describe('Time between setting and reading back (s)'),
    timeout_s: z.number().positive().max(600).default(30).describe('Longest that one of them may take (s)'),
  })
  .refine(({ set }) => set.some((word) => word.includes('{watts}')), {
    path: ['set'],
    message: 'no argument holds {watts}',
  })
  .superRefine((cap, context) => {
    for (const key of ['set', 'read', 'restore'] as const) {
      const unknown = cap[key]
        .map((word) => placeholder.exec(word)?.[0])
        .find((found) => found !== undefined);
      if (unknown !== undefined)
        context.addIssue({
          code: 'custom',
          path: [key],
          message: `${unknown} stands for nothing; {watts} does`,
        });
    }
  })
  .describe('Your own commands that set, read and restore a power limit, for variants with `power_cap_w`');
export type PowerCap = z.infer<typeof PowerCap>;

const range = (unit: string) =>
  z
    .strictObject({ min: z.number().positive().optional(), max: z.number().positive().optional() })
    .refine(({ min, max }) => min !== undefined || max !== undefined, 'give `min`, `max` or both')
    .refine(({ min, max }) => min === undefined || max === undefined || max >= min, '`max` is below `min`')
    .optional()
    .describe(`Range (${unit})`);

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
    memory_gib: range('GiB'),
    power_limit_w: range('W'),
    count: z.int().positive().optional().describe('Devices that must fit; default: at least one'),
  })
  .refine(
    (expect) => Object.keys(expect).some((key) => key !== 'count'),
    'give name, memory_gib or power_limit_w',
  )
  .describe('The exact variant of the device; where the devices found here are others, nothing is measured');
export type Expect = z.infer<typeof Expect>;

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
