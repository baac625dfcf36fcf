import { type Html, html } from '../html.js';
import { methodSection } from '../page-method.js';
import { withCode } from '../page-parts.js';
import { provenanceSection } from '../page-provenance.js';
import type { Site } from './site-model.js';
import type { SitePage } from './site-page.js';
import { headsOf, scrollTable } from './site-parts.js';

/** Which domains the joules of the cells are summed over, and what that leaves out. */
function boundarySection({ merged }: Site): Html {
  const kinds = new Map<string, { domains: string; scopes: string; provenance: string; cells: number }>();
  for (const { energy } of merged.cells) {
    if (energy.boundary === null) continue;
    const { domains, provenance } = energy.boundary;
    const names = domains.map(({ id }) => id).join(' + ');
    const scopes = [...new Set(domains.map(({ scope }) => scope))].join(' + ');
    const own = kinds.get(`${provenance} ${names}`);
    kinds.set(`${provenance} ${names}`, { domains: names, scopes, provenance, cells: (own?.cells ?? 0) + 1 });
  }
  const rows = [...kinds.values()].map(
    ({ domains, scopes, provenance, cells }) =>
      html`<tr><th scope="row">${domains}</th><td>${scopes}</td><td>${provenance}</td><td class="n">${cells}</td></tr>`,
  );
  const missing = merged.cells.filter(({ energy }) => energy.boundary === null).length;
  return html`<section id="boundaries"><h2>Boundaries</h2><p class="soft small">A joule says nothing without what it was counted over. Cells of different boundary or tier are never ranked against each other.${missing === 0 ? '' : ` ${missing} cells have no energy.`}</p>${scrollTable(headsOf(['Domains in the total', 'Scope', 'Joules are', '>Cells']), rows, { label: 'Boundaries' })}</section>`;
}

const statistics = html`<section id="statistics"><h2>Statistics</h2><ul>
<li><strong>Proportions</strong> have Wilson intervals; means over items a bootstrap over items below 2,000 of them, the clustered delta method above.</li>
<li><strong>Energy</strong> is resampled by repeats first, then by items; where it was shared out between queries, by repeats or at least 20 blocks of time. With fewer than three repeats the spread between runs is unknown, and no difference in energy is called one.</li>
<li><strong>Sensors</strong> add their own bounds: update period, scale error, time they do not look. The scale error cancels only between cells of one physical sensor.</li>
<li><strong>Comparisons</strong> are paired on shared items and repeats, corrected for how many there are (Holm), and read <em>different</em>, <em>within noise</em> or <em>not resolved by the sensors</em>.</li>
<li><strong>Quantiles</strong> are of the empirical distribution. Outliers are labelled by Tukey’s fences and stay in every figure.</li>
<li><strong>Means over data sets</strong> count each data set the same; their half-widths add in squares.</li>
</ul></section>`;

/** How every number is made: definitions as the engine has them, boundaries, statistics, sensors, limits, provenance. */
export function methodPage(site: Site): SitePage {
  const { merged, runs } = site;
  const provenance = runs.map(({ results }) =>
    runs.length === 1
      ? provenanceSection(results)
      : html`<details open><summary>Run ${results.run_id}</summary>${provenanceSection(results, results.run_id)}</details>`,
  );
  const limits = merged.not_measured.map(({ text }) => html`<li>${withCode(text)}</li>`);
  return {
    id: 'method',
    title: 'Method',
    body: html`<p class="lead">How to read the figures, how they are made, over what, and where they end.</p>
${methodSection(merged)}${boundarySection(site)}${statistics}
<section id="limits"><h2>Limits</h2>${limits.length === 0 ? html`<p>None that the records tell of.</p>` : html`<ul>${limits}</ul>`}</section>
${provenance}`,
    figures: [],
  };
}
