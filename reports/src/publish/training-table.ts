import type { Provenance } from '@perwatt/core';
import type { RecordValue } from '@perwatt/records';
import { type Grid, gridColumns } from '../compare/grid.js';
import { DASH, formatNumber, formatPercent, markNotes, provenanceMark } from '../format.js';
import type { TrainingAccount, TrainingFigure, TrainingReport } from '../training/training-account.js';

/** Figures of a training: name, unit, and the figure. */
function figuresOf(account: TrainingAccount): readonly (readonly [string, string, TrainingFigure])[] {
  const known = (value: number | null): TrainingFigure => ({
    value,
    lo: null,
    hi: null,
    reason: value === null ? 'not known' : null,
  });
  return [
    ['accuracy_before', '1', known(account.accuracy_before)],
    ['accuracy_after', '1', known(account.accuracy_after)],
    ['accuracy_gain_pp', 'pp', account.accuracy_gain_pp],
    ['training_energy_j', 'J', account.training_energy_j],
    ['evaluation_energy_j', 'J', account.evaluation_energy_j],
    ['energy_per_point_j', 'J', account.energy_per_point_j],
    ['break_even_queries', 'queries', account.break_even_queries],
    ['query_energy_before_j', 'J', known(account.query_energy_before_j)],
    ['query_energy_after_j', 'J', known(account.query_energy_after_j)],
    ['cpu_s', 's', known(account.cpu_s)],
    ...Object.entries(account.totals).map(([name, value]) => [name, 'count', known(value)] as const),
  ];
}

/** Every figure of every training on a line of its own, for CSV and Parquet. */
export const trainingRecords = (reports: readonly TrainingReport[]): Record<string, RecordValue>[] =>
  reports.flatMap(({ manifest, energy, accounts }) =>
    accounts.flatMap((account) =>
      figuresOf(account).map(([figure, unit, { value, lo, hi, reason }]) => ({
        run_id: manifest.run_id,
        training: account.facts.name,
        recipe: account.facts.recipe,
        recipe_version: account.facts.version,
        seeds: account.facts.seeds.length,
        steps: account.facts.steps,
        figure,
        unit,
        value,
        lo,
        hi,
        reason,
        provenance: unit === 'J' ? energy.provenance : null,
      })),
    ),
  );

const bounded = ({ value, lo, hi, reason }: TrainingFigure, mark = ''): string => {
  if (value === null) return reason ?? DASH;
  const range = lo === null || hi === null ? '' : ` [${formatNumber(lo)}, ${formatNumber(hi)}]`;
  return `${mark}${formatNumber(value)}${range}`;
};

const share = (value: number | null): string => (value === null ? DASH : formatPercent(value));

/** The table of a publication of trainings: a row a training. */
export const trainingGrid = (reports: readonly TrainingReport[]): Grid => ({
  columns: gridColumns([
    ...(reports.length > 1 ? ['run'] : []),
    'training',
    'recipe',
    '>seeds',
    '>accuracy before',
    '>accuracy after',
    '>gain (points)',
    '>training (J)',
    '>evaluation (J)',
    '>energy per point (J)',
    '>break-even (queries)',
    'joules are',
  ]),
  rows: reports.flatMap(({ manifest, energy, accounts }) =>
    accounts.map((own) => {
      const mark = provenanceMark(energy.provenance as Provenance | null);
      return [
        ...(reports.length > 1 ? [manifest.run_id] : []),
        own.facts.name,
        `${own.facts.recipe} ${own.facts.version}`,
        String(own.facts.seeds.length),
        share(own.accuracy_before),
        share(own.accuracy_after),
        bounded(own.accuracy_gain_pp),
        bounded(own.training_energy_j, mark),
        bounded(own.evaluation_energy_j, mark),
        bounded(own.energy_per_point_j, mark),
        bounded(own.break_even_queries),
        energy.provenance ?? 'not metered',
      ];
    }),
  ),
});

/** What stands below the table, one line each. */
export const trainingNotes = (reports: readonly TrainingReport[]): string[] => [
  ...markNotes(reports.map(({ energy }) => energy.provenance as Provenance | null)),
  'Accuracy is of held-out items, a mean over seeds; the interval of a gain is over seeds and items.',
  'Energy is gross, of all seeds, with the bounds of the sensor; energy per point is of one seed, and told only where the interval of the gain lies above 0.',
];
