import { applyFunction, inverseOf } from './apply-function.js';
import { degrees, takeDegree } from './degree-mark.js';
import { call, type Expr, exprText, integer, minus, power, product, quotient, sum, symbol } from './expr.js';
import { limits, notMath } from './limits.js';
import { numberOf } from './numbers.js';
import { letterName, subscript } from './parse-names.js';
import { count, deeper, expect, isOp, type Parser, peek, startsFactor, take } from './parser-state.js';
import type { Token } from './tokens.js';

/** What an expression says, all of the tokens used. Throws `NotMath` otherwise, and beyond the limits. */
export function parseExpr(tokens: readonly Token[]): Expr {
  const parser: Parser = { tokens: [...tokens], at: 0, nodes: 0, depth: 0, bars: 0, angles: 0 };
  const expr = parseSum(parser);
  if (parser.at < parser.tokens.length) notMath('something stands behind the expression');
  return expr;
}

function parseSum(p: Parser): Expr {
  return deeper(p, () => {
    const terms = [parseTerm(p)];
    for (let token = peek(p); isOp(token, '+', '-'); token = peek(p)) {
      p.at += 1;
      const term = parseTerm(p);
      terms.push(token?.text === '-' ? minus(term) : term);
      count(p);
    }
    return sum(...terms);
  });
}

function parseTerm(p: Parser): Expr {
  let result = parseUnary(p);
  for (;;) {
    const token = peek(p);
    count(p);
    if (isOp(token, '*')) {
      p.at += 1;
      result = times(result, parseUnary(p));
    } else if (isOp(token, '/')) {
      p.at += 1;
      result = quotient(result, parseUnary(p));
    } else if (startsFactor(p, token)) result = times(result, parsePower(p));
    else return result;
  }
}

const times = (a: Expr, b: Expr): Expr => (a.kind === 'product' ? product(...a.factors, b) : product(a, b));

function parseUnary(p: Parser): Expr {
  let negative = false;
  for (let token = peek(p); isOp(token, '+', '-'); token = peek(p)) {
    if (token?.text === '-') negative = !negative;
    p.at += 1;
  }
  const value = parsePower(p);
  return negative ? minus(value) : value;
}

function parsePower(p: Parser): Expr {
  const base = parsePostfix(p);
  return raise(p, base);
}

/** `base` with what stands at `^` as its exponent, and with marks behind that. */
function raise(p: Parser, base: Expr): Expr {
  if (!isOp(peek(p), '^')) return base;
  p.at += 1;
  if (takeDegree(p)) return postfix(p, degrees(p, base));
  return postfix(p, power(base, parseExponent(p)));
}

function parseExponent(p: Parser): Expr {
  return deeper(p, () => {
    const negative = take(p, 'op', '-');
    if (!negative) take(p, 'op', '+');
    const exponent = raise(p, parsePostfix(p));
    return negative ? minus(exponent) : exponent;
  });
}

function parsePostfix(p: Parser): Expr {
  return postfix(p, parseAtom(p));
}

function postfix(p: Parser, start: Expr): Expr {
  let value = start;
  for (;;) {
    if (take(p, 'op', '!')) value = call('factorial', value);
    else if (take(p, 'op', '%')) value = quotient(value, integer(100));
    else if (take(p, 'op', 'deg')) value = degrees(p, value);
    else return value;
    count(p);
  }
}

function parseAtom(p: Parser): Expr {
  count(p);
  const token = peek(p) ?? notMath('the expression ends early');
  p.at += 1;
  switch (token.kind) {
    case 'num':
      return parseNumber(p, token);
    case 'sym':
      return parseSymbol(p, token.text);
    case 'text':
      return symbol(`text ${token.text.toLowerCase()}`);
    case 'fn':
      return parseFunction(p, token.text);
    case 'cmd':
      return parseCommand(p, token.text);
    case 'open':
      return parseGroup(p, token.text);
    default:
      return isOp(token, '|') ? parseBars(p) : notMath(`${token.text} is no expression`);
  }
}

const CLOSERS: Readonly<Record<string, string>> = {
  '(': ')',
  '[': ']',
  '{': '}',
  '_(': ')_',
  '^(': ')^',
};

function parseGroup(p: Parser, open: string): Expr {
  const bars = p.bars;
  p.bars = 0;
  const inner = parseSum(p);
  p.bars = bars;
  expect(p, 'close', CLOSERS[open] ?? notMath(`${open} opens no expression`));
  if (open === '_(') return call('floor', inner);
  return open === '^(' ? call('ceil', inner) : inner;
}

function parseBars(p: Parser): Expr {
  p.bars += 1;
  const inner = parseSum(p);
  p.bars -= 1;
  expect(p, 'op', '|');
  return call('abs', inner);
}

/** A number; a whole one with a fraction of numbers behind it is a mixed number, one with a subscript a name. */
function parseNumber(p: Parser, token: Token): Expr {
  if (isOp(peek(p), '_')) return symbol(`${token.text}_${subscript(p)}`);
  const value = numberOf(token.text);
  if (!/^[0-9]+$/.test(token.text)) return value;
  const part = mixedPart(p, token);
  return part === null ? value : sum(value, part);
}

