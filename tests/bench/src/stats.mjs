import { createRng } from '@perwatt/core';

/** The value below which this share of ascending values lies. */
export const quantileOf = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;

export const medianOf = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** The median with its percentile bootstrap interval (95 %, 4,000 draws, seeded). */
export function bootstrapMedian(values) {
  const rng = createRng(1);
  const draws = Array.from({ length: 4000 }, () =>
    medianOf(values.map(() => values[Math.floor(rng() * values.length)])),
  ).sort((a, b) => a - b);
  return { median: medianOf(values), low: draws[100], high: draws[3899] };
}
