/** Work in `count` lanes: at most so many at a time, in the order of asking. */
export function turns(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = Math.max(1, count);
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
