import { readDigits } from './digits.js';
import { limits, notMath } from './limits.js';
import { isUnitWord } from './units.js';
import {
  blankCommands,
  brackets,
  functionAliases,
  functionNames,
  greek,
  greekLetters,
  operators,
  styleCommands,
  symbolNames,
  textCommands,
  vulgar,
} from './words.js';

/** One piece of an answer. */
export interface Token {
  readonly kind:
    | 'num'
    | 'sym'
    | 'fn'
    | 'cmd'
    | 'op'
    | 'open'
    | 'close'
    | 'sep'
    | 'text'
    | 'word'
    | 'currency'
    | 'begin'
    | 'end';
  readonly text: string;
  /** A blank stands before it. */
  readonly gap: boolean;
}

interface Lexer {
  readonly text: string;
  at: number;
  gap: boolean;
  /** Open brackets in which a comma separates. */
  lists: number;
  digits: number;
  readonly tokens: Token[];
}

/** The tokens of a LaTeX or plain answer, style commands left out. Throws `NotMath` beyond the limits. Linear. */
export function tokenize(text: string): readonly Token[] {
  if (text.length > limits.candidate_chars) notMath('the answer is too long');
  const lexer: Lexer = { text, at: 0, gap: false, lists: 0, digits: 0, tokens: [] };
  while (lexer.at < text.length) step(lexer);
  return lexer.tokens;
}

function emit(lexer: Lexer, kind: Token['kind'], text: string): undefined {
  if (lexer.tokens.length >= limits.tokens) notMath('the answer has too many parts');
  lexer.tokens.push({ kind, text, gap: lexer.gap });
  lexer.gap = false;
}

const LETTER = /[A-Za-z]/;

function step(lexer: Lexer): undefined {
  const char = lexer.text.charAt(lexer.at);
  if (/[\s~]/.test(char)) {
    lexer.at += 1;
    lexer.gap = true;
  } else if (char === '\\') command(lexer);
  else if (/[0-9]/.test(char) || (char === '.' && /[0-9]/.test(lexer.text.charAt(lexer.at + 1))))
    number(lexer);
  else if (LETTER.test(char)) letters(lexer);
  else character(lexer, char);
}

function number(lexer: Lexer): undefined {
  const read = readDigits(lexer.text, lexer.at, lexer.lists === 0);
  lexer.digits += read.text.length;
  if (read.text.length > limits.digits_run + 16 || lexer.digits > limits.digits_total)
    notMath('too many digits');
  lexer.at = read.end;
  emit(lexer, 'num', read.text);
}

const OPEN: Readonly<Record<string, true>> = { '(': true, '[': true, '{s': true, '<(': true };
const CLOSE: Readonly<Record<string, true>> = { ')': true, ']': true, '}s': true, ')>': true };

function bracket(lexer: Lexer, text: string): undefined {
  if (text === '|') return emit(lexer, 'op', '|');
  if (OPEN[text] === true) lexer.lists += 1;
  if (CLOSE[text] === true) lexer.lists = Math.max(0, lexer.lists - 1);
  const opens = OPEN[text] === true || text === '{' || text === '_(' || text === '^(';
  emit(lexer, opens ? 'open' : 'close', text);
}

const SIGNS = ['<=', '>=', '!=', '==', '**', '=<', '=>', '->'] as const;
const SIGN_NAMES: Readonly<Record<string, string>> = { '==': '=', '**': '^', '=<': '<=', '=>': '->' };
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function character(lexer: Lexer, char: string): undefined {
  const sign = SIGNS.find((s) => lexer.text.startsWith(s, lexer.at));
  lexer.at += sign?.length ?? char.length;
  if (sign !== undefined) return emit(lexer, 'op', SIGN_NAMES[sign] ?? sign);
  if (/[()[\]{}]/.test(char)) return bracket(lexer, char);
  if (char === ',' || char === ';') return emit(lexer, 'sep', char);
  if (char === '$') return dollar(lexer);
  if (/[€£¥₹]/.test(char)) return emit(lexer, 'currency', char);
  special(lexer, char);
}

