import type { PublishedRow } from '@perwatt/core';
import { foreignError } from './foreign-error.js';
import type { Figure, PublishedRecord } from './importer.js';

const absent = {
  item_id: null,
  model: null,
  weight_format: null,
  total_params: null,
  active_params: null,
  accelerator: null,
  devices: null,
  engine: null,
  dataset: null,
  concurrency: null,
  phase: 'all',
  lo: null,
  hi: null,
  spread: null,
  spread_kind: null,
  n: null,
  bound: 'none',
  window: 'unknown',
  rankable: true,
  reason: null,
  note: null,
} as const;

/**
 * The rows of a record, one a figure. A figure's own columns go before its record's. Scope and boundary stand only where
 * the unit holds watts or joules; what has no value can't be ranked. Throws for a number that is beyond a double once it is
 * in our unit.
 */
export function figureRows(record: PublishedRecord, runId: string): PublishedRow[] {
  const { source, path, setting = {}, flags: recordFlags = [], figures, ...shared } = record;
  return figures.map((figure): PublishedRow => {
    const { flags = [], ...own } = figure;
    checkFinite(record, figure);
    const all = [...new Set([...recordFlags, ...flags])];
    return {
      ...absent,
      ...shared,
      ...own,
      ...powered(figure, record),
      run_id: runId,
      source: source.id,
      source_version: source.version,
      source_file: baseName(path),
      setting: JSON.stringify(sorted(setting)),
      rankable: figure.value !== null && (figure.rankable ?? record.rankable ?? true),
      flags: all.length === 0 ? null : all.join(' '),
      provenance: 'published',
      licence: source.licence,
      citation: source.citation,
      date: source.date,
    };
  });
}

function checkFinite(record: PublishedRecord, figure: Figure): void {
  const held = [...Object.entries(record), ...Object.entries(figure)];
  const wrong = held.find(([, value]) => typeof value === 'number' && !Number.isFinite(value));
  if (wrong === undefined) return;
  const [name, value] = wrong;
  const place = `${record.path}: record ${record.source_row}`;
  throw foreignError(place, `${name} of ${figure.metric} is ${String(value)}, no finite number`);
}

const powered = (figure: Figure, record: PublishedRecord) =>
  /[JW]/.test(figure.unit)
    ? {
        scope: figure.scope ?? record.scope ?? null,
        boundary: figure.boundary ?? record.boundary ?? null,
      }
    : { scope: null, boundary: null };

/** The last part of a path. */
export const baseName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;

const sorted = (setting: object) =>
  Object.fromEntries(Object.entries(setting).sort(([a], [b]) => (a < b ? -1 : 1)));
