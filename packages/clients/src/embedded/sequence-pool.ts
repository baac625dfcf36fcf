/** Things that one user at a time may have; the rest wait in order. */
export interface Pool<T> {
  /** The next free one; null when `signal` is aborted before there is one. */
  take(signal: AbortSignal): Promise<T | null>;
  give(item: T): void;
}

export function createPool<T>(items: readonly T[]): Pool<T> {
  const free = [...items];
  const waiting: ((item: T) => void)[] = [];
  return {
    async take(signal) {
      if (signal.aborted) return null;
      const item = free.shift();
      if (item !== undefined) return item;
      return new Promise((resolve) => {
        const take = (given: T) => {
          signal.removeEventListener('abort', leave);
          resolve(given);
        };
        const leave = () => {
          waiting.splice(waiting.indexOf(take), 1);
          resolve(null);
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(take);
      });
    },
    give(item) {
      const next = waiting.shift();
      if (next === undefined) free.push(item);
      else next(item);
    },
  };
}
