import { attribute, type CallSpan, energyInWindow } from '@perwatt/metrics';
import type { Fields } from './fields.js';
import type { Computed } from './outcome.js';
import { constantPoints, evenly, gaugeSeries, type Points, secondsOf, windowAt } from './series.js';

/** Runs a `window` fixture: readings booked, then a window or the windows of queries asked for. */
export const windowCase = (input: Fields): Computed =>
  input.has('queries') ? queriesCase(input) : gaugeWindow(input);

function gaugeWindow(input: Fields): Computed {
  const gauge = input.fields('gauge');
  const points = gauge.has('gen') ? constantPoints(gauge) : gauge.points('samples');
  const window = windowAt(...input.pair('window'));
  const reading = energyInWindow(gaugeSeries(points, input.number('max_gap_s')), window);
  return {
    joules: reading.energy_j,
    mean_w: reading.energy_j === null ? null : reading.energy_j / secondsOf(window),
    coverage: reading.coverage_ratio,
    valid: reading.energy_j !== null,
    reason: reading.reason,
    not_mean_w: meanOfAll(points),
  };
}

/** Queries under a steady draw, read ten times a second from the first to the last of them. */
function queriesCase(input: Fields): Computed {
  const queries = input.fields('queries');
  const spans = queries.names.map((id) => [id, queries.pair(id)] as const);
  const edges = spans.flatMap(([, [start, end]]) => [start, end]);
  const [first, last] = [Math.min(...edges), Math.max(...edges)];
  const watts = input.number('power_w');
  const series = gaugeSeries(evenly(first, last, 10).map((t) => [t, watts]));
  const calls = spans.map(([query_id, [start, end]]): CallSpan => ({ query_id, ...windowAt(start, end) }));
  const shared = attribute(series, calls, windowAt(first, last));
  return {
    ...Object.fromEntries(spans.map(([id]) => [id, shared.queries.get(id)?.energy_j ?? null])),
    unattributed: shared.unattributed_j,
    method: shared.method,
  };
}

/** Mean of everything that was read, whatever the window: what a window is there to tell apart. */
const meanOfAll = (points: Points): number =>
  points.reduce((sum, [, watts]) => sum + (watts ?? 0), 0) / points.length;
