import {
  type CallRow,
  coverEndpoints,
  type Instant,
  instant,
  type QueryRow,
  type RowOf,
  type TextRow,
  type tables,
} from '@perwatt/core';
import { type PowerSeries, seriesWithoutStale, type Window } from '@perwatt/metrics';
import {
  type Baseline,
  type CellFile,
  cellEndpoints,
  completedQueries,
  type RunFolder,
  repeatsMade,
  type SegmentEntry,
  SegmentWriter,
  type Sitting,
  type SourceFlag,
} from '@perwatt/records';
import { addLedgers, energiesOf, ledgersOf } from './energy.js';
import { answerClasses } from './grade-answer.js';
import { completionKey, completionsOf } from './grade-attempts.js';
import { countQueries, judgeCell } from './judge-cell.js';
import type { Cell, Plan } from './plan.js';
import { flagsOfSitting, flagsOfTotal, recordedFlags } from './power-flags.js';
import type { PowerLog } from './power-log.js';
import { type GradedQuery, gradedQuery } from './query-row.js';
import { addRoleLedgers, type RoleInput, roleLedgers } from './role-ledgers.js';

export interface SettleInput {
  readonly run: RunFolder;
  readonly plan: Plan;
  readonly sitting: number;
  /** The sitting that just ended; null for one that a crash cut off. */
  readonly live: LiveSitting | null;
}

/** A sitting whose power is still in memory. */
export interface LiveSitting {
  readonly power: PowerLog;
  /** The idle model after it. */
  readonly after: Baseline | null;
  /** What the recorders had said when it began; default nothing. */
  readonly earlier_flags?: readonly SourceFlag[];
}

export interface Settled {
  readonly file: CellFile;
  /** Whether every query of the cell is there. */
  readonly complete: boolean;
  readonly accuracy: number | null;
  readonly queries: number;
  /** Queries that have no answer to judge: their calls failed. */
  readonly failed: number;
}

/**
 * Closes a sitting: grades what it answered, shares its energy out and writes the `queries` rows, the ledgers and the
 * verdict. Nothing of this happens inside a measured window. Safe to repeat: rows that are there are not written again.
 */
