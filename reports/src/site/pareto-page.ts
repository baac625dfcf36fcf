import type { ComparableCell } from '../compare/comparable.js';
import { type Html, html } from '../html.js';
import { paretoData } from './pareto-data.js';
import type { Site } from './site-model.js';
import type { SitePage } from './site-page.js';

const controls = html`<div class="controls" id="pareto-controls" hidden>
<label>Across<select id="pareto-x"></select></label>
<label>Up<select id="pareto-y"></select></label>
<label>Questions<select id="pareto-group"></select></label>
<label class="check"><input type="checkbox" id="pareto-log-x">log across</label>
<label class="check"><input type="checkbox" id="pareto-log-y">log up</label>
<label class="check"><input type="checkbox" id="pareto-names">names</label>
</div><div class="controls" id="pareto-presets">
<button type="button" class="plain" data-pareto="energy_per_query_j|accuracy">accuracy against joules</button>
<button type="button" class="plain" data-pareto="sequential_tokens|accuracy">accuracy against sequential tokens</button>
</div>`;

interface TradeText {
  readonly lead: string;
  readonly marks: string;
  readonly shares: string;
  /** What a mark is, in the head of the list. */
  readonly noun: string;
  /** Where the numbers stand as a table. */
  readonly table: string;
}

/** Controls, place and list of a trade-off that the page's script draws. */
export const tradeHtml = ({ lead, marks, shares, noun, table }: TradeText): Html =>
  html`<p class="lead">${lead}</p>
<noscript><p class="note">This page is drawn by its script; the numbers are in <a href="${table}.html">the table</a>.</p></noscript>
${controls}
<section class="chart" aria-label="Trade-off"><div class="plot tall" id="pareto" role="group" aria-label="Trade-off of two metrics; the front is listed below"></div></section>
<p class="soft small">${marks}</p>
<section><h2>On the front</h2><p class="status" id="pareto-status" role="status"></p><div class="scroll" tabindex="0" role="region" aria-label="${noun}s on the front"><table><thead><tr><th scope="col">${noun}</th><th scope="col">Questions</th><th scope="col" class="n" id="pareto-head-x"></th><th scope="col" class="n" id="pareto-head-y"></th><th scope="col" class="n">On the front<small>share of draws</small></th><th scope="col">Verdict</th></tr></thead><tbody id="pareto-front"></tbody></table></div>
<p class="soft small">${shares}</p></section>`;

/** Any two metrics against each other, with the front of every data set; drawn by the page's script. */
export function paretoPage(site: Site, comparables: readonly ComparableCell[]): SitePage {
  const data = paretoData(site, comparables);
  return {
    id: 'pareto',
    title: 'Trade-offs',
    body: tradeHtml({
      noun: 'Cell',
      table: 'results',
      lead: 'Any two metrics against each other. A cell is on the front when no other of the same questions, tier and boundary is at least as good in both and better in one.',
      marks:
        'One colour a model, the same on every page; one mark a group of questions. Bars: intervals as in the results. Open marks: joules estimated or simulated. Pale marks: invalid cells, which are on no front. A click opens the cell.',
      shares:
        'Share of draws: how often the cell stands on the front when questions and repeats are drawn anew a thousand times, all cells together; where a trade-off has no draws, its front is that of the values alone. Means over data sets count each data set the same and are told only of configurations that ran all of them.',
    }),
    figures: [],
    data: { pareto: data },
  };
}
