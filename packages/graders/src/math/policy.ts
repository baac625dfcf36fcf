import { type GradeInput, PerwattError } from '@perwatt/core';
import { choicePolicy } from '../policy.js';

/** How lenient a comparison is; every name and value of it can be asked for as a policy of a grade. */
export interface MathPolicy {
  /** `sign-optional`: N % is N/100, and N where one side alone has the sign; `strict`: N/100 only. */
  readonly percent: 'sign-optional' | 'strict';
  /** `conflict-wrong`: a unit on one side alone is ignored, two must agree or convert; `ignore`; `require`. */
  readonly units: 'conflict-wrong' | 'ignore' | 'require';
  /** `strict`: same digits and same base; `missing-ok`: the prediction may leave the base out. */
  readonly base: 'strict' | 'missing-ok';
  /** `typed`: tuples are ordered, sets and bare lists not; `any`: nothing is. */
  readonly order: 'typed' | 'any';
  /** `reduced-only`: a predicted fraction of two integers must be in lowest terms. */
  readonly fractions: 'equal' | 'reduced-only';
  /** How a decimal literal on either side loosens equality. */
  readonly decimals: DecimalPolicy;
  /** `any`: some of the gold's solutions suffice. */
  readonly solutions: 'all' | 'any';
  /** `assignment-only`: `x = 5` is 5; `never`. */
  readonly equationVsValue: 'assignment-only' | 'never';
  /** `both`: a relation is the interval it describes; `asymmetric`: only a gold relation is. */
  readonly setRelation: 'both' | 'asymmetric';
  /** `rename`: variables may have other names. */
  readonly variables: 'strict' | 'rename';
  /** `require`: a degree mark on one side must be on the other. */
  readonly degrees: 'ignore' | 'require';
}

export type DecimalPolicy =
  | { readonly kind: 'six' }
  | { readonly kind: 'exact' }
  | { readonly kind: 'round'; readonly places: number }
  | { readonly kind: 'relative'; readonly relative: number };

/** The policies of a grade, the defaults filled in. Throws `INPUT_INVALID` for a value that isn't one. */
export function mathPolicy(policies: GradeInput['policy']): MathPolicy {
  return {
    percent: choicePolicy(policies, 'percent', ['sign-optional', 'strict']),
    units: choicePolicy(policies, 'units', ['conflict-wrong', 'ignore', 'require']),
    base: choicePolicy(policies, 'base', ['strict', 'missing-ok']),
    order: choicePolicy(policies, 'order', ['typed', 'any']),
    fractions: choicePolicy(policies, 'fractions', ['equal', 'reduced-only']),
    decimals: decimalPolicy(policies),
    solutions: choicePolicy(policies, 'solutions', ['all', 'any']),
    equationVsValue: choicePolicy(policies, 'equationVsValue', ['assignment-only', 'never']),
    setRelation: choicePolicy(policies, 'setRelation', ['both', 'asymmetric']),
    variables: choicePolicy(policies, 'variables', ['strict', 'rename']),
    degrees: choicePolicy(policies, 'degrees', ['ignore', 'require']),
  };
}

/** `'six'`, `'exact'`, a number of places or `{ round }`, `{ relative }`; also the policy `relative` on its own. */
function decimalPolicy(policies: GradeInput['policy']): DecimalPolicy {
  const value = policies?.['decimals'] ?? 'six';
  const relative = policies?.['relative'] ?? field(value, 'relative');
  if (relative !== undefined) return { kind: 'relative', relative: bounded('relative', relative, 1) };
  if (value === 'six' || value === 'exact') return { kind: value };
  const places = bounded('decimals', field(value, 'round') ?? value, 101);
  if (!Number.isInteger(places)) throw wrong('decimals', value);
  return { kind: 'round', places };
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

function bounded(name: string, value: unknown, below: number): number {
  if (typeof value !== 'number' || !(value >= 0 && value < below)) throw wrong(name, value);
  return value;
}

const wrong = (name: string, value: unknown) =>
  new PerwattError(
    'INPUT_INVALID',
    `policy "${name}" is ${JSON.stringify(value)}, not "six", "exact", {"round": 0…100} or {"relative": below 1}`,
  );
