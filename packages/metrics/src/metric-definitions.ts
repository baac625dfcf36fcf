import { type Formula, parseFormula, symbolPowers, type TotalSymbol } from './formula.js';

/** Version of the metric definitions: what every name below means. Stored beside results. */
export const METRIC_SPEC_VERSION = 1;

/** Unit as shown; `1` is a plain ratio, `tokens` and `calls` are counts. */
export type MetricUnit = '1' | 'W' | 'J' | '1/W' | '1/J' | '1/s' | 'ns' | 'tokens' | 'calls';

/** What energy a figure is of: what the meter says, less the loaded idle model, or less the idle host. */
export type EnergyKind = 'gross' | 'net' | 'net_host';

/** A number of a report, defined once. Tables, charts, JSON, the engine and `docs/metrics.md` all go by it. */
export interface Metric<Id extends string = string> {
  /** Ends in its unit. */
  readonly id: Id;
  readonly title: string;
  readonly unit: MetricUnit;
  readonly better: 'higher' | 'lower' | 'neither';
  readonly definition: string;
  /** How it is computed, over the totals of `symbols`: the engine evaluates this text and nothing else. */
  readonly formula: string;
  /** Energy that `E` stands for; null for figures without energy. */
  readonly energy: EnergyKind | null;
  /** Over the busy time, the whole measured windows, the load as it was sent, its steady window, or single queries or calls. */
  readonly window: 'busy' | 'measured' | 'load' | 'steady' | 'queries' | 'calls';
  /**
   * What has to be on record: `scores`, `power`, `baseline`, `tokens`, `isolated` (queries measured on their own), `stamps`,
   * `schedule`, `slo` (limits of a good call), `rule` (of the steady window).
   */
  readonly needs: readonly MetricNeed[];
  /** Version of the metric specification that brought the present definition. */
  readonly version: number;
}

/** One of a metric's `needs`. */
export type MetricNeed =
  | 'scores'
  | 'power'
  | 'baseline'
  | 'tokens'
  | 'isolated'
  | 'stamps'
  | 'schedule'
  | 'slo'
  | 'rule';

type Shown = readonly [title: string, unit: MetricUnit, better: Metric['better']];
type Place = Pick<Metric, 'energy' | 'window'>;

const symbolNeeds: Readonly<Partial<Record<TotalSymbol, MetricNeed>>> = {
  A: 'scores',
  A_c: 'scores',
  E: 'power',
  E_w: 'power',
  E_pre: 'power',
  E_dec: 'power',
  O: 'tokens',
  I: 'tokens',
  K: 'tokens',
  O_dec: 'tokens',
  e: 'isolated',
  p: 'isolated',
  calls: 'stamps',
  prompt: 'tokens',
  cached: 'tokens',
  once: 'tokens',
  output: 'tokens',
  chain: 'tokens',
  peak: 'stamps',
  ttft_any: 'stamps',
  ttft_content: 'stamps',
  tpot: 'stamps',
  icl: 'stamps',
  e2e_from_dispatch: 'stamps',
  e2e_from_schedule: 'schedule',
  lag: 'schedule',
  due_span: 'schedule',
  sent_span: 'stamps',
  ok: 'stamps',
  good: 'slo',
  E_idle: 'power',
  E_s: 'power',
  O_s: 'tokens',
  T_s: 'rule',
};

function needsOf(formula: Formula, energy: EnergyKind | null): MetricNeed[] {
  const used = 'name' in formula ? [formula.name] : [...symbolPowers(formula).keys()];
  const needs = used.flatMap((name) => symbolNeeds[name] ?? []);
  const baseline: MetricNeed[] = energy === 'net' || energy === 'net_host' ? ['baseline'] : [];
  return [...new Set([...needs, ...baseline])];
}

const formulas = new Map<string, Formula>();

/** The formula of a metric, ready to evaluate. */
export function formulaOf({ formula }: Pick<Metric, 'formula'>): Formula {
  const known = formulas.get(formula) ?? parseFormula(formula);
  formulas.set(formula, known);
  return known;
}

const metric = <Id extends string>(
  [id, formula]: readonly [Id, string],
  [title, unit, better]: Shown,
  { definition, energy, window }: Place & Pick<Metric, 'definition'>,
): Metric<Id> => {
  const needs = needsOf(formulaOf({ formula }), energy);
  return { id, title, unit, better, definition, formula, energy, window, needs, version: 1 };
};

