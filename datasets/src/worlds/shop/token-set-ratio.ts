/**
 * Likeness of two texts as sets of words, 0…100: the greatest likeness among the shared words, and these with what is left of
 * either side. Likeness is 200 · longest common subsequence / total length, rounded; 0 where a text has no words.
 */
export function tokenSetRatio(a: string, b: string): number {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.size === 0 || right.size === 0) return 0;
  const shared = sorted([...left].filter((word) => right.has(word)));
  const [onlyLeft, onlyRight] = [
    sorted([...left].filter((word) => !right.has(word))),
    sorted([...right].filter((word) => !left.has(word))),
  ];
  const joined = (rest: string) => [shared, rest].filter((part) => part !== '').join(' ');
  const [withLeft, withRight] = [joined(onlyLeft), joined(onlyRight)];
  return Math.max(ratio(shared, withLeft), ratio(shared, withRight), ratio(withLeft, withRight));
}

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .split(' ')
      .filter((word) => word !== ''),
  );

const sorted = (words: readonly string[]) => [...words].sort().join(' ');

const ratio = (x: string, y: string): number =>
  x === '' || y === '' ? 0 : Math.round((200 * commonLength(x, y)) / (x.length + y.length));

function commonLength(x: string, y: string): number {
  let row = new Array<number>(y.length + 1).fill(0);
  for (const char of x) {
    const next = [0];
    for (let j = 1; j <= y.length; j++)
      next.push(y[j - 1] === char ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0));
    row = next;
  }
  return row[y.length] ?? 0;
}
