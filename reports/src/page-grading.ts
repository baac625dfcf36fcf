import type { Verdict } from '@perwatt/core';
import { DASH, formatNumber, formatPercent, formatShare } from './format.js';
import type { Grading, ModeFigures, Share } from './grading.js';
import type { AttemptFigures } from './grading-attempts.js';
import { type Html, html } from './html.js';
import { breakable } from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

const ofRun = ({ figures }: Grading): readonly ModeFigures[] => figures.filter(({ pass }) => pass === 0);

/** What stands below a headline accuracy: the other mode, and the figure without golds known to be bad. */
export function besideHeadline({ grading }: CellResult): string[] {
  if (grading === null) return [];
  const [own, other] = ofRun(grading);
  const lines: string[] = [];
  if (other !== undefined && other.accuracy.value !== null)
    lines.push(
      `${other.mode} ${formatPercent(other.accuracy.value)}, ${grading.differing} ${grading.differing === 1 ? 'verdict differs' : 'verdicts differ'}`,
    );
  if (own !== undefined && grading.known_bad_queries > 0)
    lines.push(
      `without ${grading.known_bad_queries} on known bad golds ${formatShare(own.without_known_bad)}`,
    );
  return lines;
}

const name = ({ point: { model, dataset, strategy, load, variant } }: CellResult): string =>
  [model, dataset, strategy, load, variant].filter((part) => part !== undefined).join(' · ');

const shareCell = (share: Share | null): Html =>
  html`<td class="n">${share === null ? DASH : formatShare(share)}${share === null ? html`` : html`<small>n = ${share.n}</small>`}</td>`;

const verdictWords: readonly Verdict[] = ['unparsed', 'truncated', 'empty', 'refused', 'error', 'unscored'];

function verdictText({ verdicts }: ModeFigures): string {
  const odd = verdictWords.filter((verdict) => verdicts[verdict] > 0);
  return odd.length === 0 ? DASH : odd.map((verdict) => `${verdicts[verdict]} ${verdict}`).join(', ');
}

function attemptsText(attempts: AttemptFigures | null): string {
  if (attempts === null) return DASH;
  const { k, avg_at_k, at } = attempts;
  const shown = (value: number | null) => (value === null ? DASH : formatPercent(value));
  const all = at.at(-1);
  return `avg@${k} ${shown(avg_at_k)}, pass@${k} ${shown(all?.pass_at_k ?? null)}, pass^${k} ${shown(all?.pass_all_k ?? null)}, maj@${k} ${shown(all?.maj_at_k ?? null)}`;
}

function figureRow(figures: ModeFigures, grading: Grading): Html {
  const { pass, mode, grader, grader_version } = figures;
  const place =
    pass > 0 ? `graded again (${pass})` : mode === grading.headline ? 'headline' : 'beside the headline';
  return html`<tr><th scope="row">${mode}<small>${grader} ${grader_version}, ${place}</small></th>${shareCell(figures.accuracy)}${shareCell(grading.known_bad_queries > 0 ? figures.without_known_bad : null)}${shareCell(figures.strict)}${shareCell(figures.answered_only)}<td>${verdictText(figures)}</td><td>${attemptsText(figures.attempts)}</td></tr>`;
}

/** Every answer in which nothing was found, by item, with its end. */
function unparsedList(cell: CellResult, results: RunResults): Html {
  const answers = results.unparsed_answers[cell.cell_id] ?? [];
  if (answers.length === 0) return html``;
  const all = cell.counts.verdicts.unparsed;
  const withheld = cell.provenance?.dataset.withhold === true;
  const more = all > answers.length ? `, the first ${answers.length}` : '';
  const lines = answers.map(
    ({ item_id, repeat, end }) =>
      html`<li><code>${item_id}</code>${repeat > 0 ? ` (repeat ${repeat})` : ''}: ${withheld ? 'withheld' : (end ?? '(no text)')}</li>`,
  );
  return html`<details class="unparsed"><summary>Unparsed: ${all}${more}</summary><ul class="small">${lines}</ul></details>`;
}

function gradingOfCell(cell: CellResult, results: RunResults): Html {
  const { grading } = cell;
  const unparsed = unparsedList(cell, results);
  if (grading === null) return unparsed.markup === '' ? html`` : html`<h3>${name(cell)}</h3>${unparsed}`;
  const { differing, figures, known_bad_queries } = grading;
  const bad = known_bad_queries === 0 ? '' : ` ${known_bad_queries} queries are on golds known to be bad.`;
  return html`<h3>${name(cell)}</h3><p class="small soft">The two modes differ on ${differing} verdicts.${bad}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Grades of ${name(cell)}"><table><thead><tr><th scope="col">Mode</th><th scope="col" class="n">Accuracy</th><th scope="col" class="n">Without bad golds</th><th scope="col" class="n">Strict</th><th scope="col" class="n">Of the answered</th><th scope="col">Other verdicts</th><th scope="col">Attempts</th></tr></thead><tbody>${figures.map((own) => figureRow(own, grading))}</tbody></table></div>${unparsed}`;
}

/** Both modes of every cell side by side, later gradings, and the answers in which nothing was found. */
export function gradingSection(results: RunResults): Html {
  const parts = results.cells.map((cell) => gradingOfCell(cell, results));
  if (parts.every(({ markup }) => markup === '')) return html``;
  return html`<section id="grading"><h2>How answers were graded</h2>
<p class="soft small">Robust is our reading of an answer, official that of the benchmark without its guesses. Strict counts only answers in the demanded form; unparsed, truncated, empty, refused and failed ones score 0.</p>${parts}</section>`;
}

function subjectTable(cell: CellResult): Html {
  if (cell.by_subject.length < 2) return html``;
  const rows = cell.by_subject.map(({ subject, items, scored, values }) => {
    const { accuracy, energy_per_query_j: energy } = values;
    return html`<tr><th scope="row">${breakable(subject)}</th><td class="n">${items}</td><td class="n">${scored}</td><td class="n">${accuracy === undefined ? DASH : formatShare(accuracy)}</td><td class="n">${energy?.value == null ? DASH : formatNumber(energy.value)}</td></tr>`;
  });
  return html`<details><summary>${name(cell)}: ${cell.by_subject.length} subjects</summary><div class="scroll" tabindex="0" role="region" aria-label="Subjects of ${name(cell)}"><table><thead><tr><th scope="col">Subject</th><th scope="col" class="n">Items</th><th scope="col" class="n">Scored</th><th scope="col" class="n">Accuracy<small>95 % interval</small></th><th scope="col" class="n">Energy<small>J/query</small></th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

/** Accuracy and energy by the label of the items, folded away. */
export function subjectSection({ cells }: RunResults): Html {
  const tables = cells.map(subjectTable);
  if (tables.every(({ markup }) => markup === '')) return html``;
  return html`<section id="subjects"><h2>By subject</h2>${tables}</section>`;
}
