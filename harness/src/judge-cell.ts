import { type CallRow, isElsewhere, type QueryRow } from '@perwatt/core';
import {
  type Baseline,
  type BaselinePower,
  type CellFile,
  type CellVerdict,
  cellEndpoints,
  type Sitting,
  type VerdictReason,
} from '@perwatt/records';
import { experimentFindings, repeatsText } from './judge-experiment.js';
import { flagReasons } from './power-flags.js';
import type { Protocol } from './protocols.js';

export interface JudgeInput {
  readonly cell: CellFile;
  readonly protocol: Protocol;
  readonly quick: boolean;
  readonly queries: QueryCounts;
  /** Queries the cell should have. */
  readonly expected: number;
}

/** How the queries of a cell ended, in numbers. */
export interface QueryCounts {
  readonly count: number;
  readonly failed: number;
  readonly unscored: number;
  /** What most of the failed calls say of themselves; null where nothing failed. */
  readonly why: string | null;
}

type FailedCall = Pick<CallRow, 'status' | 'error_kind' | 'error_message'>;

/** Counts how queries ended. `callsOf` gives the calls of the cell; they are read only where something failed. */
export function countQueries(
  queries: readonly Pick<QueryRow, 'status' | 'verdict'>[],
  callsOf: () => readonly FailedCall[],
): QueryCounts {
  const failed = queries.filter((q) => q.status === 'failed' || q.verdict === 'error').length;
  return {
    count: queries.length,
    failed,
    unscored: queries.filter((q) => q.verdict === 'unscored').length,
    why: failed === 0 ? null : usualFailure(callsOf()),
  };
}

const LONGEST = 200;

function usualFailure(calls: readonly FailedCall[]): string | null {
  const times = new Map<string, number>();
  for (const { status, error_kind, error_message } of calls) {
    if (status === 'ok') continue;
    const text = [error_kind ?? status, error_message].filter((part) => part !== null).join(': ');
    times.set(text, (times.get(text) ?? 0) + 1);
  }
  const [usual] = [...times].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return usual === undefined || usual.length <= LONGEST ? (usual ?? null) : `${usual.slice(0, LONGEST)}…`;
}

interface Finding extends VerdictReason {
  readonly weight: 'flag' | 'strict' | 'invalid';
}

const flag = (code: string, text: string, fix: string | null): Finding => ({
  code,
  text,
  fix,
  weight: 'flag',
});
/** Flags in most protocols, makes the cell invalid in `strict`. */
const grave = (code: string, text: string, fix: string | null): Finding => ({
  code,
  text,
  fix,
  weight: 'strict',
});
const fatal = (code: string, text: string, fix: string | null): Finding => ({
  code,
  text,
  fix,
  weight: 'invalid',
});

/** Whether a cell's figures can be trusted: `valid`, or why not and what would mend it. */
export function judgeCell(input: JudgeInput): CellVerdict {
  const findings = [
    ...protocolFindings(input),
    ...queryFindings(input),
    ...powerFindings(input.cell),
    ...sensorFindings(input.cell),
    ...sittingFindings(input.cell, input.protocol),
    ...[...experimentFindings(input.cell)].map((reason): Finding => ({ ...reason, weight: 'flag' })),
  ];
  const isFatal = ({ weight }: Finding) =>
    weight === 'invalid' || (weight === 'strict' && input.protocol.strict);
  const state = findings.some(isFatal) ? 'invalid' : findings.length > 0 ? 'flagged' : 'valid';
  return { state, reasons: findings.map(({ code, text, fix }) => ({ code, text, fix })) };
}

function* protocolFindings({ cell, protocol, quick }: JudgeInput) {
  if (quick) {
    yield flag(
      'quick',
      `protocol quick: ${protocol.baseline_s} s baselines, ${repeatsText(cell)}`,
      'Run the matrix with `protocol: standard`.',
    );
  }
  if (cell.sittings.length > 1) {
    yield flag(
      'resumed',
      `measured in ${cell.sittings.length} sittings`,
      'Run the cell again without a break.',
    );
  }
}

function* queryFindings({ queries: { count, failed, unscored, why }, expected }: JudgeInput) {
  if (count < expected) {
    yield flag('incomplete', `${count} of ${expected} queries`, 'Continue with `perwatt run --resume`.');
  }
  if (count === 0) return;
  const share = (n: number) => n / count;
  const text = `${failed} of ${count} queries failed${why === null ? '' : `, mostly by ${why}`}`;
  if (share(failed) > 0.05) yield fatal('failed_queries', text, 'Mend the endpoint and run the cell again.');
  else if (share(failed) > 0.01)
    yield flag('failed_queries', text, 'Mend the endpoint and run the cell again.');
  if (share(unscored) > 0.01) {
    yield flag('unscored', `${unscored} of ${count} queries could not be scored`, null);
  }
}

