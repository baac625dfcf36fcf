import { coversEndpoint, instant } from '@perwatt/core';
import { type PowerSeries, seriesWithoutStale, shareByTime, type Window } from '@perwatt/metrics';
import {
  type Baseline,
  type CellFile,
  type DomainLedger,
  type RunFolder,
  SegmentWriter,
  type Sitting,
  scanColumns,
} from '@perwatt/records';
import { addLedgers, baselinePoints, netOf, summedDomains } from '../energy.js';
import { judgeCell } from '../judge-cell.js';
import { flagsOfTotal, recordedFlags } from '../power-flags.js';
import type { PowerLog } from '../power-log.js';
import { protocols } from '../protocols.js';
import { seriesFromDisk } from '../settle.js';
import { queryArrays } from './query-arrays.js';
import { type SittingCalls, sittingCalls } from './replay-rows.js';

export interface SettleReplayInput {
  readonly sitting: number;
  /** Rows that the replay has when it is done. */
  readonly expected: number;
  /** The sitting that just ended, with its power still in memory; null for one that a crash cut off. */
  readonly live: { readonly power: PowerLog; readonly after: Baseline | null } | null;
}

/**
 * Closes a sitting of a replay: shares its energy out, writes the `queries` rows, ledgers and verdict. In a few numbers a
 * call, whatever their number. Safe to repeat: rows that are there are not written again.
 */
export function settleReplay(run: RunFolder, cellId: string, input: SettleReplayInput): CellFile {
  const { sitting, live, expected } = input;
  const before = run.readCell(cellId);
  const opened = before.sittings.find((s) => s.sitting === sitting);
  if (opened === undefined) throw new RangeError(`cell ${cellId} has no sitting ${sitting}`);
  const endpoint = before.provenance?.endpoint ?? null;
  const recorded = (live === null ? seriesFromDisk(run, opened) : live.power.series()).filter(({ domain }) =>
    coversEndpoint(domain, endpoint),
  );
  const zero = BigInt(opened.start_ns);
  const calls = sittingCalls(run, cellId, { sitting, zero, most: expected });
  const closed = closeSitting(opened, { calls, series: recorded, live });
  const window: Window = { start: instant(zero), end: instant(BigInt(closed.end_ns ?? closed.start_ns)) };
  const { series, gauged } = seriesWithoutStale(recorded, window);
  const shared = series.map((s) => ({ series: s, ...shareByTime(s, calls, window) }));
  const summed = summedDomains(series);
  const parts = shared.filter(({ series: { domain } }) => summed.includes(domain.id));
  const energy_j = sumOf(
    parts.map((part) => part.energy_j),
    calls.start_ns.length,
  );
  const segment = writeQueries(run, before, { sitting, calls: calls.start_ns.length, energy_j });
  const ledgers = shared.map((part) =>
    ledgerOf(part, { window, calls, closed, summed, cut_off: live === null }),
  );
  const { power } = run.manifest;
  const flags = live === null ? recordedFlags(power, opened.boot_id) : live.power.flags();
  const stoodFor = gauged.map((domain) => ({ domain, in_total: true }));
  const flagged = {
    ...closed,
    power_flags: flagsOfTotal(flags, { ledgers: [...ledgers, ...stoodFor], power }),
  };
  const hadTime = before.sittings.some(
    (s) => s.sitting < sitting && s.end_ns !== null && s.end_ns > s.start_ns,
  );
  const merged: CellFile = {
    ...before,
    sittings: before.sittings.map((s) => (s.sitting === sitting ? flagged : s)),
    ledgers:
      window.end > window.start ? addLedgers(hadTime ? before.ledgers : null, ledgers) : before.ledgers,
    segments: segment === null ? before.segments : [...before.segments, segment],
  };
  const file = judged(run, merged, expected);
  run.writeCell(file);
  return file;
}

function judged(run: RunFolder, cell: CellFile, expected: number): CellFile {
  const failed = { status: 'failed', verdict: 'ungraded' };
  const answered = { status: 'answered', verdict: 'ungraded' };
  const queries: (typeof failed)[] = [];
  scanColumns(run, { cellId: cell.cell_id, table: 'queries' }, (batch) => {
    const status = batch.text('status');
    for (let i = 0; i < batch.rows; i++) queries.push(status(i) === 'failed' ? failed : answered);
  });
  return {
    ...cell,
    status: queries.length >= expected ? 'done' : 'running',
    verdict: judgeCell({ cell, protocol: protocols.quick, quick: true, queries, expected }),
  };
}

