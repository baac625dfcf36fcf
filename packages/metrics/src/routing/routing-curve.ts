/** Mean score of the answers when a share of the items goes to the strong model. */
export interface CurvePoint {
  /** 0…1, rising along a curve from 0 to 1. */
  readonly strong_share: number;
  readonly quality: number;
  /** 1 − spent / spent by the strong model alone; null where that isn't known. */
  readonly saving: number | null;
}

/** One item as a ranking router sees it, and as it came out. */
export interface RankedItem {
  /** Chance that the strong model is needed; the highest go to it first. */
  readonly score: number;
  readonly weak_score: number;
  readonly strong_score: number;
  readonly weak_spent?: number;
  readonly strong_spent?: number;
}

interface Sums {
  readonly quality: number;
  readonly spent: number;
}

const costOf = ({ weak_spent, strong_spent }: RankedItem) => ({
  weak: weak_spent ?? Number.NaN,
  strong: strong_spent ?? Number.NaN,
});

/**
 * The curve of a ranking: items go to the strong model in falling order of score. Items of one score go together, so that
 * a router which cannot tell them apart gets the straight line of a random one between them. Empty without items, or
 * where a score is no number.
 */
export function routingCurve(items: readonly RankedItem[]): CurvePoint[] {
  const n = items.length;
  if (n === 0 || items.some(({ score }) => Number.isNaN(score))) return [];
  const sorted = [...items].sort((a, b) => b.score - a.score);
  const strongSpent = sorted.reduce((sum, item) => sum + costOf(item).strong, 0);
  const pointOf = (strong: number, { quality, spent }: Sums): CurvePoint => ({
    strong_share: strong / n,
    quality: quality / n,
    saving: Number.isFinite(spent) && strongSpent > 0 ? 1 - spent / strongSpent : null,
  });
  let sums: Sums = {
    quality: sorted.reduce((sum, item) => sum + item.weak_score, 0),
    spent: sorted.reduce((sum, item) => sum + costOf(item).weak, 0),
  };
  const points = [pointOf(0, sums)];
  sorted.forEach((item, i) => {
    const cost = costOf(item);
    sums = {
      quality: sums.quality + item.strong_score - item.weak_score,
      spent: sums.spent + cost.strong - cost.weak,
    };
    if (sorted[i + 1]?.score !== item.score) points.push(pointOf(i + 1, sums));
  });
  return points;
}

/** What a routing curve amounts to. Null where strong and weak model score the same, so that there is no gap to close. */
export interface CurveMetrics {
  /** Area under quality over strong share, by trapezoids; null for a curve that doesn't run from 0 to 1. */
  readonly auc: number | null;
  /** (AUC − weak) / (strong − weak), the mean share of the gap recovered: 0.5 for a random router. */
  readonly apgr: number | null;
  /** Least share of strong calls that recovers 50 % and 80 % of the gap. */
  readonly cpt50: number | null;
  readonly cpt80: number | null;
}

/** AUC, APGR and CPT of a curve, after RouteLLM (arXiv 2406.18665), which closes gaps between points by straight lines. */
export function curveMetrics(points: readonly Pick<CurvePoint, 'strong_share' | 'quality'>[]): CurveMetrics {
  const [first, last] = [points[0], points.at(-1)];
  const whole =
    first?.strong_share === 0 &&
    last?.strong_share === 1 &&
    points.every(
      ({ strong_share, quality }, i) =>
        Number.isFinite(quality) && strong_share >= (points[i - 1]?.strong_share ?? 0),
    );
  if (!whole || first === undefined || last === undefined)
    return { auc: null, apgr: null, cpt50: null, cpt80: null };
  const auc = points.reduce((sum, point, i) => {
    const before = points[i - 1] ?? point;
    return sum + ((point.strong_share - before.strong_share) * (point.quality + before.quality)) / 2;
  }, 0);
  const gap = last.quality - first.quality;
  return {
    auc,
    apgr: gap === 0 ? null : (auc - first.quality) / gap,
    cpt50: gap > 0 ? shareAt(points, first.quality + 0.5 * gap) : null,
    cpt80: gap > 0 ? shareAt(points, first.quality + 0.8 * gap) : null,
  };
}

/** Share of strong calls at which a curve first reaches a quality. */
function shareAt(
  points: readonly Pick<CurvePoint, 'strong_share' | 'quality'>[],
  quality: number,
): number | null {
  const slack = 1e-12;
  const i = points.findIndex((point) => point.quality >= quality - slack);
  const [point, before] = [points[i], points[i - 1]];
  if (point === undefined || before === undefined) return point?.strong_share ?? null;
  const part = Math.min(1, (quality - before.quality) / (point.quality - before.quality));
  return before.strong_share + part * (point.strong_share - before.strong_share);
}

/** The largest saving of a curve whose quality lies at most `loss` below the strong model's, with that quality. */
export function savingWithin(
  points: readonly CurvePoint[],
  loss: number,
): { readonly saving: number; readonly quality: number; readonly strong_share: number } | null {
  const strong = points.at(-1);
  if (strong === undefined) return null;
  let best: { saving: number; quality: number; strong_share: number } | null = null;
  for (const { saving, quality, strong_share } of points) {
    if (saving === null || quality < strong.quality - loss - 1e-12) continue;
    if (best === null || saving > best.saving) best = { saving, quality, strong_share };
  }
  return best;
}

/**
 * The threshold that sends a share of the calibration scores to the strong model: their (1 − share) quantile, reached
 * scores included. Ties may send more. Null without scores, for a share outside (0, 1], or a score that isn't finite.
 */
export function thresholdFor(scores: readonly number[], strong_share: number): number | null {
  if (!(strong_share > 0 && strong_share <= 1) || scores.length === 0 || !scores.every(Number.isFinite))
    return null;
  const sorted = Float64Array.from(scores).sort();
  const strong = Math.max(1, Math.round(strong_share * sorted.length));
  return sorted[sorted.length - strong] ?? null;
}
