import { createHash } from 'node:crypto';
import type { Figure } from './figure.js';
import { type Html, html, scriptJson, scriptText } from './html.js';
import { loadFigure } from './load-figure.js';
import { gradingSection, subjectSection } from './page-grading.js';
import { headline } from './page-headline.js';
import { ledgerSection } from './page-ledger.js';
import { loadSection } from './page-load.js';
import { answersSection, methodSection, notMeasuredSection } from './page-method.js';
import { provenanceSection } from './page-provenance.js';
import { publishedSection } from './page-published.js';
import { resultSection } from './page-results.js';
import { pageScript } from './page-script.js';
import { pageStyle } from './page-style.js';
import { paretoFigure } from './pareto-figure.js';
import { powerFigure } from './power-figure.js';
import type { RunResults } from './results-types.js';

const hashOf = ({ markup }: Html): string =>
  `'sha256-${createHash('sha256').update(markup).digest('base64')}'`;

/** Nothing is fetched, sent, framed or run but the scripts that were written into the page. */
const policyOf = (scripts: readonly Html[]): string =>
  [
    "default-src 'none'",
    `script-src ${scripts.map(hashOf).join(' ')}`,
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const plot = (
  figure: Figure | null,
  title: string,
  options: { readonly note: string; readonly low: boolean },
): Html =>
  figure === null
    ? html``
    : html`<section><h2>${title}</h2><p class="soft small">${options.note}</p><div class="plot${options.low ? ' low' : ''}" id="${figure.id}"></div></section>`;

/**
 * The report as one page that needs nothing else: figures, styles and the chart library are inside, a content policy
 * keeps the network out. Every text of the run is escaped.
 *
 * @param plotlySource text of plotly.js's minified bundle
 */
export function reportPage(results: RunResults, plotlySource: string): string {
  const [pareto, curve, power] = [paretoFigure(results), loadFigure(results), powerFigure(results)];
  const figures = [pareto, curve, power].filter((figure) => figure !== null);
  const [library, script] = [scriptText(plotlySource), scriptText(pageScript)];
  const paretoNote =
    'Up and to the left is better. Vertical bars: 95 % interval of accuracy. Horizontal bars: bounds of energy as in the table. Pale marks: invalid cells.';
  const curveNote =
    'Down and to the right is better: more tokens a second at fewer joules each. One line for each model, device, data set and strategy, through its loads. Vertical bars: bounds of energy as in the table. Pale marks: invalid cells.';
  const powerNote =
    'Shaded: the measured window of each cell in the colour of its model; its name is at the mark below.';
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policyOf([library, script])}">
<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
<title>${results.name}: Perwatt report</title><style>${{ markup: pageStyle }}</style></head>
<body><main>
${headline(results)}
${resultSection(results)}
${plot(pareto, 'Accuracy against energy', { note: paretoNote, low: false })}
${plot(curve, 'Energy against throughput', { note: curveNote, low: false })}
${loadSection(results)}
${plot(power, 'Power over time', { note: powerNote, low: true })}
${notMeasuredSection(results)}
${ledgerSection(results)}
${gradingSection(results)}
${subjectSection(results)}
${answersSection(results)}
${publishedSection(results)}
${methodSection(results)}
${provenanceSection(results)}
</main>
<script type="application/json" id="figures">${scriptJson(figures)}</script>
<script>${library}</script><script>${script}</script>
</body></html>
`.markup;
}
