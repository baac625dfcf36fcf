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

/** Columns that grow; 32 bytes a sample. */
interface Points {
  length: number;
  at: BigInt64Array;
  booked: Float64Array;
  lo: Float64Array;
  hi: Float64Array;
}

const columnsFor = (room: number): Points => ({
  length: 0,
  at: new BigInt64Array(room),
  booked: new Float64Array(room),
  lo: new Float64Array(room),
  hi: new Float64Array(room),
});

/** Makes room for one more. */
function grow(own: Points): void {
  if (own.length < own.at.length) return;
  const wider = columnsFor(2 * own.length);
  for (const column of ['booked', 'lo', 'hi'] as const) {
    wider[column].set(own[column]);
    own[column] = wider[column];
  }
  wider.at.set(own.at);
  own.at = wider.at;
}

/** `onColumns` sees what was read before it is kept, for instance to write it down. */
export function keepSamples(recorder: Recorder, onColumns?: (columns: SampleColumns) => void): KeptSamples {
  const kept = recorder.domains.map(() => columnsFor(256));
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
  const last = own.length === 0 ? undefined : own.at[own.length - 1];
  if (event === undefined || blindEvents.has(event) || (last !== undefined && at <= last)) return;
  grow(own);
  own.at[own.length] = at;
  own.booked[own.length] = columns.booked_energy_j[i] ?? 0;
  own.lo[own.length] = columns.booked_lo_j[i] ?? 0;
  own.hi[own.length] = columns.booked_hi_j[i] ?? 0;
  own.length += 1;
}

const seriesOf = (domain: Domain, { length, at, booked, lo, hi }: Points = columnsFor(0)): PowerSeries => ({
  domain,
  at_ns: at.slice(0, length),
  booked_j: booked.slice(0, length),
  lo_j: lo.slice(0, length),
  hi_j: hi.slice(0, length),
});
