import type { ComparableCell } from '../compare/comparable.js';
import { DASH, formatNumber, formatPercent, formatShare } from '../format.js';
import { type Html, html } from '../html.js';
import { subjectSection } from '../page-grading.js';
import { breakable, modelDot } from '../page-parts.js';
import { publishedSection } from '../page-published.js';
import type { CellResult } from '../results-types.js';
import { comparisonSection } from './comparison-section.js';
import { figureBlock, figuresOf } from './figure-block.js';
import { strategyFigure, subjectFigure, verdictFigure } from './model-figures.js';
import { cellAddress, cellNamer, type Site } from './site-model.js';
import type { SitePage } from './site-page.js';
import { headsOf, scrollTable, shownAxes } from './site-parts.js';
import { yearSection } from './year-section.js';

/** Output tokens of a query on average: tokens per second times the busy time over the queries. */
function tokensPerQuery({ metrics, energy, counts }: CellResult): number | null {
  const speed = metrics.tokens_per_s.value;
  return speed === null || counts.attempted === 0 ? null : (speed * energy.busy_ns) / 1e9 / counts.attempted;
}

function endingsTable(site: Site): Html {
  const { merged } = site;
  const nameOf = cellNamer(site);
  const axes = shownAxes(merged.cells).filter((axis) => axis !== 'model');
  const rows = merged.cells.map((cell) => {
    const { point, counts, metrics } = cell;
    const { verdicts } = counts;
    const tokens = tokensPerQuery(cell);
    const sequential = metrics.sequential_tokens.value;
    const share = (n: number) =>
      html`<td class="n">${n}${n === 0 ? html`` : html`<small>${formatPercent(n / counts.attempted)}</small>`}</td>`;
    return html`<tr><th scope="row">${modelDot(merged, point.model)}<a href="${cellAddress(cell.cell_id)}">${breakable(point.model)}</a><small>${nameOf(cell, axes)}</small></th><td class="n">${formatShare(metrics.accuracy)}</td><td class="n">${counts.attempted}</td>${share(verdicts.unparsed)}${share(verdicts.truncated)}${share(verdicts.empty + verdicts.refused)}${share(counts.failed)}<td class="n">${tokens === null ? DASH : formatNumber(tokens)}</td><td class="n">${sequential === null ? DASH : formatNumber(sequential)}</td></tr>`;
  });
  const heads = headsOf([
    'Model',
    '>Accuracy|95 % interval',
    '>Queries',
    '>Unparsed',
    '>Truncated',
    '>Empty, refused',
    '>Failed',
    '>Output tokens|a query',
    '>Sequential tokens|a query',
  ]);
  return html`<details><summary>The same as a table, with tokens</summary>${scrollTable(heads, rows, { label: 'How queries ended' })}</details>`;
}

/** Models, strategies and data sets: how queries ended, by subject, what strategies buy, gains over the years. */
export function modelsPage(site: Site, comparables: readonly ComparableCell[]): SitePage {
  const { merged } = site;
  const endings = verdictFigure(site);
  const joules = strategyFigure(site, {
    id: 'strategy-joules',
    metric: 'energy_per_query_j',
    title: 'Energy per query (J)',
  });
  const tokens = strategyFigure(site, {
    id: 'strategy-tokens',
    metric: 'sequential_tokens',
    title: 'Sequential tokens per query',
  });
  const subjects = merged.datasets.map((dataset) => ({ dataset, figure: subjectFigure(site, dataset) }));
  const years = yearSection(comparables);
  return {
    id: 'models',
    title: 'Models',
    heading: 'Models, strategies and data sets',
    body: html`<p class="lead">How queries ended, what each strategy buys for its joules, and how accuracy differs by subject.</p>
${figureBlock(endings, { title: 'How queries ended', note: 'Answers that could not be read, were cut off or failed count as wrong in accuracy; here they are told apart. A click opens the cell.' })}
${endingsTable(site)}
${figureBlock(joules, { title: 'Strategies against joules', note: 'Each line goes through the strategies of one model and data set. Strategies are ranked by energy per query and IPJ, never by IPW: calls in a row cost no watts.' })}
${figureBlock(tokens, { title: 'Strategies against sequential tokens', note: 'Tokens on the longest chain of calls that had to follow one another: the floor of latency. Calls side by side cost joules, not time.' })}
${subjects.map(({ dataset, figure }) => figureBlock(figure, { title: `By subject: ${dataset}`, note: 'Accuracy of each cell by the label of the items; point at a field for its interval and how many were scored.' }))}
${subjectSection(merged)}
${comparisonSection(comparables, 'model', { id: 'models-compared', title: 'Models compared', note: 'Cells that agree on everything but the model, paired on shared items and repeats.' })}
${comparisonSection(comparables, 'strategy', { id: 'strategies-compared', title: 'Strategies compared', note: 'Cells that agree on everything but the strategy, paired on shared items and repeats.' })}
${years.body}
${publishedSection(merged)}`,
    figures: figuresOf(endings, joules, tokens, ...subjects.map(({ figure }) => figure), years.figure),
  };
}
