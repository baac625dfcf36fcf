/** Things that wait for their times, the earliest first; ties in the order in which they were put in. */
export interface TimeQueue<T> {
  readonly length: number;
  /** Time of the first; infinity when nothing waits. */
  nextTime(): number;
  push(at: number, item: T): void;
  shift(): T | undefined;
}

interface Entry<T> {
  readonly at: number;
  readonly order: number;
  readonly item: T;
}

/** A binary heap: a few steps for each thing put in or taken out, however many wait. */
export function timeQueue<T>(): TimeQueue<T> {
  const heap: Entry<T>[] = [];
  let order = 0;
  const before = (a: Entry<T>, b: Entry<T>) => a.at < b.at || (a.at === b.at && a.order < b.order);
  const rise = (entry: Entry<T>) => {
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = heap[up];
      if (above === undefined || !before(entry, above)) break;
      heap[at] = above;
      at = up;
    }
    heap[at] = entry;
  };
  const sink = (entry: Entry<T>) => {
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const [least, place] =
        right !== undefined && before(right, left) ? [right, 2 * at + 2] : [left, 2 * at + 1];
      if (!before(least, entry)) break;
      heap[at] = least;
      at = place;
    }
    heap[at] = entry;
  };
  return {
    get length() {
      return heap.length;
    },
    nextTime: () => heap[0]?.at ?? Number.POSITIVE_INFINITY,
    push: (at, item) => rise({ at, order: order++, item }),
    shift() {
      const [first] = heap;
      const last = heap.pop();
      if (first !== undefined && last !== undefined && heap.length > 0) sink(last);
      return first?.item;
    },
  };
}
