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

/** Key `warm_up`. */
export const WarmUp = z
  .strictObject({ calls: z.int().min(0).max(10_000).describe('Calls before the measured window') })
  .describe('Calls before the measured window of every cell; default: a number by protocol');

/** Key `cool_down`. */
export const CoolDown = z
  .strictObject({ seconds: z.number().min(0).max(86_400).describe('Length of the pause (s)') })
  .describe('Pause after every cell; default: by protocol');

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
};
