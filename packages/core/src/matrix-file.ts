import * as z from 'zod';
import { callSettings, Engine } from './engine.js';
import {
  Blocks,
  Breaker,
  Condition,
  Constraint,
  CoolDown,
  Expect,
  Order,
  PowerCap,
  Repeats,
  variantShape,
  WarmUp,
} from './experiment.js';
import { Grading } from './grading-file.js';
import { Kernels } from './kernels-file.js';
import { Arrivals, SloLimits, SteadyRule } from './load.js';
import { loadPresets, presetLoad, presetProblems } from './load-preset.js';
import { letters, name, namedBy } from './matrix-name.js';
import { Agent, Meter } from './meter-file.js';
import { Simulate } from './simulate.js';

/** Version of the matrix file's format. */
export const MATRIX_VERSION = 1;

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const when = Condition.optional().describe(
  'Cells that this value exists for: conditions on the other axes; default: all',
);

const Model = z
  .strictObject({
    id: namedBy(
      `${letters}; a name with "/" goes under \`model\`, beside an \`endpoint\` or \`engine\``,
    ).describe('Name of the model in tables; with no other key, an id of the model catalogue'),
    path: z.string().optional().describe('Local GGUF file for the embedded engine'),
    endpoint: z.string().optional().describe('Name of an entry of `endpoints` that serves the model'),
    engine: z
      .string()
      .optional()
      .describe('Name of an entry of `engines` that is started to serve the model'),
    model: z
      .string()
      .optional()
      .describe("The model's name as the endpoint knows it, or what the engine loads; default: `id`"),
    when,
  })
  .refine((m) => !(m.path !== undefined && m.endpoint !== undefined), 'give `path` or `endpoint`, not both')
  .refine(
    (m) => !(m.engine !== undefined && m.endpoint !== undefined),
    'give `engine` or `endpoint`, not both',
  );

const Accelerator = z.strictObject({
  id: name.describe('Stable name of the device in tables'),
  kind: z.enum(['cpu', 'gpu', 'soc', 'npu', 'other']).default('cpu'),
  threads: z
    .int()
    .positive()
    .max(1024)
    .optional()
    .describe('Threads of the embedded engine; default: cores less one'),
  gpu: z
    .boolean()
    .default(false)
    .describe('Has the embedded engine use a GPU; a cell fails where there is none'),
  expect: Expect.optional(),
  when,
});

const Dataset = z
  .object({
    id: name.describe('Name in tables'),
    kind: z.string().optional().describe('Built-in data set or file loader; default: `id`'),
    limit: z.int().positive().optional().describe('Take the first items only'),
    seed: z
      .int()
      .min(0)
      .optional()
      .describe('Seed of a generated data set; default: derived from the run seed'),
    max_tokens: z.int().positive().optional().describe('Longest completion; default: the data set says'),
    system: z.string().optional().describe('System message put before every prompt'),
    grading: z
      .enum(['robust', 'official'])
      .optional()
      .describe(
        'Extraction whose verdicts make the accuracy: `robust` (default) or `official`, that of the benchmark; both are recorded',
      ),
    when,
  })
  .catchall(z.unknown())
  .describe('Further keys are options of the data set; it rejects those it does not know');

const Bind = z
  .record(
    name,
    z.union([
      name,
      z.strictObject({
        model: name.describe('Model of the axis or of `models`, or `main`'),
        accelerator: name.optional().describe('Value of the axis; default: that of the cell'),
      }),
    ]),
  )
  .describe(
    "Models behind the strategy's endpoints other than `main` (`strong`, `weak`, `verifier` …), by the name of a model of the axis or of `models`, or `main` for the cell's own",
  );

const Strategy = z
  .object({
    id: name.describe('Name in tables'),
    kind: z.string().optional().describe('Strategy; default: `id`'),
    bind: Bind.optional(),
    when,
  })
  .catchall(z.unknown())
  .describe('Further keys are parameters of the strategy; it rejects those it does not know');

/** What a part of the file should look like, for a value that is no mapping. */
const like = (example: string) => ({
  error: ({ code, input }: { readonly code?: string; readonly input?: unknown }) =>
    code === 'invalid_type' && input !== undefined ? `write it as ${example}` : undefined,
});