export function settleCell(cell: Cell, { run, plan, sitting, live }: SettleInput): Settled {
  const before = run.readCell(cell.id);
  const calls = run.readCalls(cell.id).rows.filter((c) => c.sitting === sitting && c.phase === 'measure');
  const written = run.readTexts(cell.id).rows.filter((t) => t.sitting === sitting);
  const answers = written.filter((t) => t.kind === 'answer');
  const opened = before.sittings.find((s) => s.sitting === sitting);
  if (opened === undefined) throw new RangeError(`cell ${cell.id} has no sitting ${sitting}`);
  const metered = live === null ? seriesFromDisk(run, opened) : live.power.series();
  const recorded = coverEndpoints(metered, cellEndpoints(before), ({ domain }) => domain);
  const closed = closeSitting(opened, { calls, series: recorded, live });
  const window = windowOf(closed);
  const { series, gauged, unknown } = seriesWithoutStale(recorded, window);
  const surviving = survivors(calls, answers);
  const earlier = before.sittings.some((s) => s.sitting < sitting && hasTime(s)) ? before.ledgers : null;
  const energies = energiesOf({
    series,
    calls: surviving,
    window,
    baselines: closed.baselines,
    attribution: plan.matrix.energy?.attribution ?? 'time_share',
    earlier: earlier?.filter((ledger) => ledger.in_total).map((ledger) => ledger.domain) ?? null,
  });
  const { settled } = completedQueries(run, cell.id);
  const answered = {
    before: [...settled.values()].some((row) => row.sitting < sitting),
    more: surviving.length > 0,
  };
  const callsOf = byQuery(surviving);
  const items = new Map(cell.dataset.items.map((item) => [item.id, item]));
  const texts = plan.matrix.simulate === undefined ? completionsOf(written, answers) : null;
  const graded = answers
    .filter((answer) => !settled.has(answer.query_id))
    .map((answer) =>
      gradedQuery(answer, {
        cell,
        run_id: run.manifest.run_id,
        calls: callsOf.get(answer.query_id) ?? [],
        energy: energies.get(answer.query_id) ?? null,
        items,
        texts: texts?.get(completionKey(answer)) ?? new Map(),
      }),
    );
  const segments = [
    ...(plan.matrix.simulate === undefined ? writeGrades(run, cell, { graded, sitting }) : []),
    ...writeRows(run, cell, { table: 'queries', rows: graded.map(({ row }) => row), sitting }),
  ];
  const ledgers = ledgersOf({
    series,
    calls,
    surviving,
    window,
    baselines: closed.baselines,
    cut_off: opened.end_ns === null,
  });
  const { power } = run.manifest;
  const flags = flagsOfSitting(live === null ? recordedFlags(power, opened.boot_id) : live.power.flags(), {
    earlier: live?.earlier_flags ?? [],
    domains: new Set(recorded.map(({ domain }) => domain.id)),
    stood_still: new Set([...gauged, ...unknown]),
  });
  const stoodFor = gauged.map((domain) => ({ domain, in_total: true }));
  const total = { ledgers: [...ledgers, ...stoodFor], power };
  const flagged: Sitting = { ...closed, power_flags: flagsOfTotal(flags, total) };
  const merged: CellFile = {
    ...before,
    sittings: before.sittings.map((s) => (s.sitting === sitting ? flagged : s)),
    ledgers: hasTime(closed) ? addLedgers(earlier, ledgers, answered) : before.ledgers,
    segments: [...before.segments, ...segments],
    ...withRoles(before, { series, calls: surviving, window }),
  };
  const queries = run.readQueries(cell.id).rows;
  const expected = cell.dataset.items.length * repeatsMade(before);
  const complete = queries.length >= expected;
  const file: CellFile = {
    ...merged,
    status: complete ? 'done' : 'running',
    verdict: judgeCell({
      cell: merged,
      protocol: plan.protocol,
      quick: plan.matrix.protocol === 'quick',
      queries: countQueries(queries, () => run.readCalls(cell.id).rows),
      expected,
    }),
  };
  run.writeCell(file);
  live?.power.forgetBefore(instant(window.end - 10_000_000_000n));
  const failed = queries.filter(({ status }) => status === 'failed').length;
  return { file, complete, accuracy: accuracyOf(queries), queries: queries.length, failed };
}

/** The ledgers of the roles with those of one more sitting. */
function withRoles(
  before: CellFile,
  sitting: Pick<RoleInput, 'series' | 'calls' | 'window'>,
): Pick<CellFile, 'role_ledgers'> {
  const { provenance, role_ledgers = [] } = before;
  if (provenance === null) return {};
  const bound = Object.entries(provenance.bound ?? {}).map(
    ([name, { endpoint }]) => [name, endpoint] as const,
  );
  const endpoints = new Map([['main', provenance.endpoint] as const, ...bound]);
  const sum = addRoleLedgers(role_ledgers, roleLedgers({ ...sitting, endpoints }));
  return sum.length === 0 ? {} : { role_ledgers: sum };
}

interface CloseInput {
  readonly calls: readonly CallRow[];
  readonly series: readonly PowerSeries[];
  readonly live: SettleInput['live'];
}

function closeSitting(opened: Sitting, { calls, series, live }: CloseInput): Sitting {
  const end_ns = opened.end_ns ?? String(lastSign(opened, calls, series));
  const after = live?.after ?? null;
  return {
    ...opened,
    end_ns,
    state: live === null ? 'crashed' : 'closed',
    baselines: after === null ? opened.baselines : [...opened.baselines, after],
  };
}

