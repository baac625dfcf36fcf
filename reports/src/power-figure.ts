import { modelColour } from './colours.js';
import type { Figure } from './figure.js';
import { unmeasured } from './format.js';
import type { PowerTrace, RunResults } from './results-types.js';

const plain = (text: string): string => text.replace(/[<>&]/g, '·');
const greys = ['#5b8bb5', '#8c8c8c', '#b58b5b', '#7fa37f'] as const;

const traceOf = (trace: PowerTrace, i: number) => ({
  type: 'scatter',
  mode: 'lines',
  name: `${plain(trace.domain)} (${trace.provenance}${trace.in_boundary ? '' : ', not in the total'})`,
  x: trace.t_s,
  y: trace.power_w,
  connectgaps: false,
  hovertemplate: '%{x:.1f} s: %{y:.3g} W<extra></extra>',
  line: { width: 1, shape: 'hv', color: greys[i % greys.length], dash: trace.in_boundary ? 'solid' : 'dot' },
});

/** Cells as shaded spans in the colour of their model, and one hoverable mark on each. */
function cellMarks(results: RunResults) {
  const cells = new Map(results.cells.map((cell) => [cell.cell_id, cell]));
  return results.timeline.spans.flatMap(({ cell_id, start_s, end_s }) => {
    const cell = cells.get(cell_id);
    if (cell === undefined) return [];
    const { model, dataset, strategy, load } = cell.point;
    const text = [model, dataset, strategy, load].map(plain).join(' · ');
    return [{ start_s, end_s, text, colour: modelColour(results.models, model) }];
  });
}

/** Power over time by domain, with the measured window of every cell shaded. Null when no power was recorded. */
export function powerFigure(results: RunResults): Figure | null {
  const { traces } = results.timeline;
  if (traces.length === 0) return null;
  const marks = cellMarks(results);
  const [tier = null] = traces.map(({ provenance }) => unmeasured(provenance));
  const told = traces.every(({ provenance }) => provenance === tier) ? tier : null;
  return {
    id: 'power',
    data: [
      ...traces.map(traceOf),
      {
        type: 'scatter',
        mode: 'markers',
        name: 'cells',
        showlegend: false,
        x: marks.map(({ start_s, end_s }) => (start_s + end_s) / 2),
        y: marks.map(() => 0),
        text: marks.map(({ text }) => text),
        hovertemplate: '%{text}<extra></extra>',
        marker: { symbol: 'triangle-up', size: 9, color: marks.map(({ colour }) => colour) },
      },
    ],
    layout: {
      xaxis: { title: { text: 'Time since the start of the run (s)' } },
      yaxis: { title: { text: `Power (W${told === null ? '' : `, ${told}`})` }, rangemode: 'tozero' },
      shapes: marks.map(({ start_s, end_s, colour }) => ({
        type: 'rect',
        xref: 'x',
        yref: 'paper',
        x0: start_s,
        x1: end_s,
        y0: 0,
        y1: 1,
        layer: 'below',
        line: { width: 0 },
        fillcolor: colour,
        opacity: 0.14,
      })),
    },
  };
}
