/** Finds texts by words. */
export interface SearchIndex {
  /** Numbers of the texts that hold any of the words, best first; equally good ones in their order. */
  find(words: string): readonly number[];
}

const K1 = 1.2;
const B = 0.75;
/** Scores are rounded to this, so that the order never hangs on the last bit of a logarithm. */
const GRAIN = 1e-9;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Ranking by BM25 (Robertson and Zaragoza 2009), k1 1.2 and b 0.75. */
export function searchIndex(texts: readonly string[]): SearchIndex {
  const lengths = texts.map((text) => wordsOf(text).length);
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length);
  const postings = new Map<string, Map<number, number>>();
  for (const [number, text] of texts.entries())
    for (const word of wordsOf(text)) {
      const posting = postings.get(word) ?? new Map<number, number>();
      posting.set(number, (posting.get(number) ?? 0) + 1);
      postings.set(word, posting);
    }
  return {
    find(words) {
      const scores = new Map<number, number>();
      for (const word of new Set(wordsOf(words))) {
        const posting = postings.get(word) ?? new Map<number, number>();
        const rarity = Math.log(1 + (texts.length - posting.size + 0.5) / (posting.size + 0.5));
        for (const [number, count] of posting) {
          const norm = K1 * (1 - B + (B * (lengths[number] ?? 0)) / mean);
          scores.set(number, (scores.get(number) ?? 0) + (rarity * count * (K1 + 1)) / (count + norm));
        }
      }
      const grains = (number: number) => Math.round((scores.get(number) ?? 0) / GRAIN);
      return [...scores.keys()].sort((a, b) => grains(b) - grains(a) || a - b);
    },
  };
}
