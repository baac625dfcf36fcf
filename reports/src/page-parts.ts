import type { Provenance } from '@perwatt/core';
import type { MetricId, MetricValue } from '@perwatt/metrics';
import { modelColour } from './colours.js';
import { DASH, formatMetric, formatNumber, isEstimated, meaningfulDigits } from './format.js';
import { type Html, html } from './html.js';
import type { CellResult, RunResults } from './results-types.js';

const tierTexts: Readonly<Record<Provenance, string>> = {
  counter: 'energy counter of the device',
  integrated: 'power readings of the device, integrated',
  external: 'external meter',
  estimated: 'estimated from load, not measured',
  simulated: 'simulated',
  replayed: 'replayed from a recording',
  published: 'taken from a publication',
};

/** The label of where joules come from; estimated ones stand out. */
export const tierBadge = (provenance: Provenance | null): Html =>
  provenance === null
    ? html``
    : html`<span class="badge ${provenance === 'estimated' ? 'estimated' : 'tier'}" title="${tierTexts[provenance]}">${provenance}</span>`;

export const verdictBadge = ({ verdict }: CellResult): Html =>
  html`<span class="badge ${verdict.state}">${verdict.state}</span>`;

/** `estimated` wherever an estimated joule stands. */
export const estimatedBadge = (metric: MetricValue): Html =>
  isEstimated(metric) && metric.value !== null ? html` ${tierBadge('estimated')}` : html``;

export const modelDot = (results: RunResults, model: string): Html =>
  html`<span class="dot" style="background:${modelColour(results.models, model)}"></span>`;

/** Why a value is missing, in words. */
const reasonTexts: Readonly<Record<string, string>> = {
  no_power: 'no power recorded',
  no_calls: 'no calls',
  not_covered: 'power recording does not reach the window',
  low_coverage: 'too many gaps in the power recording',
  empty_window: 'no busy time',
  no_busy_time: 'no busy time',
  domain_missing: 'a power domain is missing',
  nothing_scored: 'nothing scored',
  nothing_correct: 'nothing correct',
  tokens_unknown: 'tokens not counted',
  no_tokens: 'no tokens',
  no_baseline: 'no baseline',
  net_not_resolved: 'net not resolved',
  energy_not_resolved: 'energy not resolved',
  no_call_has_it: 'no call has it',
};
export const reasonText = (reason: string): string => reasonTexts[reason] ?? reason;

/** Bounds to one digit more than the value's last. */
function boundsText(metric: MetricValue): string | null {
  const { lo, hi, interval, unit } = metric;
  if (lo === null || hi === null || unit === '1' || unit === 'ns') return null;
  const digits = meaningfulDigits(metric);
  const kind = interval === 'sensor_bounds' ? 'sensor' : '95 %';
  return `${formatNumber(lo, digits)} to ${formatNumber(hi, digits)}, ${kind}`;
}

/** One metric as the contents of a table cell: value, bounds below, or a dash with its reason. */
export function metricCell(cell: CellResult, id: MetricId): Html {
  const metric = cell.metrics[id];
  if (metric.value === null)
    return html`<td class="n" title="${reasonText(metric.reason ?? '')}">${DASH}<small>${reasonText(metric.reason ?? '')}</small></td>`;
  const bounds = boundsText(metric);
  return html`<td class="n">${formatMetric(metric)}${bounds === null ? html`` : html`<small>${bounds}</small>`}</td>`;
}
