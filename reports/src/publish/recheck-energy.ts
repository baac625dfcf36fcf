import { type CallRow, coverEndpoints, instant, type QueryRow } from '@perwatt/core';
import {
  type Attribution,
  attribute,
  type PowerSeries,
  seriesWithoutStale,
  type Window,
} from '@perwatt/metrics';
import {
  type CellFile,
  cellEndpoints,
  type PowerFileSeries,
  type RunFolder,
  type Sitting,
} from '@perwatt/records';
import { seriesFor } from '../cell-input.js';

/** Relative difference at which a joule counts as another one. */
const TOLERANCE = 1e-6;

/** Calls of a cell above which its queries are not worked out one by one: each takes an object in memory. */
const MOST_CALLS = 1_000_000;

/** What of a run's energies was made again from raw samples and spans of calls, and where something else came out. */
export interface EnergyRecheck {
  readonly queries: number;
  readonly sittings: number;
  readonly problems: readonly string[];
  /** What could not be made again, and why. */
  readonly notes: readonly string[];
}

/**
 * Works out the energy of every query and every meter again, from the samples and the spans of the calls alone, and holds the
 * rows and ledgers of the run to it. What was shared out by tokens is held to in total.
 */
export function recheckEnergy(run: RunFolder): EnergyRecheck {
  const power = run.powerSeries();
  const found = { queries: 0, sittings: 0, problems: [] as string[], notes: [] as string[] };
  for (const cell of run.cells()) {
    const checked = recheckCell(run, cell, power);
    found.queries += checked.queries;
    found.sittings += checked.sittings;
    found.problems.push(...checked.problems);
    found.notes.push(...checked.notes);
  }
  return found;
}

const nothing: EnergyRecheck = { queries: 0, sittings: 0, problems: [], notes: [] };

const joined = (checks: readonly EnergyRecheck[]): EnergyRecheck => ({
  queries: checks.reduce((sum, { queries }) => sum + queries, 0),
  sittings: checks.reduce((sum, { sittings }) => sum + sittings, 0),
  problems: checks.flatMap(({ problems }) => problems),
  notes: checks.flatMap(({ notes }) => notes),
});

function recheckCell(run: RunFolder, cell: CellFile, power: readonly PowerFileSeries[]): EnergyRecheck {
  const total = cell.ledgers.filter(({ in_total }) => in_total).map(({ domain }) => domain);
  if (total.length === 0) return nothing;
  const rows = cell.segments.reduce((sum, entry) => sum + (entry.table === 'calls' ? entry.rows : 0), 0);
  if (rows > MOST_CALLS)
    return {
      ...nothing,
      notes: [`cell ${cell.cell_id}: ${rows} calls are too many to work out query by query; its figures are`],
    };
  const queries = run.readQueries(cell.cell_id).rows;
  const calls = run.readCalls(cell.cell_id).rows.filter(({ phase }) => phase === 'measure');
  const checks = cell.sittings.map((sitting) => {
    const own = queries.filter((row) => row.sitting === sitting.sitting);
    return recheckSitting(cell, sitting, {
      power,
      total,
      queries: own,
      calls: calls.filter((call) => call.sitting === sitting.sitting),
    });
  });
  return joined(checks);
}

interface SittingRows {
  readonly power: readonly PowerFileSeries[];
  /** Domains of the total. */
  readonly total: readonly string[];
  readonly queries: readonly QueryRow[];
  readonly calls: readonly CallRow[];
}

const windowOf = ({ start_ns, end_ns }: Sitting): Window | null =>
  end_ns === null || BigInt(end_ns) <= BigInt(start_ns)
    ? null
    : { start: instant(BigInt(start_ns)), end: instant(BigInt(end_ns)) };

