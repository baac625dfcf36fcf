import { axisNames } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import { formatPercent, formatShare } from './format.js';
import { type Html, html } from './html.js';
import { metricCell, modelDot, tierBadge, verdictBadge } from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

const columns: readonly (readonly [head: string, unit: string, id: MetricId])[] = [
  ['Power', 'W', 'power_w'],
  ['Energy', 'J/query', 'energy_per_query_j'],
  ['IPW', '1/W', 'ipw_per_w'],
  ['IPJ', '1/J', 'ipj_per_j'],
  ['Speed', 'tokens/s', 'tokens_per_s'],
  ['TTFT', 'median', 'ttft_any_p50_ns'],
];

function accuracyCell({ metrics, counts, guess_rate, above_guessing, accuracy_bounds }: CellResult): Html {
  const { verdicts } = counts;
  const odd = (['unparsed', 'truncated', 'empty', 'refused', 'error', 'unscored'] as const)
    .filter((verdict) => verdicts[verdict] > 0)
    .map((verdict) => `${verdicts[verdict]} ${verdict}`);
  const guess =
    guess_rate === null
      ? null
      : `guessing ${formatPercent(guess_rate)}${above_guessing === false ? ', not above' : ''}`;
  const unscored =
    verdicts.unscored > 0 && accuracy_bounds !== null
      ? `${formatPercent(accuracy_bounds.lo)} to ${formatPercent(accuracy_bounds.hi)} with unscored as wrong or right`
      : null;
  const lines = [`n = ${counts.scored}`, guess, ...odd, unscored].filter((line) => line !== null);
  return html`<td class="n">${formatShare(metrics.accuracy)}${lines.map((line) => html`<small>${line}</small>`)}</td>`;
}

function reasonsCell(cell: CellResult): Html {
  const front = cell.on_front ? html` <span class="badge front">front</span>` : html``;
  const reasons = cell.verdict.reasons.map(
    ({ text, fix }) =>
      html`<div>${text}${fix === null ? html`` : html` <span class="soft">${fix}</span>`}</div>`,
  );
  return html`<td class="reasons">${verdictBadge(cell)}${front}${reasons}</td>`;
}

function row(results: RunResults, cell: CellResult): Html {
  const { point, energy } = cell;
  const more = axisNames
    .filter((axis) => axis === 'accelerator' || axis === 'load')
    .map((axis) => point[axis])
    .join(' · ');
  return html`<tr data-cell="${cell.cell_id}"><th scope="row">${modelDot(results, point.model)}${point.model}<small>${more}</small></th>
<td class="name">${point.dataset}</td><td class="name">${point.strategy}</td>${accuracyCell(cell)}${columns.map(([, , id]) => metricCell(cell, id))}
<td>${tierBadge(energy.boundary?.provenance ?? null)}</td>${reasonsCell(cell)}</tr>`;
}

/** The result table: every cell, invalid ones too, with bounds, provenance of the joules, and verdict with its reasons. */
export function resultSection(results: RunResults): Html {
  const heads = columns.map(
    ([head, unit]) => html`<th scope="col" class="n">${head}<small>${unit}</small></th>`,
  );
  return html`<section id="results"><h2>Results</h2>
<p class="soft small">Gross energy over the time with calls in flight. By data set, most intelligence per joule first. IPW depends on load: read it beside IPJ.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Result table"><table><thead><tr><th scope="col">Model</th><th scope="col">Data set</th><th scope="col">Strategy</th><th scope="col" class="n">Accuracy<small>95 % interval</small></th>${heads}<th scope="col">Joules are</th><th scope="col">Verdict</th></tr></thead>
<tbody>${results.cells.map((cell) => row(results, cell))}</tbody></table></div></section>`;
}
