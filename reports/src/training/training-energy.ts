import { instant, type TrainEvalRow, type TrainStepRow } from '@perwatt/core';
import {
  type Attribution,
  attribute,
  boundaryOf,
  type CallSpan,
  type PowerSeries,
  type Window,
} from '@perwatt/metrics';
import type { PowerFileSeries, TrainingRun, TrainingSitting } from '@perwatt/records';
import { netsOf } from './net-shares.js';
import { sharedTime } from './shared-time.js';

/** Energy with the bounds of the sensors, J; null with a reason where it can't be told. */
export interface TrainingJoules {
  readonly energy_j: number | null;
  readonly lo_j: number | null;
  readonly hi_j: number | null;
}

/**
 * The meter of one domain over all sittings. Conservation: `steps_j + evals_j + start_j + votes_j + other_j = meter_j`.
 */
export interface TrainingLedger {
  readonly domain: string;
  readonly meter_j: number | null;
  readonly steps_j: number | null;
  readonly evals_j: number | null;
  /** Starting threads, and counting votes and warming code up; 0 in runs that did not note them. */
  readonly start_j: number | null;
  readonly votes_j: number | null;
  /** While none of these was at work: writing checkpoints, waiting. */
  readonly other_j: number | null;
  readonly reason: string | null;
}

/** What a training run drew, shared out to its steps and evaluations. */
export interface TrainingEnergy {
  /**
   * Of each step and evaluation, by `stepKey` and `evalKey`, and of all steps and all evaluations of a training, by `wholeKey`:
   * the same joules, with bounds that do not pay for edges within. Empty without energy.
   */
  readonly parts: ReadonlyMap<string, TrainingJoules>;
  readonly ledgers: readonly TrainingLedger[];
  /** Of all steps and all evaluations of a training, by `wholeKey`, less the idle host for the time they shared. */
  readonly net: ReadonlyMap<string, TrainingJoules>;
  /** Why there is no net energy; null where there is. */
  readonly net_reason: string | null;
  /** `estimated`, `counter` …; null where nothing was metered. */
  readonly provenance: string | null;
  /** Why there is none, in words; null where there is. */
  readonly reason: string | null;
}

interface Spanned {
  readonly training: string;
  readonly seed: number;
  readonly sitting: number;
  readonly step: number;
}

/** Names of a step's and of an evaluation's part. */
export const stepKey = ({ training, seed, sitting, step }: Spanned): string =>
  `step ${training} ${seed} ${sitting} ${step}`;
export const evalKey = ({ training, seed, sitting, step }: Spanned): string =>
  `eval ${training} ${seed} ${sitting} ${step}`;

/** Name of all steps or all evaluations of a training. */
export const wholeKey = (kind: 'step' | 'eval', training: string): string => `all ${kind} ${training}`;

/** Rows of a training run. */
export interface TrainingRows {
  readonly steps: readonly TrainStepRow[];
  readonly evals: readonly TrainEvalRow[];
}

const none = (reason: string): TrainingEnergy => ({
  parts: new Map(),
  net: new Map(),
  net_reason: reason,
  ledgers: [],
  provenance: null,
  reason,
});

const NO_BASELINE = 'no idle baseline was metered';

/**
 * Shares the energy of every sitting out to the steps and evaluations that were at work, threads side by side in equal
 * parts of the time they shared; what fell to nobody is a part of its own. Sums over sittings.
 */
export function trainingEnergy(run: TrainingRun, rows: TrainingRows): TrainingEnergy {
  const files = run.powerSeries();
  const boundary = boundaryOf(files.flatMap(({ domains }) => domains));
  if (boundary === null) return none('nothing was metered');
  const parts = new Map<string, TrainingJoules>();
  const net = new Map<string, TrainingJoules>();
  let net_reason: string | null = null;
  const ledgers = boundary.domains.map((domain): TrainingLedger => {
    const shares = run.manifest.sittings.map((sitting) =>
      sittingShare({ rows, files, domain: domain.id, sitting }),
    );
    for (const { queries, wholes, nets } of shares) {
      for (const [key, own] of [...queries, ...wholes]) addPart(parts, key, own);
      if (nets === null) net_reason = NO_BASELINE;
      for (const [key, own] of nets ?? []) addPart(net, key, own);
    }
    return ledgerOf(domain.id, shares);
  });
  const { provenance } = boundary;
  const broken = ledgers.find(({ reason }) => reason !== null);
  return broken === undefined
    ? { parts, net: net_reason === null ? net : new Map(), net_reason, ledgers, provenance, reason: null }
    : { ...none(`${broken.domain}: ${broken.reason}`), ledgers, provenance };
}

interface Share extends Pick<Attribution, 'queries' | 'unattributed_j' | 'reason'> {
  readonly meter_j: number | null;
  readonly wholes: Attribution['queries'];
  /** Null without an idle baseline. */
  readonly nets: ReturnType<typeof netsOf>;
}

const noShare: Share = {
  queries: new Map(),
  wholes: new Map(),
  nets: new Map(),
  unattributed_j: 0,
  meter_j: 0,
  reason: null,
};

interface SharedSitting {
  readonly rows: TrainingRows;
  readonly files: readonly PowerFileSeries[];
  readonly domain: string;
  readonly sitting: TrainingSitting;
}