function recheckSitting(cell: CellFile, sitting: Sitting, rows: SittingRows): EnergyRecheck {
  const window = windowOf(sitting);
  const resolved = rows.queries.filter(({ energy_gross_j }) => energy_gross_j !== null);
  if (window === null || resolved.length === 0) return nothing;
  const where = `cell ${cell.cell_id}, sitting ${sitting.sitting}`;
  const metered = coverEndpoints(
    seriesFor(rows.power, window, sitting.boot_id),
    cellEndpoints(cell),
    ({ domain }) => domain,
  );
  const { series } = seriesWithoutStale(metered, window);
  const meters = rows.total.map((id) => series.find(({ domain }) => domain.id === id));
  if (!meters.every((meter) => meter !== undefined))
    return { ...nothing, notes: [`${where}: the samples of a domain of the total are not there`] };
  const answered = new Set(rows.queries.map(({ query_id }) => query_id));
  const calls = rows.calls.filter(({ query_id }) => answered.has(query_id));
  const shares = meters.map((meter) => attributed(meter, calls, window));
  const expected = energyOfQuery(shares);
  const problems = [
    ...ofQueries(resolved, expected, where),
    ...ofTotal(resolved, shares, where),
    ...(cell.sittings.length === 1 ? ofLedgers(cell, rows.total, { shares, where }) : []),
  ];
  return { queries: resolved.length, sittings: 1, problems, notes: [] };
}

const attributed = (series: PowerSeries, calls: readonly CallRow[], window: Window): Attribution =>
  attribute(
    series,
    calls.map(({ query_id, dispatch_ns, end_ns }) => ({
      query_id,
      start: instant(dispatch_ns),
      end: instant(end_ns),
    })),
    window,
  );

/** Energy of a query over the total; null where a meter says nothing. */
const energyOfQuery =
  (shares: readonly Attribution[]) =>
  (query_id: string): number | null =>
    shares.reduce<number | null>((sum, { queries }) => {
      const own = queries.get(query_id);
      return sum === null || own === undefined ? null : sum + own.energy_j;
    }, 0);

const differs = (a: number, b: number): boolean =>
  Math.abs(a - b) > TOLERANCE * Math.max(1e-3, Math.abs(a), Math.abs(b));

function ofQueries(
  queries: readonly QueryRow[],
  expected: (query_id: string) => number | null,
  where: string,
): string[] {
  const wrong = queries.flatMap(({ query_id, energy_gross_j, energy_method }) => {
    const again = expected(query_id);
    if (energy_method === 'token_share' || again === null || energy_gross_j === null) return [];
    return differs(energy_gross_j, again)
      ? [`${query_id} has ${energy_gross_j} J, its samples give ${again} J`]
      : [];
  });
  const [first] = wrong;
  if (first === undefined) return [];
  const more = wrong.length > 1 ? `, and ${wrong.length - 1} more queries differ` : '';
  return [`${where}: query ${first}${more}`];
}

function ofTotal(queries: readonly QueryRow[], shares: readonly Attribution[], where: string): string[] {
  const sum = queries.reduce((total, { energy_gross_j }) => total + (energy_gross_j ?? 0), 0);
  const again = shares.reduce((total, { queries_j }) => total + (queries_j ?? 0), 0);
  const complete = shares.every(({ queries: own }) => own.size === queries.length);
  return complete && differs(sum, again)
    ? [`${where}: its queries have ${sum} J together, the samples give ${again} J`]
    : [];
}

interface LedgerCheck {
  readonly shares: readonly Attribution[];
  readonly where: string;
}

function ofLedgers(cell: CellFile, total: readonly string[], { shares, where }: LedgerCheck): string[] {
  return total.flatMap((domain, i) => {
    const ledger = cell.ledgers.find((own) => own.domain === domain);
    const again = shares[i]?.meter.energy_j ?? null;
    if (ledger?.meter_j == null || again === null || !differs(ledger.meter_j, again)) return [];
    return [`${where}: the ledger of ${domain} has ${ledger.meter_j} J, the samples give ${again} J`];
  });
}
