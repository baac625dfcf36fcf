import type { Figure } from '../figure.js';
import { type Html, html } from '../html.js';

interface BlockText {
  readonly title: string;
  /** How to read it; for readers who cannot see the figure, too. */
  readonly note: string;
  /** Lower than others. */
  readonly low?: boolean;
}

/** The place of a figure in a page with its heading and its note; nothing where there is no figure. */
export const figureBlock = (
  figure: Pick<Figure, 'id'> | null,
  { title, note, low = false }: BlockText,
): Html =>
  figure === null
    ? html``
    : html`<section class="chart" aria-labelledby="${figure.id}-title"><h2 id="${figure.id}-title">${title}</h2><p class="soft small" id="${figure.id}-note">${note}</p>
<div class="plot${low ? ' low' : ''}" id="${figure.id}" role="group" aria-labelledby="${figure.id}-title" aria-describedby="${figure.id}-note"></div></section>`;

/** The figures that there are. */
export const figuresOf = (...figures: readonly (Figure | null)[]): Figure[] =>
  figures.filter((figure) => figure !== null);
