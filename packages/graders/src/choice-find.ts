import { type Anchor, clauseEnd, findAnchors, isDenied } from './anchors.js';
import { joinedLabels, type Label, type Labels, readLabel } from './choice-labels.js';
import type { Found } from './decide.js';
import type { Range } from './reasoning.js';
import { findAnswerTags, findBoxes, firstLine, lastLine, skipClosers, skipWrappers } from './wrappers.js';

/** What a choice question offers. */
export interface Options {
  readonly labels: Labels;
  /** Texts of the options, normalised; empty where they are not known. */
  readonly texts: readonly string[];
}

type Rank =
  | 'choice.format'
  | 'choice.boxed'
  | 'choice.anchor'
  | 'choice.line'
  | 'choice.text'
  | 'choice.lead';

interface Candidate {
  readonly rule: Rank;
  readonly start: number;
  readonly end: number;
  /** Named options, several where one anchor names several. */
  readonly indices: readonly number[];
}

/** The option a text settles on: the last valid candidate of the best rank. */
export function findChoice(text: string, options: Options): Found<number> {
  const marked = markedCandidates(text, options, 'last');
  const ranks: readonly (() => readonly Candidate[])[] = [
    () => [...wholeText(text, options), ...marked.filter((c) => c.rule === 'choice.format')],
    () => marked.filter((c) => c.rule === 'choice.boxed' || c.rule === 'choice.anchor'),
    () => lineCandidates(text, options, 'choice.line'),
    () => textCandidates(text, options),
    () => [...lineCandidates(text, options, 'choice.lead'), ...leadText(text, options)],
  ];
  const dropped: Candidate[] = [];
  for (const rank of ranks) {
    const candidates = [...rank()].sort((a, b) => a.end - b.end);
    const valid = candidates.filter((c) => c.indices.every((i) => i < options.labels.count));
    dropped.push(...candidates.filter((c) => !valid.includes(c)));
    const last = valid.at(-1);
    if (last !== undefined) return settle(last, valid, flagsOf(dropped));
  }
  return { status: 'none', reason: 'no option is named as the answer', flags: flagsOf(dropped) };
}

const flagsOf = (dropped: readonly Candidate[]) => (dropped.length > 0 ? ['out-of-range'] : []);

function settle(last: Candidate, rank: readonly Candidate[], flags: readonly string[]): Found<number> {
  const [index, ...others] = new Set(last.indices);
  if (index === undefined || others.length > 0)
    return {
      status: 'none',
      reason: 'several options are named as one answer',
      flags: [...flags, 'multiple'],
    };
  const several = rank.some((c) => c.indices.some((i) => i !== index));
  const { start, end, rule } = last;
  return {
    status: 'found',
    value: index,
    start,
    end,
    rule,
    flags: several ? [...flags, 'multiple-candidates'] : flags,
  };
}

/** End of the first anchored, boxed or line-leading label; null when there is none. */
export function firstChoiceEnd(text: string, options: Options): number | null {
  const marked = markedCandidates(text, options, 'first').map((c) => c.end);
  const lines = lineLabels(text, options).map((c) => c.end);
  const ends = [...marked, ...lines];
  return ends.length === 0 ? null : ends.reduce((a, b) => Math.min(a, b));
}

function lineLabels(text: string, options: Options): Candidate[] {
  const line = firstLine(text);
  return line === null ? [] : labelLine(text, line, options, 'choice.lead');
}

/** Places looked at from the wanted end of a text. */
const MAX_PLACES = 500;

/** Candidates with a mark of their own: answer elements, boxes, anchor phrases. */
function markedCandidates(text: string, options: Options, side: 'last' | 'first'): Candidate[] {
  const { labels } = options;
  const most = <T>(all: readonly T[]) =>
    side === 'last' ? all.slice(-MAX_PLACES) : all.slice(0, MAX_PLACES);
  const inside = (rule: Rank) => (range: Range) => {
    const label = readLabel(text, range[0], labels);
    return label === null || label.end > range[1] ? [] : [candidate(rule, text, label, labels)];
  };
  return [
    ...most(findAnswerTags(text)).flatMap(inside('choice.format')),
    ...most(findBoxes(text)).flatMap(inside('choice.boxed')),
    ...findAnchors(text, 'answers-and-options', side).flatMap((anchor) => anchored(text, anchor, options)),
    ...most(reversed(text, labels)),
  ];
}

function candidate(rule: Rank, text: string, label: Label, labels: Labels): Candidate {
  const all = joinedLabels(text, label, labels);
  return { rule, start: label.start, end: all.at(-1)?.end ?? label.end, indices: all.map((l) => l.index) };
}

function anchored(text: string, anchor: Anchor, options: Options): Candidate[] {
  const label = readLabel(text, anchor.end, options.labels);
  if (label === null || isDenied(text, anchor, label) || isOtherOption(text, label, options)) return [];
  return [candidate(anchor.direct ? 'choice.format' : 'choice.anchor', text, label, options.labels)];
}

/** Whether the label is but the first word of another option's text, as in "the answer is C major". */
function isOtherOption(text: string, label: Label, { texts }: Options): boolean {
  if (text[label.end] !== ' ') return false;
  const rest = normalise(text.slice(label.start, clauseEnd(text, label.start)));
  return rest.includes(' ') && texts.some((option, i) => i !== label.index && option === rest);
}

