import type { Domain } from '@perwatt/core';
import { manualClock, powerSourceContract, sampleColumns, testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { measure } from './measure.js';
import { type RecordedSamples, replayedSource } from './replay-samples.js';

const MS = 1_000_000n;

/** Two domains, read each ms from 5 s on; the first draws 3 W, the second 1 W. */
const recording = (reads: number, change: Partial<Domain> = {}): RecordedSamples => ({
  domains: [
    testDomain({ id: 'cpu', source: 'rapl', provenance: 'counter', note: 'zone 0' }),
    testDomain({ id: 'beside', source: 'rapl', provenance: 'counter', in_total: false, ...change }),
  ],
  raw_units: ['uJ', 'uJ'],
  period_ns: 1_000_000,
  columns: sampleColumns(
    Array.from({ length: reads }, (_, i) =>
      [0, 1].map((domain) => ({
        at_ns: 5_000n * MS + BigInt(i) * MS,
        domain,
        raw: BigInt(i),
        booked_energy_j: i * (domain === 0 ? 0.003 : 0.001),
        ...(i === 0 && { event: 'first' as const }),
      })),
    ).flat(),
  ),
});

powerSourceContract('replayed', () => {
  const clock = manualClock(7n);
  return {
    source: replayedSource(recording(500), { clock }),
    advance: () => clock.advance(1_500_000),
    external: true,
  };
});

test('what was booked is handed over as it is, when its time has come, on the clock of now', () => {
  const clock = manualClock(7n);
  const recorder = replayedSource(recording(10), { clock, name: 'tape' }).start();
  expect([...recorder.drain().at_ns]).toEqual([7n, 7n]);
  clock.advance(2_500_000);
  const part = recorder.drain();
  expect([...part.at_ns]).toEqual([1, 1, 2, 2].map((ms) => 7n + BigInt(ms) * MS));
  expect([...part.booked_energy_j]).toEqual([0.003, 0.001, 0.006, 0.002]);
  expect(recorder.domains[0]).toMatchObject({
    id: 'tape:cpu',
    source: 'tape',
    provenance: 'replayed',
    note: 'replayed; recorded as counter: zone 0',
  });
});

test('a recording that is over has failed, and tells no more', () => {
  const clock = manualClock(0n);
  const recorder = replayedSource(recording(10), { clock }).start();
  clock.advance(9_000_000);
  expect(recorder.status().state).toBe('running');
  clock.advance(1);
  recorder.mark();
  expect(recorder.drain().at_ns).toHaveLength(20);
  expect(recorder.status()).toMatchObject({ state: 'failed', reason: 'the recording is over', reads: 10 });
  recorder.stop();
  expect(recorder.status().state).toBe('failed');
  expect(recorder.drain().at_ns).toHaveLength(0);
});

test('flags of the recording name the domain as it is called now', () => {
  const flags = ['stale:cpu', 'suspended', 'cross-check:other'];
  const recorder = replayedSource({ ...recording(3), flags }, { clock: manualClock(0n) }).start();
  expect(recorder.status().flags).toEqual(['stale:replayed:cpu', 'suspended', 'cross-check:other']);
});

test('a measurement by it is replayed energy, and is not summed with measured energy', async () => {
  const clock = manualClock(0n);
  const tape = replayedSource(recording(100), { clock });
  const work = () => clock.advance(50_000_000);
  const alone = await measure(work, { sources: [tape], clock });
  expect(alone).toMatchObject({ provenance: 'replayed', reason: null });
  expect(alone.energy_j).toBeCloseTo(0.15, 9);
  const live = {
    ...recording(100),
    domains: recording(100).domains.map((domain) => ({ ...domain, source: 'live' })),
  };
  const played = replayedSource(live, { clock, name: 'live' });
  const measured = {
    ...played,
    provenance: 'counter' as const,
    start: () => ({ ...played.start(), domains: live.domains }),
  };
  const both = await measure(work, { sources: [tape, measured], clock });
  expect(both).toMatchObject({ energy_j: null, reason: 'replayed and counter energy are not summed' });
  const over = await measure(() => clock.advance(200_000_000), { sources: [tape], clock });
  expect(over).toMatchObject({ energy_j: null, reason: 'replayed:cpu: the recording is over' });
});

test('an estimate stays marked as one', () => {
  const [domain] = recording(1).domains;
  const note = 'estimated: TDP 65 W';
  const estimate = { ...domain!, kind: 'estimate' as const, provenance: 'estimated' as const, note };
  const source = replayedSource({ ...recording(1), domains: [estimate] }, { clock: manualClock(0n) });
  expect(source.start().domains[0]).toMatchObject({
    provenance: 'replayed',
    kind: 'gauge',
    note: 'replayed; recorded as estimated: estimated: TDP 65 W',
  });
});

// biome-ignore format: a table is read in columns
test.each<[why: string, recorded: RecordedSamples, message: string]>([
  ['no samples',       recording(0),                                               'the recording of replayed holds no samples'],
  ['unlike energies',  recording(1, { in_total: true, provenance: 'integrated' }), 'counter and integrated energy of replayed are not summed'],
])('%s are refused', (_why, recorded, message) => {
  expect(() => replayedSource(recorded, { clock: manualClock(0n) })).toThrowError(
    expect.objectContaining({ code: 'INPUT_INVALID', message }),
  );
});