function sittingShare({ rows, files, domain, sitting }: SharedSitting): Share {
  const spans = [...spansOf(rows, sitting.sitting), ...asideSpans(sitting)];
  const window = windowOf(sitting, spans);
  const series = window && seriesOf(files, { domain, boot_id: sitting.boot_id, window });
  if (window === null) return noShare;
  if (series === null) return { ...noShare, unattributed_j: null, meter_j: null, reason: 'not_covered' };
  const { queries, unattributed_j, meter, reason } = attribute(series, spans, window);
  const joint = [...joinedSpans(rows, sitting.sitting), ...asideSpans(sitting)];
  const wholes = attribute(series, joint, window).queries;
  const nets = netsOf(wholes, { series, window, idle: sitting.idle ?? [], seconds: sharedTime(joint) });
  return { queries, wholes, nets, unattributed_j, meter_j: meter.energy_j, reason };
}

/** Spans of what was neither training nor evaluation. */
const asideSpans = ({ sitting, asides = [] }: TrainingSitting): CallSpan[] =>
  asides.map(({ kind, start_ns, end_ns }, i) => ({
    query_id: `${kind} ${sitting} ${i}`,
    start: instant(BigInt(start_ns)),
    end: instant(BigInt(end_ns)),
  }));

/** Spans of whole trainings: pieces of a seed that follow one another without a gap are one. */
function joinedSpans({ steps, evals }: TrainingRows, sitting: number): CallSpan[] {
  const lines = new Map<string, CallSpan[]>();
  const add = (kind: 'step' | 'eval', row: TrainStepRow | TrainEvalRow) => {
    if (row.sitting !== sitting) return;
    const line = lines.get(`${row.training} ${row.seed}`) ?? [];
    line.push(spanOf(wholeKey(kind, row.training), row));
    lines.set(`${row.training} ${row.seed}`, line);
  };
  for (const row of steps) add('step', row);
  for (const row of evals) add('eval', row);
  return [...lines.values()].flatMap((line) => joined(line.sort((a, b) => Number(a.start - b.start))));
}

function joined(line: readonly CallSpan[]): CallSpan[] {
  const out: CallSpan[] = [];
  for (const span of line) {
    const last = out.at(-1);
    if (last !== undefined && last.query_id === span.query_id && last.end === span.start)
      out[out.length - 1] = { ...last, end: span.end };
    else out.push(span);
  }
  return out;
}

function ledgerOf(domain: string, shares: readonly Share[]): TrainingLedger {
  const reason = shares.find((share) => share.reason !== null)?.reason ?? null;
  if (reason !== null)
    return {
      domain,
      meter_j: null,
      steps_j: null,
      evals_j: null,
      start_j: null,
      votes_j: null,
      other_j: null,
      reason,
    };
  const sum = (of: (share: Share) => number) => shares.reduce((total, share) => total + of(share), 0);
  const partOf = (kind: string) =>
    sum(({ queries }) =>
      [...queries].reduce((total, [key, { energy_j }]) => total + (key.startsWith(kind) ? energy_j : 0), 0),
    );
  return {
    domain,
    meter_j: sum(({ meter_j }) => meter_j ?? 0),
    steps_j: partOf('step '),
    evals_j: partOf('eval '),
    start_j: partOf('start '),
    votes_j: partOf('votes '),
    other_j: sum(({ unattributed_j }) => unattributed_j ?? 0),
    reason: null,
  };
}

function addPart(
  parts: Map<string, TrainingJoules>,
  key: string,
  { energy_j, lo_j, hi_j }: { readonly energy_j: number; readonly lo_j: number; readonly hi_j: number },
): void {
  const before = parts.get(key);
  parts.set(key, {
    energy_j: (before?.energy_j ?? 0) + energy_j,
    lo_j: (before?.lo_j ?? 0) + lo_j,
    hi_j: (before?.hi_j ?? 0) + hi_j,
  });
}

const spanOf = (query_id: string, row: { readonly start_ns: bigint; readonly end_ns: bigint }): CallSpan => ({
  query_id,
  start: instant(row.start_ns),
  end: instant(row.end_ns),
});

const spansOf = ({ steps, evals }: TrainingRows, sitting: number): CallSpan[] => [
  ...steps.filter((row) => row.sitting === sitting).map((row) => spanOf(stepKey(row), row)),
  ...evals.filter((row) => row.sitting === sitting).map((row) => spanOf(evalKey(row), row)),
];

/** A sitting's window; of one that was killed, up to the end of its last row. Null where nothing was done in it. */
function windowOf(
  { start_ns, end_ns }: { readonly start_ns: string; readonly end_ns: string | null },
  spans: readonly CallSpan[],
): Window | null {
  const start = instant(BigInt(start_ns));
  if (end_ns !== null) return { start, end: instant(BigInt(end_ns)) };
  const last = spans.reduce((end, span) => (span.end > end ? span.end : end), start);
  return last > start ? { start, end: last } : null;
}

/** The samples of a domain that a sitting's recorder took: those of its boot that reach into its window. */
function seriesOf(
  files: readonly PowerFileSeries[],
  wanted: { readonly domain: string; readonly boot_id: string | null; readonly window: Window },
): PowerSeries | null {
  const found = files
    .filter(({ boot_id }) => boot_id === wanted.boot_id)
    .flatMap(({ domains, series, period_ns }) => {
      const domain = domains.find(({ id }) => id === wanted.domain);
      const samples = series.get(wanted.domain);
      return domain === undefined || samples === undefined ? [] : [{ domain, period_ns, ...samples }];
    });
  return found.find(({ at_ns }) => overlaps(at_ns, wanted.window)) ?? null;
}

const overlaps = (at_ns: BigInt64Array, { start, end }: Window): boolean =>
  at_ns.length > 0 && (at_ns[0] ?? 0n) <= end && (at_ns.at(-1) ?? 0n) >= start;
