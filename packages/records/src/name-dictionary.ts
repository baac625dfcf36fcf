import { type Data, makeData, Utf8, Vector } from 'apache-arrow';

const CAPACITY = 65_536;

/**
 * The distinct names of one column of a segment, in the order they came. It only grows: every batch's dictionary begins
 * with the last one's, and the writer appends what is new as a delta.
 */
export class NameDictionary {
  readonly #indices = new Map<string, number>();
  readonly #chunks: Data<Utf8>[] = [];
  #fresh: string[] = [];
  #vector: Vector<Utf8> | null = null;

  /** Index of `name`, which is added when it is new. Throws past 65,536 names: the index has 16 bits. */
  indexOf(name: string): number {
    const known = this.#indices.get(name);
    if (known !== undefined) return known;
    const index = this.#indices.size;
    if (index >= CAPACITY) throw new RangeError(`more than ${CAPACITY} distinct names in one segment`);
    this.#indices.set(name, index);
    this.#fresh.push(name);
    return index;
  }

  /** All names so far, one chunk for each call that found new ones. */
  vector(): Vector<Utf8> {
    if (this.#fresh.length > 0 || this.#chunks.length === 0) {
      this.#chunks.push(utf8Data(this.#fresh));
      this.#fresh = [];
      this.#vector = null;
    }
    this.#vector ??= new Vector([...this.#chunks]);
    return this.#vector;
  }
}

/** Plain text as Arrow data; null becomes an empty span, to be covered by the caller's null bitmap. */
export function utf8Parts(values: readonly (string | null)[]): {
  valueOffsets: Int32Array;
  data: Uint8Array;
} {
  const valueOffsets = new Int32Array(values.length + 1);
  let end = 0;
  for (let i = 0; i < values.length; i++) {
    end += Buffer.byteLength(values[i] ?? '');
    valueOffsets[i + 1] = end;
  }
  const data = Buffer.alloc(end);
  for (let i = 0; i < values.length; i++) data.write(values[i] ?? '', valueOffsets[i] ?? 0);
  return { valueOffsets, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}

const utf8Data = (values: readonly string[]): Data<Utf8> =>
  makeData({ type: new Utf8(), length: values.length, nullCount: 0, ...utf8Parts(values) });
