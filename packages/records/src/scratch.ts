/**
 * Memory for the arrays of one piece of work, given out again for the next. A fresh buffer for each array costs a collection
 * of garbage every few megabytes, and most of what a second thread would gain.
 */
export interface Scratch {
  /** `length` bytes from a multiple of 8 on; what is in them is left from before. */
  readonly bytes: (length: number) => Uint8Array<ArrayBuffer>;
  /** As many doubles; what is in them is left from before. */
  readonly float64: (length: number) => Float64Array<ArrayBuffer>;
  readonly int32: (length: number) => Int32Array<ArrayBuffer>;
  readonly uint16: (length: number) => Uint16Array<ArrayBuffer>;
  /** From now on all that was given out may be written over. */
  readonly reset: () => void;
}

/** What is kept from one piece of work to the next at most, bytes; what goes beyond it is fresh each time. */
const KEPT_BYTES = 64 * 2 ** 20;
const FIRST_BYTES = 2 ** 20;

const aligned = (length: number): number => Math.ceil(length / 8) * 8;

/** Empty scratch memory; it grows to what was asked for between two resets. */
export function createScratch(): Scratch {
  let buffer = new ArrayBuffer(FIRST_BYTES);
  let [used, asked] = [0, 0];
  const place = (length: number): { readonly buffer: ArrayBuffer; readonly at: number } => {
    const own = aligned(length);
    asked += own;
    if (used + own > buffer.byteLength) return { buffer: new ArrayBuffer(length), at: 0 };
    used += own;
    return { buffer, at: used - own };
  };
  return {
    bytes(length) {
      const { buffer: of, at } = place(length);
      return new Uint8Array(of, at, length);
    },
    float64(length) {
      const { buffer: of, at } = place(8 * length);
      return new Float64Array(of, at, length);
    },
    int32(length) {
      const { buffer: of, at } = place(4 * length);
      return new Int32Array(of, at, length);
    },
    uint16(length) {
      const { buffer: of, at } = place(2 * length);
      return new Uint16Array(of, at, length);
    },
    reset() {
      const wanted = Math.min(asked, KEPT_BYTES);
      if (wanted > buffer.byteLength) buffer = new ArrayBuffer(Math.min(aligned(wanted * 1.25), KEPT_BYTES));
      used = 0;
      asked = 0;
    },
  };
}
