import { type PointAxis, pointAxes } from '@perwatt/core';
import type { MetricValue } from '@perwatt/metrics';
import { formatMetric, formatNumber, meaningfulDigits } from '../format.js';
import { type Html, html } from '../html.js';
import { partsText, reasonText } from '../page-parts.js';
import type { CellResult, RunResults } from '../results-types.js';

/** Text with control characters and direction marks taken out, so that a name cannot rewrite what stands around it. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '');

/** Plotly reads a few tags in texts; names must not bring any. */
export const plain = (text: string): string => printable(text).replace(/[<>&]/g, '·');

/** Axes on which cells differ; model, data set and strategy always. */
export function shownAxes(cells: readonly CellResult[]): PointAxis[] {
  const always: readonly PointAxis[] = ['model', 'dataset', 'strategy'];
  return pointAxes.filter(
    (axis) => always.includes(axis) || new Set(cells.map(({ point }) => point[axis])).size > 1,
  );
}

/** Name of a cell on some axes: `qwen3-4b · gsm8k · single`. */
export const cellName = ({ point }: CellResult, axes: readonly PointAxis[]): string =>
  axes.flatMap((axis) => point[axis] ?? []).join(' · ');

/** The bounds of a value with its digits: `11.9 … 12.9`; null where it has none or shows its own. */
export function boundsOf(metric: MetricValue): string | null {
  const { lo, hi, unit } = metric;
  if (lo === null || hi === null || unit === '1') return null;
  if (unit === 'ns')
    return `${formatMetric({ ...metric, value: lo })} … ${formatMetric({ ...metric, value: hi })}`;
  const digits = meaningfulDigits(metric);
  return `${formatNumber(lo, digits)} … ${formatNumber(hi, digits)}`;
}

/** A value with unit and bounds, or a dash with its reason, as the contents of a tile. */
export function valueWithBounds(metric: MetricValue): Html {
  if (metric.value === null) return html`–<small>${reasonText(metric.reason ?? '')}</small>`;
  const bounds = boundsOf(metric);
  const unit = metric.unit === '1' || metric.unit === 'ns' ? '' : ` ${metric.unit.replace('1/s', '/s')}`;
  const title = partsText(metric);
  const value =
    title === null
      ? html`${formatMetric(metric)}${unit}`
      : html`<span title="${title}">${formatMetric(metric)}${unit}</span>`;
  return html`${value}${bounds === null ? html`` : html`<small>${bounds}</small>`}`;
}

/** A run's results with one cell alone. */
export const onlyCell = (results: RunResults, cell: CellResult): RunResults => ({
  ...results,
  cells: [cell],
});

interface TableText {
  readonly label: string;
  readonly caption?: string;
}

/** A table that scrolls where it is too wide. Rows and heads are markup of `tr` and `th`. */
export const scrollTable = (
  heads: readonly Html[],
  rows: readonly Html[],
  { label, caption }: TableText,
): Html =>
  rows.length === 0
    ? html``
    : html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table>${caption === undefined ? html`` : html`<caption>${caption}</caption>`}<thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;

/** Heads by text; `>` before those of numbers, a unit after `|`. */
export const headsOf = (texts: readonly string[]): Html[] =>
  texts.map((text) => {
    const [name = '', unit] = text.replace(/^>/, '').split('|');
    const small = unit === undefined ? html`` : html`<small>${unit}</small>`;
    return text.startsWith('>')
      ? html`<th scope="col" class="n">${name}${small}</th>`
      : html`<th scope="col">${name}${small}</th>`;
  });
