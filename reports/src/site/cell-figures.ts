import type { Figure } from '../figure.js';
import { unmeasured } from '../format.js';
import type { CellDetail, QueryMarks } from './cell-detail.js';
import type { CellPower, PhaseSpan } from './cell-power.js';
import { densityOf } from './density.js';
import { plain } from './site-parts.js';

const rounded = (value: number): number => Number(value.toPrecision(5));

const greys = ['#5b8bb5', '#b58b5b', '#7fa37f', '#8c8c8c'] as const;

const phaseColours: Readonly<Record<PhaseSpan['kind'], string>> = {
  'idle host': '#8c8c8c',
  'idle, loaded': '#7a6fd0',
  'measured window': '#3b82d6',
  'steady window': '#2aa876',
};

export const verdictColour = (verdict: string): string =>
  verdict === 'correct' ? '#2aa876' : verdict === 'incorrect' ? '#d2544f' : '#d39a2d';

/** Verdicts in groups of one colour. */
const groupOf = (verdict: string): string =>
  verdict === 'correct' || verdict === 'incorrect' ? verdict : 'other verdicts';
const groups = ['correct', 'incorrect', 'other verdicts'] as const;

/** More queries than this are drawn as how many were in flight. */
const MOST_LANES = 400;

/** The lowest row of each span in which nothing else lies at that time. */
export function lanesOf(starts: readonly number[], ends: readonly number[]): number[] {
  const order = starts.map((_, i) => i).sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
  const free: number[] = [];
  const lanes = new Array<number>(starts.length).fill(0);
  for (const i of order) {
    const found = free.findIndex((end) => end <= (starts[i] ?? 0));
    const lane = found < 0 ? free.length : found;
    free[lane] = ends[i] ?? 0;
    lanes[i] = lane;
  }
  return lanes;
}

interface Spans {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly verdicts: readonly string[];
}

function spansOf({ start_s, duration_s, verdict }: QueryMarks): Spans {
  const rows = [...start_s.keys()].filter((row) => !Number.isNaN(start_s[row] ?? Number.NaN));
  const start = (row: number) => start_s[row] ?? 0;
  return {
    starts: rows.map(start),
    ends: rows.map((row) => start(row) + (duration_s[row] ?? 0)),
    verdicts: rows.map((row) => verdict[row] ?? ''),
  };
}

function laneTraces({ starts, ends, verdicts }: Spans): object[] {
  const lanes = lanesOf(starts, ends);
  return groups.flatMap((group) => {
    const rows = starts.flatMap((_, i) => (groupOf(verdicts[i] ?? '') === group ? [i] : []));
    if (rows.length === 0) return [];
    return [
      {
        type: 'scatter',
        mode: 'lines',
        name: group,
        xaxis: 'x',
        yaxis: 'y2',
        x: rows.flatMap((i) => [rounded(starts[i] ?? 0), rounded(ends[i] ?? 0), null]),
        y: rows.flatMap((i) => [lanes[i] ?? 0, lanes[i] ?? 0, null]),
        connectgaps: false,
        hovertemplate: '%{x:.2f} s<extra></extra>',
        line: { width: 5, color: verdictColour(group) },
      },
    ];
  });
}

const MOST_STEPS = 500;

/** How many queries were in flight, at evenly spread times. */
function inFlightTrace({ starts, ends }: Spans): object[] {
  const [sortedStarts, sortedEnds] = [starts.toSorted((a, b) => a - b), ends.toSorted((a, b) => a - b)];
  const [first, last] = [sortedStarts[0] ?? 0, sortedEnds.at(-1) ?? 0];
  const x = Array.from({ length: MOST_STEPS + 1 }, (_, i) => first + (i * (last - first)) / MOST_STEPS);
  const countBefore = (sorted: readonly number[]) => {
    let at = 0;
    return x.map((time) => {
      while (at < sorted.length && (sorted[at] ?? 0) <= time) at += 1;
      return at;
    });
  };
  const [begun, ended] = [countBefore(sortedStarts), countBefore(sortedEnds)];
  return [
    {
      type: 'scatter',
      mode: 'lines',
      name: 'queries in flight',
      xaxis: 'x',
      yaxis: 'y2',
      x: x.map(rounded),
      y: begun.map((count, i) => count - (ended[i] ?? 0)),
      line: { shape: 'hv', width: 1, color: '#3b82d6' },
      hovertemplate: '%{x:.1f} s: %{y} in flight<extra></extra>',
    },
  ];
}

const shapeOf = ({ kind, start_s, end_s }: PhaseSpan) => ({
  type: 'rect',
  xref: 'x',
  yref: 'paper',
  x0: rounded(start_s),
  x1: rounded(end_s),
  y0: 0,
  y1: 1,
  layer: 'below',
  line: { width: 0 },
  fillcolor: phaseColours[kind],
  opacity: kind === 'steady window' ? 0.16 : 0.09,
});

const labelOf = ({ kind, start_s, end_s }: PhaseSpan) => ({
  x: (start_s + end_s) / 2,
  y: kind === 'steady window' ? 0.95 : 1.02,
  xref: 'x',
  yref: 'paper',
  yanchor: 'bottom',
  text: kind,
  showarrow: false,
  font: { size: 10, color: phaseColours[kind] },
});

/** Phases long enough for their names to stand beside one another. */
function labelledPhases(phases: readonly PhaseSpan[]): PhaseSpan[] {
  const length =
    Math.max(...phases.map(({ end_s }) => end_s)) - Math.min(...phases.map(({ start_s }) => start_s));
  return phases.filter(({ start_s, end_s }) => end_s - start_s > 0.06 * length);
}

