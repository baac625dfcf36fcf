import { PerwattError } from '@perwatt/core';
import { lowerIsBetter, type MetricPoint, type ParetoAxis } from './pareto-front.js';

/** Coordinates with lower for better, less the reference: below 0 where better than it. */
type Place = readonly number[];

/**
 * Volume (area in two dimensions) that a set of points dominates up to a reference point, in the product of the axes'
 * units; exact. Points that aren't better than the reference on every axis, or have no value, add nothing. It depends on
 * the reference, which must stand beside the figure. Throws `INPUT_INVALID` for other than two or three axes, or a
 * reference without a finite value on each.
 */
export function hypervolume(
  points: readonly MetricPoint[],
  axes: readonly ParetoAxis[],
  reference: Readonly<Record<string, number>>,
): number {
  const corner = lowerIsBetter(reference, axes);
  if (axes.length < 2 || axes.length > 3)
    throw new PerwattError('INPUT_INVALID', `a hypervolume of ${axes.length} axes; it takes 2 or 3`);
  if (corner === null)
    throw new PerwattError(
      'INPUT_INVALID',
      `the reference point lacks a finite value of ${axes.map(({ metric }) => metric).join(', ')}`,
    );
  const places = points.flatMap(({ values }) => {
    const place = lowerIsBetter(values, axes)?.map((value, i) => value - (corner[i] ?? 0)) ?? null;
    return place === null || place.some((value) => value >= 0) ? [] : [place];
  });
  return axes.length === 2 ? area(places) : volume(places);
}

/** Area of the union of the rectangles from each place to the origin. */
function area(places: readonly Place[]): number {
  const sorted = [...places].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0));
  let total = 0;
  let reached = 0;
  for (const [x = 0, y = 0] of sorted) {
    if (y >= reached) continue;
    total += -x * (reached - y);
    reached = y;
  }
  return total;
}

/** Volume by slices along the third axis: between two heights the area of all places below. */
function volume(places: readonly Place[]): number {
  const sorted = [...places].sort((a, b) => (a[2] ?? 0) - (b[2] ?? 0));
  return sorted.reduce((total, place, i) => {
    const height = (sorted[i + 1]?.[2] ?? 0) - (place[2] ?? 0);
    return height === 0 ? total : total + height * area(sorted.slice(0, i + 1));
  }, 0);
}
