import type { Baseline } from '@perwatt/records';
import { withHostAfter } from './host-after.js';
import { coolest, idleLevels, type Levels } from './levels.js';
import type { Cell } from './plan.js';
import { type CellWorld, measureIdle } from './run-cell.js';

/** Idle power around the cells of a run: measured as the protocol says, and handed to the sittings it holds for. */
export interface IdleBaselines {
  /** Measures the idle host. With shared baselines only the first call does. */
  hostIdle(): Promise<void>;
  hostBefore(): readonly Baseline[];
  /** Idle with the model loaded; shared baselines take it once for each model. */
  loadedBefore(key: string): Promise<readonly Baseline[]>;
  /**
   * What an idle machine is like: its powers when it first was with the model of `key` loaded, or for null without any, and the
   * coolest it ever was when idle. Null before that.
   */
  idleLevels(key: string | null): Levels | null;
  /** Remembers a sitting whose `host_idle after` is the next one measured. */
  awaitsHostAfter(cell: Cell, sitting: number): void;
  hostAfter(): Promise<void>;
}

export function createIdleBaselines(world: CellWorld): IdleBaselines {
  const { run, plan } = world;
  const shared = plan.protocol.shared_baselines;
  const loaded = new Map<string, Baseline>();
  const levels = new Map<string | null, Levels>();
  const noteLevels = (key: string | null, baseline: Baseline) => {
    if (!levels.has(key)) levels.set(key, idleLevels(world.power.levels(), baseline));
  };
  let host: Baseline | null = null;
  let waiting: { cell: Cell; sitting: number }[] = [];
  const giveAfter = (baseline: Baseline) => {
    const after = { ...baseline, when: 'after' as const };
    for (const { cell, sitting } of waiting)
      run.writeCell(withHostAfter(cell, { run, plan, sitting, after }));
    waiting = [];
  };
  const measureHost = async (when: Baseline['when']) => {
    const measured = await measureIdle(world, { kind: 'host_idle', when, shared });
    if (measured === null) return;
    noteLevels(null, measured);
    giveAfter(measured);
    host = { ...measured, when: 'before' };
  };
  return {
    async hostIdle() {
      if (host === null || !shared) await measureHost('before');
    },
    idleLevels(key) {
      const own = levels.get(key);
      return own === undefined ? null : { ...own, temperatures_c: coolest([...levels.values()]) };
    },
    hostBefore: () => (host === null ? [] : [host]),
    async loadedBefore(key) {
      const known = shared ? loaded.get(key) : undefined;
      if (known !== undefined) return [known];
      const measured = await measureIdle(world, { kind: 'loaded_idle', when: 'before', shared });
      if (measured === null) return [];
      noteLevels(key, measured);
      loaded.set(key, measured);
      return [measured];
    },
    awaitsHostAfter(cell, sitting) {
      waiting.push({ cell, sitting });
    },
    hostAfter: () => measureHost('after'),
  };
}
