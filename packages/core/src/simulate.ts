import * as z from 'zod';

const positive = z.number().positive();
const ratio = z.number().min(0).max(1);
const spread = z.number().min(0).max(2);

/** How a simulated meter shows what an accelerator draws. */
export const SimulatedSensor = z.strictObject({
  kind: z.enum(['counter', 'gauge']).default('counter').describe('Counts joules, or shows watts'),
  update_ms: z.number().min(0.1).max(60_000).default(20).describe('How often it renews its value'),
  lag_ms: z.number().min(0).max(60_000).default(2).describe('How late a new value shows'),
  quantum: positive.default(0.001).describe('Smallest step, J (counter) or W (gauge)'),
  sensing_share: ratio
    .gt(0)
    .default(1)
    .describe('Share of each update period that it looks at; the rest it takes to be the same'),
});
/** One of the sensors of `simulate`, defaults filled in. */
export type SimulatedSensor = z.infer<typeof SimulatedSensor>;

const Model = z.strictObject({
  active_b: positive.describe('Billions of parameters that a token uses'),
  weight_gb: positive.describe('Bytes read for a decode step, 10⁹'),
  skill: z.number().min(-20).max(20).describe('Logit of its chance at an item of difficulty 0'),
  verbosity: positive.default(1).describe("Output tokens, as a multiple of the data set's"),
});

const Accelerator = z
  .strictObject({
    tflops: positive.describe('Arithmetic that prefill and decode reach, 10¹² FLOP/s'),
    gb_per_s: positive.describe('Bandwidth that decode reaches, 10⁹ bytes/s'),
    step_ms: z.number().min(0).default(0).describe('Fixed time of a decode step'),
    batch: z.int().positive().max(100_000).default(256).describe('Most sequences decoded side by side'),
    idle_w: positive.describe('Power without a model'),
    loaded_w: positive.optional().describe('Power with a model, idle; default: `idle_w`'),
    prefill_w: positive.describe('Power while prompts are read'),
    decode_w: positive.describe('Power while one sequence is decoded'),
    decode_w_per_sequence: z.number().min(0).default(0).describe('More for each further sequence'),
    most_w: positive.optional().describe('Power that decode never exceeds; default: none'),
    sensor: SimulatedSensor.optional().describe('Its meter; default: `sensor` of `simulate`'),
  })
  .describe('Watts are those of the whole device, idle included');

const DataSet = z.strictObject({
  difficulty: z.number().min(-20).max(20).describe('Mean difficulty, a logit'),
  difficulty_sd: z.number().min(0).max(20).default(1).describe('How far items differ in it'),
  guess_rate: ratio.lt(1).default(0).describe('Chance to be right without any skill'),
  prompt_tokens: positive.max(1e6).describe('Mean prompt length'),
  output_tokens: positive.max(1e6).describe('Mean length of an answer'),
  tokens_cv: spread.default(0.3).describe('Standard deviation over mean of both lengths'),
});

/**
 * A fleet that exists in numbers only: the laws of its models, accelerators and data sets, by the names that the axes use.
 * A matrix with it measures nothing real.
 */
export const Simulate = z.strictObject({
  models: z.record(z.string(), Model),
  accelerators: z.record(z.string(), Accelerator),
  datasets: z
    .record(z.string(), DataSet)
    .describe('By `kind` of the data set on the axis, or its `id` where it has none'),
  sensor: SimulatedSensor.prefault({}),
  noise: z
    .strictObject({
      run_power_cv: spread.default(0.02).describe('Of active power, from one repeat to the next'),
      run_pace_cv: spread.default(0.02).describe('Of all times, from one repeat to the next'),
    })
    .prefault({}),
  gap_ms: z
    .number()
    .min(0)
    .max(3_600_000)
    .default(0)
    .describe('Idle time before each call, which belongs to no query'),
});
/** `simulate` of a matrix, defaults filled in. */
export type Simulate = z.infer<typeof Simulate>;
export type SimulatedModel = z.infer<typeof Model>;
export type SimulatedAccelerator = z.infer<typeof Accelerator>;
export type SimulatedDataset = z.infer<typeof DataSet>;
