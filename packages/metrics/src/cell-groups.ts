import type { CellFacts } from './cell-facts.js';
import { type LabelSums, labelPart } from './cell-sums.js';
import type { RepeatFigures, SubjectFigures, SubjectValue } from './cell-types.js';
import { valuesOfRepeats } from './cell-values.js';
import { figurePowers, totalNames } from './energy-figures.js';
import { evaluate, type Totals } from './formula.js';
import { formulaOf, type Metric, type MetricId, metrics } from './metric-definitions.js';
import { t95, wilson } from './statistics.js';

type Definition = Metric<MetricId>;

const ofRepeats = metrics.filter(({ id }) => figurePowers(id).complete);

/** Every figure that repeats have totals of, of each repeat alone. */
export function repeatFigures(facts: CellFacts): RepeatFigures[] {
  const columns = ofRepeats.map((definition) => ({
    id: definition.id,
    values: valuesOfRepeats(facts, definition),
  }));
  return facts.repeats.map(({ repeat, queries }, i) => ({
    repeat,
    queries,
    values: Object.fromEntries(columns.map(({ id, values }) => [id, values[i] ?? null])),
  }));
}

/** Figures that are products of what single queries add to: all but net ones, whose resolution is told of whole cells. */
const ofSubjects = metrics.filter(({ id, energy }) => {
  const { powers, complete } = figurePowers(id);
  const known = powers.slice(totalNames.length).every((power) => power === 0);
  return complete && known && (energy === null || energy === 'gross');
});

const finite = (value: number | undefined): number | null =>
  value !== undefined && Number.isFinite(value) ? value : null;

function totalsOf({ totals }: LabelSums): Totals {
  const [score, scored, queries, seconds, gross, , output, all] = Array.from(totals);
  const n = finite(scored) ?? 0;
  return {
    A: n === 0 ? null : (finite(score) ?? 0) / n,
    N: finite(queries),
    T: finite(seconds),
    E: finite(gross),
    O: finite(output) || null,
    K: finite(all) || null,
  };
}

/** Right-or-wrong scores of one query an item, or all alike: Wilson; else whole items by Student's t. */
function accuracyBounds(sums: LabelSums, { binary }: CellFacts): readonly [number, number] | null {
  const { totals, items } = sums;
  const [score = 0, scored = 0] = totals;
  const alike = score === 0 || score === scored;
  if (binary && (alike || (scored === items && sums.queries === items))) {
    const right = alike ? (score === 0 ? 0 : items) : score;
    const proportion = wilson(right, items);
    return proportion && [proportion.lo, proportion.hi];
  }
  const half = halfOf(sums, 'accuracy');
  const value = score / scored;
  return half === null ? null : [Math.max(value * (1 - half), 0), Math.min(value * (1 + half), 1)];
}

/** Half of the relative 95 % interval over items; null where nothing spreads. */
function halfOf(sums: LabelSums, id: MetricId): number | null {
  const part = labelPart(sums, figurePowers(id).powers);
  return part === null ? null : t95(part.df) * Math.sqrt(part.variance);
}

function subjectValue(
  facts: CellFacts,
  definition: Definition,
  { sums, totals }: { readonly sums: LabelSums; readonly totals: Totals },
): SubjectValue {
  const value = evaluate(formulaOf(definition), totals);
  if (value === null) return { value, lo: null, hi: null };
  if (definition.id === 'accuracy') {
    const [lo, hi] = accuracyBounds(sums, facts) ?? [null, null];
    return { value, lo, hi };
  }
  const half = facts.isolated && value !== 0 ? halfOf(sums, definition.id) : null;
  if (half === null) return { value, lo: null, hi: null };
  return { value, lo: value * Math.exp(-half), hi: value * Math.exp(half) };
}

/** The figures of each label of the data set. */
export function subjectFigures(facts: CellFacts): SubjectFigures[] {
  return facts.labels.map((sums, code) => {
    const told = { sums, totals: totalsOf(sums) };
    return {
      subject: facts.columns.queries.subject.names[code] ?? '',
      items: sums.items,
      queries: sums.queries,
      scored: sums.totals[1] ?? 0,
      values: Object.fromEntries(ofSubjects.map((own) => [own.id, subjectValue(facts, own, told)])),
    };
  });
}
