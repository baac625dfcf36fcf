import type { Grade, GradeInput } from '@perwatt/core';
import type { Found, Judge } from '../decide.js';

type Decide = (input: GradeInput, judge: Omit<Judge<string>, 'firstAnswerEnd'>) => Grade;

/** The comparison that comes with MATH: last box, both sides normalised as strings, equal as text. */
export function gradeHendrycks(input: GradeInput, decide: Decide): Grade {
  const gold = lastBox(input.gold)?.text ?? input.gold;
  return decide(input, {
    find: findOfficial,
    compare: (found) => ({ correct: isEquivalent(found, gold), reason: null, flags: [] }),
    goldProblem: null,
  });
}

interface Box {
  readonly text: string;
  readonly start: number;
}

function findOfficial(text: string): Found<string> {
  const box = lastBox(text);
  if (box === null) return { status: 'none', reason: 'no box', flags: [] };
  const end = box.start + box.text.length;
  return { status: 'found', value: box.text, start: box.start, end, rule: 'hendrycks.boxed', flags: [] };
}

/** `\boxed ` reaches to the next dollar sign; `\boxed{` to its brace; an unclosed one is none. */
function lastBox(text: string): Box | null {
  const blank = text.lastIndexOf('\\boxed ');
  if (blank >= 0) {
    const start = blank + '\\boxed '.length;
    const end = text.indexOf('$', start);
    return { text: text.slice(start, end < 0 ? text.length : end), start };
  }
  const at = text.lastIndexOf('\\boxed');
  const command = at >= 0 ? at : text.lastIndexOf('\\fbox');
  const end = command < 0 ? -1 : closingBrace(text, command);
  return end < 0 ? null : braced(text.slice(command, end + 1), command);
}

/** Place of the brace that closes the first one behind `from`; −1 when there is none. */
function closingBrace(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '{') depth += 1;
    if (text[i] !== '}') continue;
    depth -= 1;
    if (depth === 0) return i;
  }
  return -1;
}

function braced(command: string, at: number): Box | null {
  const open = command.startsWith('\\boxed{') ? '\\boxed{' : '\\fbox{';
  return command.startsWith(open) ? { text: command.slice(open.length, -1), start: at + open.length } : null;
}

function isEquivalent(a: string, b: string): boolean {
  const [left, right] = [normalised(a), normalised(b)];
  return left === null || right === null ? a === b : left === right;
}

const REMOVED = ['\\left', '\\right', '^{\\circ}', '^\\circ', '\\$'] as const;

/** A string as MATH's own code leaves it; null where that fails. */
function normalised(raw: string): string | null {
  let text = raw.replaceAll('\n', '').replaceAll('\\!', '').replaceAll('\\\\', '\\');
  text = text.replaceAll('tfrac', 'frac').replaceAll('dfrac', 'frac');
  for (const mark of REMOVED) text = text.replaceAll(mark, '');
  if (text.includes('\\text{ ')) {
    const parts = text.split('\\text{ ');
    if (parts.length !== 2) return null;
    text = parts[0] ?? '';
  }
  text = text.replaceAll('\\%', '').replaceAll(' .', ' 0.').replaceAll('{.', '{0.');
  if (text === '') return text;
  if (text.startsWith('.')) text = `0${text}`;
  const [head = '', tail, ...more] = text.split('=');
  if (tail !== undefined && more.length === 0 && head.length <= 2) text = tail;
  const rooted = fixRoots(text);
  const fractions = rooted === null ? null : fixFractions(rooted.replaceAll(' ', ''));
  if (fractions === null) return null;
  return fixSlash(fractions === '0.5' ? '\\frac{1}{2}' : fractions);
}

function fixRoots(text: string): string | null {
  const [first = '', ...rest] = text.split('\\sqrt');
  if (rest.some((part) => part === '')) return null;
  return [
    first,
    ...rest.map((part) => (part.startsWith('{') ? `\\sqrt${part}` : `\\sqrt{${part[0]}}${part.slice(1)}`)),
  ].join('');
}

function fixFractions(text: string): string | null {
  const [first = '', ...rest] = text.split('\\frac');
  const fixed = rest.map((part) => {
    if (part.startsWith('{')) return `\\frac${part}`;
    if (part.length < 2) return null;
    const [top, bottom] = [part.charAt(0), part.charAt(1)];
    return bottom === '{' ? `\\frac{${top}}${part.slice(1)}` : `\\frac{${top}}{${bottom}}${part.slice(2)}`;
  });
  return fixed.some((part) => part === null) ? text : [first, ...fixed].join('');
}

function fixSlash(text: string): string {
  const match = /^(?<top>-?[0-9]+)\/(?<bottom>-?[0-9]+)$/.exec(text);
  const { top, bottom } = match?.groups ?? {};
  if (top === undefined || bottom === undefined || text !== `${BigInt(top)}/${BigInt(bottom)}`) return text;
  return `\\frac{${top}}{${bottom}}`;
}
