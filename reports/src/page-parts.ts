import type { Provenance } from '@perwatt/core';
import type { MetricId, MetricValue } from '@perwatt/metrics';
import { modelColour } from './colours.js';
import { DASH, formatMetric, formatNumber, formatPercent, meaningfulDigits, unmeasured } from './format.js';
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
    : html`<span class="badge ${unmeasured(provenance) === null ? 'tier' : 'estimated'}" title="${tierTexts[provenance]}">${provenance}</span>`;

export const verdictBadge = ({ verdict }: CellResult): Html =>
  html`<span class="badge ${verdict.state}">${verdict.state}</span>`;

/** `estimated` or `simulated` wherever a joule stands that no sensor measured. */
export const estimatedBadge = ({ provenance, value }: MetricValue): Html =>
  value !== null && unmeasured(provenance) !== null ? html` ${tierBadge(provenance)}` : html``;

/** A name that may wrap after its joints, and nowhere else while there is room. */
export const breakable = (name: string): Html =>
  html`${name.split(/(?<=[_/:-])/).map((part, i) => (i === 0 ? html`${part}` : html`<wbr>${part}`))}`;

/** A sentence with what stands between backticks as code. */
export const withCode = (text: string): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`;

export const modelDot = (results: RunResults, model: string): Html =>
  html`<span class="dot" style="background:${modelColour(results.models, model)}"></span>`;

/** Why a value is missing, in words. */
const reasonTexts: Readonly<Record<string, string>> = {
  no_power: 'no power recorded',
  no_calls: 'no calls',
  not_covered: 'power recording does not reach the window',
  low_coverage: 'too many gaps in the power recording',
  stale_counter: 'the energy counter stood still',
  empty_window: 'no busy time',
  no_busy_time: 'no busy time',
  domain_missing: 'a power domain is missing',
  nothing_scored: 'nothing scored',
  nothing_correct: 'nothing correct',
  tokens_unknown: 'tokens not counted',
  no_tokens: 'no tokens',
  no_baseline: 'no baseline',
  net_not_resolved: 'net not resolved',
  net_negative: 'net energy below zero',
  no_energy: 'no energy was used',
  no_call_has_it: 'no call has it',
  not_isolated: 'energy was shared out, not measured by query',
  not_booked: 'a query has no energy',
  no_slo: 'no limits were named',
  no_limit_applies: 'no limit applies to a call',
  closed_loop: 'nothing was due: a closed loop',
  all_due_at_once: 'everything was due at once',
  too_few_calls: 'too few calls',
  no_window: 'no measured window',
  no_steady_rule: 'no rule of a steady window was named',
  never_steady: 'the load never was steady',
};
export const reasonText = (reason: string): string => reasonTexts[reason] ?? reason;

/** Bounds with the digits of the value; null where the value shows its own or has none. */
function boundsText(metric: MetricValue): string | null {
  const { lo, hi, unit } = metric;
  if (lo === null || hi === null || unit === '1' || unit === 'ns') return null;
  const digits = meaningfulDigits(metric);
  return `${formatNumber(lo, digits)} … ${formatNumber(hi, digits)}`;
}

/** A range with as many digits as its value has. */
const rangeText = (lo: number | null, hi: number | null, digits: number): string | null =>
  lo === null && hi === null
    ? null
    : `${lo === null ? DASH : formatNumber(lo, digits)} … ${hi === null ? DASH : formatNumber(hi, digits)}`;

/** What the interval of an energy figure is made of, for a tooltip; null for figures that show all they have. */
export function partsText(metric: MetricValue): string | null {
  const { sampling_lo, sampling_hi, sensor_lo, sensor_hi, spread, note } = metric;
  const digits = meaningfulDigits(metric) + 1;
  const sampling = rangeText(sampling_lo, sampling_hi, digits);
  const sensor = rangeText(sensor_lo, sensor_hi, digits);
  if (sensor === null && spread === null) return null;
  const share = spread?.sd_ratio == null ? '' : ` (${formatPercent(spread.sd_ratio)})`;
  const between =
    spread === null || spread.sd === null
      ? null
      : `standard deviation of ${spread.repeats} repeats: ${formatNumber(spread.sd, 2)}${share}`;
  const lines = [
    sampling === null ? null : `sampling (95 %): ${sampling}`,
    sensor === null ? null : `sensor: ${sensor}`,
    between,
    note,
  ].filter((line) => line !== null);
  return lines.length === 0 ? null : lines.join('\n');
}

/** What the bounds of energy figures are, in words. */
export function boundsNote({ cells }: RunResults): string | null {
  const kinds = new Set(
    cells.flatMap(({ metrics }) => [metrics.energy_per_query_j.interval, metrics.ipj_per_j.interval]),
  );
  const texts = [
    kinds.has('repeats_t') ? '95 % intervals over repeats and items' : null,
    kinds.has('repeats_and_sensor')
      ? '95 % intervals over repeats and items with the bounds of the sensor added'
      : null,
    kinds.has('items_and_sensor')
      ? 'IPW and IPJ of fewer than three repeats: 95 % intervals over items with the bounds of the sensor added'
      : null,
    kinds.has('sensor_bounds') ? 'bounds of the sensor alone where there are fewer than three repeats' : null,
  ].filter((text) => text !== null);
  const parts =
    'Point at a figure for its sampling interval, its sensor bounds and the spread between repeats.';
  return texts.length === 0 ? null : `Small figures below energy: ${texts.join('; ')}. ${parts}`;
}

/** One metric as the contents of a table cell: value, bounds below, or a dash with its reason. */
export function metricCell(cell: CellResult, id: MetricId): Html {
  const metric = cell.metrics[id];
  if (metric.value === null)
    return html`<td class="n" title="${reasonText(metric.reason ?? '')}">${DASH}<small>${reasonText(metric.reason ?? '')}</small></td>`;
  const bounds = boundsText(metric);
  const parts = partsText(metric);
  const title = parts === null ? html`` : html` title="${parts}"`;
  return html`<td class="n"${title}>${formatMetric(metric)}${bounds === null ? html`` : html`<small>${bounds}</small>`}</td>`;
}
