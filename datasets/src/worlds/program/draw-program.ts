import type { Rng } from '@perwatt/core';
import { integer, pick } from '../../random.js';

/** A program being drawn: what stands in it so far, and what its names hold. */
interface Draft {
  readonly statements: string[];
  readonly numbers: string[];
  readonly lists: string[];
}

/** What a level draws programs from. */
export interface ProgramShape {
  readonly parameters: readonly ('number' | 'list')[];
  /** Fewest and most statements before the `return`. */
  readonly statements: readonly [least: number, most: number];
}

const letters = ['a', 'b', 'c', 'd', 'e', 'g', 'h'] as const;

/** A random program as one line of text; each statement uses what the one before it made. */
export function drawProgram(rng: Rng, { parameters, statements }: ProgramShape): string {
  const names = namesOf(parameters);
  const draft: Draft = {
    statements: [],
    numbers: names.filter((_, i) => parameters[i] === 'number'),
    lists: names.filter((_, i) => parameters[i] === 'list'),
  };
  let last: Made = { kind: parameters[0] ?? 'number', name: names[0] ?? 'n' };
  const count = integer(rng, ...statements);
  for (let i = 0; i < count; i++) last = addStatement(rng, draft, { last, name: letters[i] ?? `v${i}` });
  const result = last.kind === 'list' && rng() < 0.6 ? numberFrom(rng, last.name) : last.name;
  return `def f(${names.join(', ')}): ${[...draft.statements, `return ${result}`].join('; ')}`;
}

/** `xs`, `ys` for lists and `n`, `m` for numbers. */
const namesOf = (parameters: ProgramShape['parameters']): string[] =>
  parameters.map((kind, i) => {
    const before = parameters.slice(0, i).filter((each) => each === kind).length;
    return (kind === 'list' ? ['xs', 'ys'] : ['n', 'm'])[before] ?? `p${i}`;
  });

interface Made {
  readonly kind: 'number' | 'list';
  readonly name: string;
}

interface Adding {
  readonly last: Made;
  readonly name: string;
}

function addStatement(rng: Rng, draft: Draft, { last, name }: Adding): Made {
  const wantsList = last.kind === 'list' ? rng() < 0.7 : rng() < 0.25;
  const text =
    last.kind === 'list'
      ? wantsList
        ? listFromList(rng, last.name, draft)
        : numberFrom(rng, last.name)
      : wantsList
        ? listFromNumber(rng, last.name)
        : numberFromNumber(rng, last.name, draft);
  draft.statements.push(`${name} = ${text}`);
  (wantsList ? draft.lists : draft.numbers).push(name);
  return { kind: wantsList ? 'list' : 'number', name };
}

type Maker = (rng: Rng) => string;

const choose = (rng: Rng, makers: readonly Maker[]): string => pick(rng, makers)(rng);

/** A small number, or a name that holds one. */
const operand = (rng: Rng, draft: Draft): string =>
  draft.numbers.length > 0 && rng() < 0.35 ? pick(rng, draft.numbers) : `${integer(rng, 2, 9)}`;

const numberFromNumber = (rng: Rng, x: string, draft: Draft): string =>
  choose(rng, [
    (r) => `${x} * ${integer(r, 2, 9)} ${pick(r, ['+', '-'])} ${operand(r, draft)}`,
    (r) => `(${x} + ${operand(r, draft)}) * ${integer(r, 2, 6)}`,
    (r) => `${x} % ${integer(r, 3, 11)} + ${operand(r, draft)}`,
    (r) => `${x} // ${integer(r, 2, 6)} - ${operand(r, draft)}`,
    (r) => `abs(${x} - ${integer(r, 3, 30)})`,
    (r) => `${x} * ${x} - ${integer(r, 1, 20)}`,
    (r) => `max(${x}, ${integer(r, 2, 20)}) - ${operand(r, draft)}`,
    (r) => `${x} * ${integer(r, 2, 4)} if ${x} > ${integer(r, 2, 12)} else ${x} - ${operand(r, draft)}`,
    (r) => `${x} + ${integer(r, 2, 9)} if ${x} % ${integer(r, 2, 4)} == 0 else ${x} * ${integer(r, 2, 5)}`,
  ]);

const numberFrom = (rng: Rng, xs: string): string =>
  choose(rng, [
    () => `sum(${xs})`,
    () => `max(${xs} + [0]) - min(${xs} + [0])`,
    (r) => `sum([x * x for x in ${xs}]) % ${integer(r, 7, 50)}`,
    (r) => `len([x for x in ${xs} if x > ${integer(r, 1, 9)}])`,
    () => `sum(${xs}) - len(${xs})`,
    (r) => `sum([x * ${integer(r, 2, 5)} for x in ${xs} if x % 2 == ${integer(r, 0, 1)}])`,
    (r) => `sum(${xs}[::${integer(r, 2, 3)}])`,
  ]);

const listFromList = (rng: Rng, xs: string, draft: Draft): string =>
  choose(rng, [
    (r) => `[x * ${integer(r, 2, 5)} for x in ${xs}]`,
    (r) => `[x + ${operand(r, draft)} for x in ${xs}]`,
    (r) => `[x for x in ${xs} if x % ${integer(r, 2, 4)} == ${integer(r, 0, 1)}]`,
    (r) => `[x for x in ${xs} if x > ${operand(r, draft)}]`,
    (r) => `[abs(x - ${integer(r, 2, 9)}) for x in ${xs}]`,
    (r) => `[x % ${integer(r, 3, 9)} for x in ${xs}]`,
    () => `sorted(${xs})`,
    () => `${xs}[::-1]`,
    (r) => `${xs}[${integer(r, 1, 2)}:] + ${xs}[:${integer(r, 1, 2)}]`,
    (r) => `[x if x > ${integer(r, 2, 9)} else x * ${integer(r, 2, 4)} for x in ${xs}]`,
  ]);

const listFromNumber = (rng: Rng, x: string): string =>
  choose(rng, [
    (r) => `[x * ${integer(r, 2, 5)} for x in range(${x} % ${integer(r, 3, 6)} + 1)]`,
    (r) => `[${x} + x for x in range(${integer(r, 2, 4)})]`,
    (r) => `[${x} % x for x in range(2, ${integer(r, 5, 8)})]`,
  ]);
