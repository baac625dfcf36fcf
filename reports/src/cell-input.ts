import { coverEndpoints, type Domain, instant } from '@perwatt/core';
import {
  type BaselineInput,
  type Boundary,
  boundaryOf,
  type CellBase,
  type CellColumnsInput,
  type CellInput,
  type HostBaselines,
  type PowerSeries,
  type SittingInput,
  sloOf,
  type Window,
} from '@perwatt/metrics';
import {
  type Baseline,
  type CellFile,
  cellEndpoints,
  type PowerFileSeries,
  type RunFolder,
  type RunManifest,
  type SampleSeries,
  type Sitting,
} from '@perwatt/records';
import type { ReadCell } from './cell-columns.js';

type Rows = Pick<CellInput, 'queries' | 'calls'>;

/** The window of a sitting; one that was never closed ends with its last call. Null when it has no time at all. */
export function windowOf(sitting: Sitting, lastEnd: ReadCell['lastEnd']): Window | null {
  const start = BigInt(sitting.start_ns);
  const end = sitting.end_ns === null ? (lastEnd(sitting.sitting) ?? start) : BigInt(sitting.end_ns);
  return end > start ? { start: instant(start), end: instant(end) } : null;
}

/** Time (ns) that samples and a window have in common; negative when they lie apart. */
function common(at_ns: BigInt64Array, { start, end }: Window): number {
  const [first, last] = [at_ns[0], at_ns.at(-1)];
  if (first === undefined || last === undefined) return Number.NEGATIVE_INFINITY;
  const from = first > start ? first : start;
  return Number((last < end ? last : end) - from);
}

/** Samples this long before and after a window say all that its energy needs, ns; more where a sensor is slow. */
const AROUND_NS = 120_000_000_000n;
/** And no fewer than these on either side. */
const AROUND_SAMPLES = 16;

/** Index of the first time that isn't before `at`. */
function firstFrom(times: BigInt64Array, at: bigint): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0n) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The samples around a window; the very object where that is all of them. */
function samplesAround(samples: SampleSeries, { start, end }: Window, domain: Domain): SampleSeries {
  const { at_ns, booked_j, lo_j, hi_j } = samples;
  const slow = BigInt(Math.round(100 * domain.update_period_ns));
  const around = slow > AROUND_NS ? slow : AROUND_NS;
  const from = Math.min(firstFrom(at_ns, start - around), firstFrom(at_ns, start) - AROUND_SAMPLES);
  const to = Math.max(firstFrom(at_ns, end + around), firstFrom(at_ns, end) + AROUND_SAMPLES);
  if (from <= 0 && to >= at_ns.length) return samples;
  const first = Math.max(from, 0);
  return {
    at_ns: at_ns.subarray(first, to),
    booked_j: booked_j.subarray(first, to),
    lo_j: lo_j.subarray(first, to),
    hi_j: hi_j.subarray(first, to),
  };
}

/**
 * For every domain the samples of the recorder that saw most of the window, on the same boot of the host: those around the
 * window, so that a cell of a long run costs no more than itself.
 */
export function seriesFor(
  power: readonly PowerFileSeries[],
  window: Window,
  boot_id: string | null,
): PowerSeries[] {
  const best = new Map<string, { series: PowerSeries; common: number }>();
  for (const file of power.filter((candidate) => candidate.boot_id === boot_id)) {
    for (const domain of file.domains) {
      const samples = file.series.get(domain.id);
      if (samples === undefined) continue;
      const shared = common(samples.at_ns, window);
      if (shared > (best.get(domain.id)?.common ?? Number.NEGATIVE_INFINITY))
        best.set(domain.id, {
          series: seriesOf(domain, samplesAround(samples, window, domain)),
          common: shared,
        });
    }
  }
  return [...best.values()].map(({ series }) => series);
}

const known = new WeakMap<object, PowerSeries>();

/** One object for one set of samples, so that what is computed once per series stays so. */
function seriesOf(domain: Domain, samples: Omit<PowerSeries, 'domain'>): PowerSeries {
  const series = known.get(samples) ?? { domain, ...samples };
  known.set(samples, series);
  return series;
}

