import type { MetricId, MetricValue } from '@perwatt/metrics';
import { datasetSymbol, modelColour } from './colours.js';
import type { Figure } from './figure.js';
import { formatMetric, unmeasured } from './format.js';
import type { CellResult, RunResults } from './results-types.js';

/** Plotly reads a few tags in texts; names must not bring any. */
const plain = (text: string): string => text.replace(/[<>&]/g, '·');

/** The figures that a point stands at: of the steady window where the load names one, else over the busy time. */
interface Place {
  readonly throughput: MetricId;
  readonly energy: MetricId;
}
const steady: Place = { throughput: 'steady_tokens_per_s', energy: 'steady_energy_per_output_token_j' };
const busy: Place = { throughput: 'tokens_per_s', energy: 'energy_per_output_token_j' };

const known = ({ metrics }: CellResult, { throughput, energy }: Place): boolean =>
  metrics[throughput].value !== null && metrics[energy].value !== null;

/** Everything but the load: points of one line. */
const lineOf = ({ point, energy }: CellResult): string =>
  JSON.stringify([
    point.model,
    point.accelerator,
    point.dataset,
    point.strategy,
    point.variant ?? null,
    energy.boundary?.provenance ?? null,
    energy.boundary?.domains.map(({ id }) => id) ?? [],
  ]);

function linesOf(cells: readonly CellResult[]): CellResult[][] {
  const lines = new Map<string, CellResult[]>();
  for (const cell of cells) lines.set(lineOf(cell), [...(lines.get(lineOf(cell)) ?? []), cell]);
  return [...lines.values()];
}

const tierText = ({ provenance }: MetricValue): string => {
  const tier = unmeasured(provenance);
  return tier === null ? '' : ` (${tier})`;
};

const figureAt = ({ metrics }: CellResult, id: MetricId): number => metrics[id].value ?? 0;

function hover(cell: CellResult, { throughput, energy }: Place): string {
  const { point, metrics, verdict } = cell;
  const { goodput_per_s: goodput } = metrics;
  return [
    `<b>${plain(point.load)}</b> · ${plain(point.model)} · ${plain(point.dataset)}`,
    `${formatMetric(metrics[throughput])} output tokens/s`,
    `${formatMetric(metrics[energy])} J/output token${tierText(metrics[energy])}`,
    ...(goodput.value === null ? [] : [`goodput ${formatMetric(goodput)} 1/s`]),
    verdict.state,
  ].join('<br>');
}

function traceOf(results: RunResults, cells: readonly CellResult[], place: Place) {
  const [first] = cells;
  if (first === undefined) return [];
  const sorted = cells.toSorted((a, b) => figureAt(a, place.throughput) - figureAt(b, place.throughput));
  const { model, dataset, strategy, accelerator, variant } = first.point;
  const told = tierText(first.metrics[place.energy]);
  const colour = modelColour(results.models, model);
  const bars = sorted.map(({ metrics }) => metrics[place.energy]);
  return [
    {
      type: 'scatter',
      mode: 'lines+markers+text',
      name:
        [model, accelerator, dataset, strategy, ...(variant === undefined ? [] : [variant])]
          .map(plain)
          .join(' · ') + told,
      x: sorted.map((cell) => figureAt(cell, place.throughput)),
      y: sorted.map((cell) => figureAt(cell, place.energy)),
      text: sorted.map(({ point }) => plain(point.load)),
      textposition: 'top center',
      textfont: { size: 10 },
      error_y: {
        type: 'data',
        symmetric: false,
        array: bars.map(({ value, hi }) => (hi ?? value ?? 0) - (value ?? 0)),
        arrayminus: bars.map(({ value, lo }) => (value ?? 0) - (lo ?? value ?? 0)),
        thickness: 1,
        width: 3,
        color: `${colour}88`,
      },
      customdata: sorted.map((cell) => hover(cell, place)),
      hovertemplate: '%{customdata}<extra></extra>',
      line: { width: 1.5, color: colour, dash: told === '' ? 'solid' : 'dot' },
      marker: {
        color: colour,
        size: 10,
        opacity: sorted.map(({ verdict }) => (verdict.state === 'invalid' ? 0.35 : 1)),
        symbol: `${datasetSymbol(results.datasets, dataset)}${told === '' ? '' : '-open'}`,
        line: { width: 2, color: colour },
      },
    },
  ];
}

/**
 * Energy per output token against output tokens per second: a line for each model, device, data set and strategy through its
 * loads (open marks and a dotted line where joules are estimated or simulated). Null unless a line has two points.
 */
export function loadFigure(results: RunResults): Figure | null {
  const ofSteady = results.cells.filter((cell) => known(cell, steady));
  const place = ofSteady.length > 1 ? steady : busy;
  const lines = linesOf(results.cells.filter((cell) => known(cell, place)));
  if (!lines.some((line) => new Set(line.map(({ point }) => point.load)).size > 1)) return null;
  const tiers = new Set(lines.flat().map(({ metrics }) => unmeasured(metrics[place.energy].provenance)));
  const [told = null] = tiers.size === 1 ? tiers : [];
  const over = place === steady ? 'in the steady window' : 'over the busy time';
  return {
    id: 'load-curve',
    data: lines.flatMap((line) => traceOf(results, line, place)),
    layout: {
      xaxis: { title: { text: `Output tokens per second ${over} (1/s)` }, rangemode: 'tozero' },
      yaxis: {
        title: { text: `Energy per output token (J${told === null ? '' : `, ${told}`})` },
        rangemode: 'tozero',
      },
    },
  };
}
