/** What an energy figure needs beside the energy itself; null where it isn't known. */
export interface FigureContext {
  readonly accuracy: number | null;
  readonly queries: number;
  readonly seconds: number;
  readonly output_tokens: number | null;
  readonly all_tokens: number | null;
}

/** An energy figure as a function of the energy alone. `over` says that energy is what it divides by. */
export interface EnergyFigure {
  readonly over: boolean;
  readonly of: (energy_j: number, context: FigureContext) => number | null;
  /** Why it is null although the energy is known. */
  readonly needs: (context: FigureContext) => string | null;
}

const nonZero = (value: number): number | null => (value === 0 ? null : value);
/** a / b; null where either is missing or b is 0. */
export const ratio = (a: number | null, b: number | null): number | null => {
  const divisor = b === null ? null : nonZero(b);
  return a === null || divisor === null ? null : a / divisor;
};

const needsAccuracy = ({ accuracy }: FigureContext) => (accuracy === null ? 'nothing_scored' : null);
const needsCorrect = (context: FigureContext) =>
  needsAccuracy(context) ?? (context.accuracy === 0 ? 'nothing_correct' : null);
const needsOutput = ({ output_tokens }: FigureContext) =>
  output_tokens === null ? 'tokens_unknown' : output_tokens === 0 ? 'no_tokens' : null;
const needsAll = ({ all_tokens }: FigureContext) =>
  all_tokens === null ? 'tokens_unknown' : all_tokens === 0 ? 'no_tokens' : null;
const needsNothing = () => null;

/** Every figure that is made of energy, gross and net alike, by its metric's name. */
export const energyFigures = {
  power_w: { over: false, of: (e, c) => ratio(e, c.seconds), needs: needsNothing },
  energy_per_query_j: { over: false, of: (e, c) => ratio(e, c.queries), needs: needsNothing },
  ipw_per_w: { over: true, of: (e, c) => ratio(c.accuracy, ratio(e, c.seconds)), needs: needsAccuracy },
  ipj_per_j: { over: true, of: (e, c) => ratio(c.accuracy, ratio(e, c.queries)), needs: needsAccuracy },
  energy_per_correct_j: {
    over: false,
    of: (e, c) => ratio(ratio(e, c.queries), c.accuracy),
    needs: needsCorrect,
  },
  energy_per_output_token_j: { over: false, of: (e, c) => ratio(e, c.output_tokens), needs: needsOutput },
  energy_per_token_j: { over: false, of: (e, c) => ratio(e, c.all_tokens), needs: needsAll },
  tokens_per_j: { over: true, of: (e, c) => ratio(c.output_tokens, e), needs: needsOutput },
} as const satisfies Record<string, EnergyFigure>;
export type FigureName = keyof typeof energyFigures;

/** What a cell's figures are ratios of, in the order of every list of totals. */
export const totalNames = [
  'score',
  'scored',
  'queries',
  'seconds',
  'gross_j',
  'net_j',
  'output_tokens',
  'all_tokens',
] as const;
export type TotalName = (typeof totalNames)[number];

/** Energy figures as powers of totals; `energy` is the gross or the net one. */
const figurePowers: Readonly<
  Record<FigureName | 'accuracy' | 'tokens_per_s', Partial<Record<TotalName | 'energy', number>>>
> = {
  accuracy: { score: 1, scored: -1 },
  power_w: { energy: 1, seconds: -1 },
  energy_per_query_j: { energy: 1, queries: -1 },
  ipw_per_w: { score: 1, scored: -1, seconds: 1, energy: -1 },
  ipj_per_j: { score: 1, scored: -1, queries: 1, energy: -1 },
  energy_per_correct_j: { energy: 1, queries: -1, scored: 1, score: -1 },
  energy_per_output_token_j: { energy: 1, output_tokens: -1 },
  energy_per_token_j: { energy: 1, all_tokens: -1 },
  tokens_per_j: { output_tokens: 1, energy: -1 },
  tokens_per_s: { output_tokens: 1, seconds: -1 },
};

/** Name of a figure that is a product of powers of `totalNames`. */
export type ProductName = keyof typeof figurePowers;

/** The powers of a figure, in the order of `totalNames`: what intervals and paired comparisons take. */
export function powersOf(name: ProductName, kind: 'gross' | 'net' = 'gross'): number[] {
  const powers = figurePowers[name];
  const energy: TotalName = kind === 'gross' ? 'gross_j' : 'net_j';
  return totalNames.map((total) => (total === energy ? powers.energy : powers[total]) ?? 0);
}
