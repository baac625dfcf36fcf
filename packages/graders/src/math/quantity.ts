import { type Expr, integer, product } from './expr.js';
import { notMath } from './limits.js';
import { gcd } from './numbers.js';
import { parseExpr } from './parse-expr.js';
import { isOp } from './split.js';
import type { Token } from './tokens.js';
import { currencyUnit, readUnit, type Unit } from './units.js';
import type { Quantity } from './value.js';

interface Stripped {
  readonly tokens: readonly Token[];
  readonly percent: boolean;
  readonly degrees: boolean;
  readonly units: readonly Unit[];
}

/** An expression with its percent sign, degree mark and unit. Throws `NotMath` where it is none. */
export function parseQuantity(tokens: readonly Token[]): Quantity {
  const stripped = strip(tokens);
  if (stripped.tokens.length === 0) notMath('nothing but a unit');
  const parsed = parseExpr(stripped.tokens);
  const { expr, marked } = withoutMarks(parsed);
  return {
    kind: 'quantity',
    expr,
    percent: stripped.percent,
    degrees: stripped.degrees || marked,
    units: stripped.units,
    unreduced: isUnreduced(expr),
  };
}

const PERCENT = /^(?:percent|pct|percents|per cent|percentage points?)$/i;
const DEGREE = /^(?:degrees?|deg)$/i;

function strip(tokens: readonly Token[]): Stripped {
  let rest = tokens;
  let [percent, degrees] = [false, false];
  const units: Unit[] = [];
  for (let next = stripEnd(rest); next !== null; next = stripEnd(rest)) {
    rest = next.tokens;
    if (next.unit === 'percent') percent = true;
    else if (next.unit === 'degrees') degrees = true;
    else units.unshift(next.unit);
  }
  const bare = stripCurrency(rest, units);
  return { tokens: bare, percent, degrees, units };
}

interface End {
  readonly tokens: readonly Token[];
  readonly unit: Unit | 'percent' | 'degrees';
}

/** A percent sign, degree mark or unit at the end; null when an expression ends there. */
function stripEnd(tokens: readonly Token[]): End | null {
  const last = tokens.at(-1);
  if (last === undefined || tokens.length < 2) return null;
  if (isOp(last, '%')) return { tokens: tokens.slice(0, -1), unit: 'percent' };
  if (isOp(last, 'deg'))
    return { tokens: tokens.slice(0, isOp(tokens.at(-2), '^') ? -2 : -1), unit: 'degrees' };
  const braced = tokens.slice(-4);
  if (isOp(braced[0], '^') && braced[1]?.text === '{' && isOp(braced[2], 'deg') && braced[3]?.text === '}')
    return { tokens: tokens.slice(0, -4), unit: 'degrees' };
  return last.kind === 'currency'
    ? { tokens: tokens.slice(0, -1), unit: currencyUnit(last.text) }
    : stripWords(tokens);
}

const isUnitToken = (token: Token | undefined): boolean => token?.kind === 'text' || token?.kind === 'word';

/** Words at the end, with a power: `square cm`, `\text{cm}^2`, `miles per hour`, `\text{m}/\text{s}`. */
function stripWords(tokens: readonly Token[]): End | null {
  const raised = unitPower(tokens);
  let start = tokens.length - raised.length;
  if (!isUnitToken(tokens[start - 1])) return null;
  while (start > 1 && (isUnitToken(tokens[start - 1]) || isRate(tokens, start - 1))) start -= 1;
  if (isOp(tokens[start - 1], '*', '/', '^', '_', '-', '+') || start === 0) return null;
  const name = tokens
    .slice(start, tokens.length - raised.length)
    .map((token) => token.text)
    .join(' ');
  if (PERCENT.test(name)) return { tokens: tokens.slice(0, start), unit: 'percent' };
  if (DEGREE.test(name)) return { tokens: tokens.slice(0, start), unit: 'degrees' };
  return { tokens: tokens.slice(0, start), unit: readUnit(name, raised.power) };
}

const isRate = (tokens: readonly Token[], at: number): boolean =>
  isOp(tokens[at], '/') && isUnitToken(tokens[at - 1]) && isUnitToken(tokens[at + 1]);

function unitPower(tokens: readonly Token[]): { readonly power: number; readonly length: number } {
  const bare = tokens.slice(-2);
  if (isOp(bare[0], '^') && bare[1]?.kind === 'num') return { power: Number(bare[1].text), length: 2 };
  const braced = tokens.slice(-4);
  if (isOp(braced[0], '^') && braced[1]?.text === '{' && braced[2]?.kind === 'num' && braced[3]?.text === '}')
    return { power: Number(braced[2].text), length: 4 };
  return { power: 1, length: 0 };
}

/** Takes a currency sign from the front, behind a sign if there is one. */
function stripCurrency(tokens: readonly Token[], units: Unit[]): readonly Token[] {
  const at = isOp(tokens[0], '-', '+') ? 1 : 0;
  const sign = tokens[at];
  if (sign?.kind !== 'currency') return tokens;
  const next = units[0];
  const unit = currencyUnit(sign.text);
  if (next === undefined || next.dimension !== unit.dimension) units.unshift(unit);
  return tokens.toSpliced(at, 1);
}

/** Without degree marks, which outside of functions say only what is measured in. */
function withoutMarks(x: Expr): { readonly expr: Expr; readonly marked: boolean } {
  switch (x.kind) {
    case 'call': {
      const inner = x.args[0];
      return x.name === 'degrees' && inner !== undefined
        ? { expr: withoutMarks(inner).expr, marked: true }
        : { expr: x, marked: false };
    }
    case 'sum':
    case 'product': {
      const parts = (x.kind === 'sum' ? x.terms : x.factors).map(withoutMarks);
      const exprs = parts.map((part) => part.expr);
      const expr: Expr =
        x.kind === 'sum' ? { kind: 'sum', terms: exprs } : { kind: 'product', factors: exprs };
      return { expr, marked: parts.some((part) => part.marked) };
    }
    default:
      return { expr: x, marked: false };
  }
}

function isUnreduced(x: Expr): boolean {
  if (x.kind === 'product') return x.factors.some(isUnreduced);
  if (x.kind !== 'quotient' || x.top.kind !== 'number' || x.bottom.kind !== 'number') return false;
  const [top, bottom] = [x.top.value, x.bottom.value];
  return top.den === 1n && bottom.den === 1n && gcd(top.num, bottom.num) > 1n;
}

/** Letters behind a number and a blank read as a unit: `12 m`. Null where there are none. */
export function lettersAsUnit(q: Quantity): Quantity | null {
  if (q.units.length > 0 || q.expr.kind !== 'product') return null;
  const [value, name] = [q.expr.factors.slice(0, -1), q.expr.factors.at(-1)];
  const base = name?.kind === 'power' ? name.base : name;
  const exponent = name?.kind === 'power' ? name.exponent : integer(1);
  if (base?.kind !== 'symbol' || !/^[A-Za-z]$/.test(base.name)) return null;
  if (exponent.kind !== 'number' || exponent.value.den !== 1n) return null;
  return { ...q, expr: product(...value), units: [readUnit(base.name, Number(exponent.value.num))] };
}
