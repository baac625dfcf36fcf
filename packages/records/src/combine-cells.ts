import { PerwattError, type RowOf, type TableName, type tables } from '@perwatt/core';
import type { RoleLedger } from './experiment-facts.js';
import type { CellFile, CellVerdict, DomainLedger, SegmentEntry, VerdictReason } from './manifest.js';
import { parseQueryId, queryId } from './query-ids.js';
import { repeatsMade } from './repeats-made.js';
import type { RunFolder } from './run-folder.js';
import { SegmentWriter } from './segment-writer.js';

/** A cell in one of the runs that worked on it. */
export interface CellPart {
  readonly run: RunFolder;
  readonly cell: CellFile;
}

/** Tables of a cell whose rows belong to a sitting and, but for calls of a warm-up, to a query. */
const tablesOfParts = ['queries', 'calls', 'texts', 'grades'] as const;
type PartTable = (typeof tablesOfParts)[number];

/** How far the repeats and sittings of a part are moved on. */
interface Shift {
  readonly repeats: number;
  readonly sittings: number;
}

/**
 * Why equal cells can't be one: one isn't done, or they were measured by other meters, so that no total would hold for both.
 * Null when they can.
 */
export function whyNotOne([first, ...others]: readonly CellPart[]): string | null {
  const parts = [first, ...others].filter((part) => part !== undefined);
  const open = parts.find(({ cell }) => cell.status !== 'done');
  if (open !== undefined) return `it is not done in ${open.run.path}`;
  if (parts.some(({ cell }) => cell.replay !== undefined)) return 'it is of a replay';
  const meters = parts.map(({ cell }) => metersOf(cell));
  const other = meters.findIndex((names) => names !== meters[0]);
  if (other === -1) return null;
  return `it was metered by ${meters[0]} in ${parts[0]?.run.path} and by ${meters[other]} in ${parts[other]?.run.path}`;
}

const metersOf = ({ ledgers }: CellFile): string =>
  ledgers
    .filter(({ in_total }) => in_total)
    .map(({ domain }) => domain)
    .sort()
    .join(', ') || 'nothing';

/**
 * Equal cells of several runs as one: the repeats and sittings of each follow those of the one before. Writes rows of all but
 * the first, whose segments are there already, to new segments of `merged`, and returns the cell's file.
 */
export function combineCells(merged: RunFolder, [first, ...others]: readonly CellPart[]): CellFile {
  if (first === undefined) throw new RangeError('no cell to combine');
  let sum: CellFile = withoutStopping(first.cell);
  for (const part of others) {
    const shift = { repeats: sum.repeats, sittings: sum.sittings.length };
    const segments = copyRows(merged, part, shift);
    sum = added(sum, part.cell, { shift, segments });
  }
  return flagged(sum, [first, ...others]);
}

function withoutStopping(cell: CellFile): CellFile {
  const { stopping: _, ...rest } = cell;
  return { ...rest, repeats: repeatsMade(cell) };
}

function copyRows(merged: RunFolder, { run, cell }: CellPart, shift: Shift): SegmentEntry[] {
  const { cell_id, run_id } = cell;
  const read = {
    queries: run.readQueries(cell_id),
    calls: run.readCalls(cell_id),
    texts: run.readTexts(cell_id),
    grades: run.readGrades(cell_id),
  };
  const folder = merged.cellFolder(cell_id);
  return tablesOfParts.flatMap((table) => {
    const { rows, torn } = read[table];
    const [lost] = torn;
    if (lost !== undefined)
      throw new PerwattError('RUN_INVALID', `cell ${cell_id} of ${run.path}: ${lost.file}: ${lost.reason}`);
    return [...bySitting<PartRow>(rows)].map(([sitting, own]) =>
      writeRows(
        own.map((row) => shifted(row, shift)),
        {
          folder,
          file: `${table}-${merged.nextSegment(folder, table)}.arrows`,
          table,
          sitting: sitting + shift.sittings,
          metadata: { run_id, cell_id },
        },
      ),
    );
  });
}

type PartRow = RowOf<(typeof tables)[PartTable]>;

function bySitting<T extends { readonly sitting: number }>(rows: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const group = groups.get(row.sitting);
    if (group === undefined) groups.set(row.sitting, [row]);
    else group.push(row);
  }
  return groups;
}

function writeRows(
  rows: readonly PartRow[],
  options: Parameters<typeof SegmentWriter.create<TableName>>[0],
): SegmentEntry {
  const writer = SegmentWriter.create<TableName>(options);
  writer.append(rows);
  return writer.close();
}

/** A row with its repeat and sitting moved on, wherever they stand in it. */
function shifted(row: PartRow, { repeats, sittings }: Shift): PartRow {
  const id = parseQueryId(row.query_id);
  const query_id =
    id === null
      ? row.query_id.replace(/\/warmup\/(\d+)\./, (_, n: string) => `/warmup/${Number(n) + sittings}.`)
      : queryId(id.cell_id, id.item_id, id.repeat + repeats);
  const repeat = 'repeat' in row ? { repeat: row.repeat + repeats } : {};
  return { ...row, query_id, sitting: row.sitting + sittings, ...repeat };
}

