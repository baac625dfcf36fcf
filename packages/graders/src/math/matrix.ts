import { type Expr, minus, product, sum } from './expr.js';
import { limits, notMath } from './limits.js';
import { parseExpr } from './parse-expr.js';
import { isOp, splitTop } from './split.js';
import type { Token } from './tokens.js';
import { quantity, type Value } from './value.js';

type Parse = (tokens: readonly Token[]) => Value;
type Rows = readonly (readonly Expr[])[];
interface Grid {
  readonly fence: string;
  readonly rows: readonly (readonly Value[])[];
}

const ENVIRONMENTS = /^(?:p|b|B|v|V|small)?matrix$|^array$/;

/** A matrix, or sums and products of matrices and scalars. */
export function parseMatrix(tokens: readonly Token[], parse: Parse): Value {
  const only = singleMatrix(tokens);
  if (only !== null) return { kind: 'matrix', ...readGrid(only, parse) };
  const { parts, marks } = splitTop(tokens, (token) => isOp(token, '+', '-'));
  const terms = parts.flatMap((part, i) => {
    if (part.length === 0 && i === 0) return [];
    const term = parseProduct(part, parse);
    return [marks[i - 1]?.text === '-' ? scaled(term, (x) => minus(x)) : term];
  });
  const rows = terms.reduce((a, b) => addRows(a, b));
  return { kind: 'matrix', fence: 'p', rows: rows.map((row) => row.map((cell) => quantity(cell))) };
}

/** The tokens between `begin` and `end` when one environment is all there is, brackets around it left out. */
function singleMatrix(tokens: readonly Token[]): readonly Token[] | null {
  const [first, last] = [tokens[0], tokens.at(-1)];
  const inner = tokens.slice(1, -1);
  if (first?.kind === 'open' && last?.kind === 'close') return singleMatrix(inner);
  if (first?.kind !== 'begin' || last?.kind !== 'end') return null;
  const one = tokens.filter((token) => token.kind === 'begin').length === 1;
  return one ? tokens : null;
}

function readGrid(tokens: readonly Token[], parse: Parse): Grid {
  const name = tokens[0]?.text ?? '';
  if (!ENVIRONMENTS.test(name) || tokens.at(-1)?.text !== name) notMath(`${name} is no matrix`);
  const lines = splitTop(tokens.slice(1, -1), (token) => isOp(token, 'row')).parts.filter(
    (l) => l.length > 0,
  );
  const rows = lines.map((line) =>
    splitTop(line, (token) => isOp(token, '&')).parts.map((cell) => parse(cell)),
  );
  const width = rows[0]?.length ?? 0;
  if (width === 0 || rows.some((row) => row.length !== width)) notMath('rows of unequal length');
  if (width * rows.length > limits.cells) notMath('the matrix has too many cells');
  return { fence: /^[vV]/.test(name) ? name.charAt(0) : 'p', rows };
}

const exprs = (grid: Grid): Rows =>
  grid.rows.map((row) =>
    row.map((cell) => (cell.kind === 'quantity' ? cell.expr : notMath('a cell is no expression'))),
  );

const scaled = (rows: Rows, by: (x: Expr) => Expr): Rows => rows.map((row) => row.map(by));

function addRows(a: Rows, b: Rows): Rows {
  if (a.length !== b.length || a[0]?.length !== b[0]?.length) notMath('matrices of unequal shape');
  return a.map((row, i) => row.map((cell, j) => sum(cell, b[i]?.[j] ?? notMath('no such cell'))));
}

/** Matrices side by side, and a scalar before, between or behind them. */
function parseProduct(tokens: readonly Token[], parse: Parse): Rows {
  const matrices: Rows[] = [];
  const scalars: Expr[] = [];
  for (let rest = tokens; rest.length > 0; ) {
    const start = rest.findIndex((token) => token.kind === 'begin');
    scalars.push(...scalarOf(start < 0 ? rest : rest.slice(0, start)));
    if (start < 0) break;
    const end = rest.findIndex((token, i) => i > start && token.kind === 'end');
    if (end < 0) notMath('a matrix has no end');
    const grid = readGrid(rest.slice(start, end + 1), parse);
    if (grid.fence !== 'p') notMath('a determinant among matrices');
    matrices.push(exprs(grid));
    rest = rest.slice(end + 1);
  }
  if (matrices.length === 0) notMath('no matrix');
  const result = matrices.reduce(multiply);
  return scalars.length === 0 ? result : scaled(result, (x) => product(...scalars, x));
}

/** The factors before a matrix, without the sign that joins them to it. */
function scalarOf(tokens: readonly Token[]): readonly Expr[] {
  const start = isOp(tokens[0], '*') ? 1 : 0;
  const end = isOp(tokens.at(-1), '*') ? tokens.length - 1 : tokens.length;
  const bare = tokens.slice(start, Math.max(start, end));
  return bare.length === 0 ? [] : [parseExpr(bare)];
}

function multiply(a: Rows, b: Rows): Rows {
  const inner = b.length;
  if (a[0]?.length !== inner) notMath('matrices that cannot be multiplied');
  if (a.length * inner * (b[0]?.length ?? 0) > 1000) notMath('the product has too many parts');
  return a.map((row) =>
    (b[0] ?? []).map((_, j) =>
      sum(...row.map((cell, k) => product(cell, b[k]?.[j] ?? notMath('no such cell')))),
    ),
  );
}
