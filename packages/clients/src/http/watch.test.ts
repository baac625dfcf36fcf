import { expect, onTestFinished, test, vi } from 'vitest';
import { startWatch } from './watch.js';

const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('silence ends a watch once', async () => {
  let times = 0;
  await new Promise<void>((resolve) => {
    startWatch(1, () => {
      times += 1;
      resolve();
    });
  });
  expect(times).toBe(1);
});

test('food starts the limit afresh', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
  onTestFinished(() => void vi.useRealTimers());
  let times = 0;
  const watch = startWatch(10, () => {
    times += 1;
  });
  vi.advanceTimersByTime(8);
  watch.feed();
  vi.advanceTimersByTime(8);
  expect(times).toBe(0);
  vi.advanceTimersByTime(4);
  expect(times).toBe(1);
});

test('what arrived while the event loop was busy counts before the limit does', async () => {
  let expired = false;
  const watch = startWatch(1, () => {
    expired = true;
  });
  setImmediate(() => watch.feed());
  block(5);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  watch.stop();
  expect(expired).toBe(false);
});

test.each([0, Number.POSITIVE_INFINITY, 2 ** 31, Number.NaN])('a limit of %s ms never expires', (limit) => {
  const watch = startWatch(limit, () => expect.unreachable());
  watch.feed();
  watch.stop();
});
