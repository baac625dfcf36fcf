/**
 * A JSON value with every text in it, keys included, as `change` gives it. Other values stay as they are, and so does the
 * order of keys.
 */
export function changedJson<T>(value: T, change: (text: string) => string): T {
  return changed(value, change) as T;
}

function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((entry) => changed(entry, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [change(key), changed(entry, change)]),
  );
}
