import { createHash } from 'node:crypto';

/** JSON with sorted keys and without undefined: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

export const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');

/** Paths at which two JSON values differ, with both values, for a message: `axes.model[0].id: "a" → "b"`. */
export function differences(before: unknown, after: unknown, path = ''): string[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const nested = isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after);
  if (!nested) return [`${path || 'the file'}: ${show(before)} → ${show(after)}`];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const at = (key: string) =>
    Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
  return keys.flatMap((key) => differences(before[key], after[key], at(key)));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object';

const show = (value: unknown) => (value === undefined ? 'absent' : canonicalJson(value).slice(0, 120));