const powerTrace = (trace: CellPower['traces'][number], i: number) => ({
  type: 'scatter',
  mode: 'lines',
  name: `${plain(trace.domain)} (${trace.provenance}${trace.in_boundary ? '' : ', not in the total'})`,
  x: trace.t_s.map(rounded),
  y: trace.power_w.map((power) => (power === null ? null : rounded(power))),
  connectgaps: false,
  hovertemplate: '%{x:.2f} s: %{y:.3g} W<extra></extra>',
  line: { width: 1, shape: 'hv', color: greys[i % greys.length], dash: trace.in_boundary ? 'solid' : 'dot' },
});

/** Power around a cell with its phases, and below it its queries: each as a bar, or how many were in flight. */
export function cellPowerFigure({ power, steady, marks }: CellDetail): Figure | null {
  if (power === null) return null;
  const spans = spansOf(marks);
  const few = spans.starts.length <= MOST_LANES;
  const below = spans.starts.length === 0 ? [] : few ? laneTraces(spans) : inFlightTrace(spans);
  const phases = [...power.phases, ...steady.phases];
  const [tier = null] = power.traces.map(({ provenance }) => unmeasured(provenance));
  return {
    id: 'power',
    data: [...power.traces.map(powerTrace), ...below],
    layout: {
      margin: { l: 56, r: 16, t: 34, b: 56 },
      xaxis: { title: { text: 'Time since the measured window began (s)' }, anchor: 'y2' },
      yaxis: {
        title: { text: `Power (W${tier === null ? '' : `, ${tier}`})` },
        rangemode: 'tozero',
        domain: below.length === 0 ? [0, 1] : [0.34, 1],
      },
      ...(below.length === 0
        ? {}
        : {
            yaxis2: {
              title: { text: few ? 'Queries' : 'In flight' },
              domain: [0, 0.26],
              ...(few
                ? { showticklabels: false, showgrid: false, zeroline: false }
                : { rangemode: 'tozero' }),
            },
          }),
      shapes: phases.map(shapeOf),
      annotations: labelledPhases(phases).map(labelOf),
    },
  };
}

const lineColours = ['#3b82d6', '#e07b22', '#2aa876', '#c25aa8'] as const;

/** Latencies as empirical distributions: the share of calls that took at most so long. */
export function latencyFigure({ distributions }: Pick<CellDetail, 'distributions'>): Figure | null {
  if (distributions.length === 0) return null;
  const positive = distributions.flatMap(({ values }) => values).filter((value) => value > 0);
  const wide = positive.length > 1 && Math.max(...positive) > 20 * Math.min(...positive);
  return {
    id: 'latency',
    data: distributions.map(({ name, n, values }, i) => ({
      type: 'scatter',
      mode: 'lines',
      name: `${name} (n = ${n})`,
      x: values.map((ns) => rounded(ns / 1e9)),
      y: values.map((_, at) => rounded((at + 1) / values.length)),
      line: { shape: 'hv', width: 2, color: lineColours[i % lineColours.length] },
      hovertemplate: '%{y:.0%} within %{x:.4g} s<extra></extra>',
    })),
    layout: {
      xaxis: { title: { text: 'Time (s)' }, ...(wide ? { type: 'log' } : { rangemode: 'tozero' }) },
      yaxis: { title: { text: 'Share of calls' }, range: [0, 1.02], tickformat: '.0%' },
    },
  };
}

/** More queries than this are shown as a density: as many marks would hide one another and fill the page. */
const MOST_MARKS = 1_200;

/** How long each query took, over the time at which it began; a density where there are many. */
export function durationFigure({ marks, steady }: Pick<CellDetail, 'marks' | 'steady'>): Figure | null {
  const rows = [...marks.start_s.keys()].filter((row) => !Number.isNaN(marks.start_s[row] ?? Number.NaN));
  if (rows.length < 2) return null;
  const [x, y] = [rows.map((row) => marks.start_s[row] ?? 0), rows.map((row) => marks.duration_s[row] ?? 0)];
  const layout = {
    xaxis: { title: { text: 'Time since the measured window began (s)' } },
    yaxis: { title: { text: 'Duration of a query (s)' }, rangemode: 'tozero' },
    shapes: steady.phases.map(shapeOf),
  };
  if (rows.length > MOST_MARKS) {
    const density = densityOf(x, y);
    const trace = {
      type: 'heatmap',
      ...density,
      colorscale: [
        [0, 'rgba(59,130,214,0)'],
        [0.05, 'rgba(59,130,214,0.35)'],
        [1, '#12467f'],
      ],
      colorbar: { title: { text: 'queries' }, thickness: 12 },
      hovertemplate: '%{x:.1f} s, %{y:.3g} s: %{z} queries<extra></extra>',
    };
    return { id: 'durations', data: [trace], layout };
  }
  const verdicts = rows.map((row) => marks.verdict[row] ?? '');
  const data = groups.flatMap((group) => {
    const own = rows.flatMap((_, i) => (groupOf(verdicts[i] ?? '') === group ? [i] : []));
    if (own.length === 0) return [];
    return [
      {
        type: 'scatter',
        mode: 'markers',
        name: group,
        x: own.map((i) => rounded(x[i] ?? 0)),
        y: own.map((i) => rounded(y[i] ?? 0)),
        hovertemplate: '%{x:.1f} s: took %{y:.3g} s<extra></extra>',
        marker: { size: 6, opacity: 0.8, color: verdictColour(group) },
      },
    ];
  });
  return { id: 'durations', data, layout };
}