function special(lexer: Lexer, char: string): undefined {
  const fraction = vulgar[char];
  const name = symbolNames[char] ?? greekLetters[char];
  if (fraction !== undefined) return fractionTokens(lexer, fraction);
  if (char === '√') return emit(lexer, 'cmd', 'plain sqrt');
  if (char === '∅') return emit(lexer, 'sym', 'emptyset');
  if (char === 'ℝ') return emit(lexer, 'sym', 'reals');
  if (name !== undefined) return emit(lexer, 'sym', name);
  if (SUPERSCRIPTS.includes(char) || char === '⁻') return superscript(lexer);
  emit(lexer, 'op', operators[char] ?? char);
}

function dollar(lexer: Lexer): undefined {
  if (/^ ?[.0-9]/.test(lexer.text.slice(lexer.at, lexer.at + 2))) emit(lexer, 'currency', '$');
}

function superscript(lexer: Lexer): undefined {
  lexer.at -= 1;
  emit(lexer, 'op', '^');
  emit(lexer, 'open', '{');
  while (lexer.at < lexer.text.length) {
    const char = lexer.text.charAt(lexer.at);
    const digit = SUPERSCRIPTS.indexOf(char);
    if (digit < 0 && char !== '⁻') break;
    const last = lexer.tokens.at(-1);
    if (digit < 0) emit(lexer, 'op', '-');
    else if (last?.kind === 'num') lexer.tokens.splice(-1, 1, { ...last, text: `${last.text}${digit}` });
    else emit(lexer, 'num', `${digit}`);
    lexer.at += 1;
  }
  emit(lexer, 'close', '}');
}

function fractionTokens(lexer: Lexer, [top, bottom]: readonly [string, string]): undefined {
  emit(lexer, 'cmd', 'frac');
  for (const part of [top, bottom]) {
    emit(lexer, 'open', '{');
    emit(lexer, 'num', part);
    emit(lexer, 'close', '}');
  }
}

const PLAIN_COMMANDS: ReadonlySet<string> = new Set(['sqrt', 'cbrt', 'binom']);

/** A run of letters: a function, a name, a unit, a word, or single variables. */
function letters(lexer: Lexer): undefined {
  const start = lexer.at;
  while (LETTER.test(lexer.text.charAt(lexer.at))) lexer.at += 1;
  const run = lexer.text.slice(start, lexer.at);
  const known = knownRun(run);
  if (known !== null) for (const [kind, text] of known) emit(lexer, kind, text);
  else if (isWord(lexer, start, run)) emit(lexer, 'word', run);
  else for (const letter of run) emit(lexer, 'sym', letter);
}

type Piece = readonly [kind: Token['kind'], text: string];

/** Tokens of a run of letters that has a meaning in mathematics; null for others. */
function knownRun(run: string): readonly Piece[] | null {
  const lower = run.toLowerCase();
  if (lower === 'and' || lower === 'or') return [['sep', lower]];
  if (functionNames.has(lower)) return [['fn', functionAliases[lower] ?? lower]];
  if (PLAIN_COMMANDS.has(lower)) return [['cmd', lower === 'sqrt' ? 'plain sqrt' : lower]];
  if (symbolNames[lower] !== undefined) return [['sym', symbolNames[lower]]];
  return run.length === 1 || greek.has(run) ? [['sym', run]] : functionOfLetter(run);
}

/** `sinx` and the like. */
function functionOfLetter(run: string): readonly Piece[] | null {
  const [, name, letter] = /^(sin|cos|tan|ln)([xyt])$/.exec(run) ?? [];
  if (name === undefined || letter === undefined) return null;
  return [
    ['fn', name],
    ['sym', letter],
  ];
}

const PROSE: ReadonlySet<string> = new Set(
  'base percent pct is are the to of by if for no yes not all any real even odd none east west north south true false'.split(
    ' ',
  ),
);

/** Whether letters are a word of a language, not a product of variables. */
function isWord(lexer: Lexer, start: number, run: string): boolean {
  if (isUnitWord(run) || PROSE.has(run.toLowerCase())) return true;
  const before = lexer.text.charAt(start - 1);
  if (run.length < 4 || /[0-9)}\\^_]/.test(before)) return false;
  const rising = [...run].every((letter, i) => i === 0 || letter >= run.charAt(i - 1));
  return /[aeiou]/i.test(run) && !rising;
}

