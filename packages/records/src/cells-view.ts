import type { CellFile, DomainLedger, PowerFile } from './manifest.js';
import { repeatsMade } from './repeats-made.js';
import { quoted } from './sql-engine.js';

type Value = string | number | bigint | null;
type Tiers = ReadonlyMap<string, string>;
type Cell = (cell: CellFile, tiers: Tiers) => Value;

const total =
  (key: 'meter_j' | 'queries_j' | 'unattributed_j' | 'lost_work_j'): Cell =>
  ({ ledgers }) => {
    const summed = ledgers.filter((ledger: DomainLedger) => ledger.in_total).map((ledger) => ledger[key]);
    if (summed.length === 0) return null;
    return summed.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
  };

/** Where the joules of a cell come from, by the domains of its total; several names joined by `+`, null without energy. */
const tierOf: Cell = ({ ledgers }, tiers) => {
  const summed = ledgers.filter(({ in_total }) => in_total);
  const names = new Set(summed.flatMap(({ domain }) => tiers.get(domain) ?? []));
  return names.size === 0 ? null : [...names].sort().join('+');
};

/** Columns of the view `cells`: SQL type and where its value comes from. */
export const cellColumns: readonly (readonly [name: string, type: string, value: Cell])[] = [
  ['run_id', 'VARCHAR', (c) => c.run_id],
  ['cell_id', 'VARCHAR', (c) => c.cell_id],
  ['position', 'UINTEGER', (c) => c.position],
  ['model', 'VARCHAR', (c) => c.point.model],
  ['accelerator', 'VARCHAR', (c) => c.point.accelerator],
  ['dataset', 'VARCHAR', (c) => c.point.dataset],
  ['strategy', 'VARCHAR', (c) => c.point.strategy],
  ['load', 'VARCHAR', (c) => c.point.load],
  ['variant', 'VARCHAR', (c) => c.point.variant ?? null],
  ['quantisation', 'VARCHAR', (c) => c.settings?.quantisation ?? null],
  ['context_tokens', 'UINTEGER', (c) => c.settings?.context_tokens ?? null],
  ['engine_flags', 'VARCHAR', (c) => c.settings?.engine_flags ?? null],
  ['parallel', 'VARCHAR', (c) => c.settings?.parallel ?? null],
  ['reasoning_effort', 'VARCHAR', (c) => c.settings?.reasoning_effort ?? null],
  ['power_cap_w', 'DOUBLE', (c) => c.settings?.power_cap_w ?? null],
  ['block', 'UINTEGER', (c) => c.block ?? null],
  ['block_position', 'UINTEGER', (c) => c.block_position ?? null],
  ['concurrency', 'UINTEGER', (c) => c.concurrency],
  ['repeats', 'UINTEGER', repeatsMade],
  ['stopped', 'VARCHAR', (c) => c.stopping?.stopped ?? null],
  ['max_tokens', 'UINTEGER', (c) => c.max_tokens],
  ['seed', 'UBIGINT', (c) => c.seed],
  ['status', 'VARCHAR', (c) => c.status],
  ['failure', 'VARCHAR', (c) => c.failure],
  ['skipped', 'VARCHAR', (c) => c.skipped ?? null],
  ['verdict', 'VARCHAR', (c) => c.verdict?.state ?? null],
  ['reasons', 'VARCHAR', (c) => c.verdict?.reasons.map(({ code }) => code).join(' ') ?? null],
  ['declared_sha256', 'VARCHAR', (c) => c.hashes?.declared ?? null],
  ['resolved_sha256', 'VARCHAR', (c) => c.hashes?.resolved ?? null],
  ['observed_sha256', 'VARCHAR', (c) => c.hashes?.observed ?? null],
  ['sittings', 'UINTEGER', (c) => c.sittings.length],
  ['energy_provenance', 'VARCHAR', tierOf],
  ['meter_j', 'DOUBLE', total('meter_j')],
  ['queries_j', 'DOUBLE', total('queries_j')],
  ['unattributed_j', 'DOUBLE', total('unattributed_j')],
  ['lost_work_j', 'DOUBLE', total('lost_work_j')],
  ['roles', 'VARCHAR', (c) => (c.role_ledgers === undefined ? null : JSON.stringify(c.role_ledgers))],
  ['provenance', 'VARCHAR', (c) => (c.provenance === null ? null : JSON.stringify(c.provenance))],
];

/** The statements that make the table `cells`: one row a cell, energies summed over the domains of the total. */
export function cellsStatements(
  cells: readonly CellFile[],
  power: readonly Pick<PowerFile, 'provenance' | 'domains'>[],
): string[] {
  const tiers: Tiers = new Map(
    power.flatMap(({ domains, provenance }) => domains.map(({ id }): [string, string] => [id, provenance])),
  );
  const columns = cellColumns.map(([name, type]) => `"${name}" ${type}`).join(', ');
  const rows = cells.map(
    (cell) => `(${cellColumns.map(([, , value]) => literal(value(cell, tiers))).join(', ')})`,
  );
  const inserts: string[] = [];
  for (let at = 0; at < rows.length; at += 500) {
    inserts.push(`INSERT INTO cells VALUES ${rows.slice(at, at + 500).join(', ')}`);
  }
  return [`CREATE TABLE cells (${columns})`, ...inserts];
}

function literal(value: Value): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? quoted(value) : `${value}`;
}
