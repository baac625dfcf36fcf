/** A number literal without grouping marks: `1234`, `0.5`, `1.5e-3`, `0.1(6)` for repeating digits. */
export interface Digits {
  readonly text: string;
  readonly end: number;
}

const GROUPED = [',', ' ', '\\,', '{,}', ',\\!', ',\\! ', "'", '\u2009'] as const;
/** Marks that group even between brackets, where a comma or blank separates. */
const SURE: ReadonlySet<string> = new Set(['{,}', ',\\!', ',\\! ']);

/**
 * Reads the literal that begins at `at`.
 * @param loose whether a comma or a blank may group thousands, as it may not between brackets of a list
 */
export function readDigits(text: string, at: number, loose: boolean): Digits {
  const first = run(text, at);
  const whole = groups(text, at, first, loose) ?? { text: text.slice(at, first), end: first };
  return exponent(text, fraction(text, whole));
}

const isDigit = (char: string) => char >= '0' && char <= '9' && char.length === 1;

function run(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charAt(end))) end += 1;
  return end;
}

const isGroup = (text: string, at: number) => run(text, at) === at + 3;

function groups(text: string, at: number, first: number, loose: boolean): Digits | null {
  if (first - at > 3 || first === at || text.charAt(at) === '0') return null;
  const mark = GROUPED.find(
    (m) => (loose || SURE.has(m)) && text.startsWith(m, first) && isGroup(text, first + m.length),
  );
  if (mark === undefined) return null;
  const parts = [text.slice(at, first)];
  let end = first;
  while (text.startsWith(mark, end) && isGroup(text, end + mark.length)) {
    end += mark.length + 3;
    parts.push(text.slice(end - 3, end));
  }
  const blank = mark.trim() === '' || mark === '\\,';
  const broken = blank && (text.charAt(end) === '/' || /^ ?\d/.test(text.slice(end, end + 2)));
  return broken ? null : { text: parts.join(''), end };
}

function fraction(text: string, whole: Digits): Digits {
  const mark = text.charAt(whole.end) === '.' ? 1 : text.startsWith('{,}', whole.end) ? 3 : 0;
  const start = whole.end + mark;
  if (mark === 0) return whole;
  const end = run(text, start);
  const digits = text.slice(start, end);
  const repeating = /^\\overline ?\{(?<digits>[0-9]{1,40})\}/.exec(text.slice(end, end + 60));
  if (mark === 1 && repeating?.groups !== undefined)
    return {
      text: `${whole.text || '0'}.${digits}(${repeating.groups['digits']})`,
      end: end + repeating[0].length,
    };
  return end === start ? whole : { text: `${whole.text || '0'}.${digits}`, end };
}

/** `e5` behind a number, with no letter or power behind it. */
function exponent(text: string, number: Digits): Digits {
  const match = /^[eE](?<exponent>[+-]?[0-9]{1,6})(?![0-9A-Za-z^.])/.exec(
    text.slice(number.end, number.end + 12),
  );
  const value = match?.groups?.['exponent'];
  if (match === null || value === undefined || number.text.includes('(')) return number;
  return { text: `${number.text}e${value.replace('+', '')}`, end: number.end + match[0].length };
}
