import type { TextBlock } from '../compare/front-text.js';
import type { Grid } from '../compare/grid.js';
import { type Html, html } from '../html.js';

/** Rows of a page's table; more are counted, and the command that prints them all is named by the page. */
const MOST_ROWS = 300;

/** A table of more rows scrolls by itself. */
const MOST_OPEN = 24;

/** Texts up to this long stay on one line. */
const SHORT = 28;

/** A grid as a table; nothing where it has no rows. */
export function gridHtml({ columns, rows }: Grid, label: string): Html {
  if (rows.length === 0) return html``;
  const heads = columns.map(({ name, right }) =>
    right ? html`<th scope="col" class="n">${name}</th>` : html`<th scope="col">${name}</th>`,
  );
  const lines = rows.slice(0, MOST_ROWS).map(
    (row) =>
      html`<tr>${row.map((text, i) => {
        if (i === 0) return html`<th scope="row">${text}</th>`;
        return columns[i]?.right === true
          ? html`<td class="n">${text}</td>`
          : html`<td class="${text.length > SHORT ? 'name' : 'short'}">${text}</td>`;
      })}</tr>`,
  );
  const more =
    rows.length > MOST_ROWS
      ? html`<p class="soft small">The first ${MOST_ROWS} of ${rows.length} rows.</p>`
      : html``;
  const tall = lines.length > MOST_OPEN ? ' tall' : '';
  return html`<div class="scroll${tall}" tabindex="0" role="region" aria-label="${label}"><table class="grid"><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody></table></div>${more}`;
}

/** Lines below a table; those that begin with blanks belong to the line before. */
export const notesHtml = (notes: readonly string[]): Html =>
  notes.length === 0
    ? html``
    : html`<ul class="small soft">${notes.map((note) => html`<li>${note.trim()}</li>`)}</ul>`;

/** A block of text with its table, as the terminal has it. */
export const blockHtml = ({ head, grid, notes }: TextBlock, label: string): Html =>
  html`${head.map((line) => html`<p class="small">${line}</p>`)}${gridHtml(grid, label)}${notesHtml(notes)}`;
