import type { Expr } from './expr.js';
import type { Unit } from './units.js';

/** An expression with what is measured in: a percent sign, a degree mark, a unit. */
export interface Quantity {
  readonly kind: 'quantity';
  readonly expr: Expr;
  readonly percent: boolean;
  readonly degrees: boolean;
  readonly units: readonly Unit[];
  /** The answer is one fraction of two integers that isn't in lowest terms. */
  readonly unreduced: boolean;
}

export interface Assignment {
  readonly kind: 'assignment';
  readonly head: string;
  /** The head as an expression, where it is one. */
  readonly left: Expr | null;
  readonly value: Value;
}

export interface Relation {
  readonly kind: 'relation';
  /** Members of a chain, one more than operators. */
  readonly members: readonly Expr[];
  readonly operators: readonly Operator[];
}

export type Operator = '<' | '>' | '<=' | '>=' | '!=';

export interface Interval {
  readonly kind: 'interval';
  readonly low: Expr;
  readonly high: Expr;
  readonly lowClosed: boolean;
  readonly highClosed: boolean;
}

export interface List {
  readonly kind: 'list';
  readonly items: readonly Value[];
  /** How the items are joined, for relations. */
  readonly joint: 'and' | 'or' | ',';
}

/** What an answer is, structurally. */
export type Value =
  | Quantity
  | Assignment
  | Relation
  | Interval
  | List
  | { readonly kind: 'set'; readonly items: readonly Value[] }
  | { readonly kind: 'tuple'; readonly items: readonly Value[] }
  | { readonly kind: 'union'; readonly parts: readonly Value[] }
  | { readonly kind: 'equation'; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'matrix'; readonly fence: string; readonly rows: readonly (readonly Value[])[] }
  | { readonly kind: 'ratio'; readonly parts: readonly Expr[]; readonly text: string }
  | { readonly kind: 'based'; readonly digits: string; readonly base: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'raw' };

/** A parsed answer with a text that equal writings share. */
export interface Answer {
  readonly canonical: string;
  readonly value: Value;
}

export const quantity = (expr: Expr): Quantity => ({
  kind: 'quantity',
  expr,
  percent: false,
  degrees: false,
  units: [],
  unreduced: false,
});