/** Figures of energy over the busy time; each exists gross, net of the loaded model and net of the idle host. */
// biome-ignore format: a table is read in columns
const figures = [
  ['power_w',                   'E / T',       'Mean power',                        'W',   'neither', 'Energy over the busy time.'],
  ['energy_per_query_j',        'E / N',       'Energy per query',                  'J',   'lower',   'Energy over all attempted queries.'],
  ['ipw_per_w',                 'A / (E / T)', 'IPW',                               '1/W', 'higher',  'Intelligence per watt: accuracy over mean power. Depends on load; read it beside IPJ.'],
  ['ipj_per_j',                 'A / (E / N)', 'IPJ',                               '1/J', 'higher',  'Intelligence per joule: accuracy over energy per query.'],
  ['energy_per_correct_j',      'E / N / A',   'Energy per correct answer',         'J',   'lower',   'Energy per query over accuracy.'],
  ['energy_per_output_token_j', 'E / O',       'Energy per output token',           'J',   'lower',   'Energy over all output tokens.'],
  ['energy_per_token_j',        'E / K',       'Energy per token',                  'J',   'lower',   'Energy over all prompt and output tokens.'],
  ['tokens_per_j',              'O / E',       'Output tokens per second per watt', '1/J', 'higher',  'Tokens per second over mean power, that is tokens per joule.'],
] as const;

type FigureId = (typeof figures)[number][0];

const kinds = {
  gross: { prefix: '', title: '', note: '' },
  net: {
    prefix: 'net_',
    title: 'Net of the loaded model: ',
    note: ' Energy less that of the loaded, idle model.',
  },
  net_host: {
    prefix: 'net_host_',
    title: 'Net of the idle host: ',
    note: ' Energy less that of the idle host.',
  },
} as const;

const figuresOf = <K extends EnergyKind>(kind: K) =>
  figures.map(([id, formula, title, unit, better, definition]) =>
    metric(
      [`${kinds[kind].prefix}${id}` as `${(typeof kinds)[K]['prefix']}${FigureId}`, formula],
      [`${kinds[kind].title}${title}`, unit, better],
      { definition: `${definition}${kinds[kind].note}`, energy: kind, window: 'busy' },
    ),
  );

const busy = { energy: null, window: 'busy' } as const;
const scores = [
  metric(['accuracy', 'A'], ['Accuracy', '1', 'higher'], {
    ...busy,
    definition: 'Mean score of the scored queries; failed queries score 0.',
  }),
  metric(['accuracy_completed', 'A_c'], ['Accuracy of completed queries', '1', 'higher'], {
    ...busy,
    definition: 'Mean score of the scored queries that did not fail.',
  }),
] as const;

const speed = [
  metric(['tokens_per_s', 'O / T'], ['Output tokens per second', '1/s', 'higher'], {
    ...busy,
    definition: 'All output tokens over the busy time.',
  }),
] as const;

const measured = { energy: 'gross', window: 'measured' } as const;
const windowed = [
  metric(['power_window_w', 'E_w / T_w'], ['Mean power over the window', 'W', 'neither'], {
    ...measured,
    definition: 'Energy over the measured windows, with the idle gaps and lead in low-rate cells.',
  }),
  metric(['energy_per_query_window_j', 'E_w / N'], ['Energy per query over the window', 'J', 'lower'], {
    ...measured,
    definition: 'Energy of the whole measured windows over all attempted queries.',
  }),
  metric(['ipw_window_per_w', 'A / (E_w / T_w)'], ['IPW over the window', '1/W', 'higher'], {
    ...measured,
    definition: 'Accuracy over mean power of the whole measured windows.',
  }),
  metric(['ipj_window_per_j', 'A / (E_w / N)'], ['IPJ over the window', '1/J', 'higher'], {
    ...measured,
    definition: 'Accuracy over energy per query of the whole measured windows.',
  }),
  metric(
    ['idle_energy_ratio', 'E_idle / E_w'],
    ['Share of the energy that went into idle time', '1', 'lower'],
    {
      ...measured,
      definition:
        'Energy of the measured windows without a call in flight over that of the whole windows: near 1 the load is too low for energy per query over the busy time to tell what serving it takes.',
    },
  ),
] as const;

