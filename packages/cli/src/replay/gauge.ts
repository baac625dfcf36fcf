import { createRng } from '@perwatt/core';
import { averagedEnergy, crossCheck, energyInWindow, type PowerSeries, type Window } from '@perwatt/metrics';
import { ioreportChannel } from '@perwatt/native-power';
import { counterInput } from './counter.js';
import type { Fields } from './fields.js';
import { type Computed, ns, unsupported } from './outcome.js';
import {
  constantPoints,
  counterSeries,
  evenly,
  gaugeSeries,
  type Points,
  secondsOf,
  windowAt,
} from './series.js';

/** Runs a `gauge` fixture: booked by the rules of live readings, asked for like any other window. */
export function gaugeCase(input: Fields): Computed {
  if (input.has('channel')) return channelCase(input);
  if (input.has('counter_joules')) return crossCheckCase(input);
  if (input.has('counter') && !input.isText('counter'))
    return energyOf(counterSeries(counterInput(input.fields('counter'), 1)), windowOf(input));
  const gauge = input.fields('gauge');
  const generator = gauge.has('gen') ? gauge.text('gen') : 'samples';
  const known = generators[generator];
  return known === undefined ? unsupported(`readings made by "${generator}"`) : known(gauge, input);
}

const generators: Readonly<Record<string, (gauge: Fields, input: Fields) => Computed>> = {
  samples: (gauge, input) => sensorOnly(gauge.points('samples'), input),
  constant: (gauge, input) => sensorOnly(constantPoints(gauge), input),
  boxcar: boxcarCase,
  'part-time': partTimeCase,
};

/** Where the device has no counter, its power sensor is what there is, under a name of its own. */
const sensorOnly = (points: Points, input: Fields): Computed => ({
  ...energyOf(gaugeSeries(points), windowOf(input)),
  ...(input.has('counter') && { source: 'nvml-power' }),
});

/** Counts of one of Apple's energy channels, which come in batches: energy, never power by reading. */
function channelCase(input: Fields): Computed {
  const channel = ioreportChannel({ name: input.text('channel'), unit: input.text('unit') });
  if (channel === null) return unsupported(`no component's total is called ${input.text('channel')}`);
  const points = input.points('samples');
  const series = counterSeries({
    max_uj: null,
    cap_w: CHANNEL_CAP_W,
    update_period_ns: channel.update_period_ns,
    at_ns: points.map(([t]) => ns(t)),
    raw_uj: points.map(([, count]) => (count === null ? null : count * channel.count_uj)),
  });
  return { component: channel.scope, ...energyOf(series, windowOf(input)) };
}

/** More than a component of such a machine draws, W. */
const CHANNEL_CAP_W = 2000;

function crossCheckCase(input: Fields): Computed {
  const [counter, gauge] = [input.number('counter_joules'), input.number('gauge_joules')];
  const { ratio, agrees } = crossCheck(counter, gauge);
  return {
    joules: counter,
    gauge_joules: gauge,
    cross_check: ratio === null ? null : Math.round(ratio * 1000) / 1000,
    flag: agrees ? null : 'cross-check',
  };
}

function energyOf(series: PowerSeries, window: Window): Computed {
  const { energy_j, lo_j, hi_j, coverage_ratio, reason } = energyInWindow(series, window);
  return {
    joules: energy_j,
    lo: lo_j,
    hi: hi_j,
    mean_w: energy_j === null ? null : energy_j / secondsOf(window),
    coverage: coverage_ratio,
    reason,
  };
}

/** A load that steps up and down, seen by a sensor that shows the mean of the last `width_s`. */
function boxcarCase(gauge: Fields, input: Fields): Computed {
  const [width, idle_w, load_w] = [gauge.number('width_s'), gauge.number('idle_w'), gauge.number('load_w')];
  const [from, to] = gauge.pair('load');
  const loaded = (start: number, end: number) => Math.max(Math.min(end, to) - Math.max(start, from), 0);
  const seen = (t: number) => idle_w + ((load_w - idle_w) * loaded(t - width, t)) / width;
  const truth = (start: number, end: number) =>
    idle_w * (end - start) + (load_w - idle_w) * loaded(start, end);
  const series = gaugeSeries(
    evenly(Math.min(from, 0), gauge.number('t1'), gauge.number('hz')).map((t) => [t, seen(t)]),
  );
  const [start, end] = input.pair('window');
  const options = { width_ns: ns(width), idle_w };
  const short = windowAt(start, start + width);
  return {
    true_joules: truth(start, end),
    naive_joules: energyInWindow(series, windowAt(start, end)).energy_j,
    trailing_joules: averagedEnergy(series, windowAt(start, end), options).energy_j,
    short_window: {
      window: [start, start + width],
      true: truth(start, start + width),
      naive: energyInWindow(series, short).energy_j,
      refused: averagedEnergy(series, short, options).reason === 'too_short',
    },
    flag: `averaged_${width}s`,
  };
}

/** Repeats, each at random in its share of the load's period. */
const PHASES = 1000;
const PERIODS = 20;

/** A load that repeats, seen by a sensor that looks at the beginning of each period only, from every phase. */
function partTimeCase(gauge: Fields): Computed {
  const [period, seen] = [gauge.number('period_s'), gauge.number('seen_s')];
  const steps = gauge.points('load').map(([seconds, watts]) => [seconds, watts ?? 0] as const);
  const cycle = steps.reduce((sum, [seconds]) => sum + seconds, 0);
  const whole = steps.reduce((sum, [seconds, watts]) => sum + seconds * watts, 0);
  const upTo = (t: number) => {
    const laps = Math.floor(t / cycle);
    let rest = t - laps * cycle;
    let energy = laps * whole;
    for (const [seconds, watts] of steps) {
      const span = Math.min(rest, seconds);
      energy += span * watts;
      rest -= span;
    }
    return energy;
  };
  /** Mean power that the sensor tells when it begins to look `phase` s after the load. */
  const told = (phase: number) => {
    const points = Array.from({ length: PERIODS + 1 }, (_, i) => {
      const t = phase + i * period;
      return [i * period, (upTo(t + seen) - upTo(t)) / seen] as const;
    });
    const window = windowAt(0, PERIODS * period);
    return (energyInWindow(gaugeSeries(points), window).energy_j ?? Number.NaN) / secondsOf(window);
  };
  const random = createRng(1);
  const phases = Array.from({ length: PHASES }, (_, i) => told(((i + random()) / PHASES) * cycle));
  return {
    true_mean_w: whole / cycle,
    seen_aligned_w: told(0),
    seen_misaligned_w: told(cycle - seen),
    random_phase_mean_w: phases.reduce((sum, watts) => sum + watts, 0) / PHASES,
  };
}

const windowOf = (input: Fields): Window => windowAt(...input.pair('window'));
