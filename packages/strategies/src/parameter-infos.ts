import type { ParameterInfo } from '@perwatt/core';
import * as z from 'zod';

/** What of a JSON Schema is read here. */
interface Property {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly items?: Property;
}

/** The parameters of a schema in its order, in words. */
export function parameterInfos(schema: z.ZodObject): ParameterInfo[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.entries((json.properties ?? {}) as Readonly<Record<string, Property>>).map(
    ([name, property]) => ({
      name,
      type: typeIn(property),
      default: property.default === undefined ? null : JSON.stringify(property.default),
      summary: property.description ?? '',
    }),
  );
}

const names: Readonly<Record<string, string>> = {
  integer: 'whole number',
  number: 'number',
  string: 'text',
  boolean: 'true or false',
};

function typeIn(property: Property): string {
  const { type, items } = property;
  if (property.enum !== undefined) return `one of ${property.enum.join(', ')}`;
  if (type === 'array')
    return items?.type === undefined ? 'list' : `list of ${names[items.type] ?? 'entries'}s`;
  if (type === 'integer' || type === 'number') return `${names[type]}${rangeIn(property)}`;
  return names[type ?? ''] ?? 'value';
}

/** Greatest whole number that is a bound on purpose; JSON Schema names the greatest safe one where there is none. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

function rangeIn({ minimum, maximum, exclusiveMinimum }: Property): string {
  const least = minimum ?? exclusiveMinimum;
  const most = maximum === undefined || maximum >= UNBOUNDED ? undefined : maximum;
  if (least === undefined || least <= -UNBOUNDED) return most === undefined ? '' : `, at most ${most}`;
  const from = minimum === undefined ? `over ${least}` : `${least}`;
  if (most !== undefined) return `, ${from} to ${most}`;
  return minimum === undefined ? `, ${from}` : `, at least ${from}`;
}
