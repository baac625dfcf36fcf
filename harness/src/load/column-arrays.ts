const validOf = (values: readonly unknown[]) => Uint8Array.from(values, (value) => (value === null ? 0 : 1));

/** Texts one behind the other, in UTF-8. */
export function textArray(texts: readonly string[]) {
  const offsets = new Int32Array(texts.length + 1);
  for (const [i, text] of texts.entries()) offsets[i + 1] = (offsets[i] ?? 0) + Buffer.byteLength(text);
  return { offsets, bytes: new Uint8Array(Buffer.from(texts.join(''))) };
}

/** Few distinct texts. */
export function nameArray(values: readonly (string | null)[]) {
  const places = new Map<string, number>();
  const indices = new Uint16Array(values.length);
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    const place = places.get(value) ?? places.size;
    places.set(value, place);
    indices[i] = place;
  }
  return { indices, names: [...places.keys()], valid: validOf(values) };
}

export const countArray = (values: readonly (number | null)[]) => ({
  values: Uint32Array.from(values, (value) => value ?? 0),
  valid: validOf(values),
});

export const stampArray = (values: readonly (bigint | null)[]) => ({
  values: BigInt64Array.from(values, (value) => value ?? 0n),
  valid: validOf(values),
});
