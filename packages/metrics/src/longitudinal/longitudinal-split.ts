import { quantile } from '../statistics.js';

/** One metric of one model on one accelerator. */
export interface LongitudinalCell {
  readonly model: string;
  readonly accelerator: string;
  /** The metric, above 0, higher is better; null where the cell has none. */
  readonly value: number | null;
  /**
   * What must be the same in all cells: boundary, provenance, workload and load, in one text. Cells that differ in it are
   * not compared.
   */
  readonly context: string;
  /** The metric in each bootstrap draw, in the order of draws that all cells share; left out where there are none. */
  readonly resamples?: readonly number[];
}

/** An older and a newer model and accelerator. */
export interface LongitudinalPair {
  readonly model: readonly [older: string, newer: string];
  readonly accelerator: readonly [older: string, newer: string];
}

/** A ratio with its 95 % percentile interval over the draws. */
export interface Factor {
  /** Null with a reason. */
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly reason: string | null;
}

/** The gain between two points in time, split in both orders. */
export interface LongitudinalSplit {
  /** New model on new hardware over old on old. */
  readonly gain: Factor;
  /** First the model on old hardware, then the hardware under the new model. */
  readonly model_first: { readonly model: Factor; readonly hardware: Factor };
  /** First the hardware under the old model, then the model on new hardware. */
  readonly hardware_first: { readonly hardware: Factor; readonly model: Factor };
  /** Geometric means of both orders. Model × hardware is the gain. */
  readonly mean: { readonly model: Factor; readonly hardware: Factor };
  /** How much the new model gains from new hardware beyond what the old one does: 1 where factors multiply. */
  readonly interaction: Factor;
}

type Corner = 'old_old' | 'new_old' | 'old_new' | 'new_new';

type Corners = Readonly<Record<Corner, number>>;

interface Quantity {
  readonly needs: readonly Corner[];
  readonly of: (at: Corners) => number;
}

// The first word of a corner is the model, the second the accelerator.
const quantities = {
  gain: { needs: ['old_old', 'new_new'], of: (at) => at.new_new / at.old_old },
  modelOnOld: { needs: ['old_old', 'new_old'], of: (at) => at.new_old / at.old_old },
  hardwareUnderNew: { needs: ['new_old', 'new_new'], of: (at) => at.new_new / at.new_old },
  hardwareUnderOld: { needs: ['old_old', 'old_new'], of: (at) => at.old_new / at.old_old },
  modelOnNew: { needs: ['old_new', 'new_new'], of: (at) => at.new_new / at.old_new },
  model: {
    needs: ['old_old', 'new_old', 'old_new', 'new_new'],
    of: (at) => Math.sqrt((at.new_old / at.old_old) * (at.new_new / at.old_new)),
  },
  hardware: {
    needs: ['old_old', 'new_old', 'old_new', 'new_new'],
    of: (at) => Math.sqrt((at.old_new / at.old_old) * (at.new_new / at.new_old)),
  },
  interaction: {
    needs: ['old_old', 'new_old', 'old_new', 'new_new'],
    of: (at) => (at.new_new * at.old_old) / (at.new_old * at.old_new),
  },
} as const satisfies Record<string, Quantity>;

/**
 * Splits the gain of a metric between two points in time into a model and a hardware factor. The order matters where the
 * new model gains more (or less) from the new hardware than the old one, so both orders are given, with their geometric
 * mean and the interaction. A figure is null with a reason where one of the cells it needs is missing.
 */
export function longitudinalSplit(
  cells: readonly LongitudinalCell[],
  pair: LongitudinalPair,
): LongitudinalSplit {
  const found = cornersOf(cells, pair);
  const factor = (name: keyof typeof quantities): Factor => factorOf(quantities[name], found);
  return {
    gain: factor('gain'),
    model_first: { model: factor('modelOnOld'), hardware: factor('hardwareUnderNew') },
    hardware_first: { hardware: factor('hardwareUnderOld'), model: factor('modelOnNew') },
    mean: { model: factor('model'), hardware: factor('hardware') },
    interaction: factor('interaction'),
  };
}

interface FoundCell {
  readonly name: string;
  readonly cell: LongitudinalCell | null;
  readonly reason: string | null;
}

type FoundCorners = Readonly<Record<Corner, FoundCell>>;

function cornersOf(
  cells: readonly LongitudinalCell[],
  { model, accelerator }: LongitudinalPair,
): FoundCorners {
  const at = (m: string, a: string): FoundCell => {
    const name = `${m} on ${a}`;
    const hits = cells.filter((cell) => cell.model === m && cell.accelerator === a);
    const [cell] = hits;
    if (cell === undefined) return { name, cell: null, reason: `no cell of ${name}` };
    if (hits.length > 1) return { name, cell: null, reason: `${hits.length} cells of ${name}` };
    if (cell.value === null || !(cell.value > 0 && Number.isFinite(cell.value)))
      return { name, cell: null, reason: `no value above 0 of ${name}` };
    return { name, cell, reason: null };
  };
  return {
    old_old: at(model[0], accelerator[0]),
    new_old: at(model[1], accelerator[0]),
    old_new: at(model[0], accelerator[1]),
    new_new: at(model[1], accelerator[1]),
  };
}

const missing = (reason: string): Factor => ({ value: null, lo: null, hi: null, reason });

function factorOf({ needs, of }: Quantity, found: FoundCorners): Factor {
  const cells = new Map<Corner, LongitudinalCell>();
  for (const corner of needs) {
    const { cell, reason } = found[corner];
    if (cell === null) return missing(reason ?? 'no cell');
    cells.set(corner, cell);
  }
  const contexts = new Set([...cells.values()].map(({ context }) => context));
  if (contexts.size > 1) return missing(`cells differ in ${[...contexts].join(' and ')}`);
  const value = of(at((corner) => cells.get(corner)?.value ?? Number.NaN));
  const interval = intervalOf(of, cells);
  return typeof interval === 'string'
    ? { value, lo: null, hi: null, reason: interval }
    : { value, ...interval, reason: null };
}

const at = (figure: (corner: Corner) => number): Corners => ({
  old_old: figure('old_old'),
  new_old: figure('new_old'),
  old_new: figure('old_new'),
  new_new: figure('new_new'),
});

function intervalOf(
  of: Quantity['of'],
  cells: ReadonlyMap<Corner, LongitudinalCell>,
): { readonly lo: number; readonly hi: number } | string {
  const lengths = [...cells.values()].map(({ resamples }) => resamples?.length ?? 0);
  const draws = lengths[0] ?? 0;
  if (lengths.some((length) => length === 0)) return 'no draws to make an interval of';
  if (lengths.some((length) => length !== draws)) return 'cells with different numbers of draws';
  const values = Array.from({ length: draws }, (_, i) =>
    of(at((corner) => cells.get(corner)?.resamples?.[i] ?? Number.NaN)),
  ).filter((value) => Number.isFinite(value) && value > 0);
  const [lo, hi] = [quantile(values, 0.025), quantile(values, 0.975)];
  if (values.length < 0.975 * draws || lo === null || hi === null) return 'too many draws without a ratio';
  return { lo, hi };
}
