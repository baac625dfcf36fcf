import type { Clock } from '@perwatt/core';
import { energyInWindow } from '@perwatt/metrics';
import { summedDomains } from './energy.js';
import type { PowerLog } from './power-log.js';

/**
 * Energy of the boundary since this was called, J, as far as it was read; null where a domain of it can't be told yet. It is that of
 * one query only when no other is in flight.
 */
export function liveEnergy(power: PowerLog, clock: Clock): () => number | null {
  const start = clock.now();
  return () => {
    power.mark();
    power.drain();
    const window = { start, end: clock.now() };
    const series = power.series();
    const summed = summedDomains(series);
    const readings = series
      .filter(({ domain }) => summed.includes(domain.id))
      .map((each) => energyInWindow(each, window).energy_j);
    const known = readings.filter((energy) => energy !== null);
    return known.length === 0 || known.length < readings.length
      ? null
      : known.reduce((sum, energy) => sum + energy, 0);
  };
}
