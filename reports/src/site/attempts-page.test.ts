import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedCatalogue } from '@perwatt/metrics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildResults } from '../build-results.js';
import { gradedRun, gradeRows } from '../graded-run.fixture.js';
import type { RunResults } from '../results-types.js';
import { attemptCosts, attemptedCells } from './attempts-data.js';
import { attemptsPage } from './attempts-page.js';
import { siteOf } from './site-model.js';

let root = '';
let results: RunResults;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-attempts-'));
  const { run } = gradedRun(join(root, 'run'), (cell) =>
    gradeRows(
      cell,
      ['a', 'b', 'c', 'd'].flatMap((item, i) =>
        [0, 1, 2, 3].map((repeat) => {
          const right = repeat < [4, 2, 1, 0][i]!;
          return [
            item,
            repeat,
            right ? 'correct' : 'incorrect',
            { answer_class: right ? 0 : repeat },
          ] as const;
        }),
      ),
      {},
    ),
  );
  results = buildResults(run);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const siteFrom = (own: RunResults) => siteOf([{ results: own, run: null }], shippedCatalogue());
const strategyOf = (id: string): RunResults => ({
  ...results,
  cells: results.cells.map((cell) => ({
    ...cell,
    provenance: cell.provenance && { ...cell.provenance, strategy: { id, version: 1, params: {} } },
  })),
});

describe('attemptCosts', () => {
  test('k attempts cost k times one; what they cover is told with what it costs', () => {
    const [own] = attemptedCells(results.cells);
    const { metrics, counts } = own!.cell;
    expect(own!.figures).toMatchObject({ k: 4, items: 4, attempts: 16 });
    const attempt_j = (metrics.energy_per_query_j.value! * counts.attempted) / 16;
    expect(own!.attempt_j).toBeCloseTo(attempt_j, 12);
    const costs = attemptCosts(own!);
    const covered = [7 / 16, (1 + 5 / 6 + 1 / 2) / 4, 3 / 4];
    expect(costs.map(({ k }) => k)).toEqual([1, 2, 4]);
    for (const [i, cost] of costs.entries()) {
      expect(cost.pass_at_k).toBeCloseTo(covered[i]!, 12);
      expect(cost.energy_per_covered_j).toBeCloseTo((cost.k * attempt_j) / covered[i]!, 10);
      expect(cost.pass_interval!.lo).toBeLessThan(covered[i]!);
      expect(cost.pass_interval!.hi).toBeGreaterThan(covered[i]!);
    }
    expect(costs[0]!.marginal_j_per_pp).toBeNull();
    expect(costs[2]!.marginal_j_per_pp).toBeCloseTo(
      (2 * attempt_j) / (100 * (covered[2]! - covered[1]!)),
      10,
    );
  });

  test('joules that pay for a verifier too are not those of attempts', () => {
    const [own] = attemptedCells(strategyOf('best_of_n').cells);
    expect(own!.attempt_j).toBeNull();
    for (const cost of attemptCosts(own!))
      expect(cost).toMatchObject({ energy_per_covered_j: null, marginal_j_per_pp: null });
  });
});

describe('attemptsPage', () => {
  test('shows both curves, the table and the law', () => {
    const page = attemptsPage(siteFrom(results));
    expect(page?.figures.map(({ id }) => id)).toEqual(['coverage', 'coverage-joules']);
    expect(page?.body.markup).toContain('75 % [30, 95]');
    expect(page?.body.markup).toContain('4 items, 16 attempts');
    expect(page?.body.markup).toMatch(/exp\([-−]\d/);
  });

  test('has no curve over joules that pay for more than attempts', () => {
    expect(attemptsPage(siteFrom(strategyOf('weighted_vote')))?.figures.map(({ id }) => id)).toEqual([
      'coverage',
    ]);
  });

  test.each(['debate', 'sequential_revision'])(
    'leaves out attempts of %s, which know of one another',
    (id) => {
      expect(attemptsPage(siteFrom(strategyOf(id)))).toBeNull();
    },
  );

  test('is no page of a run that attempted nothing twice', () => {
    const cells = results.cells.map((cell) => ({ ...cell, grading: null }));
    expect(attemptsPage(siteFrom({ ...results, cells }))).toBeNull();
  });
});