const REVERSED: readonly RegExp[] = [
  /(?:\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer|[Ll]etter|that|[Ss]o|[Tt]herefore|[Tt]hus|[Hh]ence),? \(?|(?:^|[.!?] |\n)[*_`]{0,3}\(?)(?<label>[A-Z0-9]{1,2})\)?[*_`]{0,3} (?:is|would be|must be) (?:the |an? )?(?:only |most |best )?(?:correct|right|accurate|appropriate|best|answer)\b/gm,
  /(?:只有|选项|因此|所以|故|,|。|:|^|\n)(?:选项)?[ (]?(?<label>[A-Z])[ )]?(?:选项)?是?(?:正确|对)的?/gm,
];

/** "Option C is correct", "只有选项C是对的". */
function reversed(text: string, labels: Labels): Candidate[] {
  return REVERSED.flatMap((pattern) => [...text.matchAll(pattern)]).flatMap((match) => {
    const at = match.index + match[0].lastIndexOf(match.groups?.['label'] ?? '');
    const label = readLabel(`${match.groups?.['label']}`, 0, labels);
    return label === null
      ? []
      : [{ rule: 'choice.anchor' as const, start: at, end: at + label.end, indices: [label.index] }];
  });
}

/** The whole text is one label, bare or wrapped: the shortest form a prompt may demand. */
function wholeText(text: string, { labels }: Options): Candidate[] {
  const label = readLabel(text, 0, labels);
  const whole = label !== null && skipClosers(text, label.end) >= text.trimEnd().length;
  return whole ? [candidate('choice.format', text, label, labels)] : [];
}

/** The last line (or the first) is a label, perhaps with the text of its option; but not one line of a list of options. */
function lineCandidates(text: string, options: Options, rule: 'choice.line' | 'choice.lead'): Candidate[] {
  const last = rule === 'choice.line';
  const line = last ? lastLine(text) : firstLine(text);
  if (line === null) return [];
  const neighbour = last ? lastLine(text.slice(0, line[0])) : offset(firstLine(text.slice(line[1])), line[1]);
  const listed = neighbour !== null && isListed(text, neighbour, options);
  return listed ? [] : labelLine(text, line, options, rule);
}

/** Whether a line begins with a label and a mark, as each line of a list of options does. */
function isListed(text: string, [start, end]: Range, { labels }: Options): boolean {
  const line = text.slice(start, Math.min(end, start + 200));
  const label = readLabel(line, 0, labels);
  return label !== null && /^[*_`"')\]}$]{0,6}(?:$|[).:,\]])/.test(line.slice(label.end));
}

const offset = (range: Range | null, by: number): Range | null =>
  range === null ? null : [range[0] + by, range[1] + by];

/** A label further on in a line: the line lists options rather than choosing one. */
const OTHER_LABEL = /[\s(][A-Z][).:]/;

function labelLine(text: string, [start, end]: Range, { labels, texts }: Options, rule: Rank): Candidate[] {
  const line = text.slice(start, end);
  const label = readLabel(line, 0, labels);
  if (label === null || line.length > 2000) return [];
  const moved = { ...label, start: label.start + start, end: label.end + start };
  if (skipClosers(line, label.end) >= line.length)
    return [candidate(rule, text.slice(0, end), moved, labels)];
  const mark = /^[*_`"')\]}$]{0,6}(?:[).:]| -|,)[*_`]{0,3} ?/.exec(line.slice(label.end));
  const rest = normalise(line.slice(label.end + (mark?.[0].length ?? 0)));
  const own = texts[label.index];
  const follows =
    own === undefined
      ? mark !== null && line.length <= 200 && !OTHER_LABEL.test(line.slice(label.end))
      : rest === own;
  return follows ? [{ rule, start: moved.start, end: moved.end, indices: [label.index] }] : [];
}

/** An anchored phrase, or the last line, that is exactly the text of one option. */
function textCandidates(text: string, options: Options): Candidate[] {
  if (options.texts.length === 0) return [];
  const last = lastLine(text);
  const phrases = findAnchors(text, 'answers-and-options').flatMap((anchor): Range[] => {
    const start = skipWrappers(text, anchor.end);
    const lineEnd = text.indexOf('\n', start);
    const ends = [clauseEnd(text, start), Math.min(lineEnd === -1 ? text.length : lineEnd, start + 2000)];
    return ends.filter((end) => !isDenied(text, anchor, { start, end })).map((end) => [start, end]);
  });
  return [...phrases, ...(last === null ? [] : [last])].flatMap(([start, end]) => {
    const matches = matching(normalise(text.slice(start, end)), options.texts);
    const trimmed = text.slice(start, end).trimEnd().length;
    return matches.length === 1
      ? [{ rule: 'choice.text' as const, start, end: start + trimmed, indices: matches }]
      : [];
  });
}

/** The first line is exactly the text of one option. */
function leadText(text: string, { texts }: Options): Candidate[] {
  const line = firstLine(text);
  if (line === null || line[1] - line[0] > 2000) return [];
  const matches = matching(normalise(text.slice(...line)), texts);
  return matches.length === 1
    ? [{ rule: 'choice.lead', start: line[0], end: line[1], indices: matches }]
    : [];
}

const matching = (phrase: string, texts: readonly string[]) =>
  phrase === '' ? [] : texts.flatMap((option, index) => (option === phrase ? [index] : []));

/** A text for comparison with options: lower case, blanks collapsed, wrappers and closing marks stripped. */
export function normalise(text: string): string {
  const folded = text.replaceAll(/[*_`$]|\\(?:text|mathrm|mathbf)(?=\{)/g, '').replaceAll(/\s+/g, ' ');
  return folded
    .replace(/^[\s"'“”‘’([{]{1,16}/, '')
    .trim()
    .replace(/(?:[\s"'“”‘’)\]}.,;:!]){1,16}$/, '')
    .toLowerCase();
}
