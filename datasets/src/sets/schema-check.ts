import { PerwattError } from '@perwatt/core';
import { fieldOf, type Row } from '../rows.js';
import type { DatasetCard } from './card.js';

const SHOWN = 24;

const quoted = (names: readonly string[]): string =>
  names.map((name) => JSON.stringify(name.slice(0, 60))).join(', ');

/** Throws `DATASET_ROW_INVALID` when a record lacks fields of its data set, with what is missing and what was found. */
export function checkSchema({ id, fields }: Pick<DatasetCard, 'id' | 'fields'>, row: Row): void {
  const missing = missingFields(fields, row);
  if (missing.length === 0) return;
  const found = Object.keys(row.fields);
  const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : '';
  const has = found.length === 0 ? 'no fields' : `${quoted(found.slice(0, SHOWN))}${more}`;
  throw new PerwattError(
    'DATASET_ROW_INVALID',
    `${row.place}: not a record of "${id}": missing ${missing.join(', ')}; found ${has}`,
    {
      hint: `Give the file that \`perwatt datasets show ${id}\` describes; if its source has changed its fields, use the loader \`jsonl\` with a mapping.`,
    },
  );
}

/** The fields that a record lacks, in words. */
export const missingFields = (fields: DatasetCard['fields'], row: Row): string[] =>
  fields.flatMap((field) => {
    const names = typeof field === 'string' ? [field] : field;
    return names.some((name) => fieldOf(row, name) !== undefined)
      ? []
      : [names.map((n) => `"${n}"`).join(' or ')];
  });
