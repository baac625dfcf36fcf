/** Version of the metric definitions: what every name below means. Stored beside results. */
export const METRIC_SPEC_VERSION = 1;

/** Unit as shown; `1` is a plain ratio. */
export type MetricUnit = '1' | 'W' | 'J' | '1/W' | '1/J' | '1/s' | 'ns';

/** A number of a report, defined once. Tables, charts, JSON and the glossary come from here. */
export interface Metric<Id extends string = string> {
  /** Ends in its unit. */
  readonly id: Id;
  readonly title: string;
  readonly unit: MetricUnit;
  readonly better: 'higher' | 'lower' | 'neither';
  readonly definition: string;
  /** Version of the metric specification that brought the present definition. */
  readonly version: number;
}

const metric = <Id extends string>(
  id: Id,
  [title, unit, better]: readonly [string, MetricUnit, Metric['better']],
  definition: string,
): Metric<Id> => ({ id, title, unit, better, definition, version: 1 });

const gross = [
  metric(
    'accuracy',
    ['Accuracy', '1', 'higher'],
    'Mean score of the scored queries (A); failed queries score 0.',
  ),
  metric('power_w', ['Mean power', 'W', 'neither'], 'Energy over the busy time: P = E / T.'),
  metric('energy_per_query_j', ['Energy per query', 'J', 'lower'], 'E over all attempted queries: E / N.'),
  metric(
    'ipw_per_w',
    ['IPW', '1/W', 'higher'],
    'Intelligence per watt: A / P. Depends on load; read it beside IPJ.',
  ),
  metric('ipj_per_j', ['IPJ', '1/J', 'higher'], 'Intelligence per joule: A / (E / N).'),
  metric('energy_per_correct_j', ['Energy per correct answer', 'J', 'lower'], '(E / N) / A.'),
  metric('energy_per_output_token_j', ['Energy per output token', 'J', 'lower'], 'E over all output tokens.'),
  metric('energy_per_token_j', ['Energy per token', 'J', 'lower'], 'E over all prompt and output tokens.'),
  metric(
    'tokens_per_s',
    ['Output tokens per second', '1/s', 'higher'],
    'All output tokens over the busy time T.',
  ),
  metric(
    'tokens_per_j',
    ['Output tokens per second per watt', '1/J', 'higher'],
    'Tokens per second over P, that is tokens per joule.',
  ),
] as const;

const net = [
  metric(
    'net_power_w',
    ['Net mean power', 'W', 'neither'],
    'Net energy (gross less the loaded, idle baseline) over T.',
  ),
  metric(
    'net_energy_per_query_j',
    ['Net energy per query', 'J', 'lower'],
    'Net energy over all attempted queries; may be negative.',
  ),
  metric('net_ipw_per_w', ['Net IPW', '1/W', 'higher'], 'A over net mean power.'),
  metric('net_ipj_per_j', ['Net IPJ', '1/J', 'higher'], 'A over net energy per query.'),
  metric(
    'net_energy_per_correct_j',
    ['Net energy per correct answer', 'J', 'lower'],
    'Net energy per query over A.',
  ),
  metric(
    'net_energy_per_output_token_j',
    ['Net energy per output token', 'J', 'lower'],
    'Net energy over all output tokens.',
  ),
  metric(
    'net_energy_per_token_j',
    ['Net energy per token', 'J', 'lower'],
    'Net energy over all prompt and output tokens.',
  ),
  metric(
    'net_tokens_per_j',
    ['Output tokens per second per net watt', '1/J', 'higher'],
    'Tokens per second over net mean power.',
  ),
] as const;

const latency = [
  metric(
    'ttft_any_p50_ns',
    ['Time to first token, median', 'ns', 'lower'],
    'From dispatch to the first non-empty delta of any kind; calls that ended well.',
  ),
  metric(
    'ttft_any_p99_ns',
    ['Time to first token, p99', 'ns', 'lower'],
    'From dispatch to the first non-empty delta of any kind; calls that ended well.',
  ),
  metric(
    'ttft_content_p50_ns',
    ['Time to first answer text, median', 'ns', 'lower'],
    'From dispatch to the first non-empty answer text; calls that ended well.',
  ),
  metric(
    'ttft_content_p99_ns',
    ['Time to first answer text, p99', 'ns', 'lower'],
    'From dispatch to the first non-empty answer text; calls that ended well.',
  ),
  metric(
    'tpot_p50_ns',
    ['Time per output token, median', 'ns', 'lower'],
    'Per call: from the first to the last delta over tokens less one; calls that ended well.',
  ),
  metric(
    'tpot_p99_ns',
    ['Time per output token, p99', 'ns', 'lower'],
    'Per call: from the first to the last delta over tokens less one; calls that ended well.',
  ),
  metric(
    'e2e_from_dispatch_p50_ns',
    ['Call latency, median', 'ns', 'lower'],
    'From dispatch to the last delta (the end, where not streamed); calls that ended well.',
  ),
  metric(
    'e2e_from_dispatch_p99_ns',
    ['Call latency, p99', 'ns', 'lower'],
    'From dispatch to the last delta (the end, where not streamed); calls that ended well.',
  ),
] as const;

const all = [...gross, ...net, ...latency] as const;

/** Id of one of `metrics`. */
export type MetricId = (typeof all)[number]['id'];

/** Every metric of this version, in the order of tables. */
export const metrics: readonly Metric<MetricId>[] = all;

/** The definition of a metric. */
export function metricOf(id: MetricId): Metric<MetricId> {
  const found = metrics.find((candidate) => candidate.id === id);
  if (found === undefined) throw new TypeError(`no metric ${id}`);
  return found;
}
