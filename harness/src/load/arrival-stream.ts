import { type Arrivals, createRng } from '@perwatt/core';
import { type RateCurve, rampRate, stagedRate, steadyRate } from './rate-curve.js';
import { type GapProcess, unitArrivals } from './unit-arrivals.js';

/** Arrivals that follow from a formula; those of a trace are in its file. */
export type DrawnArrivals = Exclude<Arrivals, { readonly kind: 'trace' }>;

/**
 * Due times of one load, one after another: whole ns from the start of the load, never falling; null once it is over. Every
 * shape is a process of unit rate carried through the inverse of the cumulated rate, drawn from one generator, so that
 * the same description and seed give the same times however many are taken at once and whoever sends them.
 */
export function arrivalStream(arrivals: DrawnArrivals, seed: number): () => number | null {
  if (arrivals.kind === 'offline') return () => 0;
  const unit = unitArrivals(gapsOf(arrivals), createRng(seed));
  const timeOf = curveOf(arrivals);
  return () => {
    const seconds = timeOf(unit());
    return seconds === null ? null : Math.round(seconds * 1e9);
  };
}

const poisson: GapProcess = { process: 'poisson', smoothness: 1 };

function gapsOf(arrivals: Exclude<DrawnArrivals, { readonly kind: 'offline' }>): GapProcess {
  switch (arrivals.kind) {
    case 'constant':
      return { process: 'constant', smoothness: 1 };
    case 'gamma':
      return { process: 'gamma', smoothness: arrivals.smoothness };
    case 'poisson':
    case 'server':
      return poisson;
    case 'ramp':
    case 'steps':
      return arrivals;
  }
}

function curveOf(arrivals: Exclude<DrawnArrivals, { readonly kind: 'offline' }>): RateCurve {
  switch (arrivals.kind) {
    case 'ramp':
      return rampRate(arrivals);
    case 'steps':
      return stagedRate(arrivals.stages);
    default:
      return steadyRate(arrivals.rate_per_s);
  }
}
