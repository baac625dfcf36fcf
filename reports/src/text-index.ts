/** Texts in UTF-8, one behind the other; text i has the bytes from `offsets[i]` to `offsets[i + 1]`. */
export interface Texts {
  readonly offsets: Int32Array;
  readonly bytes: Uint8Array;
}

/** Distinct texts by number, found by their bytes: no string is made of any. */
export interface TextIndex {
  /** Number of the text at `row`, a new one when it has not been seen; in the order they first appear. */
  readonly add: (row: number) => number;
  /** `add` of every row, for an index that is empty. */
  readonly addAll: () => Int32Array;
  /** Number of a text of other texts; −1 when it has not been seen. */
  readonly find: (texts: Texts, row: number) => number;
  readonly size: () => number;
}

function hashOf({ bytes, offsets }: Texts, row: number): number {
  let hash = 0x811c9dc5;
  const end = offsets[row + 1] ?? 0;
  for (let i = offsets[row] ?? 0; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function same(a: Texts, i: number, b: Texts, k: number): boolean {
  const [start, from] = [a.offsets[i] ?? 0, b.offsets[k] ?? 0];
  const length = (a.offsets[i + 1] ?? 0) - start;
  if (length !== (b.offsets[k + 1] ?? 0) - from) return false;
  for (let at = length - 1; at >= 0; at--) if (a.bytes[start + at] !== b.bytes[from + at]) return false;
  return true;
}

/** Whether the `count` texts from `row` on are the first `count`, byte for byte. */
function isFirstAgain({ bytes, offsets }: Texts, row: number, count: number): boolean {
  const [first, from] = [offsets[0] ?? 0, offsets[row] ?? 0];
  for (let i = 1; i <= count; i++)
    if ((offsets[i] ?? 0) - first !== (offsets[row + i] ?? 0) - from) return false;
  const length = (offsets[count] ?? 0) - first;
  const own = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return own.compare(own, from, from + length, first, first + length) === 0;
}

/** An index over texts, empty at first. Texts that come again in the order they first came cost no hash. */
export function createTextIndex(texts: Texts): TextIndex {
  const rows = texts.offsets.length - 1;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(2 * rows, 16)))).fill(-1);
  const mask = slots.length - 1;
  const firstRow = new Int32Array(Math.max(rows, 1));
  let [size, last] = [0, -1];
  const slotOf = (other: Texts, row: number): number => {
    let slot = hashOf(other, row) & mask;
    for (;;) {
      const number = slots[slot] ?? -1;
      if (number < 0 || same(texts, firstRow[number] ?? 0, other, row)) return slot;
      slot = (slot + 1) & mask;
    }
  };
  const next = (row: number): number => {
    const guess = last + 1 < size ? last + 1 : 0;
    if (size > 0 && guess !== last && same(texts, firstRow[guess] ?? 0, texts, row)) return guess;
    const slot = slotOf(texts, row);
    const known = slots[slot] ?? -1;
    if (known >= 0) return known;
    slots[slot] = size;
    firstRow[size] = row;
    size += 1;
    return size - 1;
  };
  const add = (row: number): number => {
    last = next(row);
    return last;
  };
  const addAll = (): Int32Array => {
    const numbers = new Int32Array(rows);
    let row = 0;
    while (row < rows) {
      numbers[row] = add(row);
      const again = row > 0 && numbers[row] === 0 && row % size === 0 && row + size <= rows;
      if (again && isFirstAgain(texts, row, size)) {
        numbers.copyWithin(row, 0, size);
        row += size;
        last = numbers[row - 1] ?? 0;
      } else row += 1;
    }
    return numbers;
  };
  return {
    add,
    addAll,
    find: (other, row) => slots[slotOf(other, row)] ?? -1,
    size: () => size,
  };
}

/** A text as a string. */
export const textAt = ({ bytes, offsets }: Texts, row: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    'utf8',
    offsets[row],
    offsets[row + 1],
  );
