import { PerwattError } from '@perwatt/core';
import type { RateSearch } from '@perwatt/harness';
import { parseDuration } from './duration.js';
import type { ArrivalFlags } from './replay-arrivals.js';

/** The options of `perwatt replay` that are of a search. */
export interface FindRateFlags {
  /** `5..200` */
  readonly findRate?: string;
  readonly rateTolerance: number;
  readonly trials: number;
  readonly maxTrials: number;
  readonly trialTime: string;
  readonly goodShare: number;
}

/** What a search is: its bisection, how long a trial is, and what passes it. */
export interface SearchPlan {
  readonly search: RateSearch;
  readonly trial_s: number;
  /** Share of all calls that have to be good, 0…1. */
  readonly good_share: number;
}

/** Shapes that have one rate. */
const shapes = ['constant', 'poisson', 'gamma', 'server'] as const;
/** Fewer calls than this in the shortest trial say nothing of a share. */
const FEWEST_CALLS = 10;

interface Flags extends FindRateFlags, Pick<ArrivalFlags, 'shape' | 'rate' | 'steps' | 'speed'> {
  readonly slo?: string;
}

/** The search that the flags name; null without one. Throws `USAGE` for flags that do not go together. */
export function searchPlanOf(flags: Flags): SearchPlan | null {
  const { findRate, rateTolerance, trials, maxTrials, trialTime, goodShare } = flags;
  if (findRate === undefined) return null;
  checkFlags(flags);
  const [lo_per_s, hi_per_s] = bracketOf(findRate);
  const trial_s = parseDuration(trialTime) / 1000;
  if (lo_per_s * trial_s < FEWEST_CALLS)
    throw new PerwattError(
      'USAGE',
      `a trial of ${trialTime} at ${lo_per_s}/s has fewer than ${FEWEST_CALLS} calls`,
      { hint: 'Give a longer `--trial-time`, or begin the bracket higher.' },
    );
  return {
    search: {
      lo_per_s,
      hi_per_s,
      tolerance_ratio: rateTolerance,
      repeats: trials,
      max_trials: maxTrials,
    },
    trial_s,
    good_share: goodShare,
  };
}

function bracketOf(text: string): [lo: number, hi: number] {
  const [lo = '', hi = '', ...more] = text.split('..').map((part) => part.trim());
  const [from, to] = [Number(lo), Number(hi)];
  const given = lo !== '' && hi !== '' && more.length === 0;
  if (given && from > 0 && to > from && to <= 1e6) return [from, to];
  throw new PerwattError('USAGE', `--find-rate ${text} is not lowest..highest`, {
    hint: 'Give two rates in calls per second, the lower one first, for example 5..200.',
  });
}

function checkFlags({ slo, rate, steps, speed, shape }: Flags): void {
  if (slo === undefined)
    throw new PerwattError('USAGE', '--find-rate needs --slo', {
      hint: 'Say what a good call is, for example --slo ttft=500ms,e2e=10s.',
    });
  const wrong = Object.entries({ rate, steps, speed }).find(([, value]) => value !== undefined);
  if (wrong !== undefined) throw new PerwattError('USAGE', `--${wrong[0]} means nothing with --find-rate`);
  if (shape !== undefined && !shapes.some((own) => own === shape))
    throw new PerwattError('USAGE', `--shape ${shape} means nothing with --find-rate`, {
      hint: `Shapes with a rate are ${shapes.join(', ')}.`,
    });
}
