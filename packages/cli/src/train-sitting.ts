import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '@perwatt/core';
import type { PowerLog } from '@perwatt/harness';
import type { TrainingAside, TrainingIdle, TrainingRun, TrainingSitting } from '@perwatt/records';

/** The session of work that is going on, as the run's manifest tells it. */
export interface OpenSitting {
  readonly sitting: number;
  /** Notes time that is neither training nor evaluation. */
  addAside(aside: TrainingAside): void;
  addIdle(idle: readonly TrainingIdle[]): void;
  /** Notes the end of work; only the first one counts. */
  end(end_ns: string): void;
}

/** Opens the next sitting of a run: it is in the manifest from now on. */
export function openSitting(
  run: TrainingRun,
  facts: Omit<TrainingSitting, 'sitting' | 'end_ns' | 'asides'> & { readonly wall_time: string },
): OpenSitting {
  const { wall_time, ...more } = facts;
  const before = run.manifest.sittings;
  let own: TrainingSitting = { ...more, sitting: before.length, end_ns: null, asides: [] };
  const change = (patch: Partial<TrainingSitting>) => {
    own = { ...own, ...patch };
    run.updateManifest({ sittings: [...before, own] });
  };
  const clock = { boot_id: own.boot_id, at_ns: own.start_ns, wall_time };
  run.updateManifest({ status: 'running', clocks: [...run.manifest.clocks, clock] });
  change({});
  return {
    sitting: own.sitting,
    addAside: (aside) => change({ asides: [...(own.asides ?? []), aside] }),
    addIdle: (idle) => change({ idle: [...(own.idle ?? []), ...idle] }),
    end(end_ns) {
      if (own.end_ns === null) change({ end_ns });
    },
  };
}

/** Meters the host while nothing is at work; nothing for a span of 0, or one that a signal cut short. */
export async function meterIdle(
  when: TrainingIdle['when'],
  {
    power,
    clock,
    idle_ms,
    signal,
  }: {
    readonly power: PowerLog;
    readonly clock: Clock;
    readonly idle_ms: number;
    readonly signal: AbortSignal;
  },
): Promise<readonly TrainingIdle[]> {
  if (idle_ms === 0 || signal.aborted) return [];
  const start_ns = String(power.mark() ?? clock.now());
  const whole = await pause(idle_ms, true, { signal }).catch(() => false);
  return whole ? [{ when, start_ns, end_ns: String(power.mark() ?? clock.now()) }] : [];
}
