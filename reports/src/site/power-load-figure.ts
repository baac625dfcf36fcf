import { modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { formatMetric, unmeasured } from '../format.js';
import type { CellResult, RunResults } from '../results-types.js';
import { cellAddress } from './site-model.js';
import { cellName, plain, shownAxes } from './site-parts.js';

/** Mean idle power of a cell with its model loaded, W; null without a baseline. */
export function loadedIdle({ baselines }: CellResult): number | null {
  const powers = baselines.flatMap(({ kind, power_w }) =>
    kind === 'loaded_idle' && power_w !== null ? [power_w] : [],
  );
  return powers.length === 0 ? null : powers.reduce((sum, power) => sum + power, 0) / powers.length;
}

const power = ({ metrics }: CellResult): number => metrics.power_w.value ?? 0;
const speed = ({ metrics }: CellResult): number => metrics.tokens_per_s.value ?? 0;

function lineGroups(cells: readonly CellResult[]): CellResult[][] {
  const groups = new Map<string, CellResult[]>();
  for (const cell of cells) {
    const { model, accelerator, dataset, strategy, variant } = cell.point;
    const key = JSON.stringify([model, accelerator, dataset, strategy, variant ?? null]);
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [...groups.values()];
}

const dashes = ['solid', 'dash', 'dot', 'dashdot'] as const;
const symbols = ['circle', 'diamond', 'square', 'triangle-up', 'cross', 'star'] as const;

/** Mean power against output tokens per second, each line from the idle, loaded machine through its loads. Null without a point. */
export function powerLoadFigure(merged: RunResults): Figure | null {
  const cells = merged.cells.filter(
    ({ metrics }) => metrics.power_w.value !== null && metrics.tokens_per_s.value !== null,
  );
  if (cells.length === 0) return null;
  const accelerators = [...new Set(cells.map(({ point }) => point.accelerator))];
  const axes = shownAxes(merged.cells);
  const [tier = null] = cells.map(({ energy }) => unmeasured(energy.boundary?.provenance ?? null));
  const told = new Set<string>();
  const legendAxes = axes.filter((axis) => axis === 'model' || axis === 'accelerator');
  const data = lineGroups(cells).flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const sorted = group.toSorted((a, b) => speed(a) - speed(b));
    const idle = loadedIdle(first);
    const at = Math.max(accelerators.indexOf(first.point.accelerator), 0);
    const colour = modelColour(merged.models, first.point.model);
    const name = plain(cellName(first, legendAxes));
    const showlegend = !told.has(name);
    told.add(name);
    return [
      {
        type: 'scatter',
        mode: 'lines+markers',
        name,
        legendgroup: name,
        showlegend,
        ids: ['', ...sorted.map(({ cell_id }) => cellAddress(cell_id))].slice(idle === null ? 1 : 0),
        x: [...(idle === null ? [] : [0]), ...sorted.map(speed)],
        y: [...(idle === null ? [] : [idle]), ...sorted.map(power)],
        customdata: [
          ...(idle === null ? [] : [`${name}: idle, model loaded`]),
          ...sorted.map(
            (cell) => `${plain(cellName(cell, axes))}<br>${formatMetric(cell.metrics.tokens_per_s)} tokens/s`,
          ),
        ],
        hovertemplate: '%{customdata}<br>%{y:.3g} W<extra></extra>',
        line: { width: 1.5, color: colour, dash: dashes[at % dashes.length] },
        marker: {
          size: 9,
          color: colour,
          symbol: `${symbols[at % symbols.length]}${tier === null ? '' : '-open'}`,
        },
      },
    ];
  });
  return {
    id: 'power-load',
    data,
    layout: {
      xaxis: { title: { text: 'Output tokens per second (1/s)' }, rangemode: 'tozero' },
      yaxis: { title: { text: `Mean power (W${tier === null ? '' : `, ${tier}`})` }, rangemode: 'tozero' },
    },
  };
}
