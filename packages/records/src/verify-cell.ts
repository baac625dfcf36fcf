import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { QueryRow } from '@perwatt/core';
import type { RecordBatch } from 'apache-arrow';
import { decodeRows } from './decode-rows.js';
import { type Checked, type Finding, found, problem, together } from './findings.js';
import type { CellFile, DomainLedger } from './manifest.js';
import type { RunFolder } from './run-folder.js';
import { cellSegments, cellTables } from './run-segments.js';
import { checkSegment } from './verify-segment.js';

/** Relative difference at which joules no longer add up. */
const TOLERANCE = 1e-9;

/** Checks one cell: its segments, its rows against what it is, its ids, and its ledgers. */
export function checkCell(run: RunFolder, cell: CellFile): Checked {
  const place = `cells/${cell.cell_id}`;
  const queries = new QueryTally();
  const crashed = new Set(cell.sittings.filter(({ state }) => state !== 'closed').map((s) => s.sitting));
  const open = cell.status !== 'done' && cell.status !== 'failed';
  const { model, accelerator, dataset, strategy } = cell.point;
  const own = {
    run_id: new Set([cell.run_id, ...(cell.merged_from ?? [])]),
    cell_id: new Set([cell.cell_id]),
  };
  const ofQuery = {
    model: new Set([model]),
    accelerator: new Set([accelerator]),
    dataset: new Set([dataset]),
  };
  const checks = cellTables.flatMap((table) =>
    cellSegments(run, cell, table).map((source) =>
      checkSegment({
        place,
        table,
        ...source,
        crashed: source.entry === null && (open || crashed.size > 0),
        names: table === 'queries' ? { ...own, ...ofQuery, strategy: new Set([strategy]) } : own,
        ...(table === 'queries' ? { onBatch: (batch: RecordBatch) => queries.add(batch) } : {}),
      }),
    ),
  );
  return together([
    ...checks,
    found(
      ...strangers(run, cell, place),
      ...queries.findings(place),
      ...conservation(cell, place),
      ...ledgerOfRows(cell, queries, place),
    ),
  ]);
}

/** Files that look like segments and are none of this cell. */
function strangers(run: RunFolder, cell: CellFile, place: string): Finding[] {
  const known = new Set(
    cellTables.flatMap((table) => cellSegments(run, cell, table).map(({ path }) => basename(path))),
  );
  return readdirSync(run.cellFolder(cell.cell_id))
    .filter((file) => file.endsWith('.arrows') && !known.has(file))
    .sort()
    .map((file) => problem('file_foreign', `${place}/${file}`, 'not the name of a segment of a cell'));
}

/** What the `queries` rows of a cell say together. */
class QueryTally {
  readonly #ids = new Set<string>();
  readonly #duplicates = new Set<string>();
  readonly #backwards: string[] = [];
  readonly #outside: string[] = [];
  #gross = new ExactSum();
  /** Whether every row has energy, and there is one. */
  resolved = true;
  rows = 0;

  get gross_j(): number {
    return this.#gross.value;
  }

  add(batch: RecordBatch): void {
    for (const row of decodeRows(batch, 'queries')) {
      this.rows += 1;
      if (this.#ids.has(row.query_id)) this.#duplicates.add(row.query_id);
      this.#ids.add(row.query_id);
      if (row.end_ns < row.start_ns) this.#backwards.push(row.query_id);
      if (outsideBounds(row)) this.#outside.push(row.query_id);
      if (row.energy_gross_j === null) this.resolved = false;
      else this.#gross.add(row.energy_gross_j);
    }
  }

  findings(place: string): Finding[] {
    return [
      ...listed('duplicate_query', place, 'several rows have the query id', [...this.#duplicates]),
      ...listed('window', place, 'a query ends before it starts', this.#backwards),
      ...listed('energy_bounds', place, 'energy lies outside its own bounds', this.#outside),
    ];
  }
}

const outsideBounds = ({ energy_gross_j: e, energy_lo_j: lo, energy_hi_j: hi }: QueryRow): boolean => {
  if (e === null) return false;
  const slack = TOLERANCE * Math.max(1, Math.abs(e));
  return (lo !== null && e < lo - slack) || (hi !== null && e > hi + slack);
};

/** One finding for all of `ids`, the first few by name; none when there are none. */
const listed = (code: Finding['code'], place: string, text: string, ids: readonly string[]): Finding[] => {
  if (ids.length === 0) return [];
  const some = ids.slice(0, 3).join(', ');
  return [problem(code, place, `${text}: ${some}${ids.length > 3 ? ` and ${ids.length - 3} more` : ''}`)];
};

/** Ledgers in which queries and the rest do not make up what the meter says. */
function conservation({ ledgers }: CellFile, place: string): Finding[] {
  return ledgers.flatMap(({ domain, meter_j, queries_j, unattributed_j }: DomainLedger) => {
    if (meter_j === null || queries_j === null || unattributed_j === null) return [];
    if (near(queries_j + unattributed_j, meter_j)) return [];
    const sum = `${queries_j} J of queries and ${unattributed_j} J unattributed`;
    return [problem('conservation', place, `domain ${domain}: ${sum} are not the ${meter_j} J of the meter`)];
  });
}

/** Rows whose energies do not add up to what the ledgers of the total give to queries. */
function ledgerOfRows({ ledgers }: CellFile, queries: QueryTally, place: string): Finding[] {
  const shares = ledgers.filter(({ in_total }) => in_total).map(({ queries_j }) => queries_j);
  if (shares.length === 0 || queries.rows === 0 || !queries.resolved) return [];
  const total = new ExactSum();
  for (const share of shares) {
    if (share === null) return [];
    total.add(share);
  }
  if (near(queries.gross_j, total.value)) return [];
  return [
    problem(
      'conservation',
      place,
      `${queries.rows} rows hold ${queries.gross_j} J, the ledgers ${total.value} J`,
    ),
  ];
}

const near = (a: number, b: number): boolean =>
  Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));

/** A sum of doubles with the rounding errors kept (Neumaier, https://doi.org/10.1002/zamm.19740540106). */
class ExactSum {
  #sum = 0;
  #rest = 0;

  add(value: number): void {
    const next = this.#sum + value;
    const bigger = Math.abs(this.#sum) >= Math.abs(value);
    this.#rest += bigger ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
  }

  get value(): number {
    return this.#sum + this.#rest;
  }
}
