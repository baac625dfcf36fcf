import type { RepeatRule } from '@perwatt/core';
import { studentT } from '@perwatt/metrics';
import type { StoppingFacts } from '@perwatt/records';

/** Looks in a row that must find the interval narrow: one alone is narrow by chance too often. */
const LOOKS = 2;

const NOTE = `when to stop was decided by the data: the interval was looked at after every repeat and had to be narrow ${LOOKS} times in a row; an interval over such repeats holds the truth a little less often than it says`;

/** What a rule makes of the values of the repeats so far, one each, null where it isn't known: then nothing is narrow. */
export function stoppingOf(
  values: readonly (number | null)[],
  { metric, half_width, min, max }: RepeatRule['until'],
): StoppingFacts {
  const n = values.length;
  const narrow = (count: number) => {
    const width = relHalfWidth(values.slice(0, count));
    return count >= min && width !== null && width <= half_width;
  };
  const looks = Array.from({ length: LOOKS }, (_, before) => narrow(n - before));
  const stopped = looks.every(Boolean) ? 'narrow' : n >= max ? 'cap' : null;
  return {
    metric,
    half_width_wanted: half_width,
    half_width: relHalfWidth(values),
    values,
    stopped,
    repeats: n,
    note: NOTE,
  };
}

/** Half of Student's 95 % interval of the mean, as a share of the mean. */
function relHalfWidth(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  const interval = known.length < values.length ? null : studentT(known);
  if (interval === null || interval.value === 0) return null;
  return (interval.hi - interval.lo) / 2 / Math.abs(interval.value);
}
