import { modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { DASH, formatNumber, formatPercent, formatShare, provenanceMark, unmeasured } from '../format.js';
import { type Html, html } from '../html.js';
import { type AttemptsCost, attemptCosts, attemptedCells, type CellAttempts } from './attempts-data.js';
import { figureBlock, figuresOf } from './figure-block.js';
import { cellAddress, cellNamer, type Site } from './site-model.js';
import type { SitePage } from './site-page.js';
import { headsOf, plain, scrollTable, shownAxes } from './site-parts.js';

/** More cells than this do not fit one figure; the table has them all. */
const MOST_LINES = 24;

const dashes = ['solid', 'dash', 'dot', 'dashdot'] as const;

const shareAt = ({ pass_at_k, pass_interval }: AttemptsCost): string =>
  formatShare({ value: pass_at_k, lo: pass_interval?.lo ?? null, hi: pass_interval?.hi ?? null });

const bars = (costs: readonly AttemptsCost[], color: string) => ({
  type: 'data',
  symmetric: false,
  array: costs.map(
    ({ pass_at_k, pass_interval }) => (pass_interval?.hi ?? pass_at_k ?? 0) - (pass_at_k ?? 0),
  ),
  arrayminus: costs.map(
    ({ pass_at_k, pass_interval }) => (pass_at_k ?? 0) - (pass_interval?.lo ?? pass_at_k ?? 0),
  ),
  thickness: 1,
  width: 3,
  color: `${color}88`,
});

interface Line {
  readonly own: CellAttempts;
  readonly name: string;
  readonly color: string;
  readonly dash: (typeof dashes)[number];
}

function linesOf(site: Site, cells: readonly CellAttempts[]): Line[] {
  const nameOf = cellNamer(site);
  const axes = shownAxes(site.merged.cells);
  const seen = new Map<string, number>();
  return cells.slice(0, MOST_LINES).map((own) => {
    const { model } = own.cell.point;
    const place = seen.get(model) ?? 0;
    seen.set(model, place + 1);
    return {
      own,
      name: plain(nameOf(own.cell, axes)),
      color: modelColour(site.merged.models, model),
      dash: dashes[place % dashes.length] ?? 'solid',
    };
  });
}

const layoutOver = (title: string, ticks: readonly number[] = []) => ({
  xaxis: {
    title: { text: title },
    type: 'log',
    ...(ticks.length > 0 && { tickvals: ticks, ticktext: ticks.map(String) }),
  },
  yaxis: { title: { text: 'Share of the items (1)' }, range: [-0.03, 1.08] },
});

function coverageFigure(lines: readonly Line[]): Figure | null {
  if (lines.length === 0) return null;
  const data = lines.flatMap(({ own, name, color, dash }) => {
    const costs = attemptCosts(own);
    const voted = costs.filter(({ maj_at_k }) => maj_at_k !== null);
    const common = { type: 'scatter', mode: 'lines+markers' };
    return [
      {
        ...common,
        name: `${name}: covered`,
        x: costs.map(({ k }) => k),
        y: costs.map(({ pass_at_k }) => pass_at_k),
        error_y: bars(costs, color),
        customdata: costs.map(shareAt),
        hovertemplate: `%{x} attempts: %{customdata} covered<extra>${name}</extra>`,
        line: { color, dash, width: 1.5 },
        marker: { color, size: 8 },
      },
      ...(voted.length === 0
        ? []
        : [
            {
              ...common,
              name: `${name}: majority`,
              x: voted.map(({ k }) => k),
              y: voted.map(({ maj_at_k }) => maj_at_k),
              hovertemplate: `majority of %{x}: %{y:.1%}<extra>${name}</extra>`,
              line: { color, dash, width: 1 },
              marker: { color, size: 8, symbol: 'circle-open' },
            },
          ]),
    ];
  });
  const tried = new Set(lines.flatMap(({ own }) => own.figures.at.map(({ k }) => k)));
  return {
    id: 'coverage',
    data,
    layout: layoutOver(
      'Attempts k',
      [...tried].sort((a, b) => a - b),
    ),
  };
}

const tierOf = ({ cell }: CellAttempts) => unmeasured(cell.metrics.energy_per_query_j.provenance);

function joulesFigure(lines: readonly Line[]): Figure | null {
  const known = lines.filter(({ own }) => own.attempt_j !== null);
  if (known.length === 0) return null;
  const data = known.map(({ own, name, color, dash }) => {
    const costs = attemptCosts(own);
    return {
      type: 'scatter',
      mode: 'lines+markers',
      name,
      x: costs.map(({ k }) => k * (own.attempt_j ?? 0)),
      y: costs.map(({ pass_at_k }) => pass_at_k),
      error_y: bars(costs, color),
      customdata: costs.map((cost) => [cost.k, shareAt(cost)]),
      hovertemplate: `%{x:.3g} J, %{customdata[0]} attempts: %{customdata[1]} covered<extra>${name}</extra>`,
      line: { color, dash, width: 1.5 },
      marker: { color, size: 8, symbol: tierOf(own) === null ? 'circle' : 'circle-open' },
    };
  });
  const tiers = new Set(known.map(({ own }) => tierOf(own)));
  const [tier = null] = tiers.size === 1 ? tiers : [];
  const title = `Energy of the attempts at an item (J${tier === null ? '' : `, ${tier}`})`;
  return { id: 'coverage-joules', data, layout: layoutOver(title) };
}

const numberOr = (value: number | null, mark = ''): string =>
  value === null ? DASH : `${formatNumber(value)}${mark}`;

function rowsOf(own: CellAttempts, name: string): Html[] {
  const { cell, figures } = own;
  const mark = provenanceMark(cell.metrics.energy_per_query_j.provenance);
  return attemptCosts(own).map((cost) => {
    const gap = cost.maj_at_k === null || cost.pass_at_k === null ? null : cost.pass_at_k - cost.maj_at_k;
    return html`<tr><th scope="row"><a href="${cellAddress(cell.cell_id)}">${name}</a><small>${figures.items} items, ${figures.attempts} attempts</small></th><td class="n">${cost.k}</td><td class="n">${shareAt(cost)}</td><td class="n">${cost.maj_at_k === null ? DASH : formatPercent(cost.maj_at_k)}</td><td class="n">${gap === null ? DASH : formatNumber(gap * 100)}</td><td class="n">${numberOr(cost.energy_per_covered_j, mark)}</td><td class="n">${numberOr(cost.marginal_j_per_pp, mark)}</td></tr>`;
  });
}

function lawText({ law }: CellAttempts, name: string): Html {
  if (law === null || law.points < 3) return html``;
  const off =
    law.held_out_error === null
      ? ''
      : `; without its last point it is off there by ${formatNumber(law.held_out_error * 100)} percentage points`;
  return html`<li>${name}: exp(${formatNumber(law.a)} · k^${formatNumber(law.b)}), R² ${law.r2 === null ? DASH : formatNumber(law.r2)} over ${law.points} points${off}</li>`;
}

/** What more attempts at an item bring, and what they cost; null where no cell attempted its items twice. */
export function attemptsPage(site: Site): SitePage | null {
  const cells = attemptedCells(site.merged.cells);
  if (cells.length === 0) return null;
  const lines = linesOf(site, cells);
  const [coverage, joules] = [coverageFigure(lines), joulesFigure(lines)];
  const nameOf = cellNamer(site);
  const axes = shownAxes(site.merged.cells);
  const named = cells.map((own) => ({ own, name: nameOf(own.cell, axes) }));
  const laws = named.map(({ own, name }) => lawText(own, name)).filter(({ markup }) => markup !== '');
  const heads = headsOf([
    'Cell',
    '>Attempts k',
    '>Covered|pass@k, 95 % interval',
    '>Majority|maj@k',
    '>Gap|percentage points',
    '>Energy|J per covered item',
    '>Marginal|J per further point',
  ]);
  return {
    id: 'attempts',
    title: 'Attempts',
    heading: 'What more attempts bring',
    body: html`<p class="lead">An item is covered when any of k attempts is right: what a perfect verifier would reach. The majority needs no verifier; the gap between both is what one could add.</p>
${figureBlock(coverage, { title: 'Covered items by attempts', note: 'Filled marks: the unbiased chance that one of k attempts drawn from those made is right, a mean over items with its interval. Open marks: the answer that most of k give.' })}
${figureBlock(joules, { title: 'Covered items against joules', note: 'k attempts are taken to cost k times one attempt of the same cell: what a server saves by batching more of them, or by a prefix it has in its cache, shows only between cells. No verification is in it.' })}
${scrollTable(
  heads,
  named.flatMap(({ own, name }) => rowsOf(own, name)),
  { label: 'What more attempts bring' },
)}
${laws.length === 0 ? html`` : html`<h2>The law of coverage</h2><p class="soft small">Least squares of log(−log c) on log k, points of 0 and 1 left out: a description of these items and no forecast beyond their k.</p><ul>${laws}</ul>`}`,
    figures: figuresOf(coverage, joules),
  };
}
