import { type Atom, type Domain, isOfType, type Operator, type Problem } from './model.js';

/** A state: one bit for each fact that can change, in UTF-16 code units, so that states compare and hash as texts. */
export type State = string;

/** An operator with objects for its variables. Facts are numbers into `Ground.facts`. */
export interface GroundAction {
  readonly operator: string;
  readonly objects: readonly string[];
  readonly pre: readonly number[];
  readonly not: readonly number[];
  readonly add: readonly number[];
  readonly del: readonly number[];
}

/** A problem with all variables filled in. Facts that no operator changes are checked here once and then left out. */
export interface Ground {
  /** Facts that can change, as `predicate arg …`. */
  readonly facts: readonly string[];
  readonly actions: readonly GroundAction[];
  readonly init: State;
  /** Goals that can come to hold, each as facts. */
  readonly goals: readonly (readonly number[])[];
}

const textOf = (atom: Atom): string => atom.join(' ');

/** Fills in the variables of a problem. The order of actions follows that of operators and objects. */
export function groundProblem(domain: Domain, problem: Problem): Ground {
  const changing = new Set(domain.operators.flatMap((o) => [...o.add, ...o.del]).map(([name]) => name));
  const init = new Set(problem.init.map(textOf));
  const facts: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (text: string): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, facts.length);
    facts.push(text);
    return facts.length - 1;
  };
  const isFixed = ([name]: Atom) => !changing.has(name);
  const actions = domain.operators.flatMap((operator) =>
    bindings(domain, problem, { operator, holds: (atom) => !isFixed(atom) || init.has(textOf(atom)) }).map(
      (objects): GroundAction => {
        const fill = filler(operator, objects);
        const listOf = (atoms: readonly Atom[]) =>
          atoms.filter((a) => !isFixed(a)).map((a) => numberOf(fill(a)));
        const [add, del] = [listOf(operator.add), listOf(operator.del)];
        const kept = del.filter((fact) => !add.includes(fact));
        return {
          operator: operator.name,
          objects,
          pre: listOf(operator.pre),
          not: listOf(operator.not),
          add,
          del: kept,
        };
      },
    ),
  );
  const goals = problem.goals
    .filter((goal) => goal.every((atom) => !isFixed(atom) || init.has(textOf(atom))))
    .map((goal) => goal.filter((atom) => !isFixed(atom)).map((atom) => numberOf(textOf(atom))));
  const first = problem.init.filter((atom) => !isFixed(atom)).map((atom) => numberOf(textOf(atom)));
  return { facts, actions, goals, init: withFacts('\0'.repeat(Math.ceil(facts.length / 16)), first, []) };
}

interface Binding {
  readonly operator: Operator;
  /** Whether a filled-in precondition can hold at all. */
  readonly holds: (atom: Atom) => boolean;
}

/** All objects for an operator's variables under which its unchanging preconditions hold. */
function bindings(domain: Domain, problem: Problem, { operator, holds }: Binding): string[][] {
  const byType = operator.parameters.map(({ type }) =>
    Object.keys(problem.objects).filter((name) => isOfType(domain, problem.objects[name] ?? 'object', type)),
  );
  const places = new Map(operator.parameters.map(({ name }, i): [string, number] => [name, i]));
  // A precondition is checked as soon as the last of its variables has an object.
  const checks = operator.parameters.map((_, at) =>
    operator.pre.filter((atom) => lastPlace(atom, places) === at),
  );
  let partial: string[][] = operator.pre.some((a) => lastPlace(a, places) === -1 && !holds(a)) ? [] : [[]];
  for (const [at, names] of byType.entries()) {
    const next: string[][] = [];
    for (const objects of partial)
      for (const name of names) {
        const tried = [...objects, name];
        const fill = (atom: Atom) => atom.map((arg) => tried[places.get(arg) ?? -1] ?? arg);
        if (checks[at]?.every((atom) => holds(fill(atom)))) next.push(tried);
      }
    partial = next;
  }
  return partial;
}

const lastPlace = (atom: Atom, places: ReadonlyMap<string, number>): number =>
  Math.max(-1, ...atom.map((arg) => places.get(arg) ?? -1));

function filler({ parameters }: Operator, objects: readonly string[]): (atom: Atom) => string {
  const named = new Map(parameters.map(({ name }, i): [string, string] => [name, objects[i] ?? '']));
  return (atom) => atom.map((arg) => named.get(arg) ?? arg).join(' ');
}

/** Whether a fact holds. */
export const holdsIn = (state: State, fact: number): boolean =>
  ((state.charCodeAt(fact >> 4) >> (fact & 15)) & 1) === 1;

function withFacts(state: State, add: readonly number[], del: readonly number[]): State {
  const units = Array.from({ length: state.length }, (_, i) => state.charCodeAt(i));
  for (const fact of del) units[fact >> 4] = (units[fact >> 4] ?? 0) & ~(1 << (fact & 15));
  for (const fact of add) units[fact >> 4] = (units[fact >> 4] ?? 0) | (1 << (fact & 15));
  return String.fromCharCode(...units);
}

/** Whether an action is possible in a state. */
export const isApplicable = (state: State, { pre, not }: GroundAction): boolean =>
  pre.every((fact) => holdsIn(state, fact)) && !not.some((fact) => holdsIn(state, fact));

/** The state after an action, which must be possible. */
export const applied = (state: State, { add, del }: GroundAction): State => withFacts(state, add, del);

/** Whether one of the goals holds. */
export const isSolved = ({ goals }: Pick<Ground, 'goals'>, state: State): boolean =>
  goals.some((goal) => goal.every((fact) => holdsIn(state, fact)));

/** The facts that hold, as texts. */
export const factsIn = ({ facts }: Pick<Ground, 'facts'>, state: State): string[] =>
  facts.filter((_, fact) => holdsIn(state, fact));
