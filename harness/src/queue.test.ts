import { expect, test } from 'vitest';
import { localQueue } from './queue.js';

test('hands values out in order, each to one holder, and ends when none is left', async () => {
  const queue = localQueue<number>();
  await queue.enqueue('a', 1);
  await queue.enqueue('b', 2);
  await queue.enqueue('a', 1);

  const [first, second] = [await queue.claim(), await queue.claim()];
  expect([first?.value, second?.value]).toEqual([1, 2]);
  expect(await queue.claim()).toBeNull();
});

test('what was given up comes again at the end, and says so', async () => {
  const queue = localQueue<number>();
  await queue.enqueue('a', 1);
  await queue.enqueue('b', 2);
  const first = await queue.claim();
  await queue.fail(first!, { again: true });

  expect((await queue.claim())?.value).toBe(2);
  expect(await queue.claim()).toMatchObject({ id: 'a', deliveries: 1 });
});

test('a lease that ended is no longer held', async () => {
  const queue = localQueue<number>();
  await queue.enqueue('a', 1);
  const lease = await queue.claim();
  await queue.complete(lease!);
  await expect(queue.heartbeat(lease!)).rejects.toThrow('lease a is not held');
});
