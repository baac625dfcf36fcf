import { PerwattError } from '@perwatt/core';
import type { ComparableCell } from '../compare/comparable.js';
import { compareCells } from '../compare/compare-cells.js';
import type { Comparison } from '../compare/comparison.js';
import { comparisonGrid, comparisonHead, comparisonNotes } from '../compare/comparison-text.js';
import { type Html, html } from '../html.js';
import { gridHtml, notesHtml } from './block-html.js';

const severalOn = (cells: readonly ComparableCell[], axis: string): boolean =>
  new Set(cells.map(({ axes }) => axes[axis])).size > 1;

/** The first value of an axis that every group of cells has; undefined where none is everywhere, and groups take their own first. */
function commonBaseline(cells: readonly ComparableCell[], by: string): string | undefined {
  const groups = new Map<string, Set<string>>();
  for (const { axes } of cells) {
    const key = JSON.stringify({ ...axes, [by]: '' });
    groups.set(key, (groups.get(key) ?? new Set()).add(axes[by] ?? ''));
  }
  const values = new Set(cells.flatMap(({ axes }) => axes[by] ?? []));
  const several = [...groups.values()].filter(({ size }) => size > 1);
  return [...values].find((value) => several.every((own) => own.has(value)));
}

function compared(cells: readonly ComparableCell[], by: string): Comparison | string {
  const baseline = commonBaseline(cells, by);
  try {
    return compareCells(cells, { by, ...(baseline === undefined ? {} : { baseline }) });
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'INPUT_INVALID') return error.message;
    throw error;
  }
}

const verdictLine = ({ rows }: Comparison): string => {
  const count = (verdict: string | null) => rows.filter((row) => row.verdict === verdict).length;
  return `${rows.length} figures: ${count('different')} different, ${count('within noise')} within noise, ${count('not resolved by the sensors')} not resolved by the sensors, ${count(null)} not judged.`;
};

interface SectionText {
  readonly id: string;
  readonly title: string;
  readonly note: string;
}

/** Cells along one axis against each other, with ratios and verdicts; nothing where the axis has one value. */
export function comparisonSection(
  cells: readonly ComparableCell[],
  by: string,
  { id, title, note }: SectionText,
): Html {
  if (!severalOn(cells, by)) return html``;
  const found = compared(cells, by);
  if (typeof found === 'string')
    return html`<section id="${id}"><h2>${title}</h2><p class="note">Not compared: ${found}.</p></section>`;
  return html`<section id="${id}"><h2>${title}</h2><p class="soft small">${note} ${verdictLine(found)}</p>${comparisonHead(found).map((line) => html`<p class="small">${line}</p>`)}${gridHtml(comparisonGrid(found), title)}<details><summary>Why, and what would be needed</summary>${notesHtml(comparisonNotes(found))}</details></section>`;
}
