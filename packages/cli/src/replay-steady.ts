import { type MetricId, type MetricValue, metrics, ruleText } from '@perwatt/metrics';
import type { CellFile, RunFolder } from '@perwatt/records';
import { buildResults } from '@perwatt/reports';

/** Figures over the steady window of a replay. */
export interface ReplaySteady {
  readonly rule: NonNullable<CellFile['steady']>;
  /** By id: `steady_power_w` and its like. Null where it can't be told, with the reason beside it. */
  readonly values: Readonly<
    Partial<Record<MetricId, Pick<MetricValue, 'value' | 'lo' | 'hi' | 'reason' | 'note'>>>
  >;
}

/** The figures over the steady window that the replay names a rule for; null without one. Reads all its calls. */
export function replaySteady(run: RunFolder, { cell_id, steady }: CellFile): ReplaySteady | null {
  if (steady === undefined) return null;
  const cell = buildResults(run).cells.find((own) => own.cell_id === cell_id);
  const values = metrics
    .filter(({ window }) => window === 'steady')
    .flatMap(({ id }) => {
      const own = cell?.metrics[id];
      if (own === undefined) return [];
      const { value, lo, hi, reason, note } = own;
      return [[id, { value, lo, hi, reason, note }] as const];
    });
  return { rule: steady, values: Object.fromEntries(values) };
}

/** One line of the result; none without a rule. */
export function steadyLines(steady: ReplaySteady | null): string[] {
  if (steady === null) return [];
  const { rule, values } = steady;
  const rate = values.steady_ok_per_s;
  if (rate?.reason === 'never_steady') return [`steady    never, by ${ruleText(rule)}`];
  const parts = [
    figureOf(rate, 2, '/s'),
    figureOf(values.steady_tokens_per_s, 1, ' output tokens/s'),
    figureOf(values.steady_power_w, 2, ' W'),
    figureOf(values.steady_energy_per_output_token_j, 5, ' J/output token'),
  ];
  return [`steady    ${parts.filter((part) => part !== null).join(', ')}; ${lengthText(rate?.note)}`];
}

const figureOf = (
  own: { readonly value: number | null } | undefined,
  digits: number,
  unit: string,
): string | null => (own?.value == null ? null : `${own.value.toFixed(digits)}${unit}`);

/** What the note of a figure says of its window. */
const lengthText = (note: string | null | undefined): string =>
  note?.split('; ').find((part) => part.startsWith('steady window')) ?? 'window not told';