interface Added {
  readonly shift: Shift;
  readonly segments: readonly SegmentEntry[];
}

function added(a: CellFile, b: CellFile, { shift, segments }: Added): CellFile {
  const { declared = '', resolved = '', observed } = a.hashes ?? {};
  const same = observed !== undefined && observed === b.hashes?.observed;
  const roles = addRoles(a.role_ledgers ?? [], b.role_ledgers ?? []);
  return {
    ...a,
    repeats: a.repeats + repeatsMade(b),
    sittings: [
      ...a.sittings,
      ...b.sittings.map((own) => ({ ...own, sitting: own.sitting + shift.sittings })),
    ],
    ledgers: addLedgers(a.ledgers, b.ledgers),
    ...(roles.length === 0 ? {} : { role_ledgers: roles }),
    segments: [...a.segments, ...segments],
    ...(a.hashes === undefined ? {} : { hashes: { declared, resolved, ...(same ? { observed } : {}) } }),
  };
}

const plus = (a: number | null | undefined, b: number | null | undefined): number | null =>
  a == null || b == null ? null : a + b;

/** Ledgers by domain; what one lacks the sum does not know. */
function addLedgers(a: readonly DomainLedger[], b: readonly DomainLedger[]): DomainLedger[] {
  const names = [...new Set([...a, ...b].map(({ domain }) => domain))];
  return names.map((domain) => {
    const [one, two] = [a, b].map((ledgers) => ledgers.find((own) => own.domain === domain));
    return {
      domain,
      in_total: one?.in_total ?? two?.in_total ?? false,
      meter_j: plus(one?.meter_j, two?.meter_j),
      queries_j: plus(one?.queries_j, two?.queries_j),
      unattributed_j: plus(one?.unattributed_j, two?.unattributed_j),
      net_j: plus(one?.net_j, two?.net_j),
      net_host_j: plus(one?.net_host_j, two?.net_host_j),
      lost_work_j: plus(one?.lost_work_j, two?.lost_work_j),
      coverage_ratio: Math.min(one?.coverage_ratio ?? 0, two?.coverage_ratio ?? 0),
      reason: one?.reason ?? two?.reason ?? null,
    };
  });
}

const roleOf = ({ role, endpoint, model }: RoleLedger): string => [role, endpoint, model].join('\u0000');

function addRoles(a: readonly RoleLedger[], b: readonly RoleLedger[]): RoleLedger[] {
  const sums = new Map(a.map((ledger) => [roleOf(ledger), ledger]));
  for (const more of b) {
    const known = sums.get(roleOf(more));
    sums.set(
      roleOf(more),
      known === undefined
        ? more
        : {
            ...known,
            calls: known.calls + more.calls,
            prompt_tokens: plus(known.prompt_tokens, more.prompt_tokens),
            completion_tokens: plus(known.completion_tokens, more.completion_tokens),
            energy_j: plus(known.energy_j, more.energy_j),
          },
    );
  }
  return [...sums.values()];
}

/** The verdict of a cell put together: all reasons of its parts, and what a reader must know of the whole. */
function flagged(cell: CellFile, parts: readonly CellPart[]): CellFile {
  const known = new Map<string, VerdictReason>();
  for (const reason of [...parts.flatMap((part) => part.cell.verdict?.reasons ?? []), ...wholeReasons(parts)])
    known.set(`${reason.code} ${reason.text}`, reason);
  const states = parts.map((part) => part.cell.verdict?.state ?? 'flagged');
  const state: CellVerdict['state'] = states.includes('invalid') ? 'invalid' : 'flagged';
  const merged_from = [
    ...new Set(parts.flatMap((part) => [part.cell.run_id, ...(part.cell.merged_from ?? [])])),
  ];
  return { ...cell, merged_from, verdict: { state, reasons: [...known.values()] } };
}

function* wholeReasons(parts: readonly CellPart[]): Generator<VerdictReason> {
  const repeats = parts.map(
    (part) => `${repeatsMade(part.cell)} of ${part.cell.run_id} on ${part.run.manifest.host.hostname}`,
  );
  yield {
    code: 'merged',
    text: `its repeats come from several runs: ${repeats.join(', ')}; the same repeat of each was drawn with the same seed`,
    fix: null,
  };
  const observed = new Set(parts.map((part) => part.cell.hashes?.observed ?? null));
  if (observed.size > 1)
    yield {
      code: 'drift',
      text: `what answered it differs between the runs: ${parts.map((part) => `${part.cell.run_id} ${part.cell.hashes?.observed?.slice(0, 12) ?? 'unknown'}`).join(', ')}`,
      fix: 'Compare `observed` of its sittings, and measure it on equal servers.',
    };
  for (const { cell } of parts)
    if (cell.stopping != null)
      yield { code: 'stopped_by_data', text: `${cell.run_id}: ${cell.stopping.note}`, fix: null };
}