const load = { energy: null, window: 'load' } as const;
const overWindow = { energy: null, window: 'measured' } as const;
const overCalls = { energy: null, window: 'calls' } as const;
const ofLoad = [
  metric(['offered_per_s', 'due_gaps / due_span'], ['Offered rate', '1/s', 'neither'], {
    ...load,
    definition: 'Rate of the due times by their mean gap; null in a closed loop.',
  }),
  metric(['achieved_per_s', 'sent_gaps / sent_span'], ['Achieved rate', '1/s', 'neither'], {
    ...load,
    definition: 'Rate of the dispatches by their mean gap, failed calls included.',
  }),
  metric(['ok_per_s', 'ok / T_w'], ['Calls that ended well per second', '1/s', 'higher'], {
    ...overWindow,
    definition: 'Calls that ended well over the length of the measured windows.',
  }),
  metric(['goodput_per_s', 'good / T_w'], ['Goodput', '1/s', 'higher'], {
    ...overWindow,
    definition:
      'Calls that meet every limit of the load over the length of the measured windows. A limit on a time that a finished call does not have is not applied to it.',
  }),
  metric(['good_fraction', 'good / judged'], ['Share of good calls', '1', 'higher'], {
    ...overCalls,
    definition:
      'Calls that meet every limit over all calls that a limit applies to; failed ones are not good.',
  }),
  metric(
    ['good_fraction_of_ok', 'good / judged_ok'],
    ['Share of good calls of those that ended well', '1', 'higher'],
    {
      ...overCalls,
      definition: 'Calls that meet every limit over the calls that ended well and that a limit applies to.',
    },
  ),
] as const;

const steady = { energy: 'gross', window: 'steady' } as const;
const ofSteady = [
  metric(['steady_power_w', 'E_s / T_s'], ['Mean power in the steady window', 'W', 'neither'], {
    ...steady,
    definition: 'Energy over the steady window, cut by the rule that the load names, over its length.',
  }),
  metric(
    ['steady_energy_per_output_token_j', 'E_s / O_s'],
    ['Energy per output token in the steady window', 'J', 'lower'],
    {
      ...steady,
      definition: 'Joules and tokens of one window: tokens count where they arrived.',
    },
  ),
  metric(
    ['steady_tokens_per_s', 'O_s / T_s'],
    ['Output tokens per second in the steady window', '1/s', 'higher'],
    {
      ...steady,
      energy: null,
      definition: 'Output tokens that arrived in the steady window over its length.',
    },
  ),
  metric(['steady_ok_per_s', 'C_s / T_s'], ['Calls per second in the steady window', '1/s', 'higher'], {
    ...steady,
    energy: null,
    definition: 'Calls that ended well within the steady window over its length.',
  }),
] as const;

const single = { energy: 'gross', window: 'queries' } as const;
const ofQueries = [
  metric(['energy_per_query_mean_j', 'mean(e)'], ['Energy per query, mean of queries', 'J', 'lower'], {
    ...single,
    definition: 'Mean of the energies of single queries, only where each was measured on its own.',
  }),
  metric(['energy_per_query_p50_j', 'p50(e)'], ['Energy per query, median', 'J', 'lower'], {
    ...single,
    definition: 'Median of the energies of single queries, only where each was measured on its own.',
  }),
  metric(['energy_per_query_p99_j', 'p99(e)'], ['Energy per query, p99', 'J', 'lower'], {
    ...single,
    definition: '99th percentile of the energies of single queries, only where each was measured on its own.',
  }),
  metric(['power_query_mean_w', 'mean(p)'], ['Mean power, mean of queries', 'W', 'neither'], {
    ...single,
    definition:
      'Mean of the mean powers of single queries: short ones count as much as long ones, unlike in mean power.',
  }),
] as const;

