import type { ComparableCell } from '../compare/comparable.js';
import { compareYears, type YearComparison } from '../compare/compare-years.js';
import { yearBlocks } from '../compare/front-text.js';
import type { Figure } from '../figure.js';
import { type Html, html } from '../html.js';
import { blockHtml } from './block-html.js';
import { figureBlock } from './figure-block.js';
import { plain } from './site-parts.js';

const colours = ['#3b82d6', '#e07b22', '#2aa876', '#c25aa8', '#a5813c', '#7a6fd0'] as const;

/** Published shares of a quantity that have a year, as points on an axis of their own. */
function publishedTrace({ published }: YearComparison): object[] {
  const points = published.figures.flatMap(({ id, quantity, value, unit, year }) =>
    id.startsWith('single-best') && unit === '%' && typeof value === 'number' && year !== null
      ? [{ year, value: value / 100, quantity }]
      : [],
  );
  if (points.length === 0) return [];
  return [
    {
      type: 'scatter',
      mode: 'lines+markers',
      name: 'published by others (single best local model; other questions, other judge)',
      x: points.map(({ year }) => year),
      y: points.map(({ value }) => value),
      yaxis: 'y2',
      customdata: points.map(({ quantity }) => plain(quantity)),
      hovertemplate: '%{customdata}: %{y:.1%}<br>published, not measured here<extra></extra>',
      line: { width: 1, dash: 'dash', color: '#8c8c8c' },
      marker: { size: 11, symbol: 'x-thin', color: '#8c8c8c', line: { width: 2, color: '#8c8c8c' } },
    },
  ];
}

/** A metric by the release year of the model, the best cell of each; published shares marked apart on an axis of their own. */
export function yearFigure(years: YearComparison): Figure | null {
  const { entries } = years.table;
  if (entries.length === 0) return null;
  const groups = new Map<string, typeof entries>();
  for (const entry of entries) {
    const key = `${entry.context}, accelerator of ${entry.accelerator_year}`;
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  const measured = [...groups].map(([name, own], i) => ({
    type: 'scatter',
    mode: 'lines+markers',
    name: plain(name),
    x: own.map(({ model_year }) => model_year),
    y: own.map(({ best }) => best.value),
    customdata: own.map(({ best }) => `${plain(best.model)} on ${plain(best.accelerator)}`),
    hovertemplate: '%{customdata}: %{y:.3g}<extra></extra>',
    line: { width: 1.5, color: colours[i % colours.length] },
    marker: { size: 10, color: colours[i % colours.length] },
  }));
  return {
    id: 'years',
    data: [...measured, ...publishedTrace(years)],
    layout: {
      xaxis: { title: { text: 'Release year of the model' }, dtick: 1, tickformat: 'd' },
      yaxis: { title: { text: `${years.inverted ? '1 / ' : ''}${years.metric}` }, rangemode: 'tozero' },
      yaxis2: {
        title: { text: 'Published share' },
        overlaying: 'y',
        side: 'right',
        range: [0, 1.03],
        tickformat: '.0%',
        showgrid: false,
      },
      margin: { l: 56, r: 64, t: 16, b: 56 },
    },
  };
}

/** Gains over the years: a figure, the table, the split between model and hardware, and apart what others published. */
export function yearSection(comparables: readonly ComparableCell[]): {
  readonly body: Html;
  readonly figure: Figure | null;
} {
  if (comparables.length === 0) return { body: html``, figure: null };
  const metric = comparables.some(({ figures }) => (figures['ipw_per_w']?.value ?? null) !== null)
    ? 'ipw_per_w'
    : 'accuracy';
  const years = compareYears(comparables, metric);
  const figure = yearFigure(years);
  const blocks = yearBlocks(years).map((block, i) =>
    i === 0
      ? blockHtml(block, 'By year')
      : html`<details><summary>${block.head[0] ?? ''}</summary>${blockHtml({ ...block, head: [] }, block.head[0] ?? 'By year')}</details>`,
  );
  return {
    figure,
    body: html`${figureBlock(figure, { title: 'Over the years', note: 'Best cell of each release year of the models. Grey crosses are what others published, of other questions and another judge: a reference, not measured here.' })}<section id="years-table"><h2>By year of release</h2>${blocks}</section>`,
  };
}
