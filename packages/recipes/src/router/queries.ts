import { normal, type Random } from '../numeric/random.js';

/** One query of the router's world. */
export interface RouterQuery {
  /** As the router sees it: difficulty with noise, domain, and a number that means nothing. */
  readonly features: readonly [difficulty: number, domain: number, distractor: number];
  readonly local_right: boolean;
  readonly cloud_right: boolean;
}

/** Energy of one query at either model, units. */
export const LOCAL_ENERGY = 20;
export const CLOUD_ENERGY = 120;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** A query; `noise` is how badly its difficulty can be seen. */
export function drawQuery(random: Random, noise: number): RouterQuery {
  const difficulty = random.next();
  const domain = random.next() < 0.5 ? 0 : 1;
  const local = sigmoid(9 * (0.62 - 0.25 * domain - difficulty) + 0.6);
  const cloud = sigmoid(9 * (1.25 - difficulty));
  const features = [difficulty + noise * normal(random), domain, normal(random)] as const;
  return { features, local_right: random.next() < local, cloud_right: random.next() < cloud };
}

/** What a router is asked to tell: the cloud is right where the local model is not. */
export const needsCloud = ({ local_right, cloud_right }: RouterQuery): boolean => cloud_right && !local_right;

/** One router's ranking of queries, as it came out. */
export interface RoutedQuality {
  /** Share of the quality gap that is recovered, mean over shares of cloud calls: 0.5 for a random router. */
  readonly apgr: number;
  readonly cpt50: number;
  readonly cpt80: number;
  /** Energy saved against the cloud alone, at most 1 point below its quality. */
  readonly saving: number;
}

/** One point of quality. */
const LOSS = 0.01;

/** What a ranking amounts to: queries go to the cloud in falling order of their score. */
export function routedQuality(queries: readonly RouterQuery[], scores: Float64Array): RoutedQuality {
  const order = [...queries.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const n = queries.length;
  const curve = new Float64Array(n + 1);
  let right = queries.filter(({ local_right }) => local_right).length;
  curve[0] = right / n;
  order.forEach((q, i) => {
    const query = queries[q];
    right += (query?.cloud_right === true ? 1 : 0) - (query?.local_right === true ? 1 : 0);
    curve[i + 1] = right / n;
  });
  return { ...curveFigures(curve), saving: savingOf(curve) };
}

/** Figures of a curve of quality over evenly spaced shares of cloud calls, straight lines between its points. */
export function curveFigures(curve: Float64Array): Omit<RoutedQuality, 'saving'> {
  const n = curve.length - 1;
  const [weak, strong] = [curve[0] ?? 0, curve[n] ?? 0];
  let area = 0;
  for (let i = 1; i <= n; i++) area += ((curve[i] ?? 0) + (curve[i - 1] ?? 0)) / 2 / n;
  const shareAt = (part: number) =>
    curve.findIndex((quality) => quality >= weak + part * (strong - weak)) / n;
  return { apgr: (area - weak) / (strong - weak), cpt50: shareAt(0.5), cpt80: shareAt(0.8) };
}

function savingOf(curve: Float64Array): number {
  const n = curve.length - 1;
  const least = (curve[n] ?? 0) - LOSS;
  const share = curve.findIndex((quality) => quality >= least - 1e-12) / n;
  const spent = LOCAL_ENERGY + share * (CLOUD_ENERGY - LOCAL_ENERGY);
  return 1 - spent / CLOUD_ENERGY;
}

/** Score of a query, a logit: above 0 it more likely needs the cloud than not. */
export const routerLogit = (weights: Float64Array, { features }: RouterQuery): number =>
  features.reduce((sum, value, i) => sum + value * (weights[i + 1] ?? 0), weights[0] ?? 0);

/** The score that a share of all scores reaches. */
export function strongestShare(scores: Float64Array, share: number): number {
  const sorted = scores.slice().sort();
  return sorted[sorted.length - Math.max(1, Math.round(share * sorted.length))] ?? 0;
}
