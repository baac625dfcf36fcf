import type { CellFile, ClockZero, PowerFileSeries, SampleSeries, Sitting } from '@perwatt/records';
import { powerTimeline } from '../power-timeline.js';
import type { PowerTrace } from '../results-types.js';

/** Something that went on around a sitting, in seconds of its figure. */
export interface PhaseSpan {
  readonly kind: 'idle host' | 'idle, loaded' | 'measured window' | 'steady window';
  readonly start_s: number;
  readonly end_s: number;
}

/** Power around the longest sitting of a cell. Seconds count from the start of its measured window. */
export interface CellPower {
  readonly sitting: number;
  readonly sittings: number;
  readonly traces: readonly PowerTrace[];
  readonly phases: readonly PhaseSpan[];
  /** Seconds of a stamp on the run's clock. */
  readonly secondsOf: (at_ns: bigint) => number;
}

const MOST_POINTS = 1_500;
const NS = 1e9;

const lengthOf = ({ start_ns, end_ns }: Sitting): number =>
  end_ns === null ? 0 : Number(BigInt(end_ns) - BigInt(start_ns));

const longest = (sittings: readonly Sitting[]): Sitting | null =>
  sittings.reduce<Sitting | null>(
    (best, own) => (lengthOf(own) > 0 && (best === null || lengthOf(own) > lengthOf(best)) ? own : best),
    null,
  );

/** Index of the first stamp that isn't before `at`. */
function firstFrom(stamps: BigInt64Array, at: bigint): number {
  let [low, high] = [0, stamps.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((stamps[middle] ?? 0n) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function cut({ at_ns, booked_j, lo_j, hi_j }: SampleSeries, from: bigint, to: bigint): SampleSeries {
  const [first, last] = [Math.max(firstFrom(at_ns, from) - 1, 0), firstFrom(at_ns, to) + 1];
  return {
    at_ns: at_ns.subarray(first, last),
    booked_j: booked_j.subarray(first, last),
    lo_j: lo_j.subarray(first, last),
    hi_j: hi_j.subarray(first, last),
  };
}

/** Baselines that lie near enough to be seen beside the window: shared ones may be of long before. */
function shownBaselines({ baselines, start_ns, end_ns }: Sitting) {
  const [start, end] = [BigInt(start_ns), BigInt(end_ns ?? start_ns)];
  const around = (end - start) / 2n + 30_000_000_000n;
  return baselines.filter(
    (own) => BigInt(own.end_ns) > start - around && BigInt(own.start_ns) < end + around,
  );
}

/** Power from before the baselines of a cell's longest sitting to after them; null without samples or a closed sitting. */
export function cellPower(
  { sittings, ...cell }: CellFile,
  power: readonly PowerFileSeries[],
  clocks: readonly ClockZero[],
): CellPower | null {
  const sitting = longest(sittings);
  if (sitting === null || sitting.end_ns === null) return null;
  const baselines = shownBaselines(sitting);
  const edges = [sitting, ...baselines].flatMap(({ start_ns, end_ns }) => [
    BigInt(start_ns),
    BigInt(end_ns ?? start_ns),
  ]);
  const [from, to] = [
    edges.reduce((a, b) => (a < b ? a : b)) - 1_000_000_000n,
    edges.reduce((a, b) => (a > b ? a : b)) + 1_000_000_000n,
  ];
  const near = power
    .filter(({ boot_id }) => boot_id === sitting.boot_id)
    .map((file) => ({
      ...file,
      series: new Map([...file.series].map(([id, series]) => [id, cut(series, from, to)])),
    }));
  const { traces, spans } = powerTimeline(near, [{ ...cell, sittings: [sitting] }], clocks, MOST_POINTS);
  const [span] = spans;
  if (span === undefined || traces.length === 0) return null;
  const start = BigInt(sitting.start_ns);
  const secondsOf = (at_ns: bigint): number => Number(at_ns - start) / NS;
  const phases = [
    ...baselines.map(
      ({ kind, start_ns, end_ns }): PhaseSpan => ({
        kind: kind === 'host_idle' ? 'idle host' : 'idle, loaded',
        start_s: secondsOf(BigInt(start_ns)),
        end_s: secondsOf(BigInt(end_ns)),
      }),
    ),
    { kind: 'measured window' as const, start_s: 0, end_s: secondsOf(BigInt(sitting.end_ns)) },
  ];
  const moved = traces.map((trace) => ({ ...trace, t_s: trace.t_s.map((t) => t - span.start_s) }));
  return { sitting: sitting.sitting, sittings: sittings.length, traces: moved, phases, secondsOf };
}
