import type { ThermalGate } from '@perwatt/core';
import type { CoolDownFacts, GateReading } from '@perwatt/records';
import type { Levels } from './levels.js';

/** How a gate reaches the world. */
export interface GateWorld {
  /** What is read now. */
  readonly read: () => Levels;
  readonly nowS: () => number;
  readonly wait: (seconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

const LOOK_S = 1;

/**
 * Waits until every temperature and power is back in its band of `idle` and stays so for `hold_s`. A figure that can no
 * longer be read is not waited for. Gives up after `max_s`, with the figures that were still too high. `on_time` where there
 * is nothing to watch, `first` without an idle state to come back to: nobody waited then.
 */
export async function coolDown(
  gate: ThermalGate,
  idle: Levels | null,
  world: GateWorld,
): Promise<CoolDownFacts> {
  if (idle === null) return { state: 'first', waited_s: 0, readings: [] };
  const begun = world.nowS();
  const most = Math.ceil(gate.max_s / LOOK_S) + 1;
  let coolSince: number | null = null;
  for (let looks = 0; ; looks++) {
    const readings = compare(world.read(), idle, gate);
    const waited_s = world.nowS() - begun;
    const last = waited_s >= gate.max_s || looks >= most || world.signal.aborted;
    coolSince = readings.some(tooHigh) ? null : (coolSince ?? waited_s);
    const ended = endOf(
      { readings, waited_s, last, cool_s: coolSince === null ? null : waited_s - coolSince },
      gate,
    );
    if (ended !== null) return ended;
    await world.wait(LOOK_S);
  }
}

interface Look {
  readonly readings: readonly GateReading[];
  readonly waited_s: number;
  /** For how long all has been cool; null when it isn't. */
  readonly cool_s: number | null;
  readonly last: boolean;
}

function endOf({ readings, waited_s, cool_s, last }: Look, { hold_s }: ThermalGate): CoolDownFacts | null {
  if (readings.length === 0) return { state: 'on_time', waited_s: 0, readings };
  if (cool_s !== null && cool_s >= hold_s) return { state: 'cool', waited_s, readings };
  const high = readings.filter(tooHigh);
  return last ? { state: 'gave_up', waited_s, readings: high.length > 0 ? high : readings } : null;
}

const tooHigh = ({ value, limit }: GateReading): boolean => value > limit;

function compare(now: Levels, idle: Levels, gate: ThermalGate): GateReading[] {
  const temperatures = pairs(now.temperatures_c, idle.temperatures_c).map((pair) => ({
    ...pair,
    unit: '°C' as const,
    limit: Math.max(pair.idle + gate.temperature_c, gate.floor_c),
  }));
  const powers = pairs(now.powers_w, idle.powers_w).map((pair) => ({
    ...pair,
    unit: 'W' as const,
    limit: pair.idle + Math.max(gate.power_w, gate.power_ratio * pair.idle),
  }));
  return [...temperatures, ...powers];
}

const pairs = (now: ReadonlyMap<string, number>, idle: ReadonlyMap<string, number>) =>
  [...idle].flatMap(([what, before]) => {
    const value = now.get(what);
    return value === undefined ? [] : [{ what, value, idle: before }];
  });
