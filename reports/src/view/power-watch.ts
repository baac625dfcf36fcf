import { join } from 'node:path';
import { blindEvents } from '@perwatt/core';
import { type ColumnBatch, createSegmentTail, type RunFolder, type SegmentTail } from '@perwatt/records';
import type { ReadBudget, WatchedDomain, WatchedPower } from './watch-types.js';

/** Points of a line that are kept, and the least time between two, s. */
const KEPT = 240;
const APART_S = 0.5;
/** Of a file that is met late so much of its end is read, bytes. */
const LAST_BYTES = 2 * 2 ** 20;

interface Line {
  /** The last point: time and joules booked. */
  at_ns: bigint;
  booked_j: number;
  readonly points: [t_ns: bigint, w: number][];
}

const blind: ReadonlySet<string> = blindEvents;

/** Follows the samples of every recorder of a run. */
export function createPowerWatch() {
  const tails = new Map<string, SegmentTail>();
  const lines = new Map<string, Line>();
  const take = (batch: ColumnBatch) => {
    const [at, domain] = [batch.stamp('at_ns'), batch.text('domain')];
    const [booked, event] = [batch.number('booked_energy_j'), batch.text('event')];
    for (let row = 0; row < batch.rows; row++) {
      if (blind.has(event(row) ?? '')) continue;
      addPoint(lines, domain(row) ?? '', { at_ns: at(row) ?? 0n, booked_j: booked(row) ?? 0 });
    }
  };
  return {
    follow({ manifest, powerFolder }: RunFolder, budget: ReadBudget): void {
      for (const { file } of manifest.power) {
        const tail =
          tails.get(file) ??
          createSegmentTail(join(powerFolder, file), { table: 'samples', last: LAST_BYTES });
        tails.set(file, tail);
        if (budget.left > 0) budget.left -= tail.read(budget.left, take);
      }
    },
    state({ manifest }: RunFolder): WatchedPower {
      const zero = BigInt(manifest.clocks[0]?.at_ns ?? 0);
      const known = new Map(
        manifest.power.flatMap(({ source, provenance, domains }) =>
          domains.map(({ id, in_total }) => [id, { source, provenance, in_total }] as const),
        ),
      );
      const domains = [...known].map(([domain, facts]): WatchedDomain => {
        const points = lines.get(domain)?.points ?? [];
        return {
          domain,
          ...facts,
          power_w: points.at(-1)?.[1] ?? null,
          t_s: points.map(([at]) => Number(at - zero) / 1e9),
          w: points.map(([, w]) => w),
        };
      });
      const total = domains.filter(({ in_total }) => in_total).map(({ power_w }) => power_w);
      const whole = total.length > 0 && total.every((power) => power !== null);
      return { total_w: whole ? total.reduce<number>((sum, power) => sum + (power ?? 0), 0) : null, domains };
    },
    behind: (): boolean => [...tails.values()].some((tail) => tail.behind),
    problems: (): string[] =>
      [...tails].flatMap(([file, { problem }]) => (problem === null ? [] : [`power/${file}: ${problem}`])),
  };
}

interface Reading {
  readonly at_ns: bigint;
  readonly booked_j: number;
}

/** Mean power since the last point, once there was time enough; a clock that went back begins a new line. */
function addPoint(lines: Map<string, Line>, domain: string, { at_ns, booked_j }: Reading): void {
  const line = lines.get(domain);
  if (line === undefined || at_ns < line.at_ns || booked_j < line.booked_j) {
    lines.set(domain, { at_ns, booked_j, points: [] });
    return;
  }
  const seconds = Number(at_ns - line.at_ns) / 1e9;
  if (seconds < APART_S) return;
  line.points.push([at_ns, (booked_j - line.booked_j) / seconds]);
  if (line.points.length > KEPT) line.points.shift();
  line.at_ns = at_ns;
  line.booked_j = booked_j;
}
