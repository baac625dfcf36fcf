import {
  type CellCapFacts,
  type CellFile,
  type CoolDownFacts,
  type DriftFacts,
  repeatsMade,
  type VerdictReason,
  type WarmUpFacts,
} from '@perwatt/records';

/** What of the plan of a cell did not come about as it should. */
export function* experimentFindings({ stopping, sittings }: CellFile): Generator<VerdictReason> {
  if (stopping?.stopped === 'cap' && !isNarrow(stopping)) yield notNarrow(stopping);
  for (const { cool_down, warm_up, power_cap, drift } of sittings) {
    if (drift !== undefined) yield drifted(drift);
    if (power_cap !== undefined && !holds(power_cap)) yield capMoved(power_cap);
    if (cool_down?.state === 'gave_up') yield warmStart(cool_down);
    if (warm_up?.stable === false) yield notWarm(warm_up);
  }
}

function warmStart({ waited_s, readings }: CoolDownFacts): VerdictReason {
  const high = readings.map(
    ({ what, value, limit, unit }) =>
      `${what} ${value.toFixed(1)} ${unit}, limit ${limit.toFixed(1)} ${unit}`,
  );
  return {
    code: 'warm_start',
    text: `it began before the machine was idle again: after ${waited_s.toFixed(0)} s ${high.join('; ')}`,
    fix: 'Raise `max_s` of `cool_down`, cool the machine, or stop what keeps it busy.',
  };
}

const holds = ({ asked_w, after_w, tolerance_w }: CellCapFacts): boolean =>
  after_w !== null && Math.abs(after_w - asked_w) <= tolerance_w;

const capMoved = ({ asked_w, after_w }: CellCapFacts): VerdictReason => ({
  code: 'power_cap_moved',
  text: `its power limit of ${asked_w} W was ${after_w === null ? 'not readable' : `${after_w} W`} after it`,
  fix: 'See what else sets the limit, and run the cell again.',
});

const drifted = ({ cell_id, sitting, changes }: DriftFacts): VerdictReason => ({
  code: 'drift',
  text: `what answered it is not what answered sitting ${sitting} of ${cell_id}: ${changes.join('; ')}`,
  fix: 'Put server, engine, driver and device back to what they were, or measure all cells anew.',
});

const notWarm = ({ reason }: WarmUpFacts): VerdictReason => ({
  code: 'warm_up_unstable',
  text: `its warm-up did not settle: ${reason}`,
  fix: 'Raise `max_rounds`, `max_s` or `tolerance` of `warm_up`.',
});

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
