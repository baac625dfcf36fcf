import { modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { plain } from '../site/site-parts.js';
import type { CurvePoint, TrainingAccount } from './training-account.js';

/** What a learning curve is drawn over, with the text of its axis. */
export type CurveAxis = 'energy_j' | 'tokens' | 'env_actions' | 'cpu_s';

const axisTexts: Readonly<Record<CurveAxis, string>> = {
  energy_j: 'training energy of a seed (J)',
  tokens: 'tokens of a seed',
  env_actions: 'environment actions of a seed',
  cpu_s: 'CPU time of a seed (s)',
};

const layoutOf = (x: string, y = 'accuracy (%)') => ({
  xaxis: { title: { text: x }, rangemode: 'tozero' },
  yaxis: { title: { text: y }, rangemode: 'tozero' },
  legend: { orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom' },
  margin: { t: 90 },
});

/** What all figures of a page share. */
interface Drawing {
  readonly estimated: boolean;
  /** All trainings of the page: one keeps its colour in every figure. */
  readonly names: readonly string[];
}

/** Learning curves: mean accuracy over seeds, with its interval, over what was spent. Null where nobody knows that. */
export function curveFigure(
  accounts: readonly TrainingAccount[],
  axis: CurveAxis,
  { estimated, names }: Drawing,
): Figure | null {
  const drawn = accounts.flatMap(({ facts, curve }) => {
    const points = curve.flatMap((point) => {
      const x = point[axis];
      return x === null ? [] : [{ x, point }];
    });
    return points.length < 2 ? [] : [lineOf(facts.name, modelColour(names, facts.name), points)];
  });
  if (drawn.length === 0) return null;
  const suffix = axis === 'energy_j' && estimated ? ', estimated' : '';
  return { id: `curve-${axis}`, data: drawn, layout: layoutOf(`${axisTexts[axis]}${suffix}`) };
}

function lineOf(
  name: string,
  colour: string,
  points: readonly { readonly x: number; readonly point: CurvePoint }[],
) {
  const percent = (of: (point: CurvePoint) => number) => points.map(({ point }) => 100 * of(point));
  return {
    type: 'scatter',
    mode: 'lines+markers',
    name: plain(name),
    x: points.map(({ x }) => x),
    y: percent(({ accuracy }) => accuracy),
    error_y: {
      type: 'data',
      symmetric: false,
      array: percent(({ accuracy, hi }) => hi - accuracy),
      arrayminus: percent(({ accuracy, lo }) => accuracy - lo),
      thickness: 1,
      width: 2,
    },
    line: { color: colour },
    marker: { color: colour, size: 5 },
    hovertemplate: `${plain(name)}<br>%{y:.1f} % at %{x:.4g}<extra></extra>`,
  };
}

/** Accuracy over joules of a query before training, with one and more votes, and after it. Null without joules. */
export function queryFigure(
  accounts: readonly TrainingAccount[],
  { estimated, names }: Drawing,
): Figure | null {
  const drawn = accounts.flatMap((account) => {
    const { facts, query_energy_before_j: before, query_energy_after_j: after } = account;
    if (
      before === null ||
      after === null ||
      account.accuracy_before === null ||
      account.accuracy_after === null
    )
      return [];
    const colour = modelColour(names, facts.name);
    const untrained = [{ k: 1, accuracy: account.accuracy_before }, ...account.votes_before];
    const name = plain(facts.name);
    return [
      {
        type: 'scatter',
        mode: 'lines+markers',
        name: `${name}, before training`,
        x: untrained.map(({ k }) => k * before),
        y: untrained.map(({ accuracy }) => 100 * accuracy),
        text: untrained.map(({ k }) => (k === 1 ? 'one attempt' : `${k} votes`)),
        line: { color: colour, dash: 'dot' },
        marker: { color: colour, symbol: 'circle-open', size: 8 },
        hovertemplate: `${name} before, %{text}<br>%{y:.1f} % at %{x:.4g} J<extra></extra>`,
      },
      {
        type: 'scatter',
        mode: 'markers',
        name: `${name}, after`,
        x: [after],
        y: [100 * account.accuracy_after],
        marker: { color: colour, size: 11 },
        hovertemplate: `${name} after<br>%{y:.1f} % at %{x:.4g} J<extra></extra>`,
      },
    ];
  });
  if (drawn.length === 0) return null;
  const layout = layoutOf(`energy of a query (J${estimated ? ', estimated' : ''})`);
  return { id: 'before-after', data: drawn, layout: { ...layout, xaxis: { ...layout.xaxis, type: 'log' } } };
}