/** What a query takes beside energy, the mean over queries. */
// biome-ignore format: a table is read in columns
const spent = ([
  ['calls_per_query',         'mean(calls)',  'Calls per query',                     'calls', 'neither', 'Mean number of calls that a query makes.'],
  ['max_parallel',            'mean(peak)',   'Calls of a query at once',            'calls', 'neither', 'Mean over queries of the most calls in flight at one moment.'],
  ['output_tokens_per_query', 'mean(output)', 'Output tokens per query',             'tokens', 'lower',   'Mean over queries of the output tokens of all their calls.'],
  ['sequential_tokens',       'mean(chain)',  'Sequential tokens per query',         'tokens', 'lower',   'Mean over queries of the output tokens on the longest chain of calls that had to follow one another: the floor of latency.'],
  ['prompt_tokens_per_query', 'mean(prompt)', 'Prompt tokens per query',             'tokens', 'lower',   'Mean over queries of the prompt tokens of all their calls, cached ones included.'],
  ['cached_tokens_per_query', 'mean(cached)', 'Cached prompt tokens per query',      'tokens', 'higher',  'Mean over queries of the prompt tokens that the server says it took from a cache.'],
  ['billed_once_tokens',      'mean(once)',   'Prompt tokens per query, billed once', 'tokens', 'lower',  'Prompt tokens with what calls of one prefix have in common counted once: what a perfect prefix cache would leave to compute. Shares of tokens are those of characters.'],
] as const).map(([id, formula, title, unit, better, definition]) =>
  metric([id, formula], [title, unit, better], { energy: null, window: 'queries', definition }),
);

const phases = [
  metric(
    ['prefill_energy_per_prompt_token_j', 'E_pre / I'],
    ['Prefill energy per prompt token', 'J', 'lower'],
    {
      energy: 'gross',
      window: 'calls',
      definition: 'Energy until the first output of the calls over all prompt tokens, cached ones included.',
    },
  ),
  metric(
    ['decode_energy_per_output_token_j', 'E_dec / O_dec'],
    ['Decode energy per output token', 'J', 'lower'],
    {
      energy: 'gross',
      window: 'calls',
      definition:
        'Energy from the first to the last output of the calls over the tokens after each first one.',
    },
  ),
] as const;

// biome-ignore format: a table is read in columns
const times = [
  ['ttft_any',          'Time to first token',       'From dispatch to the first non-empty delta of any kind; calls that ended well.'],
  ['ttft_content',      'Time to first answer text', 'From dispatch to the first non-empty answer text; calls that ended well.'],
  ['tpot',              'Time per output token',     'Per call: from the first to the last delta over tokens less one; calls that ended well.'],
  ['icl',               'Gap between chunks',        'Between successive non-empty deltas, all calls that ended well together; a chunk may hold several tokens.'],
  ['e2e_from_dispatch', 'Call latency',              'From dispatch to the last delta (the end, where not streamed); calls that ended well. Without a table of calls: of queries of one call, until their end.'],
  ['e2e_from_schedule', 'Latency since due',         'From when the call was due to the last delta (the end, where not streamed); null in a closed loop. Without a table of calls: of queries, until their end.'],
  ['lag',               'Lag behind the schedule',   'From when the call was due to its dispatch, failed calls included; null in a closed loop.'],
] as const;

/** A time of single calls, or of gaps within them. */
export type TimeName = (typeof times)[number][0];
/** A time that closed and open loops share, one a call. */
export type LatencyName = Exclude<TimeName, 'icl' | 'e2e_from_schedule' | 'lag'>;

const quantiles = (['p50', 'p99'] as const).flatMap((p) =>
  times.map(([name, title, definition]) =>
    metric(
      [`${name}_${p}_ns` as const, `${p}(${name})`],
      [`${title}, ${p === 'p50' ? 'median' : 'p99'}`, 'ns', 'lower'],
      { definition, energy: null, window: 'calls' },
    ),
  ),
);
const latency = times.flatMap(([name]) => quantiles.filter(({ id }) => id.startsWith(`${name}_p`)));

const all = [
  ...scores,
  ...figuresOf('gross'),
  ...speed,
  ...figuresOf('net'),
  ...figuresOf('net_host'),
  ...windowed,
  ...ofLoad,
  ...ofSteady,
  ...ofQueries,
  ...spent,
  ...phases,
  ...latency,
];

/** Id of one of `metrics`. */
export type MetricId = (typeof all)[number]['id'];

/** Every metric of this version, in the order of tables. */
export const metrics: readonly Metric<MetricId>[] = all;

const byId = new Map(metrics.map((each) => [each.id, each]));

/** The definition of a metric. */
export function metricOf(id: MetricId): Metric<MetricId> {
  const found = byId.get(id);
  if (found === undefined) throw new TypeError(`no metric ${id}`);
  return found;
}
