import {
  byYear,
  type DatedCell,
  type LongitudinalPair,
  type LongitudinalSplit,
  longitudinalSplit,
  type PublishedFigures,
  publishedFigures,
  type YearTable,
} from '@perwatt/metrics';
import { axisValue, type ComparableCell } from './comparable.js';
import { drawCells } from './draws.js';
import { contextOf } from './mixed.js';

/** The gain from the oldest to the newest year of one context, and which cells it was read off. */
export interface YearSplit {
  readonly context: string;
  readonly pair: LongitudinalPair;
  readonly years: {
    readonly model: readonly [number, number];
    readonly accelerator: readonly [number, number];
  };
  readonly split: LongitudinalSplit;
}

/** A metric by release years, with the gain split where the years differ. */
export interface YearComparison {
  readonly metric: string;
  /** Whether values are one over the metric, so that more is better. */
  readonly inverted: boolean;
  readonly table: YearTable;
  readonly splits: readonly YearSplit[];
  /** What others published, in a table of its own. */
  readonly published: PublishedFigures;
}

/** Strategy and load, and the knobs of published configurations: what must agree beside workload and boundary. */
function contextFor(cell: ComparableCell, metric: string): string {
  const knobs = Object.entries(cell.axes)
    .filter(([axis]) => !['model', 'accelerator', 'dataset', 'item'].includes(axis))
    .map(([axis, value]) => (axis === 'strategy' || axis === 'load' ? value : `${axis} ${value}`));
  return [contextOf(cell, [metric]), ...knobs].filter((part) => part !== '').join(', ');
}

type Entry = YearTable['entries'][number];

const extremes = (entries: readonly Entry[], year: (entry: Entry) => number): [number, number] => [
  Math.min(...entries.map(year)),
  Math.max(...entries.map(year)),
];

/** The best cell among entries of one year, for its model or its accelerator. */
const bestOf = (entries: readonly Entry[]): Entry['best'] | undefined =>
  entries.map(({ best }) => best).sort((a, b) => b.value - a.value)[0];

/** The best models and accelerators of the oldest and the newest year; null where no year differs. */
function pairOf(entries: readonly Entry[]): Pick<YearSplit, 'pair' | 'years'> | null {
  const model = extremes(entries, ({ model_year }) => model_year);
  const accelerator = extremes(entries, ({ accelerator_year }) => accelerator_year);
  if (model[0] === model[1] && accelerator[0] === accelerator[1]) return null;
  const at = (m: number, a: number) =>
    bestOf(entries.filter(({ model_year, accelerator_year }) => model_year === m && accelerator_year === a));
  const older =
    at(model[0], accelerator[0]) ?? bestOf(entries.filter(({ model_year }) => model_year === model[0]));
  const newer =
    at(model[1], accelerator[1]) ?? bestOf(entries.filter(({ model_year }) => model_year === model[1]));
  if (older === undefined || newer === undefined) return null;
  const oldModel = model[0] === model[1] ? newer.model : older.model;
  const oldAccelerator = accelerator[0] === accelerator[1] ? newer.accelerator : older.accelerator;
  return {
    pair: { model: [oldModel, newer.model], accelerator: [oldAccelerator, newer.accelerator] },
    years: { model, accelerator },
  };
}

/**
 * A metric by the release years of models and accelerators that the catalogue knows, and its gain from the oldest to the
 * newest split into a model and a hardware factor, for each workload, boundary, provenance, strategy and load apart. The
 * pair is the best cell of the oldest years and the best of the newest. Invalid cells are out.
 */
export function compareYears(cells: readonly ComparableCell[], metric: string): YearComparison {
  const inverted = cells.some(
    ({ figures }) => figures[metric] !== undefined && figures[metric].better !== 'higher',
  );
  const turned = (value: number | null) => (value === null || !inverted ? value : 1 / value);
  const known = cells.filter(
    ({ verdict, figures }) => verdict.state !== 'invalid' && figures[metric] !== undefined,
  );
  const contextsOf = new Map(known.map((cell) => [cell.record, contextFor(cell, metric)]));
  const contexts = [...new Set(contextsOf.values())];
  const draws = new Map(
    contexts.flatMap((context) => [
      ...drawCells(
        known.filter(({ record }) => contextsOf.get(record) === context),
        [metric],
      ),
    ]),
  );
  const dated = known.map((cell): DatedCell => {
    const resamples = (draws.get(cell.record)?.[metric] ?? []).map((value) => turned(value) ?? Number.NaN);
    return {
      model: axisValue(cell, 'model'),
      accelerator: axisValue(cell, 'accelerator'),
      value: turned(cell.figures[metric]?.value ?? null),
      context: contextsOf.get(cell.record) ?? '',
      model_year: cell.years.model,
      accelerator_year: cell.years.accelerator,
      ...(resamples.length > 0 ? { resamples } : {}),
    };
  });
  const table = byYear(dated);
  const splits = contexts.flatMap((context): YearSplit[] => {
    const found = pairOf(table.entries.filter((entry) => entry.context === context));
    if (found === null) return [];
    const own = dated.filter((cell) => cell.context === context);
    return [{ context, ...found, split: longitudinalSplit(own, found.pair) }];
  });
  return { metric, inverted, table, splits, published: publishedFigures() };
}