const LoadFields = z.strictObject(
  {
    id: name.optional().describe('Name in tables; default: `c<concurrency>`, or the kind of the arrivals'),
    preset: z
      .enum(loadPresets)
      .optional()
      .describe('Load by its MLPerf name; `server` needs `rate_per_s`. Its name alone may stand for it'),
    rate_per_s: z.number().positive().max(1e6).optional().describe('Calls per second of the preset `server`'),
    concurrency: z
      .int()
      .positive()
      .max(4096)
      .default(1)
      .describe(
        'Queries kept in flight (closed loop); with `arrivals`, room for calls in an embedded engine',
      ),
    ramp_s: z.number().positive().max(1e6).optional().describe('Time over which a closed loop fills up (s)'),
    arrivals: Arrivals.optional().describe(
      'Makes an open loop: when queries are due, whatever the server does',
    ),
    cap: z
      .int()
      .positive()
      .max(1e6)
      .optional()
      .describe('Most queries in flight in an open loop; those that had to wait are counted'),
    slo: SloLimits.optional().describe(
      'Limits of a good call: what goodput counts; changes nothing that is measured',
    ),
    steady: SteadyRule.optional().describe(
      'Rule that cuts the steady window out of the load, for the figures over it; changes nothing that is measured',
    ),
    when,
  },
  like('{ concurrency: 4 }'),
);

/** A load with its preset written out: what is on record is what was sent. */
const Load = LoadFields.transform((load, context) => {
  for (const { key, message } of presetProblems(load))
    context.issues.push({ code: 'custom', path: [key], message, input: load });
  const { preset: _, rate_per_s: __, ...rest } = load;
  return { ...rest, ...presetLoad(load) };
});

const Variant = z.strictObject({ id: name.describe('Name in tables'), ...variantShape });

const Endpoint = z.strictObject(
  {
    url: z
      .union([
        z.url({ protocol: /^https?$/ }),
        z.string().regex(/^recipe:[a-z_]+@.+$/, 'give an http address, or recipe:<id>@<checkpoint>'),
      ])
      .describe(
        'Base address of an OpenAI-compatible server, with /v1; or `recipe:<id>@<checkpoint>`: a policy that `perwatt train` trained',
      ),
    api_key_env: z.string().optional().describe('Environment variable that holds the key'),
    ...callSettings,
  },
  like("{ url: 'http://127.0.0.1:8000/v1' }"),
);

/** Schemas of mappings that a text may stand for, with the schema of that text: for the JSON Schema, which shows no conversion. */
const shortForms = new Map<z.core.$ZodType, Readonly<Record<string, unknown>>>();

/** Lets a text stand for a mapping with that one key. */
function shortFor<T extends z.ZodType>(key: string, schema: T, text: Readonly<Record<string, unknown>>) {
  const either = z.preprocess((value) => (typeof value === 'string' ? { [key]: value } : value), schema);
  shortForms.set(either, { type: 'string', ...text });
  return either;
}

const named = <T extends z.ZodType>(schema: T) =>
  shortFor('id', schema, { description: 'The same as `{ id: … }`' });

const axis = <T extends z.ZodType>(schema: T) => z.array(named(schema)).min(1);

const loads = z
  .array(shortFor('preset', Load, { enum: [...loadPresets], description: 'The same as `{ preset: … }`' }))
  .min(1);

const Point = z
  .partialRecord(
    z.enum(['model', 'accelerator', 'dataset', 'strategy', 'load', 'variant']),
    z.union([scalar, z.array(scalar).min(1)]),
  )
  .describe('Axis values by name; a cell matches when every named axis does');

const Train = z.strictObject({
  id: name.optional().describe('Name of the training in its run; default: the recipe'),
  recipe: z.string().min(1).describe('Recipe, as `perwatt train list` names it'),
  seeds: z.int().min(1).max(1000).default(4).describe('Seeds, from 0'),
  set: z
    .record(z.string(), scalar)
    .default({})
    .describe('Parameters of the recipe; it rejects those it does not know'),
});

