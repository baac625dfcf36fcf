import { coversEndpoint, instant } from '@perwatt/core';
import {
  type PowerSeries,
  seriesWithoutStale,
  shareByTime,
  type TimeShares,
  type Window,
} from '@perwatt/metrics';
import {
  type Baseline,
  type CellFile,
  type ColumnBatch,
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
  const summed = summedDomains(series);
  const count = calls.start_ns.length;
  const sum = createEnergySum(count);
  const ledgers = series.map((s) => {
    const { energy_j, ...part } = shareByTime(s, calls, window);
    if (summed.includes(s.domain.id)) sum.add(energy_j);
    return ledgerOf({ series: s, ...part }, { window, calls, closed, summed, cut_off: live === null });
  });
  const segment = writeQueries(run, before, { sitting, calls: count, energy_j: sum.energy_j() });
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
  let failed = 0;
  const count = scanColumns(run, { cellId: cell.cell_id, table: 'queries' }, (batch) => {
    const status = batch.text('status');
    for (let i = 0; i < batch.rows; i++) if (status(i) === 'failed') failed += 1;
  });
  const queries = { count, failed, unscored: 0, why: null };
  return {
    ...cell,
    status: count >= expected ? 'done' : 'running',
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
function createEnergySum(calls: number) {
  let [sum, missing]: [Float64Array | null, boolean] = [null, false];
  return {
    add(part: Float64Array | null) {
      missing ||= part === null;
      sum ??= new Float64Array(calls);
      for (let i = 0; i < calls; i++) sum[i] = (sum[i] ?? 0) + (part?.[i] ?? 0);
    },
    energy_j: () => (missing ? null : sum),
  };
}

interface LedgerContext {
  readonly window: Window;
  readonly calls: SittingCalls;
  readonly closed: Sitting;
  readonly summed: readonly string[];
  readonly cut_off: boolean;
}

type SharedOut = Omit<TimeShares, 'energy_j'> & { readonly series: PowerSeries };

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

/** Most rows that wait for the disk. */
const FLUSH_ROWS = 16_384;

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
    const own = rowsOf(batch, sitting);
    const picked = own.subarray(Math.max(0, present - at));
    const energies = energy_j?.subarray(Math.max(at, present)) ?? null;
    at += own.length;
    if (picked.length === 0) return;
    writer.appendArrays(queryArrays(batch, picked, { cell, sitting, energies }));
    if (writer.pendingRows >= FLUSH_ROWS) writer.flush();
  });
  return writer.close();
}

/** Rows of a batch that a sitting wrote. */
function rowsOf(batch: ColumnBatch, sitting: number): Uint32Array {
  const own = batch.number('sitting');
  const rows = new Uint32Array(batch.rows);
  let n = 0;
  for (let i = 0; i < batch.rows; i++) if (own(i) === sitting) rows[n++] = i;
  return rows.subarray(0, n);
}
