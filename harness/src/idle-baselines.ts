import type { Baseline } from '@perwatt/records';
import { type CellWorld, measureIdle } from './run-cell.js';

/** Idle power around the cells of a run: measured as the protocol says, and handed to the sittings it holds for. */
export interface IdleBaselines {
  /** Measures the idle host. With shared baselines only the first call does. */
  hostIdle(): Promise<void>;
  hostBefore(): readonly Baseline[];
  /** Idle with the model loaded; shared baselines take it once for each model. */
  loadedBefore(key: string): Promise<readonly Baseline[]>;
  /** Remembers a sitting whose `host_idle after` is the next one measured. */
  awaitsHostAfter(cellId: string, sitting: number): void;
  hostAfter(): Promise<void>;
}

export function createIdleBaselines(world: CellWorld): IdleBaselines {
  const { run, plan } = world;
  const shared = plan.protocol.shared_baselines;
  const loaded = new Map<string, Baseline>();
  let host: Baseline | null = null;
  let waiting: { cellId: string; sitting: number }[] = [];
  const giveAfter = (baseline: Baseline) => {
    for (const { cellId, sitting } of waiting) {
      const file = run.readCell(cellId);
      const sittings = file.sittings.map((s) =>
        s.sitting === sitting
          ? { ...s, baselines: [...s.baselines, { ...baseline, when: 'after' as const }] }
          : s,
      );
      run.writeCell({ ...file, sittings });
    }
    waiting = [];
  };
  const measureHost = async (when: Baseline['when']) => {
    const measured = await measureIdle(world, { kind: 'host_idle', when, shared });
    if (measured === null) return;
    giveAfter(measured);
    host = { ...measured, when: 'before' };
  };
  return {
    async hostIdle() {
      if (host === null || !shared) await measureHost('before');
    },
    hostBefore: () => (host === null ? [] : [host]),
    async loadedBefore(key) {
      const known = shared ? loaded.get(key) : undefined;
      if (known !== undefined) return [known];
      const measured = await measureIdle(world, { kind: 'loaded_idle', when: 'before', shared });
      if (measured === null) return [];
      loaded.set(key, measured);
      return [measured];
    },
    awaitsHostAfter(cellId, sitting) {
      waiting.push({ cellId, sitting });
    },
    hostAfter: () => measureHost('after'),
  };
}
