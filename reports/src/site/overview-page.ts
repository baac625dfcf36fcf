import { type PointAxis, pointAxes } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import { unmeasured } from '../format.js';
import { type Html, html } from '../html.js';
import { best, counted, energyCard, startedText } from '../page-headline.js';
import { breakable, modelDot, withCode } from '../page-parts.js';
import { paretoFigure } from '../pareto-figure.js';
import type { CellResult, RunResults } from '../results-types.js';
import { figureBlock, figuresOf } from './figure-block.js';
import { tierBadges } from './provenance-badges.js';
import { cellAddress, cellNamer, type Site } from './site-model.js';
import type { SitePage } from './site-page.js';
import { shownAxes, valueWithBounds } from './site-parts.js';

interface BestOf {
  readonly title: string;
  readonly id: MetricId;
  readonly better: 'higher' | 'lower';
}

/** The five numbers that matter, each by its best cell. */
const numbers: readonly BestOf[] = [
  { title: 'Highest accuracy', id: 'accuracy', better: 'higher' },
  { title: 'Most intelligence per joule (IPJ)', id: 'ipj_per_j', better: 'higher' },
  { title: 'Most intelligence per watt (IPW)', id: 'ipw_per_w', better: 'higher' },
  { title: 'Least energy per correct answer', id: 'energy_per_correct_j', better: 'lower' },
  { title: 'Most output tokens per second', id: 'tokens_per_s', better: 'higher' },
];

function bestTile(
  cells: readonly CellResult[],
  nameOf: (cell: CellResult) => string,
  { title, id, better }: BestOf,
): Html {
  const cell = best(cells, id, better);
  if (cell === null)
    return html`<div class="tile"><dt>${title}</dt><dd>–<small>no usable cell has it</small></dd></div>`;
  const guessing = id === 'accuracy' && cell.above_guessing === false ? ' Not above guessing.' : '';
  const badges = cell.metrics[id].provenance === null ? html`` : html`<small>${tierBadges(cell)}</small>`;
  return html`<div class="tile"><dt>${title}</dt><dd>${valueWithBounds(cell.metrics[id])}${badges}<small><a href="${cellAddress(cell.cell_id)}">${nameOf(cell)}</a>.${guessing}</small></dd></div>`;
}

/** Cells over different questions are never ranked against each other: five numbers for each data set. */
function bestSection(site: Site): Html {
  const { merged } = site;
  const axes = shownAxes(merged.cells).filter((axis) => axis !== 'dataset');
  const namer = cellNamer(site);
  const nameOf = (cell: CellResult) => namer(cell, axes);
  const tiles = merged.datasets.map((dataset) => {
    const cells = merged.cells.filter(({ point }) => point.dataset === dataset);
    if (cells.length === 0) return html``;
    return html`<h3 class="tiles-of">${breakable(dataset)}</h3><dl class="tiles">${numbers.map((number) => bestTile(cells, nameOf, number))}</dl>`;
  });
  return html`<section aria-labelledby="numbers"><h2 id="numbers">The five numbers that matter</h2><p class="soft small">The best cell of each data set that may be quoted, with its interval. What the joules are stands beside them.</p>${tiles}</section>`;
}

function verdictSection({ merged: { cells } }: Site): Html {
  const count = (state: CellResult['verdict']['state']) =>
    cells.filter(({ verdict }) => verdict.state === state).length;
  const states = (['valid', 'flagged', 'invalid'] as const).map((state) => [state, count(state)] as const);
  const bars = states.map(([state, n]) =>
    n === 0 ? html`` : html`<span class="${state}" style="flex:${n}"></span>`,
  );
  const reasons = new Map<string, { text: string; cells: number }>();
  for (const { verdict } of cells)
    for (const { code, text } of verdict.reasons)
      reasons.set(code, { text, cells: (reasons.get(code)?.cells ?? 0) + 1 });
  const lines = [...reasons].map(
    ([code, { text, cells: n }]) =>
      html`<li><strong>${code.replaceAll('_', ' ')}</strong> in ${counted(n, 'cell')}: ${text}</li>`,
  );
  return html`<section aria-labelledby="verdicts"><h2 id="verdicts">Verdicts</h2><p>${states.map(([state, n]) => html`<span class="badge ${state}">${n} ${state}</span> `)}</p><div class="bars" aria-hidden="true">${bars}</div>
${lines.length === 0 ? html`<p class="soft small">No cell has a known weakness.</p>` : html`<ul class="small">${lines}</ul>`}<p class="soft small">A flagged cell has a known weakness, an invalid one should not be quoted; both stay in the <a href="results.html">results</a>.</p></section>`;
}

