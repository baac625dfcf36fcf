import { type Html, html } from './html.js';
import { withCode } from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

/** What a reader might take for measured and is not. */
export const notMeasuredSection = ({
  not_measured,
}: RunResults): Html => html`<section id="not-measured"><h2>What was not measured</h2>
${not_measured.length === 0 ? html`<p>Nothing that these figures claim to include.</p>` : html`<ul>${not_measured.map(({ text }) => html`<li>${withCode(text)}</li>`)}</ul>`}</section>`;

/** How to read the page, and every metric's definition. */
export const methodSection = ({
  metrics,
  metric_spec_version,
}: RunResults): Html => html`<section id="method"><h2>How to read it</h2>
<ul>
<li><strong>Energy and time</strong> of a cell are taken over the spans with at least one call in flight, summed over the domains that are in the total. Gross energy is what the meter says; net energy subtracts the power of the loaded, idle machine, measured before and after.</li>
<li><strong>IPW</strong> is accuracy over mean power, <strong>IPJ</strong> is accuracy over energy per query. Batching lowers IPW while joules per query improve, and a strategy of many calls costs no watts: compare strategies and loads by IPJ.</li>
<li><strong>Accuracy</strong> has a 95 % interval over questions. Answers that could not be read, were cut off or failed count as wrong.</li>
<li><strong>Bounds of energy</strong> are 95 % over repeats and items where there are three repeats or more; else they are the sensor's own, with another draw of items where accuracy is in the figure, and say nothing of the spread between runs.</li>
<li><strong>Front</strong>: no other cell of the same data set, tier and boundary is at least as accurate for less energy. Cells over different questions, and joules of different tiers, are not ranked against each other.</li>
<li><strong>Verdict</strong>: a flagged cell has a known weakness, an invalid one should not be quoted; both stay in the table.</li>
</ul>
<details><summary>Definitions of the metrics, version ${metric_spec_version}</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Metric definitions"><table><thead><tr><th scope="col">Metric</th><th scope="col">Unit</th><th scope="col">Better</th><th scope="col">Formula</th><th scope="col">Definition</th></tr></thead><tbody>${metrics.map(({ id, title, unit, better, formula, definition }) => html`<tr><th scope="row">${title}<small>${id}</small></th><td>${unit}</td><td>${better}</td><td><code>${formula}</code></td><td>${definition}</td></tr>`)}</tbody></table></div></details></section>`;

function shownList(cell: CellResult, results: RunResults): Html {
  const queries = results.shown_queries[cell.cell_id] ?? [];
  if (queries.length === 0) return html``;
  const { model, dataset, strategy, load } = cell.point;
  const missing =
    cell.provenance?.dataset.withhold === true
      ? '(withheld: the authors of the data set ask not to show its questions)'
      : '(no completion recorded)';
  const texts = queries.map(
    ({ item_id, verdict, prompt, completion, extracted }) => html`<h3>${item_id}: ${verdict}</h3>
${prompt === null ? html`` : html`<pre>${prompt}</pre>`}<pre>${completion ?? missing}</pre><p class="small soft">answer found: ${extracted ?? 'none'}</p>`,
  );
  return html`<details><summary>${[model, dataset, strategy, load].join(' · ')}: ${queries.length} queries</summary>${texts}</details>`;
}

/** A few queries of every cell, folded away. */
export function answersSection(results: RunResults): Html {
  const lists = results.cells.map((cell) => shownList(cell, results));
  if (lists.every(({ markup }) => markup === '')) return html``;
  return html`<section id="answers"><h2>A look at the answers</h2>
<p class="soft small">The first few right and other queries of each cell; long texts are cut.</p>${lists}</section>`;
}
