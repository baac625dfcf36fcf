import type { LongitudinalCell } from './longitudinal-split.js';

/** A cell with the release years of its model and accelerator; null where the year is not known. */
export interface DatedCell extends LongitudinalCell {
  readonly model_year: number | null;
  readonly accelerator_year: number | null;
}

/** What models of one year reach on accelerators of one year. */
export interface YearEntry {
  readonly model_year: number;
  readonly accelerator_year: number;
  readonly context: string;
  readonly cells: number;
  /** The best cell; the first by names on ties. */
  readonly best: { readonly model: string; readonly accelerator: string; readonly value: number };
  /** Geometric mean over cells. */
  readonly mean: number;
}

/** The table of years, and the cells that have no place in it. */
export interface YearTable {
  /** By context, year of the model, year of the accelerator. Cells of different context are never put together. */
  readonly entries: readonly YearEntry[];
  readonly left_out: readonly {
    readonly model: string;
    readonly accelerator: string;
    readonly reason: string;
  }[];
}

/** The year of an ISO day or month; null for anything else. */
export function releaseYear(date: string | null): number | null {
  const year = date === null ? null : /^(\d{4})-\d{2}(-\d{2})?$/.exec(date)?.[1];
  return year === null || year === undefined ? null : Number(year);
}

function problemOf({ model_year, accelerator_year, value }: DatedCell): string | null {
  if (model_year === null) return 'release year of the model unknown';
  if (accelerator_year === null) return 'release year of the accelerator unknown';
  if (value === null || !(value > 0 && Number.isFinite(value))) return 'no value above 0';
  return null;
}

/** A metric by the release years of models and accelerators. */
export function byYear(cells: readonly DatedCell[]): YearTable {
  const groups = new Map<string, DatedCell[]>();
  const left_out: YearTable['left_out'][number][] = [];
  for (const cell of cells) {
    const reason = problemOf(cell);
    if (reason !== null) {
      left_out.push({ model: cell.model, accelerator: cell.accelerator, reason });
      continue;
    }
    const key = JSON.stringify([cell.context, cell.model_year, cell.accelerator_year]);
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  const entries = [...groups.values()].map(entryOf).sort(inOrder);
  return { entries, left_out };
}

function entryOf(cells: readonly DatedCell[]): YearEntry {
  const ranked = cells
    .map(({ model, accelerator, value }) => ({ model, accelerator, value: value ?? Number.NaN }))
    .sort((a, b) => b.value - a.value || compare(a.model, b.model) || compare(a.accelerator, b.accelerator));
  const [best = { model: '', accelerator: '', value: Number.NaN }] = ranked;
  return {
    model_year: cells[0]?.model_year ?? 0,
    accelerator_year: cells[0]?.accelerator_year ?? 0,
    context: cells[0]?.context ?? '',
    cells: cells.length,
    best,
    mean: Math.exp(ranked.reduce((sum, { value }) => sum + Math.log(value), 0) / ranked.length),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const inOrder = (a: YearEntry, b: YearEntry): number =>
  compare(a.context, b.context) || a.model_year - b.model_year || a.accelerator_year - b.accelerator_year;
