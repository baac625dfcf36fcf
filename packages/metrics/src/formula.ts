/** What metrics are made of: totals over a cell (or a repeat, or a label of its data set), and lists of single values. */
export const symbols = {
  A: 'accuracy: mean score of the scored queries',
  A_c: 'accuracy over the queries that did not fail',
  E: 'energy over the busy time, J',
  N: 'attempted queries',
  T: 'busy time: the spans with a call in flight, s',
  O: 'output tokens',
  I: 'prompt tokens',
  K: 'prompt and output tokens',
  E_w: 'energy over the measured windows, idle gaps and lead included, J',
  T_w: 'length of the measured windows, s',
  E_pre: 'energy until the first output of the calls, J',
  E_dec: 'energy from the first to the last output of the calls, J',
  O_dec: 'output tokens after the first one of each call',
  E_idle: 'energy of the measured windows outside the busy time, J',
  E_s: 'energy over the steady window, J',
  T_s: 'length of the steady window, s',
  O_s: 'output tokens that arrived in the steady window',
  C_s: 'calls that ended well in the steady window',
  due_gaps: 'due times, less one for each sitting',
  due_span: 'from the first due time to the last, summed over sittings, s',
  sent_gaps: 'calls sent, less one for each sitting',
  sent_span: 'from the first dispatch to the last, summed over sittings, s',
  ok: 'calls that ended well',
  good: 'calls that meet every limit that applies to them',
  judged: 'calls that a limit applies to; every failed call is one of them',
  judged_ok: 'calls that a limit applies to and that ended well',
  e: 'energy of each query, J',
  p: 'mean power of each query, W',
  calls: 'calls of each query',
  prompt: 'prompt tokens of each query, over its calls',
  cached: 'prompt tokens of each query that were served from a cache',
  once: 'prompt tokens of each query less what an earlier call of the same prefix began with too',
  output: 'output tokens of each query, over its calls',
  chain: 'output tokens on the longest causal chain of calls of each query',
  peak: 'most calls of each query in flight at one moment',
  ttft_any: 'time to the first non-empty event of each call, ns',
  ttft_content: 'time to the first answer text of each call, ns',
  tpot: 'time per output token after the first of each call, ns',
  icl: 'gap between successive non-empty events, over all calls, ns',
  e2e_from_dispatch: 'time from dispatch to the last event of each call, ns',
  e2e_from_schedule: 'time from when each call was due to its last event, ns',
  lag: 'time from when each call was due to its dispatch, ns',
} as const;

/** Name of a total or a list. */
export type TotalSymbol = keyof typeof symbols;

/** A product or quotient of totals, or a statistic of a list. */
export type Formula =
  | { readonly kind: 'symbol'; readonly name: TotalSymbol }
  | { readonly kind: 'product' | 'quotient'; readonly left: Formula; readonly right: Formula }
  | { readonly kind: 'mean'; readonly name: TotalSymbol }
  | { readonly kind: 'quantile'; readonly name: TotalSymbol; readonly p: number };

const isSymbol = (text: string): text is TotalSymbol => Object.hasOwn(symbols, text);

interface Cursor {
  readonly text: string;
  readonly tokens: readonly string[];
  at: number;
}

const wrong = ({ text }: Cursor, what: string): never => {
  throw new TypeError(`formula "${text}": ${what}`);
};

function take(cursor: Cursor, expected: string): void {
  if (cursor.tokens[cursor.at] !== expected) wrong(cursor, `"${expected}" expected`);
  cursor.at += 1;
}

function symbolAt(cursor: Cursor): TotalSymbol {
  const token = cursor.tokens[cursor.at] ?? '';
  cursor.at += 1;
  return isSymbol(token) ? token : wrong(cursor, `"${token}" is no total`);
}

function factor(cursor: Cursor): Formula {
  const token = cursor.tokens[cursor.at] ?? '';
  if (token === '(') {
    take(cursor, '(');
    const inner = product(cursor);
    take(cursor, ')');
    return inner;
  }
  if (cursor.tokens[cursor.at + 1] !== '(') return { kind: 'symbol', name: symbolAt(cursor) };
  cursor.at += 2;
  const name = symbolAt(cursor);
  take(cursor, ')');
  const share = /^p(\d{2})$/.exec(token)?.[1];
  if (share !== undefined) return { kind: 'quantile', name, p: Number(share) / 100 };
  return token === 'mean' ? { kind: 'mean', name } : wrong(cursor, `"${token}" is no statistic`);
}

function product(cursor: Cursor): Formula {
  let left = factor(cursor);
  for (;;) {
    const token = cursor.tokens[cursor.at];
    if (token !== '/' && token !== '·') return left;
    cursor.at += 1;
    left = { kind: token === '/' ? 'quotient' : 'product', left, right: factor(cursor) };
  }
}

/**
 * A formula from its text: totals with `·`, `/` and brackets, or `mean(list)` and `p50(list)`. Throws a `TypeError` for
 * anything else.
 */
export function parseFormula(text: string): Formula {
  const cursor: Cursor = { text, tokens: text.match(/[\w]+|[^\s]/g) ?? [], at: 0 };
  const formula = product(cursor);
  if (cursor.at < cursor.tokens.length) wrong(cursor, `"${cursor.tokens[cursor.at]}" is too much`);
  return formula;
}

/** Totals by symbol; null or absent where one isn't known. */
export type Totals = Readonly<Partial<Record<TotalSymbol, number | null>>>;

/** The value of a formula over totals; null where one is missing or it divides by 0. Statistics of lists aren't evaluated. */
export function evaluate(formula: Formula, totals: Totals): number | null {
  switch (formula.kind) {
    case 'symbol':
      return totals[formula.name] ?? null;
    case 'product':
    case 'quotient': {
      const [left, right] = [evaluate(formula.left, totals), evaluate(formula.right, totals)];
      if (left === null || right === null) return null;
      if (formula.kind === 'product') return left * right;
      return right === 0 ? null : left / right;
    }
    default:
      return null;
  }
}

const known = new WeakMap<Formula, ReadonlyMap<TotalSymbol, number>>();

/** The powers that the totals of a formula have; empty for a statistic of a list. */
export function symbolPowers(formula: Formula): ReadonlyMap<TotalSymbol, number> {
  const powers = known.get(formula) ?? powersIn(formula, 1);
  known.set(formula, powers);
  return powers;
}

function powersIn(formula: Formula, power: number): ReadonlyMap<TotalSymbol, number> {
  switch (formula.kind) {
    case 'symbol':
      return new Map([[formula.name, power]]);
    case 'product':
    case 'quotient': {
      const powers = new Map(powersIn(formula.left, power));
      const sign = formula.kind === 'product' ? power : -power;
      for (const [name, own] of powersIn(formula.right, sign))
        powers.set(name, (powers.get(name) ?? 0) + own);
      return powers;
    }
    default:
      return new Map();
  }
}