interface CloseInput {
  readonly calls: SittingCalls;
  readonly series: readonly PowerSeries[];
  readonly live: SettleReplayInput['live'];
}

function closeSitting(opened: Sitting, { calls, series, live }: CloseInput): Sitting {
  const start = BigInt(opened.start_ns);
  const lastCall = start + BigInt(Math.round(calls.end_ns.reduce((a, b) => Math.max(a, b), 0)));
  const stamps = [lastCall, ...series.flatMap((s) => s.at_ns.at(-1) ?? [])];
  const last = stamps.reduce((a, b) => (a > b ? a : b), start);
  const after = live?.after ?? null;
  return {
    ...opened,
    end_ns: opened.end_ns ?? String(last),
    state: live === null ? 'crashed' : 'closed',
    baselines: after === null ? opened.baselines : [...opened.baselines, after],
  };
}

/** Energy of each call over several domains; null where one of them has none, or there is none at all. */
function sumOf(parts: readonly (Float64Array | null)[], calls: number): Float64Array | null {
  if (parts.length === 0 || parts.includes(null)) return null;
  const sum = new Float64Array(calls);
  for (const part of parts) for (let i = 0; i < calls; i++) sum[i] = (sum[i] ?? 0) + (part?.[i] ?? 0);
  return sum;
}

interface LedgerContext {
  readonly window: Window;
  readonly calls: SittingCalls;
  readonly closed: Sitting;
  readonly summed: readonly string[];
  readonly cut_off: boolean;
}

type SharedOut = ReturnType<typeof shareByTime> & { readonly series: PowerSeries };

function ledgerOf(
  { series, meter, calls_j, unattributed_j }: SharedOut,
  context: LedgerContext,
): DomainLedger {
  const { window, calls, closed, summed, cut_off } = context;
  const { id } = series.domain;
  const lastEnd = calls.end_ns.reduce((a, b) => Math.max(a, b), 0);
  const tail: Window = { start: instant(window.start + BigInt(Math.round(lastEnd))), end: window.end };
  const none = { start_ns: new Float64Array(), end_ns: new Float64Array() };
  const lost = cut_off && tail.start < tail.end ? shareByTime(series, none, tail).meter.energy_j : 0;
  return {
    domain: id,
    in_total: summed.includes(id),
    meter_j: meter.energy_j,
    queries_j: calls_j,
    unattributed_j,
    net_j: netOf(meter, window, baselinePoints(closed.baselines, id)),
    net_host_j: netOf(meter, window, baselinePoints(closed.baselines, id, 'host_idle')),
    lost_work_j: meter.energy_j === null ? null : lost,
    coverage_ratio: meter.coverage_ratio,
    reason: meter.reason,
  };
}

interface QueriesInput {
  readonly sitting: number;
  /** Calls of the sitting. */
  readonly calls: number;
  readonly energy_j: Float64Array | null;
}

/** The `queries` rows of a sitting, in the order of its calls, but for those that are there. */
function writeQueries(run: RunFolder, cell: CellFile, { sitting, calls, energy_j }: QueriesInput) {
  const folder = run.cellFolder(cell.cell_id);
  let present = 0;
  scanColumns(run, { cellId: cell.cell_id, table: 'queries' }, (batch) => {
    const own = batch.number('sitting');
    for (let i = 0; i < batch.rows; i++) if (own(i) === sitting) present += 1;
  });
  if (present >= calls) return null;
  const writer = SegmentWriter.create({
    folder,
    file: `queries-${run.nextSegment(folder, 'queries')}.arrows`,
    table: 'queries',
    sitting,
    metadata: { run_id: run.manifest.run_id, cell_id: cell.cell_id },
  });
  let at = 0;
  scanColumns(run, { cellId: cell.cell_id, table: 'calls' }, (batch) => {
    const own = batch.number('sitting');
    const picked: number[] = [];
    const first = at;
    for (let i = 0; i < batch.rows; i++) {
      if (own(i) !== sitting) continue;
      if (at >= present) picked.push(i);
      at += 1;
    }
    if (picked.length === 0) return;
    const from = Math.max(first, present);
    writer.appendArrays(
      queryArrays(batch, picked, { cell, sitting, energies: energy_j?.subarray(from) ?? null }),
    );
    writer.flush();
  });
  return writer.close();
}
