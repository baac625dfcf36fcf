/** A value of an item's `data` as a list of lists of texts, or null when it is none. */
export function textLists(value: unknown): readonly (readonly string[])[] | null {
  return Array.isArray(value) && value.every(isTexts) ? value : null;
}

/** Whether a value is a list of texts. */
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of an item's `data` as names with texts, or null when it is none. */
export function textMap(value: unknown): Readonly<Record<string, string>> | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : null;
}
