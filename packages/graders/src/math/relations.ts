import { constants, type Expr } from './expr.js';
import { attempt } from './limits.js';
import { parseExpr } from './parse-expr.js';
import { parseQuantity } from './quantity.js';
import { sameExpr } from './same-expr.js';
import { isOp, splitTop } from './split.js';
import type { Token } from './tokens.js';
import type { Operator, Value } from './value.js';

const ORDERS = ['<', '>', '<=', '>=', '!='] as const;

/** Assignments, equations, relations and approximations; null where no such sign stands. */
export function parseRelation(
  tokens: readonly Token[],
  parse: (tokens: readonly Token[]) => Value,
): Value | null {
  const { parts, marks } = splitTop(tokens, (token) => isOp(token, '=', '≈', ...ORDERS));
  if (marks.length === 0) return null;
  if (marks.every((mark) => mark.text === '=')) return parseEquals(parts, parse);
  const near = marks.findIndex((mark) => mark.text === '≈');
  if (near >= 0) return parseNear(tokens, parts, near, parse);
  if (marks.some((mark) => mark.text === '=')) return null;
  const operators = marks.flatMap((mark) => ORDERS.filter((order): order is Operator => order === mark.text));
  return { kind: 'relation', members: parts.map((part) => parseQuantity(part).expr), operators };
}

/** `x ≈ 3.2` assigns; of `\sqrt{2} ≈ 1.41` the exact side counts. */
function parseNear(
  tokens: readonly Token[],
  parts: readonly (readonly Token[])[],
  near: number,
  parse: (tokens: readonly Token[]) => Value,
): Value | null {
  const left = parts[near];
  const right = parts[near + 1];
  if (left === undefined || right === undefined) return null;
  if (near === 0 && headOf(left) !== null) return parseEquals([left, right], parse);
  const length = parts.slice(0, near + 1).reduce((n, part) => n + part.length, near);
  return parse(tokens.slice(0, length));
}

type Parts = readonly (readonly Token[])[];

function parseEquals(parts: Parts, parse: (tokens: readonly Token[]) => Value): Value {
  const [first = [], second = []] = parts;
  const last = parts.at(-1) ?? [];
  const head = headOf(first);
  if (head !== null && parts.length === 2 && headOf(last) !== null) {
    const [left, right] = [attempt(() => parseExpr(first)), attempt(() => parseExpr(last))];
    if (left !== null && right !== null) return assignment(head, left, parse(last));
  }
  if (head !== null)
    return assignment(
      head,
      attempt(() => parseExpr(first)),
      parse(last),
    );
  const tail = headOf(last);
  if (tail !== null && parts.length === 2)
    return assignment(
      tail,
      attempt(() => parseExpr(last)),
      parse(first),
    );
  if (parts.length > 2) return parseChain(parts, parse);
  const equal = parseTrueEquality(parts, parse);
  if (equal !== null) return equal;
  return { kind: 'equation', left: parseQuantity(first).expr, right: parseQuantity(second).expr };
}

const assignment = (head: string, left: Expr | null, value: Value): Value => ({
  kind: 'assignment',
  head,
  left,
  value,
});

/** A chain without a name at its head stands for its last member, if all members are the same. */
function parseChain(parts: Parts, parse: (tokens: readonly Token[]) => Value): Value {
  return parseTrueEquality(parts, parse) ?? { kind: 'raw' };
}

/** Members that are all the same value, such as `6/8 = 3/4`, are that value. */
function parseTrueEquality(parts: Parts, parse: (tokens: readonly Token[]) => Value): Value | null {
  const last = parts.at(-1) ?? [];
  const exprs = parts.map((part) => attempt(() => parseQuantity(part).expr));
  const right = exprs.at(-1);
  if (right == null) return null;
  const same = exprs.every((x) => x !== null && sameExpr(x, right, { kind: 'exact' }) !== null);
  return same ? parse(last) : null;
}

/** The name that stands before an equals sign, or null when something else does. */
export function headOf(tokens: readonly Token[]): string | null {
  if (tokens.length === 0 || tokens.length > 40) return null;
  if (tokens.every((token) => token.kind === 'text' || token.kind === 'word'))
    return tokens.map((token) => token.text.toLowerCase()).join(' ');
  const text = tokens.map((token) => token.text).join('');
  const names = tokens.filter((token) => token.kind === 'sym');
  if (names.length === 0 || names.some((token) => constants.has(token.text) && token.text !== 'e'))
    return null;
  return isName(tokens, text) ? text : null;
}

const NAME =
  /^(?:[A-Za-z]+(?:_(?:[A-Za-z0-9]|\{[A-Za-z0-9,+-]*\}))?'*(?:\([^()=]{1,20}\))?|[A-Z]{2,4}|\|[A-Z]{1,2}\||\([a-z](?:_\{?[0-9a-z]\}?)?(?:,[a-z](?:_\{?[0-9a-z]\}?)?)+\)|(?:angle|triangle|overline)\{?[A-Z]{1,4}\}?|m?angle[A-Z]{1,4}|[a-zA-Z]\/[a-zA-Z]|frac\{[a-zA-Z]{1,2}\}\{[a-zA-Z]{1,2}\})$/;

function isName(tokens: readonly Token[], text: string): boolean {
  if (!NAME.test(text)) return false;
  const letters = tokens.filter((token) => token.kind === 'sym').map((token) => token.text);
  const leading = tokens.findIndex((token) => token.kind !== 'sym');
  const run = leading < 0 ? tokens.length : leading;
  const product = run > 1 && !letters.slice(0, run).every((letter) => /^[A-Z]$/.test(letter));
  return !product;
}
