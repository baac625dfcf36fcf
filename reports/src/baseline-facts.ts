import type { Baseline, CellFile, Sitting } from '@perwatt/records';
import type { BaselineFact } from './results-types.js';

const middle = (start: string, end: string): bigint => (BigInt(start) + BigInt(end)) / 2n;

/** Idle power summed over domains, W; null where one isn't known, or for no domain at all. */
function powerOf({ powers }: Baseline, domains: readonly string[]): number | null {
  if (domains.length === 0) return null;
  return domains.reduce<number | null>((sum, id) => {
    const power = powers.find(({ domain }) => domain === id)?.power_w ?? null;
    return sum === null || power === null ? null : sum + power;
  }, 0);
}

/** Every idle baseline of a cell with its age and drift, over the domains of the boundary. */
export const baselineFacts = (cell: CellFile, domains: readonly string[]): BaselineFact[] =>
  cell.sittings.flatMap((sitting) => sitting.baselines.map((own) => factOf(own, sitting, domains)));

function factOf(own: Baseline, sitting: Sitting, domains: readonly string[]): BaselineFact {
  const { kind, when, shared, start_ns, end_ns } = own;
  const at = middle(start_ns, end_ns);
  const window = middle(sitting.start_ns, sitting.end_ns ?? sitting.start_ns);
  return {
    sitting: sitting.sitting,
    kind,
    when,
    shared,
    length_ns: Number(BigInt(end_ns) - BigInt(start_ns)),
    age_ns: Number(at > window ? at - window : window - at),
    power_w: powerOf(own, domains),
    drift_ratio: driftOf(sitting, kind, domains),
  };
}

function driftOf({ baselines }: Sitting, kind: Baseline['kind'], domains: readonly string[]): number | null {
  const [before, after] = (['before', 'after'] as const).map((when) => {
    const own = baselines.findLast((b) => b.kind === kind && b.when === when);
    return own === undefined ? null : powerOf(own, domains);
  });
  return before == null || after == null || before <= 0 ? null : after / before - 1;
}
