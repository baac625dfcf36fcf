import { type Domain, type Instant, instant } from '@perwatt/core';
import type { PowerSeries } from '@perwatt/metrics';

/** Watts of one domain of the total, over the last second or so. */
export interface WattsNow {
  readonly domain: string;
  readonly power_w: number;
  readonly estimated: boolean;
}

interface Point {
  readonly at_ns: bigint;
  readonly booked_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
}

const RECENT_NS = 900_000_000n;

/** The recent samples of one domain, in memory. */
export interface SeriesMemory {
  /** Takes a sample; one that is not later than the last is dropped. */
  add(point: Point): void;
  /** Whether a sample was ever taken. */
  begun(): boolean;
  series(): PowerSeries;
  /** Null for a domain outside the total, and before there are two samples. */
  wattsNow(): WattsNow | null;
  forgetBefore(at: Instant): void;
}

export function seriesMemory(domain: Domain): SeriesMemory {
  let points: Point[] = [];
  let begun = false;
  return {
    begun: () => begun,
    add(point) {
      begun = true;
      const last = points.at(-1);
      if (last === undefined || point.at_ns > last.at_ns) points.push(point);
    },
    series: () => ({
      domain,
      at_ns: BigInt64Array.from(points, (p) => p.at_ns),
      booked_j: Float64Array.from(points, (p) => p.booked_j),
      lo_j: Float64Array.from(points, (p) => p.lo_j),
      hi_j: Float64Array.from(points, (p) => p.hi_j),
    }),
    wattsNow() {
      const last = points.at(-1);
      if (last === undefined || !domain.in_total) return null;
      const from = points.findLast((p) => last.at_ns - p.at_ns >= RECENT_NS) ?? points[0];
      const seconds = Number(last.at_ns - (from?.at_ns ?? last.at_ns)) / 1e9;
      if (from === undefined || seconds <= 0) return null;
      const power_w = (last.booked_j - from.booked_j) / seconds;
      return { domain: domain.id, power_w, estimated: domain.provenance === 'estimated' };
    },
    forgetBefore(at) {
      points = points.filter((p) => instant(p.at_ns) >= at);
    },
  };
}
