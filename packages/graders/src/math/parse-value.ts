import { type Expr, exprText } from './expr.js';
import { attempt, limits, notMath } from './limits.js';
import { parseMatrix } from './matrix.js';
import { parseExpr } from './parse-expr.js';
import { subscriptText } from './parse-names.js';
import { parseQuantity } from './quantity.js';
import { parseRelation } from './relations.js';
import { isEnclosed, isOp, splitTop } from './split.js';
import { type Token, tokenize } from './tokens.js';
import type { Answer, Interval, List, Value } from './value.js';

/** What an answer in LaTeX or plain text is; `raw` where it is no mathematics. Never throws; work is bounded by `limits`. */
export function parseAnswer(text: string): Answer {
  const tokens = attempt(() => tokenize(text));
  if (tokens === null || tokens.length === 0)
    return { canonical: text.replaceAll(/\s+/g, ''), value: { kind: 'raw' } };
  return {
    canonical: canonicalText(tokens),
    value: attempt(() => parseValue(tokens, 0)) ?? words(tokens) ?? { kind: 'raw' },
  };
}

function canonicalText(tokens: readonly Token[]): string {
  return trim(tokens)
    .map((token) => (token.kind === 'text' || token.kind === 'word' ? ` ${token.text} ` : token.text))
    .join('');
}

/** Without separators and sentence marks at the ends. */
function trim(tokens: readonly Token[]): readonly Token[] {
  let [start, end] = [0, tokens.length];
  const loose = (token: Token | undefined) => isOp(token, '.', '`', '"', '?') || token?.kind === 'sep';
  while (start < end && loose(tokens[start])) start += 1;
  while (end > start && loose(tokens[end - 1])) end -= 1;
  return tokens.slice(start, end);
}

export function parseValue(all: readonly Token[], depth: number): Value {
  if (depth > limits.depth) notMath('the answer is nested too deep');
  const tokens = trim(all);
  if (tokens.length === 0) notMath('nothing stands there');
  return (
    parseList(tokens, depth) ??
    parseMember(tokens, depth) ??
    parseUnion(tokens, depth) ??
    parseRelation(tokens, (part) => parseValue(part, depth + 1)) ??
    (tokens.some((token) => token.kind === 'begin')
      ? parseMatrix(tokens, (part) => parseValue(part, depth + 1))
      : null) ??
    parsePlusMinus(tokens, depth) ??
    parseBrackets(tokens, depth) ??
    words(tokens) ??
    parseRatio(tokens) ??
    parseBased(tokens) ??
    parseQuantity(tokens)
  );
}

const isSeparator = (token: Token): boolean => token.kind === 'sep';

/** Items of a bare list; groups between semicolons are tuples where commas stand within them. */
function parseList(tokens: readonly Token[], depth: number): Value | null {
  const { parts, marks } = splitTop(tokens, isSeparator);
  if (marks.length === 0) return null;
  const grouped = marks.some((m) => m.text === ';') && marks.some((m) => m.text === ',');
  if (grouped) return groupedList(tokens, depth);
  return listOf(items(parts, depth), marks);
}

function groupedList(tokens: readonly Token[], depth: number): Value {
  const { parts, marks } = splitTop(tokens, (token) => token.kind === 'sep' && token.text !== ',');
  const groups = parts
    .filter((part) => part.length > 0)
    .map((part): Value => {
      const value = parseValue(part, depth + 1);
      return value.kind === 'list' ? { kind: 'tuple', items: value.items } : value;
    });
  return listOf(groups, marks);
}

function listOf(values: readonly Value[], marks: readonly Token[]): Value {
  const joint = marks.find((m) => m.text === 'and' || m.text === 'or')?.text;
  const [first] = values;
  if (values.length === 1 && first !== undefined) return first;
  return {
    kind: 'list',
    items: flat(values),
    joint: joint === 'and' || joint === 'or' ? joint : ',',
  } satisfies List;
}

const items = (parts: readonly (readonly Token[])[], depth: number): readonly Value[] => {
  const filled = parts.filter((part) => part.length > 0);
  if (filled.length > limits.arguments) notMath('too many items');
  return filled.map((part) => parseValue(part, depth + 1));
};

/** A list among items, as ± makes it, is its items. */
const flat = (values: readonly Value[]): readonly Value[] =>
  values.flatMap((value) => (value.kind === 'list' ? value.items : [value]));

/** `x \in S` is S. */
function parseMember(tokens: readonly Token[], depth: number): Value | null {
  const { parts, marks } = splitTop(tokens, (token) => isOp(token, 'in'));
  const [left, right] = parts;
  if (marks.length !== 1 || left === undefined || right === undefined) return null;
  return parseValue(right, depth + 1);
}

function parseUnion(tokens: readonly Token[], depth: number): Value | null {
  const { parts, marks } = splitTop(tokens, (token) => isOp(token, 'cup'));
  return marks.length === 0 ? null : { kind: 'union', parts: items(parts, depth) };
}

