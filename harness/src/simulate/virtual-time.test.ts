import { describe, expect, test, vi } from 'vitest';
import { virtualTime } from './virtual-time.js';

describe('virtual time', () => {
  test('jumps to what is due next, in order; timers of one moment as they were set', async () => {
    const time = virtualTime(5n);
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name} ${time.clock.now()}`);
    time.after(86_400_000, note('a day'));
    time.afterNs(10, note('first'));
    time.afterNs(10, note('second'));
    time.afterNs(0, note('at once is one later'));
    await vi.waitFor(() => expect(seen).toHaveLength(4));
    expect(seen).toEqual(['at once is one later 6', 'first 15', 'second 15', 'a day 86400000000005']);
  });

  test('stands still while what was started goes on, and while nothing is due', async () => {
    const time = virtualTime();
    let chained = 0;
    time.afterNs(100, () => {});
    for (let i = 0; i < 20; i++) {
      await Promise.resolve();
      chained += Number(time.clock.now());
    }
    expect(chained).toBe(0);
    await vi.waitFor(() => expect(time.clock.now()).toBe(100n));
    await new Promise((resolve) => setImmediate(resolve));
    expect(time.clock.now()).toBe(100n);
  });

  test('a timer that was taken back never goes off, and moves no time', async () => {
    const time = virtualTime();
    const late = vi.fn();
    const takeBack = time.afterNs(1000, late);
    takeBack();
    const ended = vi.fn();
    time.afterNs(10, ended);
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce());
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(late).not.toHaveBeenCalled();
    expect(time.clock.now()).toBe(10n);
  });
});
