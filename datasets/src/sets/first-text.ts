import { optionalText, type Row, rowError } from '../rows.js';

/** The text of the first of these fields that is there and not blank. Throws `DATASET_ROW_INVALID`. */
export function firstText(row: Row, names: readonly string[]): string {
  for (const name of names) {
    const text = optionalText(row, name);
    if (text !== null) return text.trim();
  }
  throw rowError(row.place, `field ${names.map((name) => `"${name}"`).join(' or ')} is missing or empty`);
}
