import type { Catalogue } from '@perwatt/metrics';
import type { PublishedRun } from '@perwatt/records';
import { axisValue, type ComparableCell, varyingAxes } from '../compare/comparable.js';
import { publishedRecords } from '../compare/comparable-published.js';

/** Imported runs as pages see them. */
export interface ImportedSite {
  readonly runs: readonly PublishedRun[];
  /** What they tell of configurations and of whole files, run by run. */
  readonly records: readonly ComparableCell[];
  /** Models in the order of their first appearance: a model's place is its colour. */
  readonly models: readonly string[];
  /** Axes that tell records apart and are known to every reader, the model first; never empty. */
  readonly axes: readonly string[];
  /** The other knobs that tell records apart: they need their names beside their values. */
  readonly knobs: readonly string[];
}

const known: ReadonlySet<string> = new Set(['accelerator', 'dataset', 'load', 'phase', 'item']);

const UNTOLD = '–';

/** The model that a record is of; a dash where its source names none. */
export const modelOf = (record: ComparableCell): string => record.axes['model'] ?? UNTOLD;

/** Imported runs side by side. */
export function importedSite(runs: readonly PublishedRun[], catalogue: Catalogue): ImportedSite {
  const records = runs.flatMap((run) => publishedRecords(run, catalogue));
  const others = varyingAxes(records).filter((axis) => axis !== 'model');
  return {
    runs,
    records,
    models: [...new Set(records.map(modelOf))],
    axes: ['model', ...others.filter((axis) => known.has(axis))],
    knobs: others.filter((axis) => !known.has(axis)),
  };
}

/** The knobs of a record with their names: `weight format bfloat16, devices 4`; those that its source does not tell are left out. */
export const knobsText = (record: ComparableCell, knobs: readonly string[]): string =>
  knobs
    .flatMap((knob) => {
      const value = axisValue(record, knob);
      return value === UNTOLD ? [] : [`${knob.replaceAll('_', ' ')} ${value}`];
    })
    .join(', ');

/** Name of a record: `Qwen/Qwen3-8B · B200 · c8 · devices 4`. */
export function recordName(
  record: ComparableCell,
  { axes, knobs }: Pick<ImportedSite, 'axes' | 'knobs'>,
): string {
  const values = axes.map((axis) => axisValue(record, axis)).filter((value) => value !== UNTOLD);
  const parts = [...values, knobsText(record, knobs)].filter((part) => part !== '');
  return parts.join(' · ') || record.record;
}
