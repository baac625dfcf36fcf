import { existsSync } from 'node:fs';
import { elapsed } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loaded } from './binding.js';
import { bootId, clock, nowNs, suspendedNs } from './clock.js';

test('the clock never goes back', () => {
  const stamps = Array.from({ length: 1000 }, () => clock.now());
  expect(stamps.every((stamp, i) => i === 0 || elapsed(stamps[i - 1]!, stamp) >= 0)).toBe(true);
});

describe.skipIf(loaded.binding === null || process.platform !== 'linux')('on Linux, with the addon', () => {
  test("the addon, our clock and Node's are one", () => {
    for (let i = 0; i < 100; i += 1) {
      const stamps = [
        process.hrtime.bigint(),
        loaded.binding!.nowNs(),
        nowNs(),
        loaded.binding!.nowNs(),
        process.hrtime.bigint(),
      ];
      expect(stamps).toEqual(stamps.toSorted((a, b) => (a < b ? -1 : 1)));
    }
  });

  test('time asleep is told, and stays put while awake', () => {
    const [before, after] = [suspendedNs(), suspendedNs()];
    expect(before).toBeGreaterThan(-1e6);
    expect(Math.abs((after ?? Number.NaN) - (before ?? Number.NaN))).toBeLessThan(1e8);
  });

  test('a boot has a name, and a tree without one has none', () => {
    if (existsSync('/proc/sys/kernel/random/boot_id')) expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
    expect(bootId('/nonexistent')).toBeNull();
  });
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