/** The YAML file that names a matrix. Strict: an unknown key is an error. */
export const MatrixFile = z.strictObject({
  version: z.literal(MATRIX_VERSION).default(MATRIX_VERSION),
  name: name.describe('Name of the matrix; part of the run id'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(42)
    .describe('Seed of everything random in the run'),
  protocol: z
    .enum(['quick', 'standard', 'strict'])
    .default('standard')
    .describe('Lengths of baselines and windows, number of repeats; `quick` flags its cells'),
  repeats: Repeats.optional(),
  order: Order.default('shuffle'),
  blocks: Blocks.optional(),
  warm_up: WarmUp.optional(),
  cool_down: CoolDown.optional(),
  breaker: Breaker.optional(),
  power_cap: PowerCap.optional(),
  axes: z.strictObject({
    model: axis(Model),
    accelerator: axis(Accelerator).default([{ id: 'host-cpu', kind: 'cpu', gpu: false }]),
    dataset: axis(Dataset),
    strategy: axis(Strategy).default([{ id: 'single' }]),
    load: loads.default([{ concurrency: 1 }]),
    variant: axis(Variant)
      .optional()
      .describe(
        'Further settings that vary: quantisation, context, engine flags, parallelism, power cap, reasoning effort; each is merged into what a cell is otherwise made of',
      ),
  }),
  models: axis(Model)
    .optional()
    .describe('Further models, on no axis, that strategies bind to their endpoints'),
  include: z.array(Point).optional().describe('Keep only cells that match one of these'),
  exclude: z.array(Point).optional().describe('Leave out cells that match one of these'),
  constraints: z
    .array(Constraint)
    .min(1)
    .optional()
    .describe('Rules that leave cells out, with the reason; `perwatt run --dry-run` lists them'),
  endpoints: z.record(name, Endpoint).optional(),
  engines: z.record(name, Engine).optional().describe('Servers that are started where a cell needs them'),
  grading: Grading.optional(),
  kernels: Kernels.optional(),
  power: z
    .strictObject({
      sources: z
        .array(z.string())
        .optional()
        .describe('Sources to use, an empty list for none; default: the best present'),
      period_ms: z
        .number()
        .min(1)
        .max(10_000)
        .optional()
        .describe('Time between readings; default: by source'),
      boundary: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .describe(
          "Sources, meters or agents whose domains are a cell's energy; needed when an external meter is read beside a sensor, and only one kind may stand here",
        ),
      meters: z.array(Meter).min(1).optional().describe('External meters to read beside the sources'),
      agents: z
        .array(Agent)
        .min(1)
        .optional()
        .describe(
          "Other hosts whose sources are read; this host's are then read only when `sources` names them",
        ),
    })
    .optional(),
  train: z
    .array(Train)
    .min(1)
    .optional()
    .describe('What `perwatt train` trains of this file; `perwatt run` leaves it alone'),
  simulate: Simulate.optional().describe(
    'Laws of a fleet that exists in numbers only: nothing real is run or measured',
  ),
  energy: z
    .strictObject({
      attribution: z
        .enum(['time_share', 'token_share'])
        .optional()
        .describe(
          'How energy is shared out to queries that overlap: by time (default), or by the output tokens each gave',
        ),
    })
    .optional(),
});
/** A matrix that was parsed, defaults filled in. */
export type MatrixFile = z.infer<typeof MatrixFile>;
/** One value of an axis, or one endpoint, as the matrix describes it. */
export type ModelEntry = MatrixFile['axes']['model'][number];
export type AcceleratorEntry = MatrixFile['axes']['accelerator'][number];
export type DatasetEntry = MatrixFile['axes']['dataset'][number];
export type StrategyEntry = MatrixFile['axes']['strategy'][number];
export type LoadEntry = MatrixFile['axes']['load'][number];
export type VariantEntry = NonNullable<MatrixFile['axes']['variant']>[number];
export type MeterEntry = z.infer<typeof Meter>;
export type AgentEntry = z.infer<typeof Agent>;
export type EndpointEntry = NonNullable<MatrixFile['endpoints']>[string];

/** The axes, in the order of a cell's name. */
export const axisNames = ['model', 'accelerator', 'dataset', 'strategy', 'load'] as const;
/** One of `axisNames`. */
export type AxisName = (typeof axisNames)[number];
/** The axes with the one that a matrix need not have: variants. */
export const pointAxes = [...axisNames, 'variant'] as const;
/** One of `pointAxes`. */
export type PointAxis = (typeof pointAxes)[number];

/** JSON Schema (draft 2020-12) of the matrix file, for editors and validators. */
export const matrixJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(MatrixFile, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const short = shortForms.get(zodSchema);
      if (short === undefined) return;
      const whole = { ...jsonSchema };
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      jsonSchema.anyOf = [short, whole];
    },
  }),
  title: 'Perwatt matrix',
});
