import type { PublishedRow } from '@perwatt/core';
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
 * the unit holds watts or joules; what has no value can't be ranked.
 */
export function figureRows(record: PublishedRecord, runId: string): PublishedRow[] {
  const { source, path, setting = {}, flags: recordFlags = [], figures, ...shared } = record;
  return figures.map((figure): PublishedRow => {
    const { flags = [], ...own } = figure;
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
