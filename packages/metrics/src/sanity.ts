/** Least share of its packages that a meter around them must show. */
const LEAST_OF_PACKAGES = 0.9;

/** Furthest that a counter and the integral of its own gauge may lie apart, as gauge over counter. */
const CROSS_CHECK = [0.9, 1.1] as const;

/**
 * Whether a meter of the whole platform can be believed beside the packages it holds, both J over one window. Some
 * platforms wire it wrongly: then it shows less than what lies inside it.
 */
export const holdsPackages = (system_j: number, packages_j: number): boolean =>
  system_j >= LEAST_OF_PACKAGES * packages_j;

/** The two ways one device's energy over one window can be told, side by side. Neither is declared right. */
export interface CrossCheck {
  /** Integral of the gauge over the counter; null when the counter stood still. */
  readonly ratio: number | null;
  /** Whether the two lie within 10 % of each other. */
  readonly agrees: boolean;
}

/** Compares a counter (J) with the integral of its device's gauge (J) over the same window. */
export function crossCheck(counter_j: number, gauge_j: number): CrossCheck {
  if (counter_j <= 0) return { ratio: null, agrees: gauge_j <= 0 };
  const ratio = gauge_j / counter_j;
  return { ratio, agrees: ratio >= CROSS_CHECK[0] && ratio <= CROSS_CHECK[1] };
}
