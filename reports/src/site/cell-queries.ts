import { DASH, formatNanos, formatNumber, formatShare, provenanceMark } from '../format.js';
import { escapeHtml, type Html, html } from '../html.js';
import type { CellResult } from '../results-types.js';
import type { CellDetail, DetailQuery } from './cell-detail.js';
import { cellTiers } from './provenance-badges.js';

/** Bytes of markup that all texts of a page may take, and how long each may be: the longest that fits is taken. */
const TEXTS_BUDGET = 90_000;
const LENGTHS = [1_500, 1_000, 700, 500, 350, 200, 80, 20] as const;

const cutTo = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)} … (${text.length - most} more characters)` : text;

const textsOf = ({ prompt, answer, error, extracted }: DetailQuery): string[] =>
  [prompt, answer, error, extracted].filter((text) => text !== null);

/** The longest cut at which all texts of the queries fit. */
function lengthFor(queries: readonly DetailQuery[]): number {
  const size = (most: number): number =>
    queries.reduce(
      (sum, query) =>
        sum + textsOf(query).reduce((own, text) => own + Buffer.byteLength(escapeHtml(cutTo(text, most))), 0),
      0,
    );
  return LENGTHS.find((most) => size(most) <= TEXTS_BUDGET) ?? 20;
}

interface Shown {
  readonly mark: string;
  /** `measured`, `estimated` …; empty without energy. */
  readonly tier: string;
  readonly withheld: boolean;
}

const classOf = (verdict: string): string =>
  verdict === 'correct' || verdict === 'incorrect' ? `verdict-${verdict}` : 'verdict-other';

/** What a query's energy is: where its joules are from, and whether they were shared out. */
const energyText = ({ energy_j, energy_method }: DetailQuery, { mark, tier }: Shown): string | null =>
  energy_j === null
    ? null
    : `${mark}${formatNumber(energy_j)} J ${tier}${energy_method === 'isolated' ? '' : `, allocated by ${energy_method.replace('_', ' ')}`}`;

function factsOf(query: DetailQuery, shown: Shown): string[] {
  const { start_s, duration_ns, calls, prompt_tokens, completion_tokens } = query;
  return [
    start_s === null ? null : `at ${formatNumber(start_s, 4)} s`,
    `took ${formatNanos(duration_ns)}`,
    calls === 1 ? null : `${calls} calls`,
    prompt_tokens === null && completion_tokens === null
      ? null
      : `${prompt_tokens ?? DASH} + ${completion_tokens ?? DASH} tokens`,
    energyText(query, shown),
  ].filter((fact) => fact !== null);
}

const block = (title: string, text: string | null, most: number): Html =>
  text === null ? html`` : html`<h3>${title}</h3><pre>${cutTo(text, most)}</pre>`;

function queryHtml(query: DetailQuery, most: number, shown: Shown): Html {
  const { item_id, repeat, verdict, subject, extracted, rule, score, outlier } = query;
  const name = `${item_id}${repeat > 0 ? `, repeat ${repeat}` : ''}`;
  const found = extracted === null ? 'nothing' : `“${cutTo(extracted, most)}”`;
  const graded = `${verdict}${score === null ? ', not scored' : `, score ${formatNumber(score)}`}; found: ${found}${rule === null ? '' : ` (${rule})`}`;
  const far = outlier === null ? html`` : html`<span class="badge flagged">outlier: ${outlier}</span>`;
  const texts = shown.withheld
    ? html`<p class="small soft">Withheld: the authors of the data set ask not to show its questions.</p>`
    : html`${block('Prompt', query.prompt, most)}${block('Answer', query.answer ?? '(no text recorded)', most)}<h3>Grade</h3><p class="small">${graded}</p>`;
  return html`<details class="query" data-verdict="${verdict}"><summary><strong class="${classOf(verdict)}">${verdict}</strong><code>${cutTo(name, 80)}</code>${subject === null ? html`` : html`<span class="soft">${subject}</span>`}<span class="soft small">${factsOf(query, shown).join(' · ')}</span>${far}</summary>${texts}${block('Error', query.error, most)}</details>`;
}

/** A hundred queries of a cell with prompt, answer, grade, span and energy; every text is escaped, long ones are cut. */
export function queriesSection(cell: CellResult, { queries, withheld }: CellDetail): Html {
  if (queries.length === 0) return html``;
  const most = lengthFor(queries);
  const shown: Shown = {
    mark: provenanceMark(cell.energy.boundary?.provenance ?? null),
    tier: cellTiers(cell)[0]?.word ?? '',
    withheld,
  };
  const all = cell.counts.attempted;
  const verdicts = [...new Set(queries.map(({ verdict }) => verdict))];
  const which =
    all > queries.length ? `${queries.length} of ${all}, spread evenly over the cell` : `All ${all}`;
  return html`<section id="queries"><h2>Queries</h2><p class="soft small">${which}. Accuracy of the whole cell: ${formatShare(cell.metrics.accuracy)}. Texts longer than ${most} characters are cut; the run folder has them whole.</p>
<div class="controls" id="queries-controls" hidden><label>Search<input type="search" id="queries-search" autocomplete="off" spellcheck="false"></label><label>Verdict<select id="queries-verdict"><option value="">all</option>${verdicts.map((verdict) => html`<option value="${verdict}">${verdict}</option>`)}</select></label><button type="button" class="plain" id="queries-open">Open or close all</button></div>
<p class="status" id="queries-status" role="status"></p>
<div class="tall-list" tabindex="0" role="region" aria-label="Queries of this cell">${queries.map((query) => queryHtml(query, most, shown))}</div></section>`;
}
