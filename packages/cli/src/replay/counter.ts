import { blindEvents } from '@perwatt/core';
import { type CounterBooking, replayCounter } from '@perwatt/native-power';
import { type Fields, mostPoints } from './fields.js';
import { type Computed, ns, unsupported } from './outcome.js';

/** µJ in one of a unit that counters are written in. */
const microjoules: Readonly<Record<string, number>> = { uJ: 1, mJ: 1e3, J: 1e6 };

/** One counter of a fixture, as the state machine takes it. */
export interface CounterInput {
  readonly max_uj: number | null;
  readonly cap_w: number;
  readonly update_period_ns: number;
  readonly at_ns: readonly number[];
  readonly raw_uj: readonly (number | null)[];
}

/** Books every domain of a `counter` fixture by itself. */
export function counterCase(input: Fields): Computed {
  const scale = microjoules[input.text('unit')];
  if (scale === undefined) return unsupported(`counters in ${input.text('unit')} are not read`);
  const domains = input.each('domains').map((domain) => [domain.text('id'), domain] as const);
  return {
    domains: Object.fromEntries(
      domains.map(([id, domain]) => [id, shown(bookCounter(counterInput(domain, scale)))]),
    ),
  };
}

export function counterInput(domain: Fields, scale: number): CounterInput {
  const points = [...(domain.has('ramp') ? ramp(domain.fields('ramp')) : []), ...domain.points('samples')];
  const max = domain.numberOrNull('max');
  return {
    max_uj: max === null ? null : max * scale,
    cap_w: domain.number('cap_w'),
    update_period_ns: ns(domain.number('u_s')),
    at_ns: points.map(([t]) => ns(t)),
    raw_uj: points.map(([, value]) => (value === null ? null : value * scale)),
  };
}

export const bookCounter = ({ max_uj, ...trace }: CounterInput): CounterBooking =>
  replayCounter({
    ...trace,
    at_ns: [...trace.at_ns],
    raw_uj: trace.raw_uj.map((raw) => raw ?? undefined),
    ...(max_uj !== null && { max_uj }),
  });

/** Numbers of a steady draw on a counter that laps at `mod`. */
function ramp(spec: Fields): (readonly [number, number])[] {
  const [watts, step, n] = [spec.number('watts'), spec.number('step_s'), spec.count('n', mostPoints)];
  const [start, mod] = [spec.number('start'), spec.number('mod')];
  return Array.from({ length: n }, (_, i) => {
    const t = i * step;
    return [t, Math.round(start + watts * t * 1e6) % mod];
  });
}

function shown(booking: CounterBooking) {
  const read = booking.events.filter((event) => !silent.has(event)).length;
  const known = read > 1;
  return {
    joules: known ? booking.energy_j : null,
    lo: known ? booking.lo_j : null,
    hi: known ? booking.hi_j : null,
    ...(!known && { reason: read === 1 ? 'one-sample' : 'missing' }),
    wraps: booking.wraps,
    resets: booking.resets,
    glitches: booking.glitches,
    missing: booking.missing,
    out_of_range: booking.out_of_range,
    clock: booking.clock,
    alias: booking.aliases > 0,
    gap_s: booking.gap_ns / 1e9,
    valid: known && booking.resets === 0 && booking.aliases === 0,
    events: booking.events,
  };
}

/** Events that leave the counter where it was. */
const silent: ReadonlySet<string> = blindEvents;
