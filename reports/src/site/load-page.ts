import { html } from '../html.js';
import { hasLoads } from '../load-facts.js';
import { loadFigure } from '../load-figure.js';
import { loadSection } from '../page-load.js';
import { figureBlock, figuresOf } from './figure-block.js';
import type { Site } from './site-model.js';
import type { SitePage } from './site-page.js';

/** Loads and servers: energy against throughput, rates, goodput, lag; null where there is one plain load and no server. */
export function loadPage({ merged }: Site): SitePage | null {
  const section = loadSection(merged);
  if (!hasLoads(merged) && section.markup === '') return null;
  const curve = loadFigure(merged);
  return {
    id: 'load',
    title: 'Load',
    body: html`<p class="lead">How calls were sent, what came of it by load, and what served them.</p>
${figureBlock(curve, { title: 'Energy against throughput', note: 'Down and to the right is better: more tokens a second at fewer joules each. One line for each model, device, data set and strategy, through its loads. Vertical bars: bounds of energy. Pale marks: invalid cells.' })}
${section}`,
    figures: figuresOf(curve),
  };
}
