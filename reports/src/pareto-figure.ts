import type { MetricValue } from '@perwatt/metrics';
import { datasetSymbol, modelColour } from './colours.js';
import type { Figure } from './figure.js';
import { formatMetric, formatShare, unmeasured } from './format.js';
import { byWorkload } from './pareto-cells.js';
import type { CellResult, RunResults } from './results-types.js';

const hasBoth = ({ metrics }: CellResult): boolean =>
  metrics.accuracy.value !== null && metrics.energy_per_query_j.value !== null;

const x = ({ metrics }: CellResult): number => metrics.energy_per_query_j.value ?? 0;
const y = ({ metrics }: CellResult): number => metrics.accuracy.value ?? 0;

/** Plotly reads a few tags in texts; names must not bring any. */
const plain = (text: string): string => text.replace(/[<>&]/g, '·');

const tierText = ({ provenance }: MetricValue): string => {
  const tier = unmeasured(provenance);
  return tier === null ? '' : ` (${tier})`;
};

function hover(cell: CellResult): string {
  const { point, metrics, verdict } = cell;
  return [
    `<b>${plain(point.model)}</b> · ${plain(point.dataset)} · ${plain(point.strategy)} · ${plain(point.load)}`,
    `accuracy ${formatShare(metrics.accuracy)}`,
    `${formatMetric(metrics.energy_per_query_j)} J/query${tierText(metrics.energy_per_query_j)}`,
    `IPJ ${formatMetric(metrics.ipj_per_j)} 1/J`,
    verdict.state,
  ].join('<br>');
}

/** Distances from values to their bounds, for error bars; 0 where a bound is missing. */
function errors(cells: readonly CellResult[], of: 'accuracy' | 'energy_per_query_j') {
  const bars = cells.map(({ metrics }) => metrics[of]);
  return {
    type: 'data',
    symmetric: false,
    array: bars.map(({ value, hi }) => (hi ?? value ?? 0) - (value ?? 0)),
    arrayminus: bars.map(({ value, lo }) => (value ?? 0) - (lo ?? value ?? 0)),
    thickness: 1,
    width: 3,
  };
}

/** Most points that are labelled with their strategy; more would overlap. */
const MOST_LABELS = 16;

const labelled = ({ cells, strategies }: RunResults): boolean =>
  strategies.length > 1 && cells.length <= MOST_LABELS;

function pointsOf(results: RunResults, cells: readonly CellResult[]) {
  const first = cells[0];
  if (first === undefined) return [];
  const { model, dataset } = first.point;
  const told = tierText(first.metrics.energy_per_query_j);
  const colour = modelColour(results.models, model);
  const invalid = (cell: CellResult) => cell.verdict.state === 'invalid';
  return [
    {
      type: 'scatter',
      mode: labelled(results) ? 'markers+text' : 'markers',
      text: cells.map(({ point }) => plain(point.strategy)),
      textposition: 'top right',
      textfont: { size: 10 },
      name: `${plain(model)} · ${plain(dataset)}${told}`,
      ids: cells.map(({ cell_id }) => `cells/${cell_id}.html`),
      x: cells.map(x),
      y: cells.map(y),
      error_x: { ...errors(cells, 'energy_per_query_j'), color: `${colour}88` },
      error_y: { ...errors(cells, 'accuracy'), color: `${colour}88` },
      customdata: cells.map(hover),
      hovertemplate: '%{customdata}<extra></extra>',
      marker: {
        color: colour,
        size: 11,
        opacity: cells.map((cell) => (invalid(cell) ? 0.35 : 1)),
        symbol: `${datasetSymbol(results.datasets, dataset)}${told === '' ? '' : '-open'}`,
        line: { width: 2, color: colour },
      },
    },
  ];
}

function frontsOf({ cells }: RunResults) {
  const fronts = byWorkload(cells.filter((cell) => cell.on_front && hasBoth(cell)));
  return fronts.map((front, i) => {
    const sorted = front.toSorted((a, b) => x(a) - x(b));
    return {
      type: 'scatter',
      mode: 'lines',
      name: 'front of its data set',
      legendgroup: 'front',
      showlegend: i === 0,
      x: sorted.map(x),
      y: sorted.map(y),
      hoverinfo: 'skip',
      line: { shape: 'hv', width: 1.5, dash: 'dot', color: '#888888' },
    };
  });
}

/**
 * Accuracy against energy per query: one mark a cell with its bounds, one colour a model, one symbol a data set (open
 * where joules are estimated or simulated), pale where the cell is invalid, and the front of every workload. Null without a point.
 */
export function paretoFigure(results: RunResults): Figure | null {
  const cells = results.cells.filter(hasBoth);
  if (cells.length === 0) return null;
  const energies = cells.map(x).filter((energy) => energy > 0);
  const wide = energies.length === cells.length && Math.max(...energies) > 20 * Math.min(...energies);
  const groups = results.models.flatMap((model) =>
    byWorkload(cells.filter(({ point }) => point.model === model)),
  );
  const tiers = new Set(cells.map(({ metrics }) => unmeasured(metrics.energy_per_query_j.provenance)));
  const [told = null] = tiers.size === 1 ? tiers : [];
  return {
    id: 'pareto',
    data: [...frontsOf(results), ...groups.flatMap((group) => pointsOf(results, group))],
    layout: {
      xaxis: {
        title: { text: `Energy per query (J${told === null ? '' : `, ${told}`})` },
        ...(wide ? { type: 'log' } : { rangemode: 'tozero' }),
      },
      yaxis: { title: { text: 'Accuracy (1)' }, range: [-0.03, 1.03] },
    },
  };
}
