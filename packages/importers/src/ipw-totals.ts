import type { Figure } from './importer.js';
import { type Charged, energyFlags, type IpwQuery } from './ipw-query.js';

const overlapReasons: Readonly<Record<Charged, string | null>> = {
  alone: null,
  whole_device: 'queries overlapped, or may have: each was charged the whole device',
  equal_share: 'queries overlapped: their energies are shares, their times do not add up',
};

/** Running sums over the queries of one model. */
export interface IpwSums {
  queries: number;
  graded: number;
  correct: number;
  with_energy: number;
  energy_j: number;
  with_latency: number;
  latency_s: number;
  with_both: number;
  /** Over queries with energy and latency. */
  both_energy_j: number;
  both_latency_s: number;
  ratio_sum_w: number;
  with_tokens: number;
  output_tokens: number;
  short: number;
  edge: number;
  scope: IpwQuery['scope'] | 'mixed' | null;
}

export const noSums = (): IpwSums => ({
  queries: 0,
  graded: 0,
  correct: 0,
  with_energy: 0,
  energy_j: 0,
  with_latency: 0,
  latency_s: 0,
  with_both: 0,
  both_energy_j: 0,
  both_latency_s: 0,
  ratio_sum_w: 0,
  with_tokens: 0,
  output_tokens: 0,
  short: 0,
  edge: 0,
  scope: null,
});

/** The sums with one query more. */
export function withQuery(sums: IpwSums, query: IpwQuery): IpwSums {
  const { energy_j, latency_s, output_tokens, correct, scope } = query;
  const flags = energyFlags(query);
  const both = energy_j !== null && latency_s !== null;
  const plus = (condition: boolean) => (condition ? 1 : 0);
  return {
    queries: sums.queries + 1,
    graded: sums.graded + plus(correct !== null),
    correct: sums.correct + plus(correct === true),
    with_energy: sums.with_energy + plus(energy_j !== null),
    energy_j: sums.energy_j + (energy_j ?? 0),
    with_latency: sums.with_latency + plus(latency_s !== null),
    latency_s: sums.latency_s + (latency_s ?? 0),
    with_both: sums.with_both + plus(both),
    both_energy_j: sums.both_energy_j + (both ? energy_j : 0),
    both_latency_s: sums.both_latency_s + (both ? latency_s : 0),
    ratio_sum_w: sums.ratio_sum_w + (both ? energy_j / latency_s : 0),
    with_tokens: sums.with_tokens + plus(output_tokens !== null),
    output_tokens: sums.output_tokens + (output_tokens ?? 0),
    short: sums.short + plus(flags.includes('energy_short')),
    edge: sums.edge + plus(flags.includes('edge_loss')),
    scope: sums.scope === null || sums.scope === scope ? scope : 'mixed',
  };
}

/** A quotient; null where the divisor is 0. */
const over = (a: number | null, b: number | null) => (a === null || b === null || b === 0 ? null : a / b);

const shortfall = (have: number, all: number, what: string) =>
  have === all ? null : `${what} of ${have} of ${all} queries only`;

/**
 * Figures over all queries of a model, computed from the recorded columns. Where our definition can be met it has our
 * name, and is null as soon as one query lacks what it needs. The names with `ipw:` follow the reference implementation:
 * two quantities go there by the name IPJ, and one of them shrinks with the number of queries.
 */
export function totalFigures(sums: IpwSums, charged: Charged): Figure[] {
  const { queries } = sums;
  const accuracy = over(sums.correct, sums.graded);
  const energyReason = shortfall(sums.with_energy, queries, 'energy');
  const mixed = sums.scope === 'mixed' ? 'queries of different scopes' : null;
  const overlap = overlapReasons[charged];
  const timeReason = shortfall(sums.with_latency, queries, 'latency');
  const tokenReason = shortfall(sums.with_tokens, queries, 'output tokens');
  const flags = [
    ...(sums.short > 0 ? ['energy_short'] : []),
    ...(sums.edge > 0 ? ['edge_loss'] : []),
    ...(charged === 'alone' ? [] : [charged]),
  ];
  const ours = (
    [metric, unit]: readonly [string, string],
    value: number | null,
    reasons: readonly (string | null)[],
  ): Figure => {
    const reason = reasons.find((each) => each !== null) ?? (value === null ? 'nothing to divide by' : null);
    const shown = reason === null ? value : null;
    return { metric, unit, value: shown, statistic: 'mean', basis: 'recomputed', n: queries, reason, flags };
  };
  const theirs = (
    [metric, unit]: readonly [string, string],
    value: number | null,
    [n, ...own]: readonly [number, ...string[]],
  ): Figure => ({
    metric: `ipw:${metric}`,
    unit,
    value,
    statistic: 'mean',
    basis: 'recomputed',
    n,
    rankable: false,
    reason: value === null ? 'not_recorded' : null,
    flags: [...flags, ...own, ...(energyReason === null ? [] : ['energy_of_some_queries'])],
  });
  const meanEnergy_j = over(sums.energy_j, sums.with_energy);
  const energy = [energyReason, mixed, overlap];
  return [
    ours(['energy_per_query_j', 'J'], over(sums.energy_j, queries), energy),
    ours(['power_w', 'W'], over(sums.energy_j, sums.latency_s), [...energy, timeReason]),
    ours(['energy_per_output_token_j', 'J'], over(sums.energy_j, sums.output_tokens), [
      ...energy,
      tokenReason,
    ]),
    ours(['tokens_per_s', '1/s'], over(sums.output_tokens, sums.latency_s), [
      overlap,
      timeReason,
      tokenReason,
    ]),
    {
      metric: 'ipw:accuracy',
      unit: '1',
      value: accuracy,
      statistic: 'share',
      basis: 'recomputed',
      n: sums.graded,
      reason: accuracy === null ? 'not_graded' : null,
      flags: ['failures_left_out'],
    },
    theirs(['ipj_of_mean_energy_per_j', '1/J'], over(accuracy, meanEnergy_j), [sums.with_energy]),
    theirs(
      ['ipj_of_total_energy_per_j', '1/J'],
      over(accuracy, sums.with_energy > 0 ? sums.energy_j : null),
      [sums.with_energy, 'shrinks_with_n'],
    ),
    theirs(['ipw_of_mean_ratio_per_w', '1/W'], over(accuracy, over(sums.ratio_sum_w, sums.with_both)), [
      sums.with_both,
      'mean_of_ratios',
    ]),
    theirs(['ipw_of_totals_per_w', '1/W'], over(accuracy, over(sums.both_energy_j, sums.both_latency_s)), [
      sums.with_both,
    ]),
  ];
}
