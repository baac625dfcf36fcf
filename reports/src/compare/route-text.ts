import type { Coverage } from '@perwatt/metrics';
import { DASH, formatNumber, formatPercent } from '../format.js';
import type { TextBlock } from './front-text.js';
import { gridColumns } from './grid.js';
import type { RouteTable } from './route-table.js';

const share = (value: number | null): string => (value === null ? DASH : `${(100 * value).toFixed(1)} %`);

const withRange = (value: number | null, lo: number | null, hi: number | null): string =>
  value === null || lo === null || hi === null
    ? share(value)
    : `${share(value)} [${(100 * lo).toFixed(1)}, ${(100 * hi).toFixed(1)}]`;

const resourceNames = { energy_j: 'energy', flop: 'compute', cost_usd: 'cost' } as const;

function coverageLine({ value, lo, hi, floor, decided, undecided, best_single }: Coverage): string {
  const single =
    best_single === null ? '' : `; best single model ${best_single.model} ${share(best_single.accuracy)}`;
  const open = undecided > 0 ? `, ${undecided} undecided` : '';
  return `coverage ${withRange(value, lo, hi)} of ${decided} items${open}; guessing alone would cover ${floor === null ? 'an unknown share' : share(floor)}${single}`;
}

function learnedLine({ learned }: RouteTable): string[] {
  if (learned === null) return [];
  const { curve, within_one_point: within, training_items, held_out_items } = learned;
  const apgr = curve.apgr === null ? DASH : formatNumber(curve.apgr);
  const calls = [curve.cpt50, curve.cpt80]
    .map((cpt) => (cpt === null ? DASH : formatPercent(cpt)))
    .join(' and ');
  const saving = within === null ? '' : `; saves ${share(within.saving)} within one point of accuracy`;
  return [
    `learned router: ${training_items} items to learn from, ${held_out_items} held out; APGR ${apgr} (random 0.5), ${calls} strong calls for 50 and 80 % of the gap${saving}`,
  ];
}

/** Routers as a table: what each saves, beside the accuracy that it comes at. */
export function routeBlock(table: RouteTable): TextBlock {
  const name = resourceNames[table.resource];
  const rows = table.rows.map((row) => [
    row.router,
    withRange(row.saving, row.saving_lo, row.saving_hi),
    withRange(row.accuracy, row.accuracy_lo, row.accuracy_hi),
    row.accuracy_lost === null ? DASH : `${(-100 * row.accuracy_lost).toFixed(1)} pp`,
    share(row.strong_share),
    `${row.items}${row.in_sample ? ' *' : ''}`,
  ]);
  const heads = [
    'router',
    `>${name} saved`,
    '>accuracy',
    `>against ${table.strong}`,
    '>to the strong',
    '>items',
  ];
  const scored =
    table.scored_repeat === null
      ? `chosen and scored on repeat ${table.chosen_repeat} (*)`
      : `chosen on repeat ${table.chosen_repeat}, scored on repeat ${table.scored_repeat}`;
  return {
    head: [
      `${table.models.join(', ')} on ${table.group}: ${name} saved against ${table.strong}; ${scored}`,
      coverageLine(table.coverage),
    ],
    grid: { columns: gridColumns(heads), rows },
    notes: [...learnedLine(table), ...table.notes],
  };
}
