import { type Domain, instant } from '@perwatt/core';
import type { PowerSeries } from '@perwatt/metrics';
import { testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { accountFor } from './power-account.js';

const at = (seconds: number) => instant(BigInt(Math.round(seconds * 1e9)));
const times = Array.from({ length: 201 }, (_, i) => i / 10);

function series(domain: Partial<Domain> & Pick<Domain, 'id'>, energy: (seconds: number) => number) {
  const booked_j = Float64Array.from(times, energy);
  const facts = testDomain({ scope: 'gpu', provenance: 'counter', update_period_ns: 1e8, ...domain });
  return { domain: facts, at_ns: BigInt64Array.from(times, at), booked_j, lo_j: booked_j, hi_j: booked_j };
}

const spans = { window: { start: at(3), end: at(13) }, idle: null, period_ns: 1e8 };
const counted = (energy: (seconds: number) => number) => series({ id: 'gpu:energy' }, energy);
const power = series(
  { id: 'gpu:power', kind: 'gauge', provenance: 'integrated', in_total: false },
  (t) => 90 * t,
);
const told = (recorded: readonly PowerSeries[]) =>
  accountFor(recorded, spans).map(({ domain, gross, reason }) => [
    domain.id,
    domain.in_total,
    gross.energy_j === null ? null : Math.round(gross.energy_j),
    reason,
  ]);

test('a counter that stood still for a part of the time gives way to the power beside it for all of it', () => {
  const still = counted((t) => 100 * (t - Math.min(Math.max(t - 5, 0), 2)));
  expect(told([still, power])).toEqual([
    ['gpu:energy', false, null, 'its counter stood still'],
    ['gpu:power', true, 900, null],
  ]);
});

test('one that counts is what is accounted for', () => {
  expect(told([counted((t) => 100 * t), power])).toEqual([
    ['gpu:energy', true, 1000, null],
    ['gpu:power', false, 900, null],
  ]);
});
