import { createRng, seedFrom } from '@perwatt/core';
import { type Contribution, cellMetrics, crossedEstimate, powersOf, totalNames } from '@perwatt/metrics';
import { testDomain } from '@perwatt/test-kit';
import type { ComparableCell } from './comparable.js';
import { figuresOf } from './comparable-run.js';

/** A cell made of drawn totals, as a run would give it. */
export interface DrawnCell {
  readonly axes?: Readonly<Record<string, string>>;
  readonly record?: string;
  /** Mean score and J a query; each item has its own factor, the same in every cell. */
  readonly accuracy?: number;
  readonly energy_j?: number;
  /** Relative noise of a repeat as a whole. */
  readonly noise?: number;
  readonly items?: number;
  readonly repeats?: number;
  readonly seed?: number;
  /** Bounds of the sensor about its energy, as a share. */
  readonly band?: number;
  readonly scope?: 'gpu' | 'wall' | 'package';
  readonly host?: string;
  readonly state?: ComparableCell['verdict']['state'];
  readonly digest?: string;
  readonly years?: ComparableCell['years'];
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

function contributionsOf(given: DrawnCell): Contribution[] {
  const { accuracy = 0.5, energy_j = 10, noise = 0, items = 60, repeats = 3, seed = 0 } = given;
  const random = createRng(seedFrom(seed, 'cell'));
  return Array.from({ length: repeats }, (_, repeat) => {
    const ofRun = 1 + noise * normal(random);
    return Array.from({ length: items }, (_, i): Contribution => {
      const item = createRng(seedFrom(7, 'item', i));
      const [hardness, length] = [item(), 0.5 + item()];
      const right = hardness < accuracy ? 1 : 0;
      const joules = energy_j * length * ofRun * (0.98 + 0.04 * random());
      return { item: `i${i}`, repeat, totals: [right, 1, 1, length, joules, joules / 2, 10, 30] };
    });
  }).flat();
}

/** Figures of totals with their interval over items and repeats, in the place of blank ones. */
function drawnFigures(
  queries: readonly Contribution[],
  blank: ComparableCell['figures'],
  scope: string,
): ComparableCell['figures'] {
  const made = (
    ['accuracy', 'energy_per_query_j', 'ipw_per_w', 'ipj_per_j', 'tokens_per_s'] as const
  ).flatMap((name) => {
    const [found, own] = [crossedEstimate(queries, powersOf(name)), blank[name]];
    if (found === null || own === undefined) return [];
    const { value, lo, hi } = found;
    const powered = name !== 'accuracy' && name !== 'tokens_per_s';
    const power = { provenance: powered ? ('counter' as const) : null, boundary: powered ? scope : null };
    const figure = { ...own, value, lo, hi, sampling_lo: lo, sampling_hi: hi, reason: null, ...power };
    return [[name, figure] as const];
  });
  return { ...blank, ...Object.fromEntries(made) };
}

/** A comparable cell of drawn totals. Its figures are those of its contributions, with their interval over items and repeats. */
export function drawnCell(given: DrawnCell): ComparableCell {
  const queries = contributionsOf(given);
  const { repeats = 3, band = 0, scope = 'gpu', host = 'h', state = 'valid' } = given;
  const domains = [testDomain({ id: `${scope}:0`, scope, provenance: 'counter', scale_error_ratio: null })];
  const boundary = { provenance: 'counter', domains } as const;
  const gross_j = queries.reduce((sum, { totals }) => sum + (totals[totalNames.indexOf('gross_j')] ?? 0), 0);
  const empty = cellMetrics({ queries: [], calls: [], sittings: [], guess_rate: null });
  const energy = {
    ...empty.energy,
    boundary,
    gross_j,
    gross_lo_j: gross_j * (1 - band),
    gross_hi_j: gross_j * (1 + band),
  };
  const figures = drawnFigures(queries, figuresOf(empty.values, energy), scope);
  const axes = { model: 'm', accelerator: 'a', dataset: 'd', strategy: 's', load: 'c1', ...given.axes };
  return {
    run_id: 'r',
    record: given.record ?? JSON.stringify(axes),
    tier: 'measured',
    axes,
    workload: { items: `d ${given.digest ?? 'x'}` },
    circumstances: {},
    figures,
    verdict: { state, reasons: state === 'valid' ? [] : [{ code: 'drift', text: 'it drifted', fix: null }] },
    repeats,
    latencies: null,
    contributions: { queries, isolated: true, units: queries },
    energy,
    host,
    years: given.years ?? { model: null, accelerator: null },
  };
}
