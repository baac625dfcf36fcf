import { fc } from '@fast-check/vitest';
import { type Column, type TableName, tables } from '@perwatt/core';

const whole = (max: number) => fc.integer({ min: 0, max });
const arbitraries: Readonly<Record<Column['type'], fc.Arbitrary<unknown>>> = {
  name: fc.constantFrom('', 'a', 'ß', '𝒳 name', 'other'),
  text: fc.string({ unit: 'binary' }),
  bool: fc.boolean(),
  uint8: whole(255),
  uint16: whole(65_535),
  uint32: whole(2 ** 32 - 1),
  uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  float64: fc.double({ noNaN: true, noDefaultInfinity: true }),
  list_float64: fc.array(whole(2 ** 32 - 1), { maxLength: 5 }),
};

/** Any row that a table takes. */
export const anyRow = (table: TableName): fc.Arbitrary<object> =>
  fc.record(
    Object.fromEntries(
      Object.entries<Column>(tables[table]).map(([name, { type, nullable }]) => [
        name,
        nullable ? fc.option(arbitraries[type], { nil: null }) : arbitraries[type],
      ]),
    ),
  );

/** A table, and rows for several flushes. */
export const anyTable = fc
  .constantFrom(...(Object.keys(tables) as TableName[]))
  .chain((table) =>
    fc.tuple(fc.constant(table), fc.array(fc.array(anyRow(table), { maxLength: 9 }), { maxLength: 6 })),
  );
