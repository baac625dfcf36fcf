import { instant, sampleEvents } from '@perwatt/core';
import { testDomain } from '@perwatt/test-kit';
import { describe, expect, test, vi } from 'vitest';
import { loaded } from './binding.js';
import { type FeedDomain, feedRecorder } from './feed-recorder.js';

const domain = (id: string, kind: FeedDomain['kind']): FeedDomain => ({
  ...testDomain({ id, source: 'feed', provenance: 'external', scope: 'wall', update_period_ns: 1e9 }),
  kind,
  max_power_w: 1000,
});

const clock = { now: () => instant(77n) };
const open = (extra: { onMark?: () => void; onStop?: () => void } = {}) =>
  feedRecorder({
    source: 'feed',
    domains: [domain('a', 'counter'), domain('b', 'gauge')],
    period_ns: 1e9,
    clock,
    ...extra,
  });
const at = (s: number) => ({
  before: instant(BigInt(s) * 1_000_000_000n),
  after: instant(BigInt(s) * 1_000_000_000n + 1000n),
});

describe.skipIf(loaded.binding === null)('with the addon', () => {
  test('what is pushed is booked and comes out in columns', () => {
    const recorder = open();
    recorder.push({ ...at(1), values: [{ energy_uj: 5_000_000n }, { power_w: 10 }] });
    recorder.push({ ...at(2), values: [{ energy_uj: 7_000_000n }, { power_w: 30 }] });
    recorder.push({ ...at(3), values: [{ missing: 'no answer' }] });
    const columns = recorder.drain();
    expect([...columns.event].map((event) => sampleEvents[event])).toEqual([
      'first',
      'first',
      'ok',
      'ok',
      'missing',
      'missing',
    ]);
    expect([...columns.booked_energy_j]).toEqual([0, 0, 2, 20, 2, 20]);
    expect([...columns.at_ns].slice(0, 2)).toEqual([1_000_000_500n, 1_000_000_500n]);
    expect([...columns.read_ns]).toEqual([1000, 1000, 1000, 1000, 1000, 1000]);
    expect([...columns.raw]).toEqual([5_000_000n, 10_000_000n, 7_000_000n, 30_000_000n, 0n, 0n]);
    expect([...columns.raw_valid]).toEqual([1, 1, 1, 1, 0, 0]);
    expect([...columns.power_valid]).toEqual([0, 1, 0, 1, 0, 0]);
    expect(recorder.status()).toEqual({
      state: 'running',
      reason: null,
      reads: 3,
      missed_deadlines: 0,
      read_ns: 3000,
      dropped: 0,
      missing_reason: 'no number',
    });
    expect(recorder.raw_units).toEqual(['uJ', 'uW']);
    expect(recorder.drain().at_ns).toHaveLength(0);
  });

  test('a plug that lost its power: the fall is a restart, not negative energy', () => {
    const recorder = open();
    for (const [i, wh] of [10.5, 10.6, 0, 0.1].entries()) {
      recorder.push({ ...at(60 * i), values: [{ energy_uj: BigInt(Math.round(wh * 3.6e9)) }] });
    }
    const { booked_energy_j, event, domain } = recorder.drain();
    const own = [...domain.keys()].filter((i) => domain[i] === 0);
    expect(own.map((i) => sampleEvents[event[i]!])).toEqual(['first', 'ok', 'suspect', 'reset']);
    expect(booked_energy_j[own.at(-1)!]).toBe(720);
  });

  test('a silence is a gap: nothing is booked in it and the upper bound holds all that may have been', () => {
    const recorder = open();
    for (const s of [0, 1, 2, 20, 21])
      recorder.push({ ...at(s), values: [{ missing: 'x' }, { power_w: 10 }] });
    const { booked_energy_j, booked_hi_j, event } = recorder.drain();
    expect(sampleEvents[event[7]!]).toBe('gap');
    expect(booked_energy_j.at(-1)).toBe(30);
    expect(booked_hi_j.at(-1)).toBe(18_030);
  });

  test('a mark asks for a reading and tells the time', () => {
    const onMark = vi.fn();
    const recorder = open({ onMark });
    expect(recorder.mark()).toBe(77n);
    recorder.stop();
    recorder.mark();
    expect(onMark).toHaveBeenCalledTimes(1);
  });

  test('a stop ends the reader once, and what comes later is ignored', () => {
    const onStop = vi.fn();
    const recorder = open({ onStop });
    recorder.stop();
    recorder.stop();
    recorder.push({ ...at(1), values: [{ energy_uj: 1n }, { power_w: 1 }] });
    recorder.fail('too late');
    expect(onStop).toHaveBeenCalledTimes(1);
    expect(recorder.status()).toMatchObject({ state: 'stopped', reason: null, reads: 0 });
    expect(recorder.drain().at_ns).toHaveLength(0);
  });

  test('a failure keeps its reason', () => {
    const recorder = open();
    recorder.fail('the meter burnt');
    expect(recorder.status()).toMatchObject({ state: 'failed', reason: 'the meter burnt' });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [-1n,           'a negative count'],
    [2n ** 64n,     'more than 64 bits'],
  ])('%s is missing: %s', (energy_uj) => {
    const recorder = open();
    recorder.push({ ...at(1), values: [{ energy_uj }] });
    expect(sampleEvents[recorder.drain().event[0]!]).toBe('missing');
  });

  test.each([0, -1, Number.NaN, 1e15])('a period of %d is refused', (period_ns) =>
    expect(() => feedRecorder({ source: 'f', domains: [], period_ns, clock })).toThrowError(
      expect.objectContaining({ code: 'INPUT_INVALID' }),
    ),
  );
});

test('without the addon there is no recorder', () =>
  expect(() =>
    feedRecorder(
      { source: 'f', domains: [], period_ns: 1e9, clock },
      { binding: null, problem: 'not built' },
    ),
  ).toThrowError(expect.objectContaining({ code: 'POWER_NO_SOURCE' })));

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
