import { beats, lowerIsBetter, type ParetoAxis } from './pareto-front.js';

/** A point's metrics in each bootstrap draw; draws of one index belong together across points. */
export interface DrawnPoint {
  readonly id: string;
  /** By metric: one value a draw; null where the draw has none. */
  readonly draws: Readonly<Record<string, readonly (number | null)[]>>;
}

/** How sure a point's place on the front is. */
export interface FrontShare {
  readonly id: string;
  /** Share of the draws in which it stands on the front, 0…1; null without draws. */
  readonly share: number | null;
  /** Draws in which it had a value on every axis. In the others it counts as off the front. */
  readonly placed: number;
  readonly draws: number;
}

/**
 * The share of bootstrap draws in which each point stands on the Pareto front. A draw is one world: all points take their
 * values from it, so what they share (items, repeats) moves them together. Points with fewer draws than others are
 * compared in the draws that all have.
 */
export function frontShares(points: readonly DrawnPoint[], axes: readonly ParetoAxis[]): FrontShare[] {
  const draws = Math.min(
    ...points.flatMap((point) => axes.map(({ metric }) => point.draws[metric]?.length ?? 0)),
  );
  const tally = points.map(() => ({ front: 0, placed: 0 }));
  for (let draw = 0; draw < (Number.isFinite(draws) ? draws : 0); draw++) {
    const places = points.map((point) =>
      lowerIsBetter(
        Object.fromEntries(axes.map(({ metric }) => [metric, point.draws[metric]?.[draw] ?? null])),
        axes,
      ),
    );
    count(places, tally);
  }
  return points.map(({ id }, i) => ({
    id,
    share: draws > 0 ? (tally[i]?.front ?? 0) / draws : null,
    placed: tally[i]?.placed ?? 0,
    draws: Math.max(0, draws),
  }));
}

function count(
  places: readonly (readonly number[] | null)[],
  tally: readonly { front: number; placed: number }[],
): void {
  for (const [i, place] of places.entries()) {
    const mine = tally[i];
    if (place === null || mine === undefined) continue;
    mine.placed++;
    if (!places.some((other) => other !== null && beats(other, place))) mine.front++;
  }
}
