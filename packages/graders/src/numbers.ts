import { add, negate, type Rational, rational, scale } from './rational.js';

/** A number as it stands in a text. */
export interface NumberToken {
  readonly start: number;
  readonly end: number;
  /** Exact value, a percent sign not applied; null when it is beyond the limits. */
  readonly value: Rational | null;
  readonly percent: boolean;
}

const MAX_DIGITS = 256;
const MAX_EXPONENT = 10_000;
const VULGAR = new Map<string, readonly [bigint, bigint]>([
  ['½', [1n, 2n]],
  ['⅓', [1n, 3n]],
  ['⅔', [2n, 3n]],
  ['¼', [1n, 4n]],
  ['¾', [3n, 4n]],
  ['⅕', [1n, 5n]],
  ['⅖', [2n, 5n]],
  ['⅗', [3n, 5n]],
  ['⅘', [4n, 5n]],
  ['⅙', [1n, 6n]],
  ['⅚', [5n, 6n]],
  ['⅛', [1n, 8n]],
  ['⅜', [3n, 8n]],
  ['⅝', [5n, 8n]],
  ['⅞', [7n, 8n]],
]);
const START = /[0-9]|\.(?=[0-9])|\\[dtc]?frac|[½⅓⅔¼¾⅕-⅚⅛-⅞]/g;

/**
 * All numbers of a prepared text, in order: signs, thousands groups, decimal point or comma, exponents, fractions, mixed
 * numbers, percent; at most `most`. Currency is no part of a token, nor is a number inside a word, an exponent or a subscript. Linear.
 */
export function scanNumbers(text: string, most = Number.POSITIVE_INFINITY): NumberToken[] {
  const tokens: NumberToken[] = [];
  const pattern = new RegExp(START);
  for (let start = pattern.exec(text); start !== null && tokens.length < most; start = pattern.exec(text)) {
    const read = readMagnitude(text, start.index);
    if (read === null) continue;
    pattern.lastIndex = read.end;
    if (!isGlued(text, start.index) && text[read.end] !== '^')
      tokens.push(withContext(text, start.index, read));
  }
  return tokens;
}

/** The value of a text that is one number and nothing else but currency, percent and units; null otherwise. */
export function parseNumber(text: string): NumberToken | null {
  const [first, ...others] = scanNumbers(text);
  return first !== undefined && others.length === 0 ? first : null;
}

interface Read {
  readonly value: Rational | null;
  readonly end: number;
}

