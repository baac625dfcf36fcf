import type { MetricId } from '@perwatt/metrics';
import { datasetSymbol, modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { formatMetric, formatShare, unmeasured } from '../format.js';
import type { CellResult } from '../results-types.js';
import { cellAddress, cellNamer, runIds, type Site } from './site-model.js';
import { plain, shownAxes } from './site-parts.js';

const parts = [
  ['correct', '#2aa876'],
  ['incorrect', '#d2544f'],
  ['unparsed', '#d39a2d'],
  ['truncated', '#c2783a'],
  ['empty', '#9a7fb8'],
  ['refused', '#6f87c2'],
  ['error', '#5a6470'],
  ['unscored', '#b4bcc4'],
] as const;

/** More cells than this do not fit one figure; the table has them all. */
const MOST_BARS = 60;

/** How the queries of each cell ended, as shares. Null without a query. */
export function verdictFigure(site: Site): Figure | null {
  const { merged } = site;
  const nameOf = cellNamer(site);
  const cells = merged.cells.filter(({ counts }) => counts.attempted > 0).slice(0, MOST_BARS);
  if (cells.length === 0) return null;
  const axes = shownAxes(merged.cells);
  const names = cells.map((cell) => plain(nameOf(cell, axes)));
  const used = parts.filter(([verdict]) => cells.some(({ counts }) => counts.verdicts[verdict] > 0));
  return {
    id: 'verdicts',
    data: used.map(([verdict, color]) => ({
      type: 'bar',
      orientation: 'h',
      name: verdict,
      ids: cells.map(({ cell_id }) => cellAddress(cell_id)),
      y: names,
      x: cells.map(({ counts }) => counts.verdicts[verdict] / counts.attempted),
      customdata: cells.map(({ counts }) => `${counts.verdicts[verdict]} of ${counts.attempted}`),
      hovertemplate: `%{customdata} ${verdict}<extra></extra>`,
      marker: { color },
    })),
    layout: {
      barmode: 'stack',
      height: 140 + 26 * cells.length,
      margin: { l: 16, r: 16, t: 16, b: 48 },
      xaxis: { title: { text: 'Share of the queries' }, range: [0, 1], tickformat: '.0%' },
      yaxis: { autorange: 'reversed', automargin: true, tickfont: { size: 11 } },
      legend: { orientation: 'h', y: 1.02, yanchor: 'bottom', x: 0, traceorder: 'normal' },
    },
  };
}

interface Curve {
  readonly id: string;
  readonly metric: MetricId;
  readonly title: string;
}

const lineKey = ({ cell_id, point, energy }: CellResult, runOf: (key: string) => string): string =>
  JSON.stringify([
    runOf(cell_id),
    point.model,
    point.accelerator,
    point.dataset,
    point.load,
    point.variant ?? null,
    energy.boundary?.provenance ?? null,
  ]);

/** Accuracy of strategies against what they take: one line a model and data set through its strategies. Null without two on one line. */
export function strategyFigure(site: Site, { id, metric, title }: Curve): Figure | null {
  const { merged } = site;
  const [runOf, nameOf] = [runIds(site), cellNamer(site)];
  const cells = merged.cells.filter(
    ({ metrics }) => metrics.accuracy.value !== null && (metrics[metric]?.value ?? 0) > 0,
  );
  const groups = new Map<string, CellResult[]>();
  for (const cell of cells) {
    const key = lineKey(cell, runOf);
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  const lines = [...groups.values()].filter((group) => group.length > 1);
  if (lines.length === 0) return null;
  const axes = shownAxes(merged.cells).filter((axis) => axis !== 'strategy');
  const tiers = new Set(cells.map(({ metrics }) => unmeasured(metrics[metric].provenance)));
  const [tier = null] = tiers.size === 1 ? tiers : [];
  const all = cells.map(({ metrics }) => metrics[metric].value ?? 0);
  const wide = Math.max(...all) > 20 * Math.min(...all);
  return {
    id,
    data: lines.map((line) => {
      const sorted = line.toSorted((a, b) => (a.metrics[metric].value ?? 0) - (b.metrics[metric].value ?? 0));
      const first = sorted[0] ?? cells[0];
      const colour = modelColour(merged.models, first?.point.model ?? '');
      const bars = sorted.map(({ metrics }) => metrics.accuracy);
      return {
        type: 'scatter',
        mode: cells.length <= 24 ? 'lines+markers+text' : 'lines+markers',
        name: first === undefined ? '' : plain(nameOf(first, axes)),
        ids: sorted.map(({ cell_id }) => cellAddress(cell_id)),
        x: sorted.map(({ metrics }) => metrics[metric].value),
        y: bars.map(({ value }) => value),
        error_y: {
          type: 'data',
          symmetric: false,
          array: bars.map(({ value, hi }) => (hi ?? value ?? 0) - (value ?? 0)),
          arrayminus: bars.map(({ value, lo }) => (value ?? 0) - (lo ?? value ?? 0)),
          thickness: 1,
          width: 3,
          color: `${colour}88`,
        },
        text: sorted.map(({ point }) => plain(point.strategy)),
        textposition: 'top center',
        textfont: { size: 10 },
        customdata: sorted.map(
          (cell) =>
            `<b>${plain(cell.point.strategy)}</b><br>accuracy ${formatShare(cell.metrics.accuracy)}<br>${title} ${formatMetric(cell.metrics[metric])}`,
        ),
        hovertemplate: '%{customdata}<extra></extra>',
        line: { width: 1, color: colour, dash: 'dot' },
        marker: {
          size: 9,
          color: colour,
          symbol: `${datasetSymbol(merged.datasets, first?.point.dataset ?? '')}${tier === null ? '' : '-open'}`,
          line: { width: 2, color: colour },
        },
      };
    }),
    layout: {
      xaxis: {
        title: { text: `${title}${tier === null ? '' : ` (${tier})`}` },
        ...(wide ? { type: 'log' } : { rangemode: 'tozero' }),
      },
      yaxis: { title: { text: 'Accuracy (1)' }, range: [-0.03, 1.08] },
    },
  };
}

/** Most subjects and cells of a heat map that can still be read. */
const MOST_SUBJECTS = 60;
const MOST_COLUMNS = 24;

/** Accuracy by subject of one data set, a column a cell. Null where items have no subjects. */
export function subjectFigure(site: Site, dataset: string): Figure | null {
  const { merged } = site;
  const nameOf = cellNamer(site);
  const cells = merged.cells
    .filter(({ point, by_subject }) => point.dataset === dataset && by_subject.length > 1)
    .slice(0, MOST_COLUMNS);
  const subjects = [
    ...new Set(cells.flatMap(({ by_subject }) => by_subject.map(({ subject }) => subject))),
  ].slice(0, MOST_SUBJECTS);
  if (subjects.length < 2) return null;
  const axes = shownAxes(merged.cells).filter((axis) => axis !== 'dataset');
  const found = (cell: CellResult, subject: string) => cell.by_subject.find((own) => own.subject === subject);
  const value = (cell: CellResult, subject: string) => found(cell, subject)?.values.accuracy?.value ?? null;
  return {
    id: `subjects-${merged.datasets.indexOf(dataset)}`,
    data: [
      {
        type: 'heatmap',
        x: cells.map((cell) => plain(nameOf(cell, axes))),
        y: subjects.map(plain),
        z: subjects.map((subject) => cells.map((cell) => value(cell, subject))),
        customdata: subjects.map((subject) =>
          cells.map((cell) => {
            const own = found(cell, subject);
            const share = own?.values.accuracy;
            return share === undefined || own === undefined
              ? 'none'
              : `${formatShare(share)}, n = ${own.scored}`;
          }),
        ),
        hovertemplate: '%{y}<br>%{x}<br>accuracy %{customdata}<extra></extra>',
        zmin: 0,
        zmax: 1,
        colorscale: [
          [0, '#f3f0e6'],
          [0.5, '#7fb3c4'],
          [1, '#14496b'],
        ],
        colorbar: { title: { text: 'accuracy' }, tickformat: '.0%', thickness: 12 },
        xgap: 1,
        ygap: 1,
      },
    ],
    layout: {
      height: 170 + 24 * subjects.length,
      margin: { l: 16, r: 16, t: 16, b: 16 },
      xaxis: { automargin: true, tickfont: { size: 11 }, tickangle: cells.length > 6 ? -35 : 0 },
      yaxis: { automargin: true, autorange: 'reversed', tickfont: { size: 11 } },
    },
  };
}
