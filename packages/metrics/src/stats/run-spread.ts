import { chiSquareQuantile } from '../distributions.js';
import { mean, standardDeviation } from '../statistics.js';

/** Fewest repeats whose spread is told. */
export const FEWEST_REPEATS = 3;

/** What every energy figure of too few repeats says. */
export const SPREAD_UNKNOWN = 'between-run spread unknown';

/** How far repeats of the same cell lie apart: a figure of its own, with its interval. */
export interface RunSpread {
  /** Standard deviation over repeats, in the figure's unit. */
  readonly sd: number | null;
  /** 95 % interval of the standard deviation (χ², normal noise); null where it is declared or unknown. */
  readonly lo: number | null;
  readonly hi: number | null;
  /** Standard deviation over the size of the mean; null where the mean is 0. */
  readonly sd_ratio: number | null;
  readonly repeats: number;
  /** `declared`: somebody else's word, for imported figures. */
  readonly source: 'measured' | 'declared' | 'unknown';
  readonly reason: string | null;
}

const unknown = (repeats: number, reason: string): RunSpread => ({
  sd: null,
  lo: null,
  hi: null,
  sd_ratio: null,
  repeats,
  source: 'unknown',
  reason,
});

/**
 * Between-run spread of one figure, from its value in every repeat. Unknown below three repeats and where a repeat
 * has no value (null) or one that isn't finite: a spread over the lucky ones would pass for all.
 */
export function runSpread(values: readonly (number | null)[]): RunSpread {
  const known = values.filter((value) => value !== null);
  const repeats = values.length;
  if (known.length < repeats) return unknown(repeats, 'a repeat has no value');
  if (repeats < FEWEST_REPEATS) return unknown(repeats, SPREAD_UNKNOWN);
  const [centre, sd] = [mean(known), standardDeviation(known)];
  if (centre === null || sd === null) return unknown(repeats, 'a repeat has no finite value');
  const df = repeats - 1;
  return {
    sd,
    lo: sd * Math.sqrt(df / chiSquareQuantile(0.975, df)),
    hi: sd * Math.sqrt(df / chiSquareQuantile(0.025, df)),
    sd_ratio: centre === 0 ? null : sd / Math.abs(centre),
    repeats,
    source: 'measured',
    reason: null,
  };
}

/** The spread that an imported figure comes with. Unknown for a value or a share that isn't finite, or a negative share. */
export function declaredSpread(value: number, sd_ratio: number): RunSpread {
  if (!(Number.isFinite(value) && Number.isFinite(sd_ratio) && sd_ratio >= 0))
    return unknown(0, `no spread of ${sd_ratio} can be declared for ${value}`);
  return {
    sd: Math.abs(value) * sd_ratio,
    lo: null,
    hi: null,
    sd_ratio,
    repeats: 0,
    source: 'declared',
    reason: null,
  };
}
