const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

/**
 * A value of a column store as JSON has it: lists as arrays, structs as objects, whole numbers as numbers where a double holds
 * them and else as text, times as ISO text, bytes as UTF-8 text.
 */
export function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if ('toJSON' in value && typeof value.toJSON === 'function' && !Array.isArray(value) && !isList(value))
    return mapped(value.toJSON());
  if (isIterable(value)) return Array.from(value, plainValue);
  return mapped(value);
}

/** Arrow's own lists have both, and are lists. */
const isList = (value: object): boolean => 'length' in value && isIterable(value);

const mapped = (value: unknown): unknown =>
  typeof value !== 'object' || value === null
    ? value
    : Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainValue(each)]));
