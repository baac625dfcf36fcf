/** Time (s) at which so many arrivals are expected, for a rate that changes in time; null when they never are. */
export type RateCurve = (expected: number) => number | null;

export const steadyRate =
  (rate_per_s: number): RateCurve =>
  (expected) =>
    expected / rate_per_s;

export interface Ramp {
  readonly from_per_s: number;
  readonly to_per_s: number;
  readonly duration_s: number;
  readonly curve: 'linear' | 'exponential';
}

/** A rate that moves from one value to another in time and stays there: the inverse of the cumulated rate. */
export function rampRate(ramp: Ramp): RateCurve {
  const { from_per_s: from, to_per_s: to, duration_s: length } = ramp;
  const ratio = Math.log(to / from);
  const steady = ramp.curve === 'exponential' && Math.abs(ratio) < 1e-12;
  const linear = ramp.curve === 'linear' || steady;
  const total = linear ? ((from + to) / 2) * length : ((to - from) / ratio) * length;
  return (expected) => {
    if (expected >= total) return length + (expected - total) / to;
    if (!linear) return (length * Math.log1p((expected * ratio) / (from * length))) / ratio;
    const root = Math.sqrt(from * from + (2 * (to - from) * expected) / length);
    return expected === 0 ? 0 : (2 * expected) / (from + root);
  };
}

export interface Stage {
  readonly rate_per_s: number;
  readonly duration_s: number;
}

/** One rate after another; nothing is due from the end of the last on. */
export function stagedRate(stages: readonly Stage[]): RateCurve {
  const starts: { at_s: number; expected: number; rate_per_s: number }[] = [];
  let [at_s, total] = [0, 0];
  for (const { rate_per_s, duration_s } of stages) {
    starts.push({ at_s, expected: total, rate_per_s });
    at_s += duration_s;
    total += rate_per_s * duration_s;
  }
  return (expected) => {
    if (expected >= total) return null;
    const stage = starts.findLast((s) => s.expected <= expected && s.rate_per_s > 0);
    return stage === undefined ? null : stage.at_s + (expected - stage.expected) / stage.rate_per_s;
  };
}
