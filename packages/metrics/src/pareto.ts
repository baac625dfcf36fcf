/** A point of a trade-off: `x` is better when lower, `y` when higher. */
export interface ParetoPoint {
  readonly x: number;
  readonly y: number;
}

/**
 * The points that no other point beats: none is at least as good in both and better in one. Equal points stand on the
 * front together. In order of x; points that aren't finite are left out.
 */
export function paretoFront<P extends ParetoPoint>(points: readonly P[]): P[] {
  const sorted = points
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))
    .sort((a, b) => a.x - b.x || b.y - a.y);
  const front: P[] = [];
  for (const point of sorted) {
    const best = front.at(-1);
    if (best === undefined || point.y > best.y || (point.x === best.x && point.y === best.y))
      front.push(point);
  }
  return front;
}
