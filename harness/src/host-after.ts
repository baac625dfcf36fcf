import { instant } from '@perwatt/core';
import { netEnergy, type Window } from '@perwatt/metrics';
import type { Baseline, CellFile, DomainLedger, RunFolder } from '@perwatt/records';
import { baselinePoints } from './energy.js';
import { judgeCell } from './judge-cell.js';
import type { Cell, Plan } from './plan.js';

export interface HostAfter {
  readonly run: RunFolder;
  readonly plan: Plan;
  readonly sitting: number;
  /** The idle host, measured after the sitting. */
  readonly after: Baseline;
}

/**
 * A settled cell with the idle host after one of its sittings: it is measured when the model is gone, and from then on
 * counts in the sitting's baselines, in the ledgers' energy net of the idle host and in the verdict.
 */
export function withHostAfter(cell: Cell, { run, plan, sitting, after }: HostAfter): CellFile {
  const file = run.readCell(cell.id);
  const own = file.sittings.find((s) => s.sitting === sitting);
  if (own === undefined) return file;
  const baselines = [...own.baselines, after];
  const sittings = file.sittings.map((s) => (s === own ? { ...s, baselines } : s));
  const window = { start: instant(BigInt(own.start_ns)), end: instant(BigInt(own.end_ns ?? own.start_ns)) };
  const ledgers = file.ledgers.map((ledger) => ({
    ...ledger,
    net_host_j: netAgain(ledger, { window, before: own.baselines, after: baselines }),
  }));
  const changed: CellFile = { ...file, sittings, ledgers };
  if (file.verdict === null) return changed;
  const verdict = judgeCell({
    cell: changed,
    protocol: plan.protocol,
    quick: plan.matrix.protocol === 'quick',
    queries: run.readQueries(cell.id).rows,
    expected: cell.dataset.items.length * cell.repeats,
  });
  return { ...changed, verdict };
}

interface Changed {
  readonly window: Window;
  readonly before: readonly Baseline[];
  readonly after: readonly Baseline[];
}

/** Energy of a ledger net of the idle host, the host's part of one sitting taken anew; null stays null. */
function netAgain({ domain, net_host_j = null }: DomainLedger, { window, before, after }: Changed) {
  const was = idleOf(before, domain, window);
  const now = idleOf(after, domain, window);
  return net_host_j === null || was === null || now === null ? net_host_j : net_host_j + was - now;
}

/** What the idle host draws over a window, J; null without a baseline of it. */
function idleOf(baselines: readonly Baseline[], domain: string, window: Window): number | null {
  const { energy_j } = netEnergy({
    gross: { energy_j: 0, lo_j: 0, hi_j: 0 },
    window,
    length_ns: Number(window.end - window.start),
    ...baselinePoints(baselines, domain, 'host_idle'),
  });
  return energy_j === null ? null : -energy_j;
}
