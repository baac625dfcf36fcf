/** The value of one row; null where there is none. */
export type At<T> = (row: number) => T | null;

/** Texts one behind the other, in UTF-8, as they come. */
export interface Texts {
  add(text: string): void;
  arrays(): { readonly offsets: Int32Array; readonly bytes: Uint8Array };
}

/** Room for so many texts. */
export function createTexts(count: number): Texts {
  const offsets = new Int32Array(count + 1);
  let bytes = Buffer.allocUnsafeSlow(32 * count + 256);
  let [n, end] = [0, 0];
  return {
    add(text) {
      const most = end + 3 * text.length;
      if (most > bytes.length) {
        const grown = Buffer.allocUnsafeSlow(2 * most);
        bytes.copy(grown, 0, 0, end);
        bytes = grown;
      }
      end += bytes.write(text, end);
      n += 1;
      offsets[n] = end;
    },
    arrays: () => ({ offsets, bytes: new Uint8Array(bytes.buffer, 0, end) }),
  };
}

/** The texts of `count` rows. */
export function textsOf(count: number, at: (row: number) => string) {
  const texts = createTexts(count);
  for (let row = 0; row < count; row++) texts.add(at(row));
  return texts.arrays();
}

/** Few distinct texts of `count` rows. */
export function namesOf(count: number, at: At<string>) {
  const places = new Map<string, number>();
  const [indices, valid] = [new Uint16Array(count), new Uint8Array(count)];
  for (let row = 0; row < count; row++) {
    const value = at(row);
    if (value === null) continue;
    const place = places.get(value) ?? places.size;
    if (place === places.size) places.set(value, place);
    indices[row] = place;
    valid[row] = 1;
  }
  return { indices, names: [...places.keys()], valid };
}

/** Counts of `count` rows. */
export function countsOf(count: number, at: At<number>) {
  const [values, valid] = [new Uint32Array(count), new Uint8Array(count)];
  for (let row = 0; row < count; row++) {
    const value = at(row);
    if (value === null) continue;
    values[row] = value;
    valid[row] = 1;
  }
  return { values, valid };
}

/** Times of `count` rows. */
export function stampsOf(count: number, at: At<bigint>) {
  const [values, valid] = [new BigInt64Array(count), new Uint8Array(count)];
  for (let row = 0; row < count; row++) {
    const value = at(row);
    if (value === null) continue;
    values[row] = value;
    valid[row] = 1;
  }
  return { values, valid };
}

const from =
  <T>(values: readonly (T | null)[]): At<T> =>
  (row) =>
    values[row] ?? null;

export const textArray = (texts: readonly string[]) => textsOf(texts.length, (row) => texts[row] ?? '');
export const nameArray = (values: readonly (string | null)[]) => namesOf(values.length, from(values));
export const countArray = (values: readonly (number | null)[]) => countsOf(values.length, from(values));
export const stampArray = (values: readonly (bigint | null)[]) => stampsOf(values.length, from(values));
