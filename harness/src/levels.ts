import type { Baseline } from '@perwatt/records';

/** Temperatures by device and channel, °C, and powers by domain, W. */
export interface Levels {
  readonly temperatures_c: ReadonlyMap<string, number>;
  readonly powers_w: ReadonlyMap<string, number>;
}

/** What an idle machine was like: temperatures at the end of a baseline, and its mean powers where they are known. */
export const idleLevels = ({ temperatures_c }: Levels, { powers }: Pick<Baseline, 'powers'>): Levels => ({
  temperatures_c,
  powers_w: new Map(powers.flatMap(({ domain, power_w }) => (power_w === null ? [] : [[domain, power_w]]))),
});

/** The lowest of every temperature. */
export function coolest(levels: readonly Levels[]): Map<string, number> {
  const lowest = new Map<string, number>();
  for (const [name, celsius] of levels.flatMap(({ temperatures_c }) => [...temperatures_c]))
    lowest.set(name, Math.min(celsius, lowest.get(name) ?? celsius));
  return lowest;
}
