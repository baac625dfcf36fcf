import { instant } from '@perwatt/core';
import { type BaselinePoint, meanPower, netEnergy, type PowerSeries, type Window } from '@perwatt/metrics';
import type { TrainingIdle } from '@perwatt/records';

/** Energy with bounds, J. */
interface Bounded {
  readonly energy_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
}

/** What net energy is taken from. */
export interface Netting {
  readonly series: PowerSeries;
  readonly window: Window;
  readonly idle: readonly TrainingIdle[];
  /** Time of each energy, s. */
  readonly seconds: ReadonlyMap<string, number>;
}

/** Energies less what the idle host would have drawn meanwhile; null where its power isn't known. */
export function netsOf(
  gross: ReadonlyMap<string, Bounded>,
  { series, window, idle, seconds }: Netting,
): ReadonlyMap<string, Bounded> | null {
  const [before, after] = (['before', 'after'] as const).map((when) => baselineOf(series, idle, when));
  if (!before && !after) return null;
  return new Map(
    [...gross].flatMap(([key, own]) => {
      const length_ns = 1e9 * (seconds.get(key) ?? 0);
      const net = netEnergy({ gross: own, window, length_ns, before: before ?? null, after: after ?? null });
      const { energy_j, lo_j, hi_j } = net;
      return energy_j === null || lo_j === null || hi_j === null ? [] : [[key, { energy_j, lo_j, hi_j }]];
    }),
  );
}

function baselineOf(
  series: PowerSeries,
  idle: readonly TrainingIdle[],
  when: TrainingIdle['when'],
): BaselinePoint | null {
  const found = idle.find((own) => own.when === when);
  if (found === undefined) return null;
  const window = { start: instant(BigInt(found.start_ns)), end: instant(BigInt(found.end_ns)) };
  const { power_w, lo_w, hi_w } = meanPower(series, window);
  if (power_w === null || lo_w === null || hi_w === null) return null;
  return { at: instant(window.start + (window.end - window.start) / 2n), power_w, lo_w, hi_w };
}
