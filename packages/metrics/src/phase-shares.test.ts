import { fc, test } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { describe, expect } from 'vitest';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput } from './cell-types.js';
import { columnsOfRows } from './columns-of-rows.js';
import { energyDetail, phasesOfQueries } from './energy-detail.js';
import { callRow, queryRow } from './rows.fixture.js';
import { at, every, seriesOf, span, stepped } from './series.fixture.js';

const steps = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 500 })), { maxLength: 8 })
  .map((own) => [[0, 50] as const, ...own.toSorted((a, b) => a[0] - b[0])]);

/** Start, and times to the first output, the last, and the end, in tenths of a second. */
const stamps = fc.tuple(
  fc.integer({ min: 0, max: 700 }),
  fc.integer({ min: 0, max: 60 }),
  fc.integer({ min: 0, max: 60 }),
  fc.integer({ min: 0, max: 10 }),
);

describe('energy by phase of single queries', () => {
  test.prop([steps, fc.array(stamps, { minLength: 1, maxLength: 12 })], { numRuns: 60 })(
    'adds up to that of the cell, whichever calls overlap and wherever the window cuts them',
    (power, times) => {
      const queries = times.map(([start, pre, dec, rest], i) =>
        queryRow(`i${i}`, [start / 10, (start + pre + dec + rest) / 10]),
      );
      const calls = queries.map((query, i) => {
        const [start, pre, dec] = times[i]!;
        const first = at((start + pre) / 10);
        return callRow(query, { first_any_ns: first, last_content_ns: at((start + pre + dec) / 10) });
      });
      const input: CellInput = {
        queries,
        calls,
        guess_rate: null,
        sittings: [
          {
            sitting: 0,
            window: span(5, 60),
            series: [seriesOf(every(0.5, 100), stepped(power))],
            baselines: [],
          },
        ],
      };
      const columns = columnsOfRows(input);
      const { phases } = energyDetail(input, new Map());
      const shares = phasesOfQueries(input, columns, phases);
      const sum = (values: Float64Array | undefined) => values?.reduce((a, b) => a + b, 0);
      expect(sum(shares?.prefill_j)).toBeCloseTo(phases.phases!.prefill.energy_j, 6);
      expect(sum(shares?.decode_j)).toBeCloseTo(phases.phases!.decode.energy_j, 6);
    },
  );
});

interface Shape {
  readonly repeats: number;
  /** Seconds from one reading to the next. */
  readonly reading_s?: number;
  /** How far power differs from repeat to repeat, as a share. */
  readonly between?: number;
  /** How far it differs from item to item. */
  readonly items?: number;
}

/** 25 items of a second of prefill and nine of decode, one after another. */
function cellOf({ repeats, reading_s = 0.025, between = 0.05, items = 0.2 }: Shape): CellInput {
  const random = createRng(7);
  const factors = Array.from({ length: 25 }, () => 1 + items * (2 * random() - 1));
  const power: [number, number][] = [];
  const queries = Array.from({ length: repeats }, (_, repeat) =>
    factors.map((factor, i) => {
      const start = 10 * (25 * repeat + i);
      const more = factor * (1 + between * (repeat - 1));
      power.push([start, 100 * more], [start + 1, 50 * more]);
      return queryRow(`i${i}`, [start, start + 10], {
        repeat,
        energy_method: 'isolated',
        energy_gross_j: 550 * more,
      });
    }),
  ).flat();
  const end = 250 * repeats;
  const times = every(reading_s, end);
  const booked = bookedBy(power, times);
  return {
    queries,
    calls: queries.map((query) => callRow(query)),
    guess_rate: null,
    sittings: [
      {
        sitting: 0,
        window: span(0, end),
        series: [{ ...seriesOf(times, (time) => booked.get(time)!), period_ns: reading_s * 1e9 }],
        baselines: [],
      },
    ],
  };
}

/** `stepped` at many times in order. */
function bookedBy(power: readonly (readonly [number, number])[], times: readonly number[]) {
  const booked = new Map<number, number>();
  let [sum, step, now] = [0, 0, 0];
  for (const time of times) {
    for (; (power[step + 1]?.[0] ?? Number.POSITIVE_INFINITY) <= time; step++) {
      sum += (power[step + 1]![0] - now) * power[step]![1];
      now = power[step + 1]![0];
    }
    sum += (time - now) * power[step]![1];
    now = time;
    booked.set(time, sum);
  }
  return booked;
}

const prefill = (shape: Shape) => cellMetrics(cellOf(shape)).values.prefill_energy_per_prompt_token_j;
const decode = (shape: Shape) => cellMetrics(cellOf(shape)).values.decode_energy_per_output_token_j;
const width = ({ sampling_lo: lo, sampling_hi: hi }: ReturnType<typeof prefill>) => hi! - lo!;

describe('figures of phases', () => {
  test('have the interval over repeats and items that energy per query has', () => {
    const metrics = cellMetrics(cellOf({ repeats: 3 }));
    const { energy_per_query_j: whole, ...values } = metrics.values;
    const relative = (of: typeof whole) => [of.sampling_lo! / of.value!, of.sampling_hi! / of.value!];
    for (const of of [values.prefill_energy_per_prompt_token_j, values.decode_energy_per_output_token_j]) {
      expect(of).toMatchObject({ interval: 'repeats_t', note: 'tokens by server_usage' });
      expect(of.spread).toMatchObject({ repeats: 3 });
      expect(relative(of)).toEqual(relative(whole).map((end) => expect.closeTo(end, 3)));
    }
    expect(metrics.by_repeat.map(({ values: own }) => own.decode_energy_per_output_token_j)).toEqual(
      [0.95, 1, 1.05].map((factor) =>
        expect.closeTo(factor * values.decode_energy_per_output_token_j.value!, 6),
      ),
    );
  });

  test('spread with repeats and with items', () => {
    for (const of of [prefill, decode]) {
      const own = width(of({ repeats: 3 }));
      expect(width(of({ repeats: 3, between: 0.1 }))).toBeGreaterThan(1.5 * own);
      const steady = width(of({ repeats: 3, between: 0.001 }));
      expect(width(of({ repeats: 3, between: 0.001, items: 0.6 }))).toBeGreaterThan(2.5 * steady);
    }
  });

  test('have the sensor’s bounds alone with fewer than three repeats', () => {
    expect(prefill({ repeats: 2 })).toMatchObject({ interval: 'sensor_bounds', sampling_lo: null });
  });

  test('hold the sensor’s bounds too where it cannot tell phases of their length apart', () => {
    const [sharp, blurred] = [prefill({ repeats: 3 }), prefill({ repeats: 3, reading_s: 0.1 })];
    expect(sharp.interval).toBe('repeats_t');
    expect(blurred.interval).toBe('repeats_and_sensor');
    expect(blurred.lo).toBeLessThan(blurred.sampling_lo!);
    expect(decode({ repeats: 3, reading_s: 0.1 }).interval).toBe('repeats_t');
  });
});