/** The fraction of a mixed number: `\frac{1}{2}` or, behind a blank, `1/2`. */
function mixedPart(p: Parser, whole: Token): Expr | null {
  const before = p.tokens[p.at - 2];
  if (isOp(before, '/', '^', '_')) return null;
  const [first, second, third] = p.tokens.slice(p.at, p.at + 3);
  if (first?.kind === 'cmd' && first.text === 'frac') return numericFraction(p);
  const slash = first?.kind === 'num' && first.gap && isOp(second, '/') && third?.kind === 'num';
  if (!slash || !/^[0-9]+$/.test(`${first.text}${third.text}${whole.text}`)) return null;
  if (BigInt(first.text) >= BigInt(third.text)) return null;
  p.at += 3;
  return quotient(numberOf(first.text), numberOf(third.text));
}

function numericFraction(p: Parser): Expr | null {
  const start = p.at;
  const saved = [...p.tokens.slice(start, start + 8)];
  p.at += 1;
  const [top, bottom] = [parseArgument(p), parseArgument(p)];
  const proper = top.kind === 'number' && bottom.kind === 'number' && !isOp(peek(p), '^', '!');
  if (proper && top.value.num >= 0n && top.value.den === 1n && bottom.value.den === 1n)
    return quotient(top, bottom);
  p.at = start;
  p.tokens.splice(start, saved.length, ...saved);
  return null;
}

/** An argument of a command: a group, or one character, so that a longer number gives up its first digit only. */
function parseArgument(p: Parser): Expr {
  const token = peek(p) ?? notMath('an argument is missing');
  if (token.kind !== 'num' || token.text.length === 1) return deeper(p, () => parseAtom(p));
  if (!/^[0-9]+$/.test(token.text)) {
    p.at += 1;
    return numberOf(token.text);
  }
  p.tokens[p.at] = { ...token, text: token.text.slice(1), gap: false };
  return numberOf(token.text.charAt(0));
}

const FUNCTION_LETTERS: ReadonlySet<string> = new Set(['f', 'g', 'h', 'F', 'G', 'P']);

function parseSymbol(p: Parser, letter: string): Expr {
  let name = letter;
  if (isOp(peek(p), '_')) name += `_${subscript(p)}`;
  while (take(p, 'op', "'")) name += "'";
  const next = peek(p);
  const applied = next?.kind === 'open' && next.text === '(' && !next.gap;
  if (!applied || !FUNCTION_LETTERS.has(letter)) return symbol(name);
  p.at += 1;
  const args = parseArguments(p);
  return symbol(`${name}(${args.map(exprText).join()})`);
}

function parseArguments(p: Parser): readonly Expr[] {
  const args = [parseSum(p)];
  while (take(p, 'sep', ',')) args.push(parseSum(p));
  if (args.length > limits.arguments) notMath('too many arguments');
  expect(p, 'close', ')');
  return args;
}

function parseFunction(p: Parser, name: string): Expr {
  const base = isOp(peek(p), '_') ? parseBase(p) : null;
  const exponent = take(p, 'op', '^') ? parseExponent(p) : null;
  const inverse = exponent?.kind === 'number' && exponent.value.num === -1n && exponent.value.den === 1n;
  const applied = applyFunction(inverse ? inverseOf(name) : name, base, functionArguments(p));
  return exponent === null || inverse ? applied : power(applied, exponent);
}

function parseBase(p: Parser): Expr {
  p.at += 1;
  return parseArgument(p);
}

function functionArguments(p: Parser): readonly Expr[] {
  p.angles += 1;
  const next = peek(p);
  const args =
    next?.kind === 'open' && next.text === '('
      ? (() => {
          p.at += 1;
          return parseArguments(p);
        })()
      : [deeper(p, () => looseArgument(p))];
  p.angles -= 1;
  return args;
}

/** The argument of a function without brackets: factors up to the next sign or function. */
function looseArgument(p: Parser): Expr {
  let result = parseUnary(p);
  for (;;) {
    const token = peek(p);
    count(p);
    if (token?.kind === 'fn' || isOp(token, '|')) return result;
    if (isOp(token, '/') && !token?.gap) {
      p.at += 1;
      result = quotient(result, parsePower(p));
    } else if (startsFactor(p, token) && token?.text !== '(') result = times(result, parsePower(p));
    else return result;
  }
}

function parseCommand(p: Parser, name: string): Expr {
  switch (name) {
    case 'frac':
      return deeper(p, () => quotient(parseArgument(p), parseArgument(p)));
    case 'binom':
      return parseBinomial(p);
    case 'sqrt':
      return parseRoot(p);
    case 'plain sqrt':
      return call('sqrt', parseAtom(p));
    case 'cbrt':
      return call('root', parseAtom(p), integer(3));
    case 'overline':
      return symbol(`overline ${exprText(parseArgument(p))}`);
    case 'angle':
    case 'triangle':
      return symbol(`${name} ${letterName(p, name)}`);
    default:
      return notMath(`\\${name} is not known`);
  }
}

function parseBinomial(p: Parser): Expr {
  if (!take(p, 'open', '(')) return call('binom', parseArgument(p), parseArgument(p));
  return call('binom', ...parseArguments(p));
}

function parseRoot(p: Parser): Expr {
  let index: Expr | null = null;
  if (take(p, 'open', '[')) {
    index = parseSum(p);
    expect(p, 'close', ']');
  }
  const token = peek(p);
  const whole = token?.kind === 'num' && token.text.includes('.');
  const radicand = whole ? parseAtom(p) : parseArgument(p);
  return index === null ? call('sqrt', radicand) : call('root', radicand, index);
}
