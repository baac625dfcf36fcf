const INTEGER =
  /^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|[1-9](?:_?\d)*|0(?:_?0)*)(?![\w.])/;
const FLOAT = /^(?:(?:\d(?:_?\d)*)?\.\d(?:_?\d)*|\d(?:_?\d)*\.?)(?:[eE][+-]?\d(?:_?\d)*)?(?=[jJ]?(?!\w))/;
const SIGN = /^(?:\s*[-+])*\s*/;
const MAX_DIGITS = 5000;

/** How far a number was read and what it is, written so that equal values are written alike. */
export interface ReadNumber {
  readonly canonical: string;
  readonly length: number;
}

/**
 * Reads a Python number with its signs from the start of a text: an integer of any size, a float, a complex as `a+bj`. Null
 * when none stands there.
 */
export function canonicalNumber(text: string): ReadNumber | null {
  const first = part(text);
  if (first === null) return null;
  if (first.imaginary) return { canonical: complex('0', first.value), length: first.length };
  const rest = text.slice(first.length);
  const second = /^\s*[-+]/.test(rest) ? part(rest) : null;
  if (second?.imaginary !== true) return { canonical: first.value, length: first.length };
  return { canonical: complex(first.value, second.value), length: first.length + second.length };
}

const complex = (re: string, im: string) => (im === '0' ? re : `complex ${re} ${im}`);

interface Part {
  readonly value: string;
  readonly imaginary: boolean;
  readonly length: number;
}

function part(text: string): Part | null {
  const signs = SIGN.exec(text)?.[0] ?? '';
  const negative = (signs.match(/-/g)?.length ?? 0) % 2 === 1;
  const body = text.slice(signs.length);
  const name = /^(?:inf|nan)(?=j?(?!\w))/.exec(body)?.[0];
  const integer = INTEGER.exec(body)?.[0];
  const float = name ?? (integer === undefined ? FLOAT.exec(body)?.[0] : undefined);
  const digits = integer ?? float;
  if (digits === undefined || digits.length > MAX_DIGITS) return null;
  const imaginary = integer === undefined && /^[jJ]/.test(body.slice(digits.length));
  const value = integer === undefined ? floatValue(digits) : BigInt(digits.replaceAll('_', '')).toString();
  const length = signs.length + digits.length + (imaginary ? 1 : 0);
  return { value: negative ? negated(value) : value, imaginary, length };
}

const negated = (value: string) => {
  if (value === '0' || value === 'nan') return value;
  return value.startsWith('-') ? value.slice(1) : `-${value}`;
};

/** A double exactly: an integer in full, anything else by its shortest form, which names one double. */
function floatValue(text: string): string {
  if (text === 'inf' || text === 'nan') return text;
  const value = Number(text.replaceAll('_', ''));
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  return Number.isInteger(value) ? BigInt(value).toString() : `${value}`;
}
