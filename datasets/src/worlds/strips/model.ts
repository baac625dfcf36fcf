/** A predicate or fact: its name, then its arguments. Arguments that begin with `?` are variables. */
export type Atom = readonly string[];

/** A typed variable of an operator. */
export interface Parameter {
  readonly name: `?${string}`;
  readonly type: string;
}

/** An operator: possible where all of `pre` and none of `not` hold; then `del` go and `add` come. */
export interface Operator {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly pre: readonly Atom[];
  readonly not: readonly Atom[];
  readonly add: readonly Atom[];
  readonly del: readonly Atom[];
}

/** A STRIPS domain with typed objects and negative preconditions. */
export interface Domain {
  readonly name: string;
  /** Types with the type above each; `object` is above all. */
  readonly types: Readonly<Record<string, string>>;
  /** Predicates with the types of their arguments. */
  readonly predicates: Readonly<Record<string, readonly Parameter[]>>;
  readonly operators: readonly Operator[];
}

/** A planning problem. */
export interface Problem {
  readonly name: string;
  /** Objects with their types. */
  readonly objects: Readonly<Record<string, string>>;
  readonly init: readonly Atom[];
  /** It is solved where all facts of any of these hold. */
  readonly goals: readonly (readonly Atom[])[];
}

/** Whether `type` is `wanted` or below it. */
export function isOfType(domain: Pick<Domain, 'types'>, type: string, wanted: string): boolean {
  const seen = new Set<string>();
  for (let at: string | undefined = type; at !== undefined && !seen.has(at); at = domain.types[at]) {
    if (at === wanted) return true;
    seen.add(at);
  }
  return wanted === 'object';
}
