import { publishedFor } from '@perwatt/metrics';
import { DASH } from './format.js';
import { type Html, html } from './html.js';
import type { RunResults } from './results-types.js';

/** What others published for the run's strategies, apart from everything that was measured. Empty where nothing was. */
export function publishedSection({ cells }: RunResults): Html {
  const methods = new Set(cells.flatMap(({ provenance }) => provenance?.strategy.id ?? []));
  const rows = [...methods].flatMap(publishedFor);
  if (rows.length === 0) return html``;
  const lines = rows.map(
    (row) =>
      html`<tr><th scope="row">${row.method}<small>${row.system}</small></th><td class="name">${row.model}</td><td class="name">${row.dataset}</td><td>${row.value}</td><td>${row.cost ?? DASH}</td><td>${DASH}</td><td class="name">${row.source}<small>${row.tag}</small></td></tr>`,
  );
  const heads = ['Method', 'Model', 'Data', 'Result', 'Tokens or cost', 'Energy', 'Source'].map(
    (name) => html`<th scope="col">${name}</th>`,
  );
  return html`<section id="published"><h2>Published by others</h2>
<p class="soft small">Not measured here, on other models and data: to know what the methods were reported to do. Nobody published an energy for them.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Published figures"><table><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody></table></div></section>`;
}
