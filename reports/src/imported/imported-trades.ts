import { modelColour } from '../colours.js';
import type { ComparableCell, ComparableFigure } from '../compare/comparable.js';
import { valueText } from '../compare/figure-text.js';
import { contextOf } from '../compare/mixed.js';
import type { ParetoData, ParetoPointData, PointFigure } from '../site/pareto-data.js';
import { plain } from '../site/site-parts.js';
import { importedColumns } from './imported-results.js';
import { type ImportedSite, modelOf, recordName } from './imported-site.js';

const shortened = (value: number): number => Number(value.toPrecision(6));
const orNull = (value: number | null): number | null => (value === null ? null : shortened(value));

function pointFigure(figure: ComparableFigure | undefined): PointFigure {
  if (figure === undefined || figure.value === null) return null;
  const { value, lo, hi, rankable, bound } = figure;
  const own = [shortened(value), orNull(lo), orNull(hi), valueText(figure)] as const;
  return rankable && bound === 'none' ? own : [...own, 'unranked'];
}

/** Names by context that are no longer than they need be: what all contexts share is left out. */
function groupNames(contexts: readonly string[]): string[] {
  const parts = contexts.map((context) => context.split(', '));
  const shared = new Set(parts[0]?.filter((part) => parts.every((own) => own.includes(part))));
  return parts.map((own, i) => {
    const left = own.filter((part) => !shared.has(part)).join(', ');
    return plain(left === '' ? (contexts[i] ?? '') : left);
  });
}

/**
 * Trade-offs of imported figures. Only records of one source, workload, boundary and statistic share a front; a figure whose
 * source allows no order of it, or that is an upper bound, is drawn and stands on none. Null where no two metrics can be
 * set against each other.
 */
export function importedTrades({ records, models, axes, knobs }: ImportedSite): ParetoData | null {
  const columns = importedColumns(records).filter(({ better }) => better !== 'neither');
  if (columns.length < 2 || records.length < 2) return null;
  const ids = columns.map(({ id }) => id);
  const contexts = new Map<string, ComparableCell[]>();
  for (const record of records) {
    const context = contextOf(record, ids);
    contexts.set(context, [...(contexts.get(context) ?? []), record]);
  }
  const names = groupNames([...contexts.keys()]);
  const short = axes.filter((axis) => axis !== 'model' && axis !== 'dataset');
  const points = [...contexts.values()].flatMap((own, group) =>
    own.map(
      (record): ParetoPointData => ({
        id: record.record,
        name: plain(recordName(record, { axes, knobs })),
        href: '',
        model: modelOf(record),
        group,
        short: plain(recordName(record, { axes: short, knobs })),
        verdict: record.verdict.state,
        tier: 'published',
        figures: ids.map((id) => pointFigure(record.figures[id])),
      }),
    ),
  );
  return {
    noun: 'record',
    columns,
    models: models.map((name) => ({ name, colour: modelColour(models, name) })),
    groups: names.map((name) => ({ name, pooled: false })),
    points,
    shares: {},
  };
}
