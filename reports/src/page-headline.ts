import type { MetricId, MetricValue } from '@perwatt/metrics';
import { formatJoules, formatMetric, formatWithUnit, provenanceMark } from './format.js';
import { type Html, html } from './html.js';
import { estimatedBadge, tierBadge } from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

/** `1 cell`, `2 cells`. */
export const counted = (n: number, one: string, more = `${one}s`): string => `${n} ${n === 1 ? one : more}`;

/** Wall time of the first sitting, to the minute, in UTC. */
export function startedText({ clocks }: RunResults): string {
  const at = Date.parse(clocks[0]?.wall_time ?? '');
  return Number.isFinite(at)
    ? `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : 'unknown time';
}

const usable = ({ verdict }: CellResult): boolean => verdict.state !== 'invalid';

/** The cell with the best value of a metric among those that count; null when none has one. */
export function best(
  cells: readonly CellResult[],
  id: MetricId,
  better: 'higher' | 'lower',
): CellResult | null {
  const sign = better === 'higher' ? 1 : -1;
  const known = cells.filter((cell) => usable(cell) && cell.metrics[id].value !== null);
  const value = (cell: CellResult) => sign * (cell.metrics[id].value ?? 0);
  return known.reduce<CellResult | null>((a, b) => (a !== null && value(a) >= value(b) ? a : b), null);
}

const shortName = ({ point }: CellResult): string => `${point.model}, ${point.strategy}, ${point.load}`;

interface BestOf {
  readonly title: string;
  readonly id: MetricId;
  readonly better: 'higher' | 'lower';
  readonly text: (metric: MetricValue) => string;
}

const bests: readonly BestOf[] = [
  { title: 'Highest accuracy', id: 'accuracy', better: 'higher', text: formatMetric },
  {
    title: 'Least energy per correct answer',
    id: 'energy_per_correct_j',
    better: 'lower',
    text: formatWithUnit,
  },
  { title: 'Most intelligence per joule (IPJ)', id: 'ipj_per_j', better: 'higher', text: formatWithUnit },
];

/** One line a data set: cells over different questions are never ranked against each other. */
function bestCard(results: RunResults, { title, id, better, text }: BestOf): Html {
  const rows = results.datasets.map((dataset) => {
    const cell = best(
      results.cells.filter(({ point }) => point.dataset === dataset),
      id,
      better,
    );
    if (cell === null) return html`<dt>${dataset}</dt><dd>–<small>no usable cell has it</small></dd>`;
    const guessing = id === 'accuracy' && cell.above_guessing === false ? ', not above guessing' : '';
    return html`<dt>${dataset}</dt><dd>${text(cell.metrics[id])}${estimatedBadge(cell.metrics[id])}<small>${shortName(cell)}${guessing}</small></dd>`;
  });
  return html`<section class="card"><h3>${title}</h3><dl>${rows}</dl></section>`;
}

function queriesCard({ cells }: RunResults): Html {
  const sum = (pick: (cell: CellResult) => number) => cells.reduce((acc, cell) => acc + pick(cell), 0);
  const attempted = sum(({ counts }) => counts.attempted);
  const failed = sum(({ counts }) => counts.failed);
  const state = (name: string) => cells.filter(({ verdict }) => verdict.state === name).length;
  return html`<section class="card"><h3>Queries answered</h3><dl>
<dt>attempted, ${failed} failed</dt><dd>${attempted}</dd>
<dt>cells</dt><dd>${cells.length}<small>${state('valid')} valid, ${state('flagged')} flagged, ${state('invalid')} invalid</small></dd>
</dl></section>`;
}

/** Total energy of the busy time, one line a tier: tiers are never added up. */
export function energyCard({ cells }: RunResults): Html {
  const tiers = new Map<string, { joules: number; cells: number; first: CellResult }>();
  for (const cell of cells) {
    const { boundary, gross_j } = cell.energy;
    if (boundary === null || gross_j === null) continue;
    const tier = tiers.get(boundary.provenance) ?? { joules: 0, cells: 0, first: cell };
    tiers.set(boundary.provenance, { ...tier, joules: tier.joules + gross_j, cells: tier.cells + 1 });
  }
  const rows = [...tiers.values()].map(({ joules, cells: count, first }) => {
    const provenance = first.energy.boundary?.provenance ?? null;
    const mark = provenanceMark(provenance);
    const domains = first.energy.boundary?.domains.map(({ id }) => id).join(' + ') ?? '';
    return html`<dt>${domains}</dt><dd>${mark}${formatJoules(joules)} ${tierBadge(provenance)}<small>while calls were in flight, ${counted(count, 'cell')}</small></dd>`;
  });
  const none = html`<dd>–<small>no energy could be told</small></dd>`;
  return html`<section class="card"><h3>Energy of all cells</h3><dl>${rows.length === 0 ? none : rows}</dl></section>`;
}

/** What was run, on what, when; and the five numbers that matter. */
export function headline(results: RunResults): Html {
  const { name, run_id, host, models, datasets, strategies, protocol, cells, status } = results;
  const estimated = cells.some(({ energy }) => energy.boundary?.provenance === 'estimated');
  const simulated = cells.some(({ energy }) => energy.boundary?.provenance === 'simulated');
  const parts = [
    counted(models.length, 'model'),
    counted(datasets.length, 'data set'),
    counted(strategies.length, 'strategy', 'strategies'),
  ];
  return html`<header>
<h1>${name}: intelligence per watt</h1>
<p class="soft">${parts.join(' × ')} on ${host.cpu ?? 'an unnamed processor'} (${host.hostname}), ${startedText(results)}, protocol ${protocol}. Run <code>${run_id}</code>${status === 'done' ? '' : `, ${status}`}.</p>
${estimated ? html`<p class="note"><strong>Energy on this page is estimated</strong> from processor load, not measured by a sensor. Every value made of it is marked ~.</p>` : html``}${simulated ? html`<p class="note"><strong>Everything on this page is simulated.</strong> Answers, times and joules follow laws; nothing was run or measured. Every joule is marked †.</p>` : html``}
</header>
<div class="cards">${queriesCard(results)}${bests.map((card) => bestCard(results, card))}${energyCard(results)}</div>`;
}
