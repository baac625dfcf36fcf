/** A metric of a trade-off and its good direction. */
export interface ParetoAxis {
  readonly metric: string;
  readonly better: 'higher' | 'lower';
}

/** A point of a trade-off; null or missing where it has no value. */
export interface MetricPoint {
  readonly id: string;
  readonly values: Readonly<Record<string, number | null>>;
}

/** The front of a trade-off, and the points that have no place in it. */
export interface MetricFront {
  /** Ids of the points that no other point beats, in the order of the points. */
  readonly front: readonly string[];
  /** Beaten points, each with the ids of those that beat it. */
  readonly beaten: readonly { readonly id: string; readonly by: readonly string[] }[];
  readonly left_out: readonly { readonly id: string; readonly reason: string }[];
}

/** Coordinates that are all better when lower; null where one is missing. */
export function lowerIsBetter(
  values: Readonly<Record<string, number | null | undefined>>,
  axes: readonly ParetoAxis[],
): number[] | null {
  const found = axes.map(({ metric, better }) => {
    const value = values[metric] ?? Number.NaN;
    return better === 'lower' ? value : -value;
  });
  return found.every(Number.isFinite) ? found : null;
}

/** Whether `a` is at least as good everywhere and better somewhere, both with lower for better. */
export const beats = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((value, i) => value <= (b[i] ?? Number.NaN)) && a.some((value, i) => value < (b[i] ?? Number.NaN));

/**
 * The Pareto front over two or three metrics, each with its direction. Equal points stand on it together. Points without
 * a finite value on every axis are left out by name.
 */
export function metricFront(points: readonly MetricPoint[], axes: readonly ParetoAxis[]): MetricFront {
  const placed = points.flatMap(({ id, values }) => {
    const at = lowerIsBetter(values, axes);
    return at === null ? [] : [{ id, at }];
  });
  const judged = placed.map(({ id, at }) => ({
    id,
    by: placed.filter((other) => beats(other.at, at)).map((other) => other.id),
  }));
  return {
    front: judged.filter(({ by }) => by.length === 0).map(({ id }) => id),
    beaten: judged.filter(({ by }) => by.length > 0),
    left_out: points
      .filter(({ values }) => lowerIsBetter(values, axes) === null)
      .map(({ id, values }) => ({ id, reason: reasonOf(values, axes) })),
  };
}

function reasonOf(values: MetricPoint['values'], axes: readonly ParetoAxis[]): string {
  const gaps = axes.filter(({ metric }) => !Number.isFinite(values[metric] ?? Number.NaN));
  return `no ${gaps.map(({ metric }) => metric).join(', ')}`;
}
