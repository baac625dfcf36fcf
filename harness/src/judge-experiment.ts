import { type CellFile, repeatsMade, type VerdictReason } from '@perwatt/records';

/** What of the plan of a cell did not come about as it should. */
export function* experimentFindings({ stopping }: CellFile): Generator<VerdictReason> {
  if (stopping?.stopped === 'cap' && !isNarrow(stopping)) yield notNarrow(stopping);
}

type Stopping = NonNullable<CellFile['stopping']>;

const isNarrow = ({ half_width, half_width_wanted }: Stopping): boolean =>
  half_width !== null && half_width <= half_width_wanted;

function notNarrow({ metric, half_width, half_width_wanted, repeats, values }: Stopping): VerdictReason {
  const unknown = values.filter((value) => value === null).length;
  const found = half_width === null ? 'unknown' : `± ${percent(half_width)}`;
  const why = unknown === 0 ? '' : `; it is not known for ${unknown} of them`;
  return {
    code: 'not_converged',
    text: `${metric} is ${found} after ${repeats} repeats, where ± ${percent(half_width_wanted)} was wanted${why}`,
    fix: 'Raise `max` of `repeats`, make `half_width` greater, or give the data set more items.',
  };
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;

/** Repeats of a cell in words. */
export const repeatsText = (cell: Pick<CellFile, 'repeats' | 'stopping'>): string => {
  const made = repeatsMade(cell);
  return `${made} repeat${made === 1 ? '' : 's'}`;
};
