import { closeSync, openSync, readSync, writeSync } from 'node:fs';

type NumberArray = Uint8Array | Uint32Array | Int32Array | Float64Array;

interface ArrayKind {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike): NumberArray;
}

/** Kinds of arrays that are told apart. */
const kinds = { Uint8Array, Uint32Array, Int32Array, Float64Array } as const satisfies Record<
  string,
  ArrayKind
>;
type Kind = keyof typeof kinds;

/** What stands for an array in what is sent on its own. */
interface Stub {
  readonly array: Kind;
  readonly length: number;
}

/**
 * Writes the typed arrays of a value of plain objects, wherever in it they are, into a new file one behind the other.
 * Returns the value with a stub in the place of each, which goes through JSON.
 */
export function writeArrays(path: string, value: unknown): unknown {
  const fd = openSync(path, 'wx');
  try {
    return mapLeaves(value, (leaf) => {
      if (!isNumbers(leaf)) return leaf;
      const bytes = new Uint8Array(leaf.buffer, leaf.byteOffset, leaf.byteLength);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      return { array: leaf.constructor.name as Kind, length: leaf.length } satisfies Stub;
    });
  } finally {
    closeSync(fd);
  }
}

/** The value that `writeArrays` was given, its arrays in shared memory. Throws a `RangeError` where the file is too short. */
export function readArrays(path: string, value: unknown): unknown {
  const fd = openSync(path, 'r');
  try {
    return mapLeaves(value, (leaf) => {
      if (!isStub(leaf)) return leaf;
      const Numbers: ArrayKind = kinds[leaf.array];
      const numbers = new Numbers(new SharedArrayBuffer(Numbers.BYTES_PER_ELEMENT * leaf.length));
      const bytes = new Uint8Array(numbers.buffer);
      for (let done = 0; done < bytes.length; ) {
        const read = readSync(fd, bytes, done, bytes.length - done, null);
        if (read === 0) throw new RangeError(`${path} ends within an array of ${leaf.length}`);
        done += read;
      }
      return numbers;
    });
  } finally {
    closeSync(fd);
  }
}

const isNumbers = (value: unknown): value is NumberArray =>
  Object.values(kinds).some((kind) => value instanceof kind);

const isStub = (value: unknown): value is Stub =>
  typeof value === 'object' && value !== null && 'array' in value && 'length' in value;

/** A copy of a value in which each array, stub and plain value is what `map` makes of it. */
function mapLeaves(value: unknown, map: (leaf: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || isNumbers(value) || isStub(value)) return map(value);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapLeaves(member, map)]));
}
