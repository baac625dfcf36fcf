/** A half-open range of UTF-16 offsets. */
export type Range = readonly [start: number, end: number];

/** Where reasoning stands in a completion. */
export interface Reasoning {
  /** Ranges to leave out, ascending, disjoint. */
  readonly removed: readonly Range[];
  /** A block was opened and never closed: the answer was never begun. */
  readonly unclosed: boolean;
}

export type TagPair = readonly [open: string, close: string];

/** Tags that enclose reasoning in the templates of common models. */
export const reasoningTags: readonly TagPair[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<reasoning>', '</reasoning>'],
  ['[think]', '[/think]'],
  ['<|channel|>analysis', '<|channel|>final<|message|>'],
  ['<|channel|>analysis', '<|channel|>final'],
];

/**
 * Finds reasoning blocks, whatever the case of their tags. A closing tag without an opening one (templates that open the
 * block in the prompt) ends reasoning that began with the text.
 */
export function findReasoning(text: string, tags: readonly TagPair[] = reasoningTags): Reasoning {
  const removed: Range[] = [];
  let open: { readonly start: number; readonly tag: string } | null = null;
  for (const token of text.matchAll(tagPattern(tags))) {
    const tag = token[0].toLowerCase();
    const end = token.index + tag.length;
    if (open === null) {
      if (tags.some(([opening]) => opening === tag)) open = { start: token.index, tag };
      else removed.splice(0, removed.length, [0, end]);
    } else if (closes(tags, open.tag, tag)) {
      removed.push([open.start, end]);
      open = null;
    }
  }
  if (open !== null) removed.push([open.start, open.start + open.tag.length]);
  return { removed, unclosed: open !== null };
}

const closes = (tags: readonly TagPair[], opening: string, tag: string) =>
  tags.some(([open, close]) => open === opening && close === tag);

const patterns = new WeakMap<readonly TagPair[], RegExp>();

/** All tags, the longer first, so that one which is the beginning of another doesn't hide it. */
function tagPattern(tags: readonly TagPair[]): RegExp {
  const known = patterns.get(tags);
  if (known !== undefined) return known;
  const names = [...new Set(tags.flat())].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'gi',
  );
  patterns.set(tags, pattern);
  return pattern;
}
