import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { createTextIndex, type Texts } from './text-index.js';

function textsOf(texts: readonly string[]): Texts {
  const parts = texts.map((text) => Buffer.from(text));
  const offsets = Int32Array.from({ length: parts.length + 1 }, (_, i) =>
    parts.slice(0, i).reduce((sum, { length }) => sum + length, 0),
  );
  return { offsets, bytes: Buffer.concat(parts) };
}

/** Numbers in the order in which texts first appear. */
function numbersOf(texts: readonly string[]): number[] {
  const seen = [...new Set(texts)];
  return texts.map((text) => seen.indexOf(text));
}

const text = fc.constantFrom('a', 'b', 'ab', 'ä', 'item 1', 'item 2', '');

test.prop([fc.array(text, { maxLength: 12 }), fc.nat(4), fc.array(text, { maxLength: 12 })])(
  'all rows at once have the numbers of one after another, lists that come again and again included',
  (list, times, rest) => {
    const texts = [...Array.from({ length: times }, () => list).flat(), ...rest];
    const index = createTextIndex(textsOf(texts));
    expect([...index.addAll()]).toEqual(numbersOf(texts));
    expect(index.size()).toBe(new Set(texts).size);
    const one = createTextIndex(textsOf(texts));
    expect(texts.map((_, row) => one.add(row))).toEqual(numbersOf(texts));
  },
);
