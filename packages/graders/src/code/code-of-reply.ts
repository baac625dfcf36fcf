import type { Range } from '../reasoning.js';

/** Code found in a reply: its place, and by which rule. */
export interface FoundCode {
  readonly span: Range;
  readonly rule: 'code.fence' | 'code.open_fence' | 'code.before_fence' | 'code.bare';
}

interface Fence {
  /** Start and end of the line of the mark. */
  readonly start: number;
  readonly end: number;
  readonly opens: boolean;
}

/** Lines that are a fence of three or more marks. A line with a language opens; a bare one closes where something is open. */
function fencesOf(text: string): readonly Fence[] {
  const fences: Fence[] = [];
  let inside = false;
  for (const match of text.matchAll(/^[ \t]{0,8}(?:`{3,16}|~{3,16})([^\n`]{0,40})$/gm)) {
    const named = (match[1] ?? '').trim() !== '';
    const opens: boolean = named || !inside;
    fences.push({ start: match.index, end: match.index + match[0].length + 1, opens });
    inside = opens;
  }
  return fences;
}

const defines = (code: string, name: string): boolean =>
  new RegExp(`^[ \\t]*(?:async[ \\t]+)?(?:def|class)[ \\t]+${name}\\b|^${name}[ \\t]*=`, 'm').test(code);

/** Whether code has a definition of a name, at any depth. */
export const definesName = (code: string, name: string): boolean =>
  /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && defines(code, name);

/**
 * The code in a reply, best first: the last complete fenced block that defines `entry` (the longest among equally good ones where none does),
 * the text behind a fence that never closes, the text before a closing fence without an opening one, the reply from its first line of
 * code on, all of it where that is indented. Null when there is none. Indentation is kept.
 */
export function codeOfReply(text: string, entry: string): FoundCode | null {
  const fences = fencesOf(text);
  const blocks = fences.flatMap((fence, i): Range[] => {
    const next = fences[i + 1];
    return fence.opens && next !== undefined && !next.opens ? [[fence.end, next.start]] : [];
  });
  const block = bestBlock(text, blocks, entry);
  if (block !== null) return { span: block, rule: 'code.fence' };
  const last = fences.at(-1);
  if (last?.opens && last.end < text.length) return openFence(text, last, entry);
  return bareCode(text);
}

function bestBlock(text: string, blocks: readonly Range[], entry: string): Range | null {
  const size = ([start, end]: Range) => end - start;
  const defining = blocks.findLast((block) => definesName(text.slice(...block), entry));
  if (defining !== undefined) return defining;
  const [first, ...others] = blocks;
  if (first === undefined) return null;
  return others.reduce((best, block) => (size(block) >= size(best) ? block : best), first);
}

/** A fence with nothing that closes it: code begins behind it, or, where a program stands before it, ends there. */
function openFence(text: string, fence: Fence, entry: string): FoundCode {
  const before = text.slice(0, fence.start);
  const behind = text.slice(fence.end);
  const ends = behind.trim() === '' || (definesName(before, entry) && !definesName(behind, entry));
  if (!ends) return { span: [fence.end, text.length], rule: 'code.open_fence' };
  const bare = bareCode(before);
  return { span: bare?.span ?? [0, fence.start], rule: 'code.before_fence' };
}

const FIRST_LINE =
  /^[ \t]*(?:async[ \t]+def|def|class|import|from|@|return|for|while|if|[A-Za-z_][\w.,[\] \t]*=[^=])/m;
/** The function's body without the function: its first line is indented. */
const BODY = /^(?:[ \t]*\n)*[ \t]+\S/;

function bareCode(text: string): FoundCode | null {
  const at = BODY.test(text) ? 0 : FIRST_LINE.exec(text)?.index;
  return at === undefined ? null : { span: [at, text.length], rule: 'code.bare' };
}
