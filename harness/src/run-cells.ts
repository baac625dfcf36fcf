import type { MatrixFile } from '@perwatt/core';
import type { RunFolder } from '@perwatt/records';
import { type Breaker, createBreaker } from './breaker.js';
import { createClientPool } from './client-pool.js';
import { type HarnessDeps, pause } from './deps.js';
import { createIdleBaselines } from './idle-baselines.js';
import { type CellTools, runOne, wholeFailure } from './measure-cell.js';
import { createObserver } from './observed.js';
import type { Cell } from './plan.js';
import { createPowerCaps, type PowerCaps } from './power-cap.js';
import type { CellResult } from './progress.js';
import { localQueue } from './queue.js';
import { type CellWorld, openQueries } from './run-cell.js';

/** The power limits of a run, whose facts stand in its manifest. */
export const powerCapsOf = (
  run: RunFolder,
  { power_cap: cap }: Pick<MatrixFile, 'power_cap'>,
  { deps, signal }: { readonly deps: Pick<HarnessDeps, 'commands' | 'timer'>; readonly signal: AbortSignal },
): PowerCaps =>
  createPowerCaps({
    cap,
    commands: deps.commands,
    wait: (seconds) => pause(seconds * 1000, signal, deps.timer),
    earlier: run.manifest.power_cap,
    note: (power_cap) => run.updateManifest({ power_cap }),
  });

/** Measures the open cells of a plan, in their order. */
export async function runCells(world: CellWorld, onCell?: (result: CellResult) => void): Promise<void> {
  const { plan, run, progress, signal } = world;
  const queue = localQueue<Cell>();
  for (const cell of plan.cells) {
    if (run.readCell(cell.id).status !== 'done') await queue.enqueue(cell.id, cell);
  }
  const pool = createClientPool();
  const idle = createIdleBaselines(world);
  const breaker = createBreaker(plan.matrix.breaker);
  const caps = powerCapsOf(run, plan.matrix, world);
  const observer = createObserver(run);
  try {
    for (let lease = await queue.claim(); lease !== null && !signal.aborted; lease = await queue.claim()) {
      const result = await tryCell(lease.value, { world, pool, idle, caps, observer, breaker });
      onCell?.(result);
      await (result.status === 'interrupted' ? queue.fail(lease) : queue.complete(lease));
      if (result.status === 'skipped' || plan.protocol.cool_down_gate !== undefined) continue;
      progress.phase('cool-down');
      await pause(plan.protocol.cooldown_s * 1000, signal, world.deps.timer);
    }
  } finally {
    await pool.close();
    await caps.restore();
  }
  if (!signal.aborted) await idle.hostAfter();
}

/** Measures a cell, unless what serves it has failed so often that it is left alone until a resume. */
async function tryCell(
  cell: Cell,
  { breaker, ...tools }: CellTools & { readonly breaker: Breaker },
): Promise<CellResult> {
  const { run, progress } = tools.world;
  const file = run.readCell(cell.id);
  const open = openQueries(cell, run).length;
  const reason = breaker.skips(cell);
  if (reason !== null) {
    run.writeCell({ ...file, skipped: reason });
    return progress.cellSkipped(cell, { open, reason });
  }
  if (file.skipped != null) run.writeCell({ ...file, skipped: null });
  progress.cellStarted(cell, open);
  const { all_failed, ...ended } = await runOne(cell, tools);
  if (ended.status !== 'interrupted') breaker.ended(cell, wholeFailure({ ...ended, all_failed }));
  return progress.cellEnded(ended);
}
