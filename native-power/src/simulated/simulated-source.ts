import {
  type Clock,
  type Domain,
  type Instant,
  instant,
  PerwattError,
  type PowerSource,
  type Recorder,
} from '@perwatt/core';
import { type FeedDomain, type FeedValue, feedRecorder } from '../feed-recorder.js';
import { createSensor, type Sensor, type SensorModel } from './sensor.js';

/** Power that is known at every moment because a model says it. */
export interface PowerSignal {
  /** Power from now on, W. */
  now(): number;
  /** Told before power changes: until `at` it was what `now` says. Returns what ends it. */
  onChange(listener: (at: Instant) => void): () => void;
}

/** One simulated device with its meter. */
export interface SimulatedDevice {
  /** Name of the device: its domain is `<source>:<name>`. */
  readonly name: string;
  readonly scope: Domain['scope'];
  /** Simulated endpoint that it belongs to; left out for a device of this host. */
  readonly host?: string;
  readonly sensor: SensorModel;
  readonly signal: PowerSignal;
  /** More than it can draw, W. */
  readonly max_power_w: number;
}

export interface SimulatedSourceOptions {
  /** Default `simulated`. */
  readonly name?: string;
  readonly clock: Clock;
  readonly devices: readonly SimulatedDevice[];
  /** Time between two readings, ns; default 100 ms. */
  readonly period_ns?: number;
}

/**
 * A source whose devices exist in numbers only, read through meters that renew their values at times, late, in steps, and look
 * at a part of the time only. It reads on schedule whenever its clock has moved on, as exactly as the clock tells, and its
 * numbers are booked by the same core as those of real sensors. Provenance `simulated`. Throws `INPUT_INVALID` without
 * devices and for a sensor that cannot be.
 */
export function simulatedSource(options: SimulatedSourceOptions): PowerSource {
  const { name = 'simulated', devices, period_ns: default_period_ns = 100_000_000 } = options;
  if (devices.length === 0) throw new PerwattError('INPUT_INVALID', `${name} has no device`);
  for (const device of devices) checkSensor(device);
  return {
    name,
    provenance: 'simulated',
    default_period_ns,
    start: ({ period_ns = default_period_ns } = {}) => record(name, options, period_ns),
  };
}

function checkSensor({ name, sensor }: SimulatedDevice): void {
  const { update_period_ns, lag_ns, quantum, sensing_share_ratio: share, phase } = sensor;
  const wrong =
    !(update_period_ns > 0 && lag_ns >= 0 && quantum > 0) ||
    !(share > 0 && share <= 1 && phase >= 0 && phase < 1);
  if (wrong)
    throw new PerwattError('INPUT_INVALID', `the sensor of ${name} cannot be: ${JSON.stringify(sensor)}`);
}

const domainOf = (source: string, device: SimulatedDevice): FeedDomain => {
  const { name, scope, host, sensor, max_power_w } = device;
  const { kind, update_period_ns, lag_ns, quantum, sensing_share_ratio } = sensor;
  return {
    id: `${source}:${name}`,
    source,
    scope,
    kind,
    provenance: 'simulated',
    in_total: true,
    update_period_ns: update_period_ns + lag_ns,
    quantum,
    scale_error_ratio: 0,
    sensing_share_ratio: sensing_share_ratio < 1 ? sensing_share_ratio : null,
    note: 'simulated: a model says what it draws',
    max_power_w,
    ...(host !== undefined && { host }),
  };
};

function record(source: string, options: SimulatedSourceOptions, period_ns: number): Recorder {
  const { clock, devices } = options;
  const origin = clock.now();
  const since = (at: Instant) => Number(at - origin);
  let next_ns = period_ns;
  let last_ns = -1;
  const feed = feedRecorder({
    source,
    domains: devices.map((device) => domainOf(source, device)),
    period_ns,
    clock,
    onMark: () => readAt(upTo(clock.now())),
    onStop() {
      readAt(upTo(clock.now()));
      for (const end of ends) end();
    },
  });
  const sensors = devices.map(({ sensor, signal }) => createSensor(sensor, 0, signal.now()));
  const readAt = (at_ns: number) => {
    if (at_ns <= last_ns) return;
    last_ns = at_ns;
    const at = instant(origin + BigInt(at_ns));
    const values = sensors.map((sensor, d) => shownBy(sensor, devices[d]?.sensor.kind));
    feed.push({ before: at, after: at, values });
  };
  const pass = (to_ns: number) => {
    for (const [d, sensor] of sensors.entries()) sensor.pass(to_ns, devices[d]?.signal.now() ?? 0);
  };
  /** Takes every reading that was due by now, at the time it was due. */
  const upTo = (now: Instant): number => {
    const now_ns = since(now);
    for (; next_ns <= now_ns; next_ns += period_ns) {
      pass(next_ns);
      readAt(next_ns);
    }
    pass(now_ns);
    return now_ns;
  };
  const ends = devices.map(({ signal }) => signal.onChange((at) => void upTo(at)));
  readAt(0);
  return {
    ...feed,
    drain() {
      if (feed.status().state === 'running') upTo(clock.now());
      return feed.drain();
    },
  };
}

const shownBy = (sensor: Sensor, kind: SensorModel['kind'] | undefined): FeedValue =>
  kind === 'counter' ? { energy_uj: BigInt(Math.round(sensor.shown() * 1e6)) } : { power_w: sensor.shown() };
