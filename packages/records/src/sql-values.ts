/** A value of a query's answer as text for people; null is empty. */
export function sqlText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' && !isDecimal(value) && partsOf(value) !== null
    ? sqlJson(value)
    : String(value);
}

/**
 * A value of a query's answer as JSON text. Whole numbers and decimals are written out in full, also beyond what a double
 * holds; what is no finite number is null; dates and the like are strings.
 */
export function sqlJson(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint' || isDecimal(value)) return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const parts = partsOf(value);
  if (parts === null) return JSON.stringify(String(value));
  if (parts.kind === 'list') return `[${parts.items.map(sqlJson).join(',')}]`;
  return `{${parts.items.map(([key, item]) => `${JSON.stringify(sqlText(key))}:${sqlJson(item)}`).join(',')}}`;
}

const isDecimal = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'scale' in value && 'width' in value && 'value' in value;

type Parts =
  | { readonly kind: 'list'; readonly items: readonly unknown[] }
  | { readonly kind: 'object'; readonly items: readonly (readonly [unknown, unknown])[] };

/** The members of a list, array, struct or map; null for any other value. */
function partsOf(value: object): Parts | null {
  if ('items' in value && Array.isArray(value.items)) return { kind: 'list', items: value.items };
  if (!('entries' in value) || typeof value.entries !== 'object' || value.entries === null) return null;
  if (!Array.isArray(value.entries)) return { kind: 'object', items: Object.entries(value.entries) };
  const pairs = value.entries as readonly { readonly key: unknown; readonly value: unknown }[];
  return { kind: 'object', items: pairs.map((entry) => [entry.key, entry.value]) };
}

const formula = /^[=+\-@\t\r]/;

/**
 * One line of CSV without its end. A text that a spreadsheet would take for a formula gets a `'` in front; numbers don't. An
 * empty text is `""`, and so is a line that would be empty, for readers skip those.
 */
export function csvLine(values: readonly unknown[]): string {
  const line = values
    .map((value) =>
      value === '' ? '""' : csvField(typeof value === 'string' ? harmless(value) : sqlText(value)),
    )
    .join(',');
  return line === '' ? '""' : line;
}

const harmless = (text: string): string => (formula.test(text) ? `'${text}` : text);

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
