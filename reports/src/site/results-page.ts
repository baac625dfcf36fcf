import { DASH } from '../format.js';
import { type Html, html } from '../html.js';
import { boundsNote, breakable } from '../page-parts.js';
import { fixes } from '../page-results.js';
import { type FigureData, type ResultsData, type RowData, resultsData } from './results-data.js';
import type { Site } from './site-model.js';
import type { SitePage } from './site-page.js';

const unitOf = (unit: string): Html =>
  unit === '1' || unit === 'ns' ? html`` : html`<small>${unit}</small>`;

function figureCell(
  figure: FigureData | number | undefined,
  data: ResultsData,
  lines: readonly string[],
): Html {
  if (figure === undefined || typeof figure === 'number') {
    const reason = data.reasons[figure ?? -1] ?? '';
    return html`<td class="n" title="${reason}">${DASH}<small>${reason}</small></td>`;
  }
  const title = figure.title === undefined ? html`` : html` title="${figure.title}"`;
  const below = figure.below === null ? html`` : html`<small>${figure.below}</small>`;
  return html`<td class="n"${title}>${figure.text}${below}${lines.map((line) => html`<small class="wrap">${line}</small>`)}</td>`;
}

function rowHtml(row: RowData, data: ResultsData, places: readonly number[]): Html {
  const [name = '', ...others] = row.axes;
  const front = row.front ? html` <span class="badge front">front</span>` : html``;
  const figures = places.map((at) =>
    figureCell(row.figures[at], data, data.columns[at]?.id === 'accuracy' ? row.lines : []),
  );
  const own = row.href === '' ? breakable(name) : html`<a href="${row.href}">${breakable(name)}</a>`;
  return html`<tr data-href="${row.href}"><th scope="row"><span class="dot" style="background:${row.colour}"></span>${own}</th>${others.map((value) => html`<td class="name">${breakable(value)}</td>`)}<td>${row.tiers.map(([word, text]) => html`<span class="badge ${word === 'measured' || word === 'replayed' ? 'tier' : word}" title="${text}">${word}</span> `)}</td><td class="reasons"><span class="badge ${row.verdict}">${row.verdict}</span>${front}${row.reasons.map(([code, text]) => html` <span class="badge reason" title="${text}">${code}</span>`)}</td>${figures}</tr>`;
}

/** The table as it is shown before the script takes over, and where there is none, with its controls. `csv` has all rows. */
export function resultsTableHtml(data: ResultsData, csv: string): Html {
  const places = data.columns.flatMap(({ id }, i) => (data.shown.includes(id) ? [i] : []));
  const heads = places.map((at) => {
    const column = data.columns[at];
    return html`<th scope="col" class="n">${column?.title ?? ''}${unitOf(column?.unit ?? '1')}</th>`;
  });
  return html`${controls(data)}<div class="scroll tall" tabindex="0" role="region" aria-label="Result table"><table class="wide" id="results-table"><thead><tr>${data.axes.map(({ title }) => html`<th scope="col">${title}</th>`)}<th scope="col">Joules are</th><th scope="col">Verdict</th>${heads}</tr></thead><tbody>${data.rows.slice(0, data.rows_at_first).map((row) => rowHtml(row, data, places))}</tbody></table></div>${moreRows(data, csv)}`;
}

function moreRows({ rows, rows_at_first, noun }: ResultsData, csv: string): Html {
  const left = rows.length - rows_at_first;
  if (left <= 0) return html``;
  return html`<noscript><p>The first ${rows_at_first} of ${rows.length} ${noun}s; <a href="${csv}">${csv}</a> has all of them.</p></noscript>`;
}

const copies = (['Markdown', 'CSV', 'LaTeX'] as const).map(
  (form) => html`<button type="button" class="plain" data-copy="${form.toLowerCase()}">Copy ${form}</button>`,
);

const frontBox = html`<label class="check"><input type="checkbox" id="results-front">on a front only</label>`;

const controls = ({ noun }: ResultsData): Html => html`<div class="controls" id="results-controls" hidden>
<label>Search<input type="search" id="results-search" autocomplete="off" spellcheck="false"></label>
<span id="results-filters" class="controls"></span>
${noun === 'cell' ? frontBox : html``}
${copies}</div>
<details id="results-columns" class="no-print" hidden><summary>Columns</summary><div class="picker"></div></details>
<p class="status" id="results-status" role="status"></p>
<textarea class="copied" id="results-copied" aria-label="The table as it was copied" readonly hidden></textarea>`;

/** Every cell, invalid ones too: sorted, filtered, its columns chosen, and copied by the page's script. */
export function resultsPage(site: Site): SitePage {
  const data = resultsData(site);
  return {
    id: 'results',
    title: 'Results',
    body: html`<p class="lead">Every cell of the matrix, with intervals, where its joules are from, and whether its figures may be quoted. A cell’s name opens its page.</p>
<p class="soft small">Gross energy over the time with calls in flight. IPW depends on load: read it beside IPJ. ${boundsNote(site.merged)}</p>
${resultsTableHtml(data, 'results.csv')}${fixes(site.merged)}`,
    figures: [],
    data: { results: data },
  };
}
