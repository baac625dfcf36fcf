const BITS = 16;
const CHUNK = 1 << BITS;
const MASK = CHUNK - 1;

/** A column of numbers that grows without ever being copied. What was never set is 0. */
export interface Growable {
  readonly get: (index: number) => number;
  readonly set: (index: number, value: number) => void;
}

export const uint32Column = (): Growable => numbers(() => new Uint32Array(CHUNK));

/** For whole numbers up to 2^53. */
export const float64Column = (): Growable => numbers(() => new Float64Array(CHUNK));

function numbers(chunk: () => Uint32Array | Float64Array): Growable {
  const chunks: (Uint32Array | Float64Array)[] = [];
  return {
    get: (index) => chunks[index >>> BITS]?.[index & MASK] ?? 0,
    set: (index, value) => {
      for (let n = chunks.length; n <= index >>> BITS; n++) chunks.push(chunk());
      const at = chunks[index >>> BITS];
      if (at !== undefined) at[index & MASK] = value;
    },
  };
}

/** The same for 64-bit integers. */
export interface GrowableInt64 {
  readonly get: (index: number) => bigint;
  readonly set: (index: number, value: bigint) => void;
}

export function int64Column(): GrowableInt64 {
  const chunks: BigInt64Array[] = [];
  return {
    get: (index) => chunks[index >>> BITS]?.[index & MASK] ?? 0n,
    set: (index, value) => {
      for (let n = chunks.length; n <= index >>> BITS; n++) chunks.push(new BigInt64Array(CHUNK));
      const at = chunks[index >>> BITS];
      if (at !== undefined) at[index & MASK] = value;
    },
  };
}

/** Names, each kept once. */
export interface Names {
  readonly get: (index: number) => string | undefined;
  readonly set: (index: number, name: string) => void;
}

export function nameColumn(): Names {
  const numbersOf = new Map<string, number>();
  const names: string[] = [];
  const column = uint32Column();
  return {
    get: (index) => names[column.get(index) - 1],
    set: (index, name) => {
      let number = numbersOf.get(name);
      if (number === undefined) {
        number = names.push(name);
        numbersOf.set(name, number);
      }
      column.set(index, number);
    },
  };
}