/** Both signs of ±, all of them at once where ∓ stands too, else each on its own. */
function parsePlusMinus(tokens: readonly Token[], depth: number): Value | null {
  const places = tokens.flatMap((token, i) => (isOp(token, '±', '∓') ? [i] : []));
  if (places.length === 0) return null;
  if (tokens[0]?.text === '{s' && isEnclosed(tokens)) return null;
  if (places.length > 4) notMath('too many double signs');
  const linked = tokens.some((token) => isOp(token, '∓'));
  const choices = linked ? [0, 2 ** places.length - 1] : [...Array(2 ** places.length).keys()];
  const values = choices.map((choice) => {
    const signed = tokens.map((token, i): Token => {
      const place = places.indexOf(i);
      if (place < 0) return token;
      const negative = (choice >> place) % 2 === 1;
      return { ...token, text: negative === (token.text === '±') ? '-' : '+' };
    });
    return parseValue(signed, depth + 1);
  });
  return { kind: 'list', items: values, joint: 'or' };
}

function parseBrackets(tokens: readonly Token[], depth: number): Value | null {
  if (!isEnclosed(tokens)) return null;
  const [open = '', close = ''] = [tokens[0]?.text, tokens.at(-1)?.text];
  const inner = tokens.slice(1, -1);
  if (open + close === '{s}s') return parseSet(inner, depth);
  if (open + close === '{}') return parseValue(inner, depth + 1);
  const { parts } = splitTop(inner, isSeparator);
  const values = parts.length > 1 ? items(parts, depth) : [];
  if (open + close === '<()>') return { kind: 'tuple', items: values };
  if (!/^[([][)\]]$/.test(open + close)) return null;
  if (values.length >= 2) return intervalOrTuple(values, open, close);
  return open + close === '()' ? parseValue(inner, depth + 1) : null;
}

const intervalOrTuple = (values: readonly Value[], open: string, close: string): Value =>
  parseInterval(values, open === '[', close === ']') ?? { kind: 'tuple', items: values };

/** Two ends between brackets of which one is square; two between round ones are a pair. */
function parseInterval(values: readonly Value[], lowClosed: boolean, highClosed: boolean): Interval | null {
  const [low, high] = values;
  if (!lowClosed && !highClosed) return null;
  if (values.length !== 2 || low?.kind !== 'quantity' || high?.kind !== 'quantity')
    return lowClosed && highClosed ? null : notMath('an interval has two ends');
  return { kind: 'interval', low: low.expr, high: high.expr, lowClosed, highClosed };
}

function parseSet(inner: readonly Token[], depth: number): Value {
  if (inner.length === 0) return { kind: 'set', items: [] };
  const { parts, marks } = splitTop(inner, (token) => isOp(token, '|', ':'));
  const condition = parts[1];
  if (marks.length === 1 && condition !== undefined) return parseValue(condition, depth + 1);
  return { kind: 'set', items: flat(items(splitTop(inner, isSeparator).parts, depth)) };
}

/** Words and nothing else; a number word among them isn't read. */
export function words(tokens: readonly Token[]): Value | null {
  const bare = tokens.filter((token) => !(token.text === '(' || token.text === ')' || token.text === '.'));
  const some = bare.some((token) => token.kind === 'text' || token.kind === 'word');
  if (!some || !bare.every((token) => token.kind === 'text' || token.kind === 'word' || token.kind === 'sym'))
    return null;
  return { kind: 'text', text: foldText(bare.map((token) => token.text).join(' ')) };
}

/** A text without case, blanks, brackets and punctuation. */
export const foldText = (text: string): string => text.toLowerCase().replaceAll(/[\s(){}\\.,;:!?"'`*]+/g, '');

function parseRatio(tokens: readonly Token[]): Value | null {
  const { parts, marks } = splitTop(tokens, (token) => isOp(token, ':'));
  if (marks.length === 0) return null;
  const exprs = parts.map((part) => parseExpr(part));
  return { kind: 'ratio', parts: exprs, text: exprs.map(exprText).join(':') };
}

const BASES: Readonly<Record<string, number>> = {
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  sixteen: 16,
};

/** `52_8`, `52_{\text{eight}}`, `52 (base 8)`. */
function parseBased(tokens: readonly Token[]): Value | null {
  const mark = tokens.findIndex(
    (token) =>
      isOp(token, '_') ||
      (token.kind === 'word' && token.text === 'base') ||
      (token.kind === 'text' && /^\(?base\b/.test(token.text)),
  );
  if (mark < 1 || tokens[0]?.kind !== 'num') return null;
  const head = tokens.slice(0, tokens[mark - 1]?.text === '(' ? mark - 1 : mark);
  const digits = subscriptText(head);
  const name = subscriptText(
    tokens.slice(isOp(tokens[mark], '_') || tokens[mark]?.kind === 'word' ? mark + 1 : mark),
  );
  const word = name.toLowerCase().replaceAll(/[{}()\s]|base/g, '');
  const base = BASES[word] ?? (/^[0-9]{1,2}$/.test(word) ? Number(word) : 0);
  if (base < 2 || base > 36 || !/^[0-9A-Z.]+$/i.test(digits)) return null;
  return isIn(digits, base)
    ? { kind: 'based', digits: digits.toUpperCase(), base }
    : notMath(`no digits of base ${base}`);
}

const isIn = (digits: string, base: number): boolean =>
  [...digits.replace('.', '')].every((digit) => Number.parseInt(digit, 36) < base);

/** A single expression that is all of `tokens`. */
export const exprOf = (tokens: readonly Token[]): Expr => parseQuantity(tokens).expr;