const axisNames: Readonly<Record<PointAxis, readonly [one: string, many: string]>> = {
  model: ['Model', 'Models'],
  accelerator: ['Accelerator', 'Accelerators'],
  dataset: ['Data set', 'Data sets'],
  strategy: ['Strategy', 'Strategies'],
  load: ['Load', 'Loads'],
  variant: ['Variant', 'Variants'],
};

/** Longer lists end in how many more there are. */
const MOST_NAMES = 12;

function axisLine(merged: RunResults, axis: PointAxis): Html {
  const values = [...new Set(merged.cells.flatMap(({ point }) => point[axis] ?? []))];
  if (values.length === 0) return html``;
  const shown = values.slice(0, MOST_NAMES).map((value, i) => {
    const dot = axis === 'model' ? modelDot(merged, value) : html``;
    return html`${i > 0 ? ', ' : ''}<span>${dot}${breakable(value)}</span>`;
  });
  const more = values.length > MOST_NAMES ? ` and ${values.length - MOST_NAMES} more` : '';
  return html`<dt>${values.length} ${axisNames[axis][values.length === 1 ? 0 : 1].toLowerCase()}</dt><dd>${shown}${more}</dd>`;
}

function whatSection({ merged, runs }: Site): Html {
  const attempted = merged.cells.reduce((sum, { counts }) => sum + counts.attempted, 0);
  const failed = merged.cells.reduce((sum, { counts }) => sum + counts.failed, 0);
  const hosts = [...new Map(runs.map(({ results: { host } }) => [host.hostname, host])).values()];
  const hostText = hosts.map(({ hostname, cpu, os, virtual_machine }) => {
    const virtual = virtual_machine === null ? '' : `, virtual machine (${virtual_machine})`;
    return html`<dd>${hostname}: ${cpu ?? 'an unnamed processor'}, ${os}${virtual}</dd>`;
  });
  const runLines = runs.map(
    ({ results }) =>
      html`<dd><code>${results.run_id}</code>, ${startedText(results)}, protocol ${results.protocol}${results.status === 'done' ? '' : `, ${results.status}`}</dd>`,
  );
  return html`<section aria-labelledby="what"><h2 id="what">What was run</h2><dl class="facts">${pointAxes.map((axis) => axisLine(merged, axis))}<dt>Queries</dt><dd>${attempted} attempted, ${failed} failed, in ${counted(merged.cells.length, 'cell')}</dd><dt>${hosts.length === 1 ? 'Host' : 'Hosts'}</dt>${hostText}<dt>${runs.length === 1 ? 'Run' : 'Runs'}</dt>${runLines}</dl></section>`;
}

const notMeasured = ({ merged: { not_measured } }: Site): Html =>
  html`<section id="not-measured" aria-labelledby="not-measured-title"><h2 id="not-measured-title">What was not measured</h2>${not_measured.length === 0 ? html`<p>Nothing that these figures claim to include.</p>` : html`<ul>${not_measured.map(({ text }) => html`<li>${withCode(text)}</li>`)}</ul>`}</section>`;

function warnings({ merged: { cells } }: Site): Html {
  const tiers = new Set(cells.map(({ energy }) => unmeasured(energy.boundary?.provenance ?? null)));
  const [estimated, simulated] = [tiers.has('estimated'), tiers.has('simulated')];
  return html`${estimated ? html`<p class="note"><strong>Energy marked ~ is estimated</strong> from processor load, not measured by a sensor.</p>` : html``}${simulated ? html`<p class="note"><strong>Figures marked † are simulated.</strong> Answers, times and joules follow laws; nothing of them was run or measured.</p>` : html``}`;
}

const sizeText = ({ merged }: Site): string => {
  const many = (axis: PointAxis, one: string, more?: string) =>
    counted(new Set(merged.cells.flatMap(({ point }) => point[axis] ?? [])).size, one, more);
  return [
    many('model', 'model'),
    many('accelerator', 'accelerator'),
    many('dataset', 'data set'),
    many('strategy', 'strategy', 'strategies'),
    many('load', 'load'),
  ].join(' × ');
};

/** What was run on what, its verdicts, five numbers for each data set, the main trade-off, and what was not measured. */
export function overviewPage(site: Site): SitePage {
  const { merged } = site;
  const figure = paretoFigure(merged);
  return {
    id: 'index',
    title: 'Overview',
    heading: `${merged.name}: intelligence per watt`,
    body: html`<p class="lead">${sizeText(site)}. Answers graded, power sampled all the while.</p>
${warnings(site)}${bestSection(site)}
${figureBlock(figure, { title: 'Accuracy against energy', note: 'Up and to the left is better. Bars: 95 % interval of accuracy and bounds of energy. Dotted: the front of each data set. Pale: invalid cells. A click opens the cell; Trade-offs draws any two metrics.' })}
<div class="columns"><div>${whatSection(site)}${energyCard(merged)}</div>${verdictSection(site)}${notMeasured(site)}</div>`,
    figures: figuresOf(figure),
  };
}