function command(lexer: Lexer): undefined {
  const match = /^\\(?<name>[A-Za-z]+|[^A-Za-z]|$)/s.exec(lexer.text.slice(lexer.at, lexer.at + 130));
  const name = match?.groups?.['name'] ?? '';
  lexer.at += 1 + Math.max(1, name.length);
  if (name === '!' || /^[()[\]#]$/.test(name)) return;
  if (blankCommands.has(name)) lexer.gap = true;
  else if (name === '$') emit(lexer, 'currency', '$');
  else if (name === '\\') emit(lexer, 'op', 'row');
  else if (brackets[name] !== undefined) bracket(lexer, brackets[name]);
  else if (operators[name] !== undefined) emit(lexer, 'op', operators[name]);
  else named(lexer, name);
}

const TWO_PLACE: Readonly<Record<string, string>> = {
  frac: 'frac',
  dfrac: 'frac',
  tfrac: 'frac',
  cfrac: 'frac',
  binom: 'binom',
  dbinom: 'binom',
  tbinom: 'binom',
};
const EMPTY_SETS: ReadonlySet<string> = new Set(['emptyset', 'varnothing']);

function named(lexer: Lexer, name: string): undefined {
  if (styleCommands.has(name)) return styled(lexer, name);
  if (textCommands.has(name)) return words(lexer, name);
  if (TWO_PLACE[name] !== undefined) return emit(lexer, 'cmd', TWO_PLACE[name]);
  if (functionNames.has(name)) return emit(lexer, 'fn', functionAliases[name] ?? name);
  if (name === 'begin' || name === 'end') return environment(lexer, name);
  if (name === 'mathbb') return blackboard(lexer);
  const symbolName = name === 'Pi' ? undefined : symbolNames[name];
  if (symbolName !== undefined) return emit(lexer, 'sym', symbolName);
  if (EMPTY_SETS.has(name)) return emit(lexer, 'sym', 'emptyset');
  emit(lexer, greek.has(name) ? 'sym' : 'cmd', name);
}

/** `\left.` and `\right.` are no points. */
function styled(lexer: Lexer, name: string): undefined {
  if ((name === 'left' || name === 'right') && lexer.text.charAt(lexer.at) === '.') lexer.at += 1;
  if (name === 'left' || name === 'right') return;
  if (lexer.text.charAt(lexer.at) === ' ') lexer.at += 1;
}

/** Content of the brace group at the next place, escaped characters left alone; null when there is none. */
function group(lexer: Lexer): string | null {
  let at = lexer.at;
  while (lexer.text.charAt(at) === ' ') at += 1;
  if (lexer.text.charAt(at) !== '{') return null;
  const start = at + 1;
  let depth = 0;
  for (; at < lexer.text.length; at++) {
    const char = lexer.text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) break;
  }
  lexer.at = Math.min(lexer.text.length, at + 1);
  return lexer.text.slice(start, at);
}

function environment(lexer: Lexer, kind: 'begin' | 'end'): undefined {
  const name = group(lexer) ?? notMath('an environment without a name');
  if (kind === 'begin' && /^array\*?$/.test(name)) group(lexer);
  emit(lexer, kind, name.replace('*', ''));
}

function blackboard(lexer: Lexer): undefined {
  const name = group(lexer) ?? lexer.text.charAt(lexer.at++);
  emit(lexer, 'sym', name === 'R' ? 'reals' : `set ${name}`);
}

/** A text command: a separator, mathematics in upright letters, a variable, or text. */
function words(lexer: Lexer, command: string): undefined {
  const content = group(lexer);
  if (content === null) return;
  const text = content.replaceAll(/\\[ ,;!]|~|\s+/g, ' ');
  const trimmed = text.trim();
  lexer.gap ||= text.startsWith(' ');
  if (trimmed === '') return;
  const bare = trimmed.toLowerCase().replaceAll(/^[,;\s]+|[,;\s]+$/g, '');
  if (/^(?:and|or)?$/.test(bare)) emit(lexer, 'sep', bare || ',');
  else if (/^[-+(]*[.0-9]|\\/.test(trimmed)) splice(lexer, trimmed);
  else if (trimmed.length === 1 && !/^(?:text|mbox)$/.test(command)) emit(lexer, 'sym', trimmed);
  else if (functionNames.has(bare)) emit(lexer, 'fn', functionAliases[bare] ?? bare);
  else emit(lexer, 'text', trimmed.replaceAll(/[{}$]/g, ''));
  lexer.gap = text.endsWith(' ');
}

function splice(lexer: Lexer, text: string): undefined {
  for (const [i, token] of tokenize(text).entries()) {
    if (i > 0) lexer.gap = token.gap;
    emit(lexer, token.kind, token.text);
  }
}
