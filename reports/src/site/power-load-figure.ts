import type { PointAxis } from '@perwatt/core';
import { modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { formatMetric, unmeasured } from '../format.js';
import type { CellResult } from '../results-types.js';
import { cellAddress, runIds, type Site } from './site-model.js';
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

function lineGroups(cells: readonly CellResult[], runOf: (key: string) => string): CellResult[][] {
  const groups = new Map<string, CellResult[]>();
  for (const cell of cells) {
    const { model, accelerator, dataset, strategy, variant } = cell.point;
    const key = JSON.stringify([runOf(cell.cell_id), model, accelerator, dataset, strategy, variant ?? null]);
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [...groups.values()];
}

/** More lines than this cross one another beyond telling them apart: their marks alone stay. */
const MOST_LINES = 60;

const dashes = ['solid', 'dash', 'dot', 'dashdot'] as const;
const symbols = ['circle', 'diamond', 'square', 'triangle-up', 'cross', 'star'] as const;

interface LineStyle {
  readonly name: string;
  readonly showlegend: boolean;
  readonly colour: string;
  /** Place of its accelerator among all. */
  readonly accelerator: number;
  /** Marks alone. */
  readonly crowded: boolean;
  readonly open: boolean;
  readonly axes: readonly PointAxis[];
}

/** One line through the loads of a group, from the idle machine where its power is known. */
function lineTrace(group: readonly CellResult[], style: LineStyle): object {
  const sorted = group.toSorted((a, b) => speed(a) - speed(b));
  const idle = sorted[0] === undefined ? null : loadedIdle(sorted[0]);
  const from = <T>(value: T): T[] => (idle === null ? [] : [value]);
  const { name, showlegend, colour, accelerator, crowded, open, axes } = style;
  return {
    type: 'scatter',
    mode: crowded ? 'markers' : 'lines+markers',
    name,
    legendgroup: name,
    showlegend,
    ids: [...from(''), ...sorted.map(({ cell_id }) => cellAddress(cell_id))],
    x: [...from(0), ...sorted.map(speed)],
    y: [...from(idle), ...sorted.map(power)],
    customdata: [
      ...from(`${name}: idle, model loaded`),
      ...sorted.map(
        (cell) => `${plain(cellName(cell, axes))}<br>${formatMetric(cell.metrics.tokens_per_s)} tokens/s`,
      ),
    ],
    hovertemplate: '%{customdata}<br>%{y:.3g} W<extra></extra>',
    line: { width: 1.5, color: colour, dash: dashes[accelerator % dashes.length] },
    marker: {
      size: crowded ? 6 : 9,
      color: colour,
      symbol: `${symbols[accelerator % symbols.length]}${open ? '-open' : ''}`,
    },
  };
}

/** Mean power against output tokens per second, each line from the idle, loaded machine through its loads. Null without a point. */
export function powerLoadFigure(site: Site): Figure | null {
  const { merged } = site;
  const cells = merged.cells.filter(
    ({ metrics }) => metrics.power_w.value !== null && metrics.tokens_per_s.value !== null,
  );
  if (cells.length === 0) return null;
  const accelerators = [...new Set(cells.map(({ point }) => point.accelerator))];
  const axes = shownAxes(merged.cells);
  const legendAxes = axes.filter((axis) => axis === 'model' || axis === 'accelerator');
  const [tier = null] = cells.map(({ energy }) => unmeasured(energy.boundary?.provenance ?? null));
  const groups = lineGroups(cells, runIds(site));
  const told = new Set<string>();
  const data = groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const name = plain(cellName(first, legendAxes));
    const showlegend = !told.has(name);
    told.add(name);
    const style: LineStyle = {
      name,
      showlegend,
      colour: modelColour(merged.models, first.point.model),
      accelerator: Math.max(accelerators.indexOf(first.point.accelerator), 0),
      crowded: groups.length > MOST_LINES,
      open: tier !== null,
      axes,
    };
    return [lineTrace(group, style)];
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
