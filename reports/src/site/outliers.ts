/** How far out a value lies by Tukey's fences: 1.5 and 3 interquartile ranges beyond the quartiles. */
export type OutlierLabel = 'low mild' | 'low severe' | 'high mild' | 'high severe';

/** Fences of a set of values; null for fewer than eight, which tell no quartiles worth a fence. */
export interface Fences {
  readonly low_severe: number;
  readonly low_mild: number;
  readonly high_mild: number;
  readonly high_severe: number;
}

const FEWEST = 8;

/** Quartiles are taken from the empirical distribution, without interpolation. NaN are left out. */
export function fencesOf(values: Float64Array): Fences | null {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort();
  if (sorted.length < FEWEST) return null;
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  const [lower, upper] = [at(0.25), at(0.75)];
  const range = upper - lower;
  return {
    low_severe: lower - 3 * range,
    low_mild: lower - 1.5 * range,
    high_mild: upper + 1.5 * range,
    high_severe: upper + 3 * range,
  };
}

/** The label of a value; null within the fences, and for NaN. */
export function outlierLabel(value: number, fences: Fences): OutlierLabel | null {
  if (value < fences.low_severe) return 'low severe';
  if (value < fences.low_mild) return 'low mild';
  if (value > fences.high_severe) return 'high severe';
  if (value > fences.high_mild) return 'high mild';
  return null;
}

/** A value beyond the fences, by its place. */
export interface Labelled {
  readonly row: number;
  readonly label: OutlierLabel;
}

/** All values beyond the fences, in their order; none where there are too few values for fences. */
export function labelledRows(values: Float64Array): Labelled[] {
  const fences = fencesOf(values);
  if (fences === null) return [];
  const found: Labelled[] = [];
  for (const [row, value] of values.entries()) {
    const label = outlierLabel(value, fences);
    if (label !== null) found.push({ row, label });
  }
  return found;
}
