import type { ComparableCell } from '../compare/comparable.js';
import { DASH, formatNumber, formatPercent, formatWithUnit, provenanceMark } from '../format.js';
import { type Html, html } from '../html.js';
import { best } from '../page-headline.js';
import { breakable } from '../page-parts.js';
import type { CellResult } from '../results-types.js';
import { comparisonSection } from './comparison-section.js';
import { figureBlock, figuresOf } from './figure-block.js';
import { loadedIdle, powerLoadFigure } from './power-load-figure.js';
import { tierBadges } from './provenance-badges.js';
import { cellAddress, type Site } from './site-model.js';
import type { SitePage } from './site-page.js';
import { headsOf, scrollTable } from './site-parts.js';

const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

const usable = ({ verdict }: CellResult): boolean => verdict.state !== 'invalid';

const bestLink = (cells: readonly CellResult[], id: 'ipj_per_j' | 'tokens_per_s'): Html => {
  const cell = best(cells, id, 'higher');
  return cell === null
    ? html`${DASH}`
    : html`<a href="${cellAddress(cell.cell_id)}">${formatWithUnit(cell.metrics[id])}</a>`;
};

function deviceRow(accelerator: string, cells: readonly CellResult[]): Html {
  const [first] = cells;
  const idles = known(cells.map(loadedIdle));
  const powers = known(cells.filter(usable).map(({ metrics }) => metrics.power_w.value));
  const idle = idles.length === 0 ? null : Math.min(...idles);
  const [least, most] = [
    powers.length === 0 ? null : Math.min(...powers),
    powers.length === 0 ? null : Math.max(...powers),
  ];
  const mark = provenanceMark(first?.energy.boundary?.provenance ?? null);
  const watts = (value: number | null) => (value === null ? DASH : `${mark}${formatNumber(value)} W`);
  const share = idle === null || most === null || most <= 0 ? null : idle / most;
  const domains = first?.energy.boundary?.domains.map(({ id }) => id).join(' + ') ?? 'no power recorded';
  return html`<tr><th scope="row">${breakable(accelerator)}<small>${domains}</small></th><td>${first === undefined ? '' : tierBadges(first)}</td><td class="n">${cells.length}</td><td class="n">${watts(idle)}</td><td class="n">${watts(least)} … ${watts(most)}</td><td class="n">${share === null ? DASH : formatPercent(share)}</td><td class="n">${bestLink(cells, 'ipj_per_j')}</td><td class="n">${bestLink(cells, 'tokens_per_s')}</td></tr>`;
}

function deviceTable({ merged: { cells } }: Site): Html {
  const names = [...new Set(cells.map(({ point }) => point.accelerator))];
  const rows = names.map((name) =>
    deviceRow(
      name,
      cells.filter(({ point }) => point.accelerator === name),
    ),
  );
  const heads = headsOf([
    'Accelerator',
    'Joules are',
    '>Cells',
    '>Idle|model loaded',
    '>Mean power|of its cells',
    '>Idle|of the most',
    '>Best IPJ|any data set',
    '>Fastest|tokens',
  ]);
  return html`<section><h2>Side by side</h2><p class="soft small">Idle of the most: how much of its highest mean power an accelerator draws with the model loaded and nothing to do. At 0 % energy would be proportional to work. Figures of different boundary are not to be ranked against each other.</p>${scrollTable(heads, rows, { label: 'Accelerators' })}</section>`;
}

/** Accelerators side by side: what they draw, idle and at work, and how their cells compare. */
export function acceleratorsPage(
  site: Site,
  comparables: readonly ComparableCell[],
  { kernels }: { readonly kernels: string | null },
): SitePage {
  const figure = powerLoadFigure(site);
  const one = new Set(site.merged.cells.map(({ point }) => point.accelerator)).size === 1;
  return {
    id: 'accelerators',
    title: 'Accelerators',
    body: html`<p class="lead">What each accelerator draws, idle and at work, and how cells that differ in nothing else compare.</p>
${deviceTable(site)}${kernels === null ? html`` : html`<p class="small">Rooflines and joules per operation of the kernels that were run: <a href="${kernels}.html">kernels</a>.</p>`}
${figureBlock(figure, { title: 'Power against load', note: 'Each line begins at the power of the idle machine with its model loaded and goes through its loads. A proportional machine would begin at 0. One colour a model, one line style an accelerator.' })}
${one ? html`<p class="soft">One accelerator was run: there is nothing to compare it with. Give <code>perwatt report</code> several runs, or the matrix several accelerators.</p>` : html``}
${comparisonSection(comparables, 'accelerator', { id: 'compared', title: 'Compared', note: 'Cells that agree on everything but the accelerator, paired on shared items and repeats where there are any. A ratio stands with its interval.' })}
${comparisonSection(comparables, 'load', { id: 'loads-compared', title: 'Loads compared', note: 'Cells that agree on everything but the load. IPW depends on load and is not ranked across loads.' })}`,
    figures: figuresOf(figure),
  };
}
