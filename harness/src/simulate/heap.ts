/** A binary heap: the least comes out first. */
export interface Heap<T> {
  size(): number;
  /** Undefined when it is empty. */
  least(): T | undefined;
  push(item: T): void;
  pop(): T | undefined;
}

export function heap<T>(compare: (a: T, b: T) => number): Heap<T> {
  const items: T[] = [];
  const at = (i: number) => items[i] as T;
  const swap = (i: number, j: number) => {
    [items[i], items[j]] = [at(j), at(i)];
  };
  const lesser = (i: number, j: number) => (j < items.length && compare(at(j), at(i)) < 0 ? j : i);
  const up = () => {
    let i = items.length - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (compare(at(i), at(parent)) >= 0) return;
      swap(i, parent);
      i = parent;
    }
  };
  const down = () => {
    let i = 0;
    for (let next = lesser(lesser(0, 1), 2); next !== i; next = lesser(lesser(i, 2 * i + 1), 2 * i + 2)) {
      swap(i, next);
      i = next;
    }
  };
  return {
    size: () => items.length,
    least: () => items[0],
    push(item) {
      items.push(item);
      up();
    },
    pop() {
      const [first] = items;
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        down();
      }
      return first;
    },
  };
}
