import { PerwattError } from '@perwatt/core';
import type { Atom, Domain, Operator, Parameter, Problem } from './model.js';

/** A domain as PDDL text. */
export function domainPddl({ name, types, predicates, operators }: Domain): string {
  const lines = [
    `(define (domain ${name})`,
    '  (:requirements :strips :typing :negative-preconditions)',
    `  (:types ${Object.entries(types)
      .map(([type, above]) => `${type} - ${above}`)
      .join(' ')})`,
    `  (:predicates ${Object.entries(predicates)
      .map(([p, args]) => `(${[p, typed(args)].join(' ').trim()})`)
      .join(' ')})`,
    ...operators.flatMap(operatorLines),
  ];
  return `${lines.join('\n')})`;
}

const typed = (parameters: readonly Parameter[]) =>
  parameters.map(({ name, type }) => `${name} - ${type}`).join(' ');

const operatorLines = ({ name, parameters, pre, not, add, del }: Operator) => [
  `  (:action ${name}`,
  `    :parameters (${typed(parameters)})`,
  `    :precondition ${conjunction(pre, not)}`,
  `    :effect ${conjunction(add, del)})`,
];

const list = (atom: Atom) => `(${atom.join(' ')})`;

const conjunction = (positive: readonly Atom[], negative: readonly Atom[] = []) =>
  `(and ${[...positive.map(list), ...negative.map((atom) => `(not ${list(atom)})`)].join(' ')})`;

/** A problem as PDDL text; several goals become a disjunction. */
export function problemPddl(domain: string, { name, objects, init, goals }: Problem): string {
  const [only, ...others] = goals;
  const goal =
    only !== undefined && others.length === 0
      ? conjunction(only)
      : `(or ${goals.map((g) => conjunction(g)).join(' ')})`;
  return `(define (problem ${name})
  (:domain ${domain})
  (:objects ${Object.entries(objects)
    .map(([object, type]) => `${object} - ${type}`)
    .join(' ')})
  (:init ${init.map(list).join(' ')})
  (:goal ${goal}))`;
}

type Expression = string | readonly Expression[];

/** Reads the domain of a PDDL text: typed STRIPS with negative preconditions. Throws `INPUT_INVALID` for anything else. */
export function parseDomain(text: string): Domain {
  const sections = definition(text, 'domain');
  return {
    name: sections.name,
    types: Object.fromEntries(typedNames(sections.of(':types'))),
    predicates: Object.fromEntries(
      sections.of(':predicates').map((each): [string, Parameter[]] => {
        const [name, ...args] = listOf(each);
        return [wordOf(name), variables(args)];
      }),
    ),
    operators: sections.all(':action').map(operatorOf),
  };
}

/** Reads the problem of a PDDL text, with one goal or a disjunction of goals. Throws `INPUT_INVALID`. */
export function parseProblem(text: string): Problem {
  const sections = definition(text, 'problem');
  const [goal] = sections.of(':goal');
  const [head, ...parts] = listOf(goal);
  const goals = head === 'or' ? parts : [goal];
  return {
    name: sections.name,
    objects: Object.fromEntries(typedNames(sections.of(':objects'))),
    init: sections.of(':init').map(atomOf),
    goals: goals.map((each) => literals(each).positive),
  };
}

const problem = (message: string) => new PerwattError('INPUT_INVALID', `PDDL: ${message}`);

const shown = (expression: Expression | undefined): string =>
  expression === undefined
    ? 'nothing'
    : typeof expression === 'string'
      ? expression
      : `(${expression.map(shown).join(' ')})`;

function listOf(expression: Expression | undefined): readonly Expression[] {
  if (expression !== undefined && typeof expression !== 'string') return expression;
  throw problem(`a list is wanted where "${shown(expression)}" stands`);
}

function wordOf(expression: Expression | undefined): string {
  if (typeof expression === 'string') return expression;
  throw problem(`a name is wanted where "${shown(expression)}" stands`);
}

const atomOf = (expression: Expression): Atom => listOf(expression).map(wordOf);

function definition(text: string, kind: 'domain' | 'problem') {
  const [define, head, ...parts] = listOf(expressionOf(text));
  const [word, name] = listOf(head);
  if (define !== 'define' || word !== kind) throw problem(`no definition of a ${kind}`);
  const sections = parts.map((part) => listOf(part));
  const all = (title: string) => sections.filter(([first]) => first === title).map(([, ...rest]) => rest);
  return { name: wordOf(name), all, of: (title: string) => all(title)[0] ?? [] };
}

function operatorOf([name, ...fields]: readonly Expression[]): Operator {
  const field = (title: string): Expression => fields[fields.indexOf(title) + 1] ?? [];
  const [pre, effect] = [literals(field(':precondition')), literals(field(':effect'))];
  return {
    name: wordOf(name),
    parameters: variables(listOf(field(':parameters'))),
    pre: pre.positive,
    not: pre.negative,
    add: effect.positive,
    del: effect.negative,
  };
}

/** The facts of a conjunction, or of a single fact. */
function literals(expression: Expression | undefined): {
  readonly positive: Atom[];
  readonly negative: Atom[];
} {
  const [head, ...rest] = listOf(expression);
  const parts = head === 'and' ? rest : head === undefined ? [] : [expression ?? []];
  const [positive, negative]: [Atom[], Atom[]] = [[], []];
  for (const part of parts) {
    const [word, inner] = listOf(part);
    if (word === 'not') negative.push(atomOf(inner ?? []));
    else if (['or', 'forall', 'exists', 'when', 'imply'].includes(wordOf(word)))
      throw problem(`"${wordOf(word)}" is beyond what is read here`);
    else positive.push(atomOf(part));
  }
  return { positive, negative };
}

/** Names with their types: those in front of `- type`; the rest are of type `object`. */
function typedNames(words: readonly Expression[]): [string, string][] {
  const typedOnes: [string, string][] = [];
  let open: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = wordOf(words[at]);
    if (word !== '-') {
      open.push(word);
      continue;
    }
    at += 1;
    const type = wordOf(words[at]);
    typedOnes.push(...open.map((name): [string, string] => [name, type]));
    open = [];
  }
  return [...typedOnes, ...open.map((name): [string, string] => [name, 'object'])];
}

const isVariable = (name: string): name is `?${string}` => name.startsWith('?');

const variables = (words: readonly Expression[]): Parameter[] =>
  typedNames(words).map(([name, type]) => {
    if (!isVariable(name)) throw problem(`"${name}" is no variable`);
    return { name, type };
  });

const MAX_DEPTH = 200;

/** The one expression of a text, in lower case, comments left out. */
function expressionOf(text: string): Expression {
  const tokens =
    text
      .toLowerCase()
      .replaceAll(/;[^\n]*/g, '')
      .match(/[()]|[^\s()]+/g) ?? [];
  const open: Expression[][] = [[]];
  for (const token of tokens) {
    if (token === '(') open.push([]);
    else if (token === ')') close(open);
    else open.at(-1)?.push(token);
    if (open.length > MAX_DEPTH) throw problem(`brackets more than ${MAX_DEPTH} deep`);
  }
  if (open.length !== 1) throw problem('a bracket is not closed');
  const [first, ...rest] = open[0] ?? [];
  if (first === undefined || rest.length > 0) throw problem('one definition is wanted');
  return first;
}

function close(open: Expression[][]): void {
  const closed = open.pop();
  const outer = open.at(-1);
  if (closed === undefined || outer === undefined) throw problem('a bracket closes that was not opened');
  outer.push(closed);
}
