import type { Domain, SampleColumns } from '@perwatt/core';
import { sampleColumns, testDomain } from '@perwatt/test-kit';
import { sampleFile } from './sample-file.js';

const S = 1_000_000_000n;

/** `package-0`: 10 W, then 30 W from 5 s on; read each second for 10 s, but not from 6 s to 8 s. `core` is a part of it: 4 W. */
export const recordedDomains: readonly Domain[] = [
  testDomain({ id: 'package-0', source: 'rapl', provenance: 'counter' }),
  testDomain({ id: 'core', source: 'rapl', provenance: 'counter', scope: 'cpu', in_total: false }),
];

const readings: SampleColumns = sampleColumns(
  [0, 1, 2, 3, 4, 5, 6, 8, 9, 10].flatMap((s) =>
    recordedDomains.map((_, domain) => ({
      at_ns: 100n * S + BigInt(s) * S,
      domain,
      raw: BigInt(s),
      booked_energy_j: domain === 0 ? 10 * s + Math.max(0, s - 5) * 20 : 4 * s,
      event: s === 0 ? ('first' as const) : s === 8 && domain === 0 ? ('gap' as const) : ('ok' as const),
    })),
  ),
);

/** Writes the recording as `power --out` does, in two batches. */
export function writeRecording(path: string, domains: readonly Domain[] = recordedDomains): void {
  const observed = [
    { domain: 'package-0', update_period_ns: 50_000_000, reason: null, quantum: null, samples: 10 },
  ];
  const recorder = {
    source: 'rapl',
    domains,
    raw_units: domains.map(() => 'uJ'),
    period_ns: 1e9,
    drain: () => readings,
    mark: () => {
      throw new Error('not marked');
    },
    status: () => ({
      state: 'stopped' as const,
      reason: null,
      reads: 10,
      missed_deadlines: 0,
      read_ns: 0,
      observed,
    }),
    stop: () => {},
  };
  const file = sampleFile(path, [recorder]);
  for (const [from, to] of [
    [0, 10],
    [10, 20],
  ] as const) {
    const entries = Object.entries(readings).map(([name, values]) => [name, values.slice(from, to)]);
    file.add(recorder, Object.fromEntries(entries) as unknown as SampleColumns);
    file.flush();
  }
  file.close();
}
