import { instant } from '@perwatt/core';
import { netEnergy, type Window } from '@perwatt/metrics';
import {
  type Baseline,
  type CellFile,
  type DomainLedger,
  type RunFolder,
  repeatsMade,
  type Sitting,
} from '@perwatt/records';
import { baselinePoints } from './energy.js';
import { countQueries, judgeCell } from './judge-cell.js';
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
  const change = { before: file.sittings, after: sittings };
  const ledgers = file.ledgers.map((ledger) => ({
    ...ledger,
    net_host_j: netAgain(ledger, own.sitting, change),
  }));
  const changed: CellFile = { ...file, sittings, ledgers };
  if (file.verdict === null) return changed;
  const verdict = judgeCell({
    cell: changed,
    protocol: plan.protocol,
    quick: plan.matrix.protocol === 'quick',
    queries: countQueries(run.readQueries(cell.id).rows, () => run.readCalls(cell.id).rows),
    expected: cell.dataset.items.length * repeatsMade(changed),
  });
  return { ...changed, verdict };
}

interface Changed {
  readonly before: readonly Sitting[];
  readonly after: readonly Sitting[];
}

/**
 * Energy of a ledger net of the idle host, one sitting's part of it taken anew. Where the host was measured only after the
 * sitting, its net energy is known from now on, unless another sitting of the cell has no baseline at all.
 */
function netAgain(ledger: DomainLedger, sitting: number, { before, after }: Changed): number | null {
  const { domain, meter_j, net_host_j = null } = ledger;
  const idleIn = (sittings: readonly Sitting[]) => {
    const own = sittings.find((s) => s.sitting === sitting);
    return own === undefined ? null : idleOf(own, domain);
  };
  const [was, now] = [idleIn(before), idleIn(after)];
  if (now === null) return net_host_j;
  if (net_host_j !== null && was !== null) return net_host_j + was - now;
  if (net_host_j !== null || meter_j === null) return net_host_j;
  return after.reduce<number | null>((net, own) => {
    const idle = idleOf(own, domain);
    return net === null || idle === null ? null : net - idle;
  }, meter_j);
}

/** What the idle host draws over a sitting, J; null without a baseline of it. */
function idleOf({ baselines, start_ns, end_ns }: Sitting, domain: string): number | null {
  const window: Window = { start: instant(BigInt(start_ns)), end: instant(BigInt(end_ns ?? start_ns)) };
  if (window.end === window.start) return 0;
  const { energy_j } = netEnergy({
    gross: { energy_j: 0, lo_j: 0, hi_j: 0 },
    window,
    length_ns: Number(window.end - window.start),
    ...baselinePoints(baselines, domain, 'host_idle'),
  });
  return energy_j === null ? null : -energy_j;
}
