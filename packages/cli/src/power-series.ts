import {
  asObserved,
  blindEvents,
  type Domain,
  type Recorder,
  type SampleColumns,
  sampleEvents,
} from '@perwatt/core';
import type { PowerSeries } from '@perwatt/metrics';

/** Keeps everything a recorder reads. */
export interface KeptSamples {
  readonly recorder: Recorder;
  /** Takes in what was read since the last call. */
  collect(): void;
  /** The samples of every domain, in the recorder's order. */
  series(): PowerSeries[];
}

interface Points {
  readonly at: bigint[];
  readonly booked: number[];
  readonly lo: number[];
  readonly hi: number[];
}

/** `onColumns` sees what was read before it is kept, for instance to write it down. */
export function keepSamples(recorder: Recorder, onColumns?: (columns: SampleColumns) => void): KeptSamples {
  const kept = recorder.domains.map((): Points => ({ at: [], booked: [], lo: [], hi: [] }));
  return {
    recorder,
    collect() {
      const columns = recorder.drain();
      onColumns?.(columns);
      for (const [i, d] of columns.domain.entries()) {
        const own = kept[d];
        if (own !== undefined) add(own, columns, i);
      }
    },
    series() {
      const { period_ns } = recorder;
      const { observed } = recorder.status();
      return recorder.domains.map((domain, d) => ({
        ...seriesOf(asObserved(domain, observed), kept[d]),
        period_ns,
      }));
    },
  };
}

function add(own: Points, columns: SampleColumns, i: number): void {
  const event = sampleEvents[columns.event[i] ?? -1];
  const at = columns.at_ns[i] ?? 0n;
  const last = own.at.at(-1);
  if (event === undefined || blindEvents.has(event) || (last !== undefined && at <= last)) return;
  own.at.push(at);
  own.booked.push(columns.booked_energy_j[i] ?? 0);
  own.lo.push(columns.booked_lo_j[i] ?? 0);
  own.hi.push(columns.booked_hi_j[i] ?? 0);
}

const seriesOf = (domain: Domain, own: Points | undefined): PowerSeries => ({
  domain,
  at_ns: BigInt64Array.from(own?.at ?? []),
  booked_j: Float64Array.from(own?.booked ?? []),
  lo_j: Float64Array.from(own?.lo ?? []),
  hi_j: Float64Array.from(own?.hi ?? []),
});
