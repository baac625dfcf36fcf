import { didYouMean, type GradeInput, PerwattError } from '@perwatt/core';
import { parseNumber } from './numbers.js';
import type { Rational } from './rational.js';
import { reasoningTags, type TagPair } from './reasoning.js';

type Policies = GradeInput['policy'];

/** Every policy a grade may be asked with. A grader reads those that concern it. */
const known = [
  'base',
  'case',
  'decimals',
  'degrees',
  'equationVsValue',
  'f1',
  'fractions',
  'official',
  'order',
  'percent',
  'reasoning',
  'relative',
  'setRelation',
  'solutions',
  'units',
  'variables',
] as const;

/** Throws `INPUT_INVALID` for a policy no grader knows. */
export function checkPolicies(policies: Policies): void {
  for (const name of Object.keys(policies ?? {})) {
    if (!known.some((k) => k === name))
      throw new PerwattError('INPUT_INVALID', `unknown policy "${name}"${didYouMean(name, known)}`);
  }
}

/** The value of one policy out of `values`; the first is the default. */
export function choicePolicy<const T extends string>(
  policies: Policies,
  name: string,
  values: readonly [T, ...T[]],
): T {
  const value = policies?.[name] ?? values[0];
  const found = values.find((v) => v === value);
  if (found === undefined) throw wrong(name, value, values.map((v) => `"${v}"`).join(' or '));
  return found;
}

/** How far a number may be off: exactly right, right at a number of decimals, or within a relative error. */
export type Tolerance =
  | { readonly kind: 'exact' }
  | { readonly kind: 'decimals'; readonly decimals: number }
  | { readonly kind: 'relative'; readonly relative: Rational };

/** The policies `decimals` (0…100) and `relative` (0…1); exact by default. */
export function tolerancePolicy(policies: Policies): Tolerance {
  const { decimals, relative } = policies ?? {};
  if (decimals !== undefined && decimals !== 'exact' && decimals !== 'six') {
    if (!Number.isInteger(decimals) || Number(decimals) < 0 || Number(decimals) > 100)
      throw wrong('decimals', decimals, 'a whole number from 0 to 100');
    return { kind: 'decimals', decimals: Number(decimals) };
  }
  if (relative === undefined) return { kind: 'exact' };
  const value =
    typeof relative === 'number' && relative >= 0 && relative < 1 ? parseNumber(`${relative}`)?.value : null;
  if (value == null) throw wrong('relative', relative, 'a number from 0 to below 1');
  return { kind: 'relative', relative: value };
}

/** Pairs of tags that enclose reasoning: the default ones, and those of the policy `reasoning`. */
export function reasoningPolicy(policies: Policies): readonly TagPair[] {
  const more = policies?.['reasoning'];
  if (more === undefined) return reasoningTags;
  if (!Array.isArray(more) || !more.every(isPair))
    throw wrong('reasoning', more, 'a list of [open, close] tags');
  return [
    ...reasoningTags,
    ...more.map(([open, close]): TagPair => [open.toLowerCase(), close.toLowerCase()]),
  ];
}

const isPair = (value: unknown): value is TagPair =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((tag) => typeof tag === 'string' && tag.length > 0);

const wrong = (name: string, value: unknown, wanted: string) =>
  new PerwattError('INPUT_INVALID', `policy "${name}" is ${JSON.stringify(value)}, not ${wanted}`);
