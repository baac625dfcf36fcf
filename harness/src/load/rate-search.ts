/** What a search for the highest rate that meets its limits goes by. */
export interface RateSearch {
  /** Bracket: the lowest and the highest rate tried, calls per second. */
  readonly lo_per_s: number;
  readonly hi_per_s: number;
  /** It ends when the rate that does not meet the limits is at most this share above the one that does. */
  readonly tolerance_ratio: number;
  /** Trials of each rate; most of them decide, and an even split is no pass. */
  readonly repeats: number;
  /** Most trials in all. */
  readonly max_trials: number;
}

/** What one trial of a rate came to. */
export interface RateTrial {
  readonly rate_per_s: number;
  /** Whether it met the limits. */
  readonly passed: boolean;
}

/**
 * How a search ended. `found`: the two rates are within the tolerance. `lowest_fails`: even the lowest does not meet the
 * limits. `highest_passes`: even the highest does. `trials_spent`: it was cut off before.
 */
export type RateVerdict = 'found' | 'lowest_fails' | 'highest_passes' | 'trials_spent';

/** What a search does next: one more trial, or nothing, with what was found. */
export type SearchStep =
  | { readonly kind: 'trial'; readonly rate_per_s: number; readonly repeat: number }
  | {
      readonly kind: 'end';
      readonly verdict: RateVerdict;
      /** Highest rate that met the limits; null where none did. */
      readonly rate_per_s: number | null;
      /** Lowest rate that did not; null where all did. */
      readonly fails_per_s: number | null;
    };

/** Whether a rate meets the limits by its trials so far; null while they do not decide. */
function decided(trials: readonly RateTrial[], rate: number, repeats: number): boolean | null {
  const own = trials.filter(({ rate_per_s }) => rate_per_s === rate);
  const passes = own.filter(({ passed }) => passed).length;
  const enough = Math.floor(repeats / 2) + 1;
  if (passes >= enough) return true;
  return own.length - passes > repeats - enough ? false : null;
}

/** Highest rate that met the limits, lowest that did not; null where none is known. */
interface Bracket {
  readonly passes: number | null;
  readonly fails: number | null;
}

/** The rate to decide next, or the verdict once a bracket is narrow enough. */
function nextRate({ passes, fails }: Bracket, search: RateSearch): number | RateVerdict {
  const { lo_per_s, hi_per_s, tolerance_ratio } = search;
  if (passes === null) return fails === null ? lo_per_s : 'lowest_fails';
  if (passes >= hi_per_s) return 'highest_passes';
  if (fails === null) return hi_per_s;
  const middle = Math.sqrt(passes * fails);
  const narrow = fails <= passes * (1 + tolerance_ratio) || middle === passes || middle === fails;
  return narrow ? 'found' : middle;
}

/**
 * The next step of a search by bisection, from the trials that were made: a pure function, so that a search that was cut off
 * goes on where it was. The lowest rate is tried first, then the highest, then the geometric mean of the highest that met the
 * limits and the lowest that did not. Limits are taken to be met below a rate that meets them.
 */
export function searchStep(trials: readonly RateTrial[], search: RateSearch): SearchStep {
  let bracket: Bracket = { passes: null, fails: null };
  let next = nextRate(bracket, search);
  while (typeof next === 'number') {
    const passed = decided(trials, next, search.repeats);
    if (passed === null) return undecided(trials, next, { bracket, search });
    bracket = { ...bracket, [passed ? 'passes' : 'fails']: next };
    next = nextRate(bracket, search);
  }
  return ended(next, bracket);
}

const ended = (verdict: RateVerdict, { passes, fails }: Bracket): SearchStep => ({
  kind: 'end',
  verdict,
  rate_per_s: passes,
  fails_per_s: fails,
});

/** One more trial of a rate, unless all are spent. */
function undecided(
  trials: readonly RateTrial[],
  rate_per_s: number,
  { bracket, search }: { readonly bracket: Bracket; readonly search: RateSearch },
): SearchStep {
  if (trials.length >= search.max_trials) return ended('trials_spent', bracket);
  const repeat = trials.filter((own) => own.rate_per_s === rate_per_s).length;
  return { kind: 'trial', rate_per_s, repeat };
}
