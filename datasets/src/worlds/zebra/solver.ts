import { allows, type Cell, type Clue } from './clues.js';

export interface GridSize {
  readonly houses: number;
  readonly attributes: number;
}

/** How many solutions were found, up to the limit asked for, the first of them, and how many places were branched at. */
export interface SolveResult {
  readonly count: number;
  /** Houses by attribute and value; null without a solution. */
  readonly first: readonly (readonly number[])[] | null;
  readonly nodes: number;
  /** All was searched, or the limit of solutions was reached; false when the limit of nodes ended it. */
  readonly complete: boolean;
}

export interface SolveOptions {
  /** Solutions after which counting ends; default 2, enough for uniqueness. */
  readonly most?: number;
  /** Nodes after which searching ends; default 200,000. */
  readonly max_nodes?: number;
}

/** Possible houses of each value as bits; values of an attribute stand together. */
type Domains = Uint8Array;

/**
 * Counts the solutions of a puzzle by search. Each value has the set of houses it may still be in; clues and all-different within
 * an attribute narrow these until nothing changes; then the value with the fewest houses is tried in each.
 */
export function solveZebra(
  size: GridSize,
  clues: readonly Clue[],
  { most = 2, max_nodes = 200_000 }: SolveOptions = {},
): SolveResult {
  const narrow = propagation(size, clues);
  let [count, nodes] = [0, 0];
  let first: readonly (readonly number[])[] | null = null;
  const start: Domains = new Uint8Array(size.houses * size.attributes).fill((1 << size.houses) - 1);
  const open: Domains[] = narrow(start) ? [start] : [];
  for (
    let domains = open.pop();
    domains !== undefined && count < most && nodes < max_nodes;
    domains = open.pop()
  ) {
    const at = smallest(domains);
    if (at === -1) {
      count += 1;
      first ??= housesOf(domains, size);
      continue;
    }
    nodes += 1;
    open.push(...branches(domains, at, narrow));
  }
  return { count, first, nodes, complete: count >= most || nodes < max_nodes };
}

/** What is left of each house that a value may be in, the first house last, so that it is looked at first. */
function branches(domains: Domains, at: number, narrow: (domains: Domains) => boolean): Domains[] {
  const next: Domains[] = [];
  for (let bits = domains[at] ?? 0; bits !== 0; bits &= bits - 1) {
    const tried = domains.slice();
    tried[at] = bits & -bits;
    if (narrow(tried)) next.unshift(tried);
  }
  return next;
}

/** The value with the fewest houses, of those with more than one; -1 when all are settled. */
function smallest(domains: Domains): number {
  let [best, fewest] = [-1, 99];
  for (const [i, bits] of domains.entries()) {
    const houses = countBits(bits);
    if (houses > 1 && houses < fewest) [best, fewest] = [i, houses];
  }
  return best;
}

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

const housesOf = (domains: Domains, { houses, attributes }: GridSize): number[][] =>
  Array.from({ length: attributes }, (_, a) =>
    Array.from({ length: houses }, (_, v) => 31 - Math.clz32(domains[a * houses + v] ?? 0)),
  );

/** Narrows domains in place until nothing changes; false when a value has no house left. */
function propagation(
  { houses, attributes }: GridSize,
  clues: readonly Clue[],
): (domains: Domains) => boolean {
  const numberOf = ([attribute, value]: Cell) => attribute * houses + value;
  const rules = clues.map((clue) => ruleOf(clue, numberOf, houses));
  return (domains) => {
    for (let before = -1, after = total(domains); after !== before; ) {
      before = after;
      for (const rule of rules) rule(domains);
      for (let a = 0; a < attributes; a++) allDifferent(domains, a * houses, houses);
      if (domains.includes(0)) return false;
      after = total(domains);
    }
    return true;
  };
}

/** Bits in all domains; it only falls while they are narrowed. */
const total = (domains: Domains): number => domains.reduce((sum, bits) => sum + countBits(bits), 0);

type Rule = (domains: Domains) => void;

function ruleOf(clue: Clue, numberOf: (cell: Cell) => number, houses: number): Rule {
  const a = numberOf(clue.a);
  if ('house' in clue) {
    const bit = 1 << clue.house;
    const mask = clue.kind === 'at' ? bit : ~bit;
    return (domains) => {
      domains[a] = (domains[a] ?? 0) & mask;
    };
  }
  const b = numberOf(clue.b);
  const { kind } = clue;
  const reach = (allowed: (from: number, to: number) => boolean) =>
    Array.from({ length: houses }, (_, from) =>
      Array.from({ length: houses }, (_, to) => (allowed(from, to) ? 1 << to : 0)).reduce((x, y) => x | y, 0),
    );
  const fromA = reach((from, to) => allows(kind, from, to));
  const fromB = reach((from, to) => allows(kind, to, from));
  return (domains) => {
    domains[b] = (domains[b] ?? 0) & reached(domains[a] ?? 0, fromA);
    domains[a] = (domains[a] ?? 0) & reached(domains[b] ?? 0, fromB);
  };
}

/** All houses that are within reach of any of these. */
function reached(from: number, reach: readonly number[]): number {
  let mask = 0;
  for (let bits = from; bits !== 0; bits &= bits - 1) mask |= reach[31 - Math.clz32(bits & -bits)] ?? 0;
  return mask;
}

/** Within an attribute: a settled house is no other value's, and a house that one value alone may be in is its. */
function allDifferent(domains: Domains, first: number, houses: number): void {
  let [once, twice] = [0, 0];
  for (let v = first; v < first + houses; v++) {
    const bits = domains[v] ?? 0;
    twice |= once & bits;
    once |= bits;
    if (countBits(bits) === 1) excludeFromOthers(domains, v, { first, houses });
  }
  const lone = once & ~twice;
  for (let v = first; v < first + houses; v++) {
    const only = (domains[v] ?? 0) & lone;
    if (only !== 0) domains[v] = only & -only;
  }
}

function excludeFromOthers(
  domains: Domains,
  settled: number,
  { first, houses }: { readonly first: number; readonly houses: number },
): void {
  const bits = domains[settled] ?? 0;
  for (let v = first; v < first + houses; v++) if (v !== settled) domains[v] = (domains[v] ?? 0) & ~bits;
}