function* powerFindings({ ledgers, provenance }: CellFile) {
  const total = ledgers.filter((l) => l.in_total);
  const elsewhere = cellEndpoints({ provenance }).find(
    (endpoint) => endpoint !== null && isElsewhere(endpoint),
  );
  if (total.length === 0 && elsewhere != null) {
    yield flag(
      'endpoint_elsewhere',
      `${elsewhere.endpoint} is on another host, and nothing that meters it was read`,
      'Run Perwatt on that host, or name an external meter of it.',
    );
  } else if (total.length === 0) {
    yield flag('no_power', 'no power source was read', 'Run `perwatt doctor` to see what can be measured.');
  }
  for (const ledger of total) {
    if (ledger.meter_j !== null) continue;
    const why = ledger.reason ?? 'unknown';
    yield fatal('energy_missing', `energy of ${ledger.domain} is not known: ${why}`, 'Run the cell again.');
  }
}

/** What the recorders had to say of the energy of the total, over all sittings. */
function* sensorFindings({ sittings }: CellFile) {
  const flags = sittings.flatMap(({ power_flags }) => power_flags ?? []);
  for (const { code, text, fix } of flagReasons(flags)) yield flag(code, text, fix);
}

function* sittingFindings({ sittings }: CellFile, protocol: Protocol) {
  const seconds = sittings.reduce((sum, s) => sum + lengthS(s), 0);
  if (seconds < protocol.min_window_s) {
    yield grave(
      'window_short',
      `measured for ${seconds.toFixed(1)} s, less than ${protocol.min_window_s} s`,
      'Give the data set more items, or raise `repeats`.',
    );
  }
  const foreign = Math.max(0, ...sittings.map((s) => s.foreign_load_ratio ?? 0));
  if (foreign > 0.1) {
    yield grave(
      'foreign_load',
      `other processes used ${foreign.toFixed(2)} of a core while it was measured`,
      'Stop what else runs on the machine and run the cell again.',
    );
  }
  if (sittings.some((s) => s.suspended === true)) {
    yield fatal(
      'suspended',
      'the machine slept while it was measured',
      'Keep it awake and run the cell again.',
    );
  }
  for (const sitting of sittings) {
    yield* driftFindings(sitting, protocol);
    yield* lateFindings(sitting);
  }
}

const lengthS = (s: Sitting) => (s.end_ns === null ? 0 : Number(BigInt(s.end_ns) - BigInt(s.start_ns)) / 1e9);

function* driftFindings(sitting: Sitting, { drift_limit }: Protocol) {
  for (const kind of ['loaded_idle', 'host_idle'] as const) {
    const [before, after] = (['before', 'after'] as const).map((when) =>
      sitting.baselines.findLast((b) => b.kind === kind && b.when === when),
    );
    for (const power of before?.powers ?? []) {
      const later = after?.powers.find((p) => p.domain === power.domain);
      const drift = later === undefined ? null : driftOf(power, later);
      if (drift === null || drift <= drift_limit) continue;
      yield grave(
        'baseline_drift',
        `idle power of ${power.domain} (${kind}) changed by ${(drift * 100).toFixed(0)} % over the cell`,
        'Let the machine settle, or raise the cool-down.',
      );
    }
  }
}

/** Idle power of the host that only the baseline after a sitting tells. */
function* lateFindings({ baselines }: Sitting) {
  const known = (when: Baseline['when']) =>
    (baselines.findLast((b) => b.kind === 'host_idle' && b.when === when)?.powers ?? [])
      .filter(({ power_w }) => power_w !== null)
      .map(({ domain }) => domain);
  const before = known('before');
  for (const domain of known('after').filter((id) => !before.includes(id))) {
    yield flag(
      'baseline_late',
      `idle power of ${domain} (host_idle) was read only after the cell, so its drift is not known`,
      null,
    );
  }
}

/** Relative change between two baselines, or null where one is missing or their intervals overlap. */
function driftOf(before: BaselinePower, after: BaselinePower): number | null {
  const { power_w: a, lo_w: aLo, hi_w: aHi } = before;
  const { power_w: b, lo_w: bLo, hi_w: bHi } = after;
  if (a === null || b === null || a <= 0) return null;
  const overlap = aLo !== null && aHi !== null && bLo !== null && bHi !== null && aLo <= bHi && bLo <= aHi;
  return overlap ? null : Math.abs(b - a) / a;
}
