import { expect, test } from 'vitest';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput } from './cell-types.js';
import type { MetricId } from './metric-definitions.js';
import { callRow, queryRow } from './rows.fixture.js';
import { seriesOf, span } from './series.fixture.js';
import { drawRun, FULL, trueAccuracy, type World, world } from './stats/synthetic.fixture.js';

const REPLICATES = FULL ? 2_000 : 100;

/** A whole cell as it was recorded: one query after another, the meter read at the end of each. */
function cellOf(w: World, seed: number): CellInput {
  const [times, booked] = [[0], [0]];
  const queries = drawRun(w, seed).map(({ item, repeat, totals }) => {
    const [score = 0, , , seconds = 0, joules = 0] = totals;
    const start = times.at(-1)!;
    times.push(start + seconds);
    booked.push(booked.at(-1)! + joules);
    return queryRow(item, [start, start + seconds], {
      repeat,
      score,
      verdict: score === 1 ? 'correct' : 'incorrect',
      energy_gross_j: joules,
      energy_method: 'isolated',
    });
  });
  const byTime = new Map(times.map((time, i) => [time, booked[i]!]));
  return {
    queries,
    calls: queries.map((query) => callRow(query)),
    guess_rate: null,
    seed,
    sittings: [
      {
        sitting: 0,
        baselines: [],
        window: span(0, times.at(-1)!),
        series: [{ ...seriesOf(times, (time) => byTime.get(time)!), period_ns: 60e9 }],
      },
    ],
  };
}

test('the intervals of whole cells hold the truth in 93 to 97 of 100', () => {
  const w = { ...world, items: 40 };
  const accuracy = trueAccuracy(w);
  const truths: Partial<Record<MetricId, number>> = {
    accuracy,
    power_w: w.joules / w.seconds,
    energy_per_query_j: w.joules,
    ipw_per_w: (accuracy * w.seconds) / w.joules,
    ipj_per_j: accuracy / w.joules,
    energy_per_correct_j: w.joules / accuracy,
  };
  const held = new Map(Object.keys(truths).map((id) => [id, 0]));
  for (let seed = 1; seed <= REPLICATES; seed++) {
    const { values } = cellMetrics(cellOf(w, seed));
    for (const [id, truth] of Object.entries(truths)) {
      const { lo, hi, interval } = values[id as MetricId];
      expect(interval).toBe(id === 'accuracy' ? 'item_bootstrap' : 'repeats_t');
      if (lo! <= truth && truth <= hi!) held.set(id, held.get(id)! + 1);
    }
  }
  const slack = FULL ? 0 : 2 * Math.sqrt((0.95 * 0.05) / REPLICATES);
  for (const [id, count] of held) {
    expect([id, count / REPLICATES, count / REPLICATES >= 0.93 - slack]).toEqual([
      id,
      expect.anything(),
      true,
    ]);
    expect([id, count / REPLICATES, count / REPLICATES <= 0.97 + slack]).toEqual([
      id,
      expect.anything(),
      true,
    ]);
  }
});