/** The last thing that is known of a sitting that was cut off: its last call's end or its last sample. */
function lastSign(opened: Sitting, calls: readonly CallRow[], series: readonly PowerSeries[]): bigint {
  const stamps = [...calls.map((c) => c.end_ns), ...series.flatMap((s) => s.at_ns.at(-1) ?? [])];
  return stamps.reduce((a, b) => (a > b ? a : b), BigInt(opened.start_ns));
}

/** Whether anything was measured in a sitting; one that crashed at once has no time. */
const hasTime = ({ start_ns, end_ns }: Sitting): boolean =>
  end_ns !== null && BigInt(end_ns) > BigInt(start_ns);

const windowOf = (sitting: Sitting): Window => ({
  start: instant(BigInt(sitting.start_ns)),
  end: instant(BigInt(sitting.end_ns ?? sitting.start_ns)),
});

/** Samples of the process that did the sitting: the power files of its boot that reach its start. */
export function seriesFromDisk(run: RunFolder, sitting: Sitting): PowerSeries[] {
  const start: Instant = instant(BigInt(sitting.start_ns));
  return run
    .powerSeries()
    .filter((file) => file.boot_id === sitting.boot_id)
    .flatMap((file) =>
      file.domains.flatMap((domain) => {
        const series = file.series.get(domain.id);
        return series === undefined ? [] : [{ domain, ...series }];
      }),
    )
    .filter((s) => (s.at_ns[0] ?? start) < start && (s.at_ns.at(-1) ?? 0n) > start);
}

/** Calls whose query has an answer. The others are lost work: their energy stays in the ledger, unattributed. */
function survivors(calls: readonly CallRow[], answers: readonly TextRow[]): CallRow[] {
  const answered = new Set(answers.map((a) => a.query_id));
  return calls.filter((c) => answered.has(c.query_id));
}

function byQuery(calls: readonly CallRow[]): Map<string, CallRow[]> {
  const groups = new Map<string, CallRow[]>();
  for (const call of calls) {
    const group = groups.get(call.query_id);
    if (group === undefined) groups.set(call.query_id, [call]);
    else group.push(call);
  }
  return groups;
}

interface WriteInput<T extends 'queries' | 'grades'> {
  readonly table: T;
  readonly rows: readonly RowOf<(typeof tables)[T]>[];
  readonly sitting: number;
}

/** A segment of a cell's table; none without rows. */
function writeRows<T extends 'queries' | 'grades'>(
  run: RunFolder,
  cell: Cell,
  { table, rows, sitting }: WriteInput<T>,
): SegmentEntry[] {
  if (rows.length === 0) return [];
  const folder = run.cellFolder(cell.id);
  const writer = SegmentWriter.create({
    folder,
    file: `${table}-${run.nextSegment(folder, table)}.arrows`,
    table,
    sitting,
    metadata: { run_id: run.manifest.run_id, cell_id: cell.id },
  });
  writer.append(rows);
  return [writer.close()];
}

/** Grades go first: rows of queries say that their grades are there. What a crash left of them is not written again. */
function writeGrades(
  run: RunFolder,
  cell: Cell,
  { graded, sitting }: { readonly graded: readonly GradedQuery[]; readonly sitting: number },
): SegmentEntry[] {
  const earlier = run.readGrades(cell.id).rows.filter(({ pass }) => pass === 0);
  const there = new Set(earlier.map(({ query_id }) => query_id));
  const rows = graded
    .filter(({ row }) => !there.has(row.query_id))
    .flatMap(({ grades }) => grades)
    .map(answerClasses(cell.grader, earlier));
  return writeRows(run, cell, { table: 'grades', rows, sitting });
}

function accuracyOf(queries: readonly QueryRow[]): number | null {
  const scores = queries.flatMap((q) => q.score ?? []);
  return scores.length === 0 ? null : scores.reduce((a, b) => a + b, 0) / scores.length;
}