function readMagnitude(text: string, at: number): Read | null {
  const char = text.charAt(at);
  if (char === '\\' || VULGAR.has(char)) return readFraction(text, at);
  if (char === '.' && /[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return null;
  const decimal = readDecimal(text, at);
  return readExponent(text, decimal) ?? (decimal.plain ? readParts(text, at, decimal) : decimal);
}

/** `\frac{1}{2}`, `\frac12`, `½`. */
function readFraction(text: string, at: number): Read | null {
  const vulgar = VULGAR.get(text.charAt(at));
  if (vulgar !== undefined) return { value: rational(...vulgar), end: at + 1 };
  const match =
    /^\\[dtc]?frac(?: ?\{ ?(?<n>-?[0-9]{1,256}) ?\} ?\{ ?(?<d>-?[0-9]{1,256}) ?\}|(?<n1>[0-9])(?<d1>[0-9]))/.exec(
      text.slice(at, at + 540),
    );
  const [n, d] = [
    match?.groups?.['n'] ?? match?.groups?.['n1'],
    match?.groups?.['d'] ?? match?.groups?.['d1'],
  ];
  if (match === null || n === undefined || d === undefined || BigInt(d) === 0n) return null;
  return { value: rational(BigInt(n), BigInt(d)), end: at + match[0].length };
}

interface Decimal extends Read {
  /** Digits only: it may be the numerator of a fraction or the whole part of a mixed number. */
  readonly plain: boolean;
}

function readDecimal(text: string, at: number): Decimal {
  const whole = readWhole(text, at);
  const point = fractionStart(text, at, whole);
  const end = point === null ? whole.end : digitsEnd(text, point);
  const fraction = point === null ? '' : text.slice(point, end);
  const plain = point === null && !whole.grouped;
  if (whole.digits.length + fraction.length > MAX_DIGITS) return { value: null, end, plain: false };
  return {
    value: scale({ num: BigInt(`0${whole.digits}${fraction}`), den: 1n }, -fraction.length),
    end,
    plain,
  };
}

interface Whole {
  readonly digits: string;
  readonly end: number;
  readonly grouped: boolean;
}

/** Digits, with thousands groups of exactly three behind a first group of one to three without leading zero. */
function readWhole(text: string, at: number): Whole {
  const first = digitsEnd(text, at);
  const plain = { digits: text.slice(at, first), end: first, grouped: false };
  if (first - at > 3 || first === at || text[at] === '0') return plain;
  const separator = separatorAt(text, first);
  if (separator === null) return plain;
  const groups = [plain.digits];
  let end = first;
  while (text.startsWith(separator, end) && isGroup(text, end + separator.length)) {
    end += separator.length + 3;
    groups.push(text.slice(end - 3, end));
  }
  const european = separator !== '.' || (text[end] === ',' && isDigit(text, end + 1));
  return groups.length > 1 && european ? { digits: groups.join(''), end, grouped: true } : plain;
}

const SEPARATORS = ['{,}', ',\\!', '\\,', ',', ' ', "'", '’', '.'] as const;

const separatorAt = (text: string, at: number) =>
  SEPARATORS.find((s) => text.startsWith(s, at) && isGroup(text, at + s.length)) ?? null;

const isGroup = (text: string, at: number) => digitsEnd(text, at, at + 4) === at + 3;

/** Where the digits behind a decimal point or comma begin; null when there are none. */
function fractionStart(text: string, at: number, whole: Whole): number | null {
  const mark = text[whole.end];
  if (!isDigit(text, whole.end + 1)) return null;
  if (mark === '.') return whole.end + 1;
  return mark === ',' && isDecimalComma(text, at, whole) ? whole.end + 1 : null;
}

/** A single comma, not followed by three digits, unless only a zero stands before it. */
function isDecimalComma(text: string, at: number, whole: Whole): boolean {
  const end = digitsEnd(text, whole.end + 1);
  if (whole.grouped) return text[at + 1] === '.' || text[at + 2] === '.' || text[at + 3] === '.';
  const listed =
    (text[end] === ',' && isDigit(text, end + 1)) || (text[at - 1] === ',' && isDigit(text, at - 2));
  return !listed && (end - whole.end - 1 !== 3 || whole.digits === '0');
}

const EXPONENT =
  /^(?:[eE](?<e>[+-]?[0-9]{1,8})(?![0-9A-Za-z])| ?(?:×|x|\*|·|\\times|\\cdot) ?10 ?(?:\^ ?(?:\{ ?(?<braced>[+-]?[0-9]{1,8}) ?\}|(?<bare>[+-]?[0-9]{1,8})(?![0-9]))|(?<raised>[⁺⁻]?[⁰¹²³⁴-⁹]{1,8})))/;

/** `e5`, `× 10^{5}`, `×10⁵`. */
function readExponent(text: string, decimal: Decimal): Read | null {
  if (!/[eE ×x*·\\]/.test(text.charAt(decimal.end))) return null;
  const match = EXPONENT.exec(text.slice(decimal.end, decimal.end + 40));
  if (match === null) return null;
  const groups = match.groups ?? {};
  const raised = groups['raised']?.replaceAll(/./gu, (c) => '0123456789+-'.charAt('⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻'.indexOf(c)));
  const exponent = Number(groups['e'] ?? groups['braced'] ?? groups['bare'] ?? raised);
  const within = decimal.value !== null && Math.abs(exponent) <= MAX_EXPONENT;
  return { value: within ? scale(decimal.value, exponent) : null, end: decimal.end + match[0].length };
}

/** A fraction `3/4` or a mixed number `2 1/2`, `2½`, `2\frac{1}{2}` that begins with the whole number just read. */
function readParts(text: string, at: number, whole: Decimal): Read {
  const fraction = text[at - 1] === '/' ? null : readSlash(text, whole);
  if (fraction !== null) return fraction;
  const gap = text[whole.end] === ' ' ? 1 : 0;
  const next = whole.end + gap;
  const part = VULGAR.has(text.charAt(next)) || text[next] === '\\' ? readFraction(text, next) : null;
  const behind = part ?? (gap === 1 && isDigit(text, next) ? readProper(text, next) : null);
  if (behind?.value == null || whole.value === null) return whole;
  return { value: add(whole.value, behind.value), end: behind.end };
}

function readSlash(text: string, numerator: Decimal): Read | null {
  const slash = text[numerator.end];
  if ((slash !== '/' && slash !== '⁄') || !isDigit(text, numerator.end + 1) || numerator.value === null)
    return null;
  const end = digitsEnd(text, numerator.end + 1);
  const digits = text.slice(numerator.end + 1, end);
  if (digits.length > MAX_DIGITS || /^0*$/.test(digits) || /^[/.][0-9]/.test(text.slice(end, end + 2)))
    return null;
  return { value: rational(numerator.value.num, BigInt(digits)), end };
}

function readProper(text: string, at: number): Read | null {
  const end = digitsEnd(text, at, at + MAX_DIGITS);
  const numerator = { value: rational(BigInt(text.slice(at, end)), 1n), end, plain: true };
  const fraction = readSlash(text, numerator);
  return fraction?.value != null && fraction.value.num < fraction.value.den ? fraction : null;
}

const CODES = /^(?:USD|EUR|GBP|INR|CAD|AUD|NZD|CHF|JPY|CNY|RMB|US|RM|Rs|HK)$/i;

/** Whether what starts at `at` is the tail of a word, an exponent or a subscript. */
function isGlued(text: string, at: number): boolean {
  if (/[\s0-9$(=.,]/.test(text.charAt(at - 1))) return false;
  const before = text.slice(Math.max(0, at - 16), at);
  if (/[\^]\{?-?$/.test(before) || /[\p{L}\p{N})}]_{1,2}\{?$/u.test(before)) return true;
  const word = /(?<command>\\?)(?<letters>[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]+)$/u.exec(
    before,
  );
  return word !== null && word.groups?.['command'] === '' && !CODES.test(word.groups?.['letters'] ?? '');
}

const PERCENT = /^(?<closed>[}$]{0,2}) ?(?:\\?%|(?:percent|per cent|percentage points?|pct)\b)/i;

function withContext(text: string, at: number, read: Read): NumberToken {
  const sign = readSign(text, at);
  const percent = PERCENT.exec(text.slice(read.end, read.end + 24));
  const inside = percent !== null && percent.groups?.['closed'] === '';
  const value = sign.negative && read.value !== null ? negate(read.value) : read.value;
  return {
    start: sign.start,
    end: inside ? read.end + percent[0].length : read.end,
    value,
    percent: percent !== null,
  };
}

/** The sign of the number at `at`: adjacent or before its currency sign, and no operator between two operands. */
function readSign(text: string, at: number): { readonly start: number; readonly negative: boolean } {
  if (!/[-+$€£¥₹ ]/.test(text.charAt(at - 1))) return { start: at, negative: false };
  const before = text.slice(Math.max(0, at - 24), at);
  const sign = /(?<sign>[-+])(?:\\?[$€£¥₹])?$/.exec(before);
  if (sign !== null) {
    const left = before.slice(0, sign.index);
    const binary = /[\p{L}\p{N})\]}%°]$/u.test(left) || /[0-9)\]}%] +$/.test(left);
    if (!binary) return { start: at - (before.length - sign.index), negative: sign.groups?.['sign'] === '-' };
  }
  const word = /(?<![0-9] ?)\b(?:minus|negative) (?:\\?[$€£¥₹])?$/i.exec(before);
  return word === null
    ? { start: at, negative: false }
    : { start: at - (before.length - word.index), negative: true };
}

const isDigit = (text: string, at: number) => {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
};

function digitsEnd(text: string, at: number, limit = text.length): number {
  let end = at;
  while (end < limit && isDigit(text, end)) end += 1;
  return end;
}
