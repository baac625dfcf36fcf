import { pointAxes } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import { formatPercent, formatShare } from './format.js';
import { type Html, html } from './html.js';
import { besideHeadline } from './page-grading.js';
import {
  boundsNote,
  breakable,
  metricCell,
  modelDot,
  tierBadge,
  verdictBadge,
  withCode,
} from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

const columns: readonly (readonly [head: string, unit: string, id: MetricId])[] = [
  ['Power', 'W', 'power_w'],
  ['Energy', 'J/query', 'energy_per_query_j'],
  ['IPW', '1/W', 'ipw_per_w'],
  ['IPJ', '1/J', 'ipj_per_j'],
  ['Speed', 'tokens/s', 'tokens_per_s'],
  ['TTFT', 'median', 'ttft_any_p50_ns'],
];

/** Verdicts other than right and plainly wrong, so that neither hides in the accuracy. */
function oddVerdicts({ counts: { verdicts } }: CellResult): string | null {
  const odd = (['unparsed', 'truncated', 'empty', 'refused', 'error', 'unscored'] as const)
    .filter((verdict) => verdicts[verdict] > 0)
    .map((verdict) => `${verdicts[verdict]} ${verdict}`);
  return odd.length === 0 ? null : odd.join(', ');
}

function unscoredText({ counts, accuracy_bounds }: CellResult): string | null {
  if (counts.verdicts.unscored === 0 || accuracy_bounds === null) return null;
  return `${formatPercent(accuracy_bounds.lo)} to ${formatPercent(accuracy_bounds.hi)} with unscored as wrong or right`;
}

/** What stands below an accuracy: how many were scored, what guessing reaches, the other mode, verdicts that hide in it. */
export function accuracyLines(cell: CellResult): string[] {
  const { counts, guess_rate, above_guessing } = cell;
  const guess = guess_rate === null ? null : `guessing ${formatPercent(guess_rate)}`;
  return [
    `n = ${counts.scored}`,
    guess === null ? null : `${guess}${above_guessing === false ? ', not above' : ''}`,
    unscoredText(cell),
    ...besideHeadline(cell),
    oddVerdicts(cell),
  ].filter((line) => line !== null);
}

const accuracyCell = (cell: CellResult): Html =>
  html`<td class="n">${formatShare(cell.metrics.accuracy)}${accuracyLines(cell).map((line) => html`<small class="wrap">${line}</small>`)}</td>`;

function reasonsCell(cell: CellResult): Html {
  const front = cell.on_front ? html` <span class="badge front">front</span>` : html``;
  const reasons = cell.verdict.reasons.map(({ text }) => html`<div>${text}</div>`);
  return html`<td class="reasons">${verdictBadge(cell)}${front}${reasons}</td>`;
}

/** What would mend the verdicts of the table, each once. */
export function fixes({ cells }: RunResults): Html {
  const known = new Map(
    cells.flatMap(({ verdict }) =>
      verdict.reasons.map(({ code, fix }): [string, string | null] => [code, fix]),
    ),
  );
  const lines = [...known].flatMap(([code, fix]) =>
    fix === null ? [] : [html`<li><strong>${code.replaceAll('_', ' ')}</strong>: ${withCode(fix)}</li>`],
  );
  return lines.length === 0
    ? html``
    : html`<p class="small soft">What would mend it:</p><ul class="small">${lines}</ul>`;
}

function row(results: RunResults, cell: CellResult): Html {
  const { point, energy } = cell;
  const more = pointAxes
    .filter((axis) => axis === 'accelerator' || axis === 'load' || axis === 'variant')
    .flatMap((axis) => point[axis] ?? [])
    .join(' · ');
  return html`<tr data-cell="${cell.cell_id}"><th scope="row">${modelDot(results, point.model)}${breakable(point.model)}<small>${more}</small></th>
<td class="name">${breakable(point.dataset)}</td><td class="name">${breakable(point.strategy)}</td>${accuracyCell(cell)}${columns.map(([, , id]) => metricCell(cell, id))}
<td>${tierBadge(energy.boundary?.provenance ?? null)}</td>${reasonsCell(cell)}</tr>`;
}

/** The result table: every cell, invalid ones too, with bounds, provenance of the joules, and verdict with its reasons. */
export function resultSection(results: RunResults): Html {
  const heads = columns.map(
    ([head, unit]) => html`<th scope="col" class="n">${head}<small>${unit}</small></th>`,
  );
  return html`<section id="results"><h2>Results</h2>
<p class="soft small">Gross energy over the time with calls in flight. By data set, most intelligence per joule first. IPW depends on load: read it beside IPJ. ${boundsNote(results)}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Result table"><table><thead><tr><th scope="col">Model</th><th scope="col">Data set</th><th scope="col">Strategy</th><th scope="col" class="n">Accuracy<small>95 % interval</small></th>${heads}<th scope="col">Joules are</th><th scope="col">Verdict</th></tr></thead>
<tbody>${results.cells.map((cell) => row(results, cell))}</tbody></table></div>${fixes(results)}</section>`;
}
