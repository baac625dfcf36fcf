import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  type Domain,
  PerwattError,
  provenances,
  type RecorderStatus,
  type SampleColumns,
  type SampleRow,
  sampleEvents,
  scopes,
} from '@perwatt/core';
import { openRun, type PowerFile, readSegment } from '@perwatt/records';
import { type KeptRecorder, recordersPath } from './sample-file.js';

/** What one source of a recording read. */
export interface RecordedSource {
  readonly source: string;
  readonly domains: readonly Domain[];
  /** Vendor's unit of `raw`, by domain; empty for one that was never read. */
  readonly raw_units: readonly string[];
  /** In the order of their stamps. */
  readonly columns: SampleColumns;
  readonly period_ns: number;
  /** How its recorder fared; null where nobody kept it. */
  readonly status: RecorderStatus | null;
}

/** A file of samples that was kept: its sources, in the order of their domains. */
export interface RecordedFile {
  readonly sources: readonly RecordedSource[];
  /** Why samples are or may be missing at the end; null when nothing points to it. */
  readonly torn: string | null;
}

/**
 * Reads samples that `power --out` or `power record --out` kept, or a file of a run's folder `power`, whose facts its
 * `run.json` holds. Every whole batch of a torn file is read. Throws `INPUT_INVALID` for a file that holds no samples or
 * whose domains nobody names, and what `readSegment` throws for a foreign one.
 */
export function recordedSamples(path: string): RecordedFile {
  const kept = keptBy(path);
  const { rows, info } = readSegment(path, 'samples', kept?.segment ?? undefined);
  if (rows.length === 0) {
    throw new PerwattError('INPUT_INVALID', `${path} holds no samples: ${info.torn ?? 'nothing was read'}`, {
      hint: 'Pass a file that `perwatt power --out` or a run kept.',
    });
  }
  const domains = kept?.domains ?? namedDomains(info.metadata['domains'], path);
  const unknown = rows.find((row) => domains.every(({ id }) => id !== row.domain));
  if (unknown !== undefined)
    throw new PerwattError(
      'INPUT_INVALID',
      `${path} has samples of "${unknown.domain}", which it doesn't name`,
    );
  const names = [...new Set(domains.map(({ source }) => source))];
  const recorders = keptRecorders(recordersPath(path));
  const sources = names.map((source) => {
    const fared = kept ?? recorders.find((one) => one.source === source);
    const own = domains.filter((domain) => domain.source === source);
    const read = rows.filter((row) => own.some(({ id }) => id === row.domain));
    return {
      source,
      domains: own,
      raw_units: own.map(({ id }) => read.find((row) => row.domain === id)?.unit ?? ''),
      columns: columnsOf(read, own),
      period_ns: fared?.period_ns ?? periodOf(read, own),
      status: fared?.status ?? null,
    };
  });
  return { sources, torn: info.torn };
}

/** What the manifest says of a file in a run's folder `power`; null for one that lies elsewhere. */
function keptBy(path: string): PowerFile | null {
  const folder = dirname(path);
  const run = dirname(folder);
  if (basename(folder) !== 'power' || !existsSync(join(run, 'run.json'))) return null;
  return openRun(run).manifest.power.find(({ file }) => file === basename(path)) ?? null;
}

/** What stands beside a file of samples; nothing where its process was killed, or an older version made it. */
function keptRecorders(path: string): readonly KeptRecorder[] {
  if (!existsSync(path)) return [];
  const kept = parsed(readFileSync(path, 'utf8'));
  if (Array.isArray(kept) && kept.every(isKept)) return kept;
  throw new PerwattError('INPUT_INVALID', `${path} isn't what a recording left beside its samples`, {
    hint: 'Restore the file, or move it away: bounds then hold only the declared update periods.',
  });
}

function isKept(value: unknown): value is KeptRecorder {
  if (typeof value !== 'object' || value === null) return false;
  const { source, period_ns, status } = value as Partial<KeptRecorder>;
  const { flags = [], observed = [] } = status ?? {};
  return (
    typeof source === 'string' &&
    typeof period_ns === 'number' &&
    period_ns > 0 &&
    typeof status === 'object' &&
    status !== null &&
    Array.isArray(flags) &&
    Array.isArray(observed)
  );
}

function namedDomains(text: string | undefined, path: string): readonly Domain[] {
  const domains = text === undefined ? null : parsed(text);
  if (Array.isArray(domains) && domains.length > 0 && domains.every(isDomain)) return domains;
  throw new PerwattError('INPUT_INVALID', `${path} doesn't say what its domains are`, {
    hint: 'A file of a run is read where it lies, in the folder `power` beside `run.json`.',
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isDomain(value: unknown): value is Domain {
  if (typeof value !== 'object' || value === null) return false;
  const { id, source, scope, kind, provenance, in_total, update_period_ns } = value as Partial<Domain>;
  return (
    typeof id === 'string' &&
    typeof source === 'string' &&
    typeof in_total === 'boolean' &&
    typeof update_period_ns === 'number' &&
    scopes.some((known) => known === scope) &&
    provenances.some((known) => known === provenance) &&
    ['counter', 'gauge', 'estimate'].some((known) => known === kind)
  );
}

const inOrder = (a: SampleRow, b: SampleRow): number => (a.at_ns < b.at_ns ? -1 : a.at_ns > b.at_ns ? 1 : 0);

function columnsOf(unordered: readonly SampleRow[], domains: readonly Domain[]): SampleColumns {
  const rows = unordered.toSorted(inOrder);
  const index = new Map(domains.map(({ id }, d) => [id, d]));
  const real = (of: (row: SampleRow) => number) => Float64Array.from(rows, of);
  return {
    at_ns: BigInt64Array.from(rows, ({ at_ns }) => at_ns),
    read_ns: real(({ read_ns }) => read_ns),
    domain: Uint16Array.from(rows, ({ domain }) => index.get(domain) ?? 0),
    raw: BigInt64Array.from(rows, ({ raw }) => raw ?? 0n),
    raw_valid: Uint8Array.from(rows, ({ raw }) => Number(raw !== null)),
    event: Uint8Array.from(rows, ({ event }) => eventIndex(event)),
    booked_energy_j: real(({ booked_energy_j }) => booked_energy_j),
    booked_lo_j: real(({ booked_lo_j }) => booked_lo_j),
    booked_hi_j: real(({ booked_hi_j }) => booked_hi_j),
    power_w: real(({ power_w }) => power_w ?? 0),
    power_valid: Uint8Array.from(rows, ({ power_w }) => Number(power_w !== null)),
  };
}

function eventIndex(event: string): number {
  const index = (sampleEvents as readonly string[]).indexOf(event);
  if (index >= 0) return index;
  throw new PerwattError(
    'INPUT_INVALID',
    `a sample has the event "${event}", which this version doesn't know`,
    {
      hint: 'Read it with the version of Perwatt that made it.',
    },
  );
}

/** The usual time between two readings: the median over the domain that was read most, at least 0.1 ms. */
function periodOf(rows: readonly SampleRow[], domains: readonly Domain[]): number {
  const stamps = domains.map(({ id }) =>
    rows.filter(({ domain }) => domain === id).map(({ at_ns }) => at_ns),
  );
  const [most = []] = stamps.toSorted((a, b) => b.length - a.length);
  const steps = most.slice(1).map((at, i) => Number(at - (most[i] ?? at)));
  const median = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)];
  return Math.max(median ?? domains[0]?.update_period_ns ?? 0, 100_000);
}
