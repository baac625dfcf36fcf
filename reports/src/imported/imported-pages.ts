import { METRIC_SPEC_VERSION, metrics } from '@perwatt/metrics';
import { type Html, html } from '../html.js';
import { tradeHtml } from '../site/pareto-page.js';
import { resultsTableHtml } from '../site/results-page.js';
import type { SitePage } from '../site/site-page.js';
import { headsOf, scrollTable } from '../site/site-parts.js';
import { absentSection, doubtSection, readingSection, sourceSection, toldSection } from './imported-facts.js';
import { importedResults } from './imported-results.js';
import type { ImportedSite } from './imported-site.js';
import { importedTrades } from './imported-trades.js';

/** Whether imported runs are all that a site has, or stand beside measured ones, whose pages then have the usual names. */
export type ImportedPlace = 'alone' | 'beside';

const names = {
  alone: {
    overview: ['index', 'Overview'],
    results: ['results', 'Results'],
    trades: ['pareto', 'Trade-offs'],
  },
  beside: {
    overview: ['published', 'Published'],
    results: ['published-results', 'Published results'],
    trades: ['published-pareto', 'Published trade-offs'],
  },
} as const;

const notOurs = html`<p class="note"><strong>Published by others, not measured here.</strong> Every figure stands as its source gives it, with the file and row that it is from.</p>`;

const count = (n: number, one: string): string => `${n} ${n === 1 ? one : `${one}s`}`;

function overview(site: ImportedSite, place: ImportedPlace): SitePage {
  const { runs, records, models } = site;
  const [id, title] = names[place].overview;
  const [table] = names[place].results;
  const devices = new Set(records.flatMap(({ axes }) => axes['accelerator'] ?? [])).size;
  const figures = runs.reduce((sum, { rows }) => sum + rows.length, 0);
  return {
    id,
    title,
    heading: 'Figures that others published',
    body: html`<p class="lead">${count(figures, 'figure')} of ${count(records.length, 'record')}: ${count(models.length, 'model')} on ${count(devices, 'accelerator')}. The <a href="${table}.html">table</a> has every record.</p>
${notOurs}${runs.map(sourceSection)}${toldSection(runs)}${doubtSection(runs)}${absentSection()}${place === 'beside' ? readingSection() : html``}`,
    figures: [],
  };
}

function results(site: ImportedSite, place: ImportedPlace): SitePage {
  const data = importedResults(site);
  const [id, title] = names[place].results;
  return {
    id,
    title,
    body: html`<p class="lead">Every record that was imported, with the range its source gives, and the file and row it stands in.</p>
${notOurs}
<p class="soft small">Small figures: the range or spread that the source gives, the statistic where it is no mean, and n where it is told; without them the source tells none. ≤ an upper bound. What the power covers stands on the <a href="${names[place].overview[0]}.html">first page</a>.</p>
${resultsTableHtml(data, 'published.csv')}`,
    figures: [],
    data: { results: data },
  };
}

function trades(site: ImportedSite, place: ImportedPlace): SitePage | null {
  const data = importedTrades(site);
  if (data === null) return null;
  const [id, title] = names[place].trades;
  return {
    id,
    title,
    body: tradeHtml({
      noun: 'Record',
      table: names[place].results[0],
      lead: 'Any two published metrics against each other. A record is on the front when no other of the same source, workload, boundary and statistic is at least as good in both and better in one.',
      marks: `All marks are open: nothing here was measured by Perwatt. One colour a model${site.models.length > COLOURS ? ' (with so many, colours come again: point at a mark for its name)' : ''}; one mark a group of records that may be compared. Bars: the range or spread that the source gives. Upper bounds, and figures whose source allows no order, are drawn and stand on no front.`,
      shares:
        'There are no shares of draws: they would need the rows of single queries, which a publication does not have.',
    }),
    figures: [],
    data: { pareto: data },
  };
}

/** Colours that models can be told by. */
const COLOURS = 16;

/** Definitions of the metrics of ours that the sources have. */
function definitions({ records }: ImportedSite): Html {
  const used = new Set(records.flatMap(({ figures }) => Object.keys(figures)));
  const rows = metrics.flatMap(({ id, title, unit, better, formula, definition }) =>
    used.has(id)
      ? [
          html`<tr><th scope="row">${title}<small>${id}</small></th><td>${unit}</td><td>${better}</td><td><code>${formula}</code></td><td>${definition}</td></tr>`,
        ]
      : [],
  );
  return html`<section id="definitions"><h2>Definitions of the metrics, version ${METRIC_SPEC_VERSION}</h2>
<p class="soft small">Of those that carry our name. Others are defined by their sources.</p>
${scrollTable(headsOf(['Metric', 'Unit', 'Better', 'Formula', 'Definition']), rows, { label: 'Metric definitions' })}</section>`;
}

const method = (site: ImportedSite): SitePage => ({
  id: 'method',
  title: 'Method',
  body: html`<p class="lead">What published figures mean, and where they end.</p>
${readingSection()}${definitions(site)}${absentSection()}`,
  figures: [],
});

/** The pages of imported runs, in order; those that they have nothing for are left out. */
export function importedPages(site: ImportedSite, place: ImportedPlace): SitePage[] {
  const pages = [
    overview(site, place),
    results(site, place),
    trades(site, place),
    place === 'alone' ? method(site) : null,
  ];
  return pages.filter((page) => page !== null);
}
