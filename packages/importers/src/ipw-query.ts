import type { Figure, Statistic } from './importer.js';
import { type Fields, fieldsAt, numberOrNull } from './json-files.js';

/**
 * What a query was charged: the device's energy while it was alone on it, the whole of it though others were at work too
 * (or may have been), or its share among those at work.
 */
export type Charged = 'alone' | 'whole_device' | 'equal_share';

/** One query of a run of the reference implementation, as far as the run says. */
export interface IpwQuery {
  readonly item_id: string;
  /** J of the device over the query; null with `energy_reason`. */
  readonly energy_j: number | null;
  readonly energy_reason: string | null;
  readonly scope: 'gpu' | 'soc';
  /** Mean of the power samples, W. */
  readonly power_w: number | null;
  readonly latency_s: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** Null when it was not graded, or could not be. */
  readonly correct: boolean | null;
}

const SAMPLING_S = 0.05;
const EDGE_LOSS = 0.05;
const SHORT = 0.9;
const NS_PER_S = 1e9;

/**
 * A reading that may be a stand-in: -1 marks what the device could not tell, and 0 J comes of a window with one sample or
 * of a sensor that failed; neither is a measurement.
 */
export function realEnergy(value: number | null): { energy_j: number | null; energy_reason: string | null } {
  if (value === null) return { energy_j: null, energy_reason: 'not_measured' };
  if (value < 0) return { energy_j: null, energy_reason: 'marked_unavailable' };
  return value === 0
    ? { energy_j: null, energy_reason: 'zero_without_reading' }
    : { energy_j: value, energy_reason: null };
}

const positive = (value: unknown): number | null => {
  const number = numberOrNull(value);
  return number !== null && number > 0 ? number : null;
};

/** The query in one model's metrics of a profiled row. A false `lm_correctness` counts only where something graded it. */
export function profiledQuery(item_id: string, metrics: Fields): IpwQuery {
  const energy = fieldsAt(metrics, 'energy_metrics');
  const latency = fieldsAt(metrics, 'latency_metrics');
  const tokens = fieldsAt(metrics, 'token_metrics');
  const power = fieldsAt(metrics, 'power_metrics');
  const soc = energy['basis'] === 'soc';
  const joules = numberOrNull(energy[soc ? 'soc_per_query_joules' : 'per_query_joules']);
  const rail = fieldsAt(power, soc ? 'soc' : 'gpu');
  return {
    item_id,
    ...realEnergy(joules),
    scope: soc ? 'soc' : 'gpu',
    power_w: positive(fieldsAt(rail, 'per_query_watts')['avg']),
    latency_s: positive(latency['total_query_seconds']),
    input_tokens: numberOrNull(tokens['input']),
    output_tokens: numberOrNull(tokens['output']),
    correct: gradeOf(metrics),
  };
}

function gradeOf(metrics: Fields): boolean | null {
  const graded = fieldsAt(metrics, 'evaluation')['is_correct'];
  if (typeof graded === 'boolean') return graded;
  return metrics['lm_correctness'] === true ? true : null;
}

/** The query of one line of agentic traces. */
export function tracedQuery(item_id: string, trace: Fields): IpwQuery {
  const resolved = trace['is_resolved'];
  return {
    item_id,
    ...realEnergy(numberOrNull(trace['total_gpu_energy_joules'])),
    scope: 'gpu',
    power_w: positive(trace['avg_gpu_power_watts']),
    latency_s: positive(trace['total_wall_clock_s']),
    input_tokens: numberOrNull(trace['total_input_tokens']),
    output_tokens: numberOrNull(trace['total_output_tokens']),
    correct: typeof resolved === 'boolean' ? resolved : null,
  };
}

/**
 * What is doubtful about a query's energy: `energy_short` when it is more than 10 % under mean power × time (samples were
 * dropped), `edge_loss` when last-minus-first inside so short a window misses more than 5 % at its ends.
 */
export function energyFlags({ energy_j, power_w, latency_s }: IpwQuery): string[] {
  if (energy_j === null || latency_s === null) return [];
  return [
    ...(power_w !== null && energy_j < SHORT * power_w * latency_s ? ['energy_short'] : []),
    ...(SAMPLING_S / latency_s > EDGE_LOSS ? ['edge_loss'] : []),
  ];
}

/** The query's figures. Energy that was charged by a share is allocated, not measured. */
export function queryFigures(query: IpwQuery, charged: Charged): Figure[] {
  const figure = (metric: string, unit: string, value: number | null, statistic: Statistic = 'single') =>
    ({
      metric: `ipw:${metric}`,
      unit,
      value,
      statistic,
      basis: 'measured',
      reason: value === null ? 'not_recorded' : null,
    }) as const;
  const { energy_j, energy_reason, power_w, latency_s, input_tokens, output_tokens, correct } = query;
  return [
    {
      ...figure('query_energy_j', 'J', energy_j),
      reason: energy_reason,
      basis: charged === 'equal_share' ? 'allocated' : 'measured',
      flags: [...energyFlags(query), ...(energy_j === null || charged === 'alone' ? [] : [charged])],
    },
    figure('query_power_w', 'W', power_w, 'mean'),
    figure('query_latency_ns', 'ns', latency_s === null ? null : latency_s * NS_PER_S),
    figure('query_input_tokens', 'tokens', input_tokens, 'sum'),
    figure('query_output_tokens', 'tokens', output_tokens, 'sum'),
    {
      ...figure('query_correct', '1', correct === null ? null : Number(correct)),
      reason: correct === null ? 'not_graded' : null,
    },
  ];
}