/** Baselines of one kind of a sitting, each at the middle of the span it was taken over. */
function baselinesOf({ baselines }: Sitting, of: Baseline['kind'] = 'loaded_idle'): BaselineInput[] {
  return baselines
    .filter(({ kind }) => kind === of)
    .flatMap(({ when, start_ns, end_ns, powers }) =>
      powers.flatMap(({ domain, power_w, lo_w, hi_w }) => {
        if (power_w === null || lo_w === null || hi_w === null) return [];
        const at = instant((BigInt(start_ns) + BigInt(end_ns)) / 2n);
        return [{ domain, when, at, power_w, lo_w, hi_w }];
      }),
    );
}

/** Baselines of the idle host by sitting. */
const hostBaselines = ({ sittings }: CellFile): HostBaselines =>
  new Map(sittings.map((sitting) => [sitting.sitting, baselinesOf(sitting, 'host_idle')]));

/**
 * The domains that the queries' energies of a cell are summed over, as its ledgers and the manifest have them; null where
 * the manifest lacks one, one says nothing of the cell's endpoint, or they are of several tiers.
 */
function bookedBoundary(cell: CellFile, manifest: Pick<RunManifest, 'power'>): Boundary | null {
  const declared = new Map(manifest.power.flatMap(({ domains }) => domains.map((own) => [own.id, own])));
  const names = cell.ledgers.filter(({ in_total }) => in_total).map(({ domain }) => domain);
  const declaredDomains = names.flatMap((name) => declared.get(name) ?? []);
  const domains = coverEndpoints(declaredDomains, cellEndpoints(cell), (domain) => domain);
  const boundary = domains.length < names.length ? null : boundaryOf(domains);
  return boundary !== null && boundary.domains.length === names.length ? boundary : null;
}

interface InputOptions {
  readonly power: readonly PowerFileSeries[];
  readonly manifest: Pick<RunManifest, 'power'>;
}

/** What the metrics of one cell are made of beside its rows, out of its records and the power of the run. */
function baseOf(cell: CellFile, lastEnd: ReadCell['lastEnd'], { power, manifest }: InputOptions): CellBase {
  const endpoints = cellEndpoints(cell);
  const sittings = cell.sittings.flatMap((sitting): SittingInput[] => {
    const window = windowOf(sitting, lastEnd);
    if (window === null) return [];
    const metered = seriesFor(power, window, sitting.boot_id);
    const series = coverEndpoints(metered, endpoints, ({ domain }) => domain);
    return [{ sitting: sitting.sitting, window, series, baselines: baselinesOf(sitting) }];
  });
  return {
    sittings,
    guess_rate: cell.provenance?.dataset.guess_rate ?? null,
    seed: cell.seed,
    host: hostBaselines(cell),
    booked: bookedBoundary(cell, manifest),
    slo: sloOf(cell.slo ?? {}),
    steady: cell.steady ?? null,
  };
}

/** What the metrics of one cell are made of, its rows as columns. */
export const cellInput = (
  cell: CellFile,
  { columns, lastEnd }: Pick<ReadCell, 'columns' | 'lastEnd'>,
  options: InputOptions,
): CellColumnsInput => ({ ...baseOf(cell, lastEnd, options), columns });

/** The same with row objects, for parts of a cell. */
export function rowsInput(cell: CellFile, rows: Rows, options: InputOptions): CellInput {
  const lastEnd = (sitting: number) =>
    rows.calls
      .filter((call) => call.sitting === sitting)
      .reduce<bigint | null>((last, { end_ns }) => (last === null || end_ns > last ? end_ns : last), null);
  return { ...baseOf(cell, lastEnd, options), ...rows };
}

/** A cell's rows, and what of its segments is not whole. */
export function readCell(run: RunFolder, cell_id: string): Rows & { torn: string[] } {
  const [queries, calls] = [run.readQueries(cell_id), run.readCalls(cell_id)];
  const torn = [...queries.torn, ...calls.torn].map(
    ({ file, reason, rows }) => `${file}: ${reason}; ${rows} rows were read`,
  );
  return { queries: queries.rows, calls: calls.rows, torn };
}
