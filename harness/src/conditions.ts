import type { Condition, Test } from '@perwatt/core';

/** What conditions look at: values of the axes by name, and the entries behind them for their settings. */
export interface Subject {
  readonly point: Readonly<Record<string, string | undefined>>;
  readonly entries: Readonly<Record<string, unknown>>;
}

/** Whether every member of a condition holds. */
export const holds = (condition: Condition, subject: Subject): boolean =>
  Object.entries(condition).every(([path, test]) => passes(valueAt(path, subject), test));

/** A value of an axis (`model`), or a setting of one (`load.concurrency`); undefined where it isn't given. */
function valueAt(path: string, { point, entries }: Subject): unknown {
  const [axis = '', ...keys] = path.split('.');
  if (keys.length === 0) return point[axis];
  return keys.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    entries[axis],
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object';

function passes(value: unknown, test: Test): boolean {
  if (Array.isArray(test)) return test.some((one) => same(value, one));
  if (typeof test !== 'object') return same(value, test);
  const { not, set, ...bounds } = test;
  if (not !== undefined && [not].flat().some((one) => same(value, one))) return false;
  if (set !== undefined && (value !== undefined) !== set) return false;
  return Object.entries(bounds).every(([name, limit]) => limit === undefined || within(value, name, limit));
}

const same = (value: unknown, wanted: string | number | boolean): boolean =>
  value !== undefined && !isObject(value) && String(value) === String(wanted);

function within(value: unknown, bound: string, limit: number): boolean {
  if (typeof value !== 'number') return false;
  if (bound === 'lt') return value < limit;
  if (bound === 'le') return value <= limit;
  return bound === 'gt' ? value > limit : value >= limit;
}

/** A condition in words, for reasons: `model is m1 and load.concurrency > 8`. */
export const conditionText = (condition: Condition): string =>
  Object.entries(condition)
    .map(([path, test]) => `${path} ${testText(test)}`)
    .join(' and ');

const signs = { lt: '<', le: '≤', gt: '>', ge: '≥' } as const;

function testText(test: Test): string {
  if (Array.isArray(test) || typeof test !== 'object') return `is ${[test].flat().join(' or ')}`;
  const { not, set, ...bounds } = test;
  const parts = [
    not === undefined ? null : `is not ${[not].flat().join(' or ')}`,
    set === undefined ? null : set ? 'is given' : 'is not given',
    ...(['lt', 'le', 'gt', 'ge'] as const).map((name) =>
      bounds[name] === undefined ? null : `${signs[name]} ${bounds[name]}`,
    ),
  ];
  return parts.filter((part) => part !== null).join(' and ');
}
