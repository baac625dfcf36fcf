import type { Rng } from '@perwatt/core';
import { pick } from '../../random.js';
import { type Entity, makeEntity, yearFor } from './facts.js';
import type { Namer } from './names.js';
import {
  comparisons,
  type EntityKind,
  entityKinds,
  isEntityKind,
  phraseOf,
  questionFor,
  type Relation,
  relations,
  relationsOf,
} from './relations.js';

/** A question with the things and facts it hangs on. */
export interface HopQuestion {
  readonly type: 'compositional' | 'comparison' | 'bridge_comparison';
  readonly question: string;
  readonly answer: string;
  /** All that must be read, with the fact of each that counts. */
  readonly steps: readonly (readonly [entity: Entity, relation: Relation])[];
}

/** A question along a chain of facts: only the first thing is named. */
export function chainQuestion(rng: Rng, namer: Namer, hops: number): HopQuestion {
  const chain = chainOf(rng, hops);
  const names = [namer(chain[0]?.of ?? 'film')];
  const steps = chain.map((relation, i): readonly [Entity, Relation] => {
    const object = relation.to === 'year' ? yearFor(rng, relation.of) : namer(relation.to);
    names.push(object);
    const entity = makeEntity(rng, namer, {
      kind: relation.of,
      name: names[i] ?? '',
      known: new Map([[relation, object]]),
    });
    return [entity, relation];
  });
  const inner = chain.slice(0, -1).reduce((phrase, relation) => phraseOf(relation, phrase), names[0] ?? '');
  const last = chain.at(-1);
  return {
    type: 'compositional',
    question: last === undefined ? '' : questionFor(last, inner),
    answer: names.at(-1) ?? '',
    steps,
  };
}

/** Relations one after the other, none of which leads to a value before the last. */
function chainOf(rng: Rng, hops: number): Relation[] {
  const chain: Relation[] = [];
  let kind: EntityKind = pick(rng, entityKinds);
  for (let i = 0; i < hops; i++) {
    const isLast = i === hops - 1;
    const relation = pick(
      rng,
      relationsOf(kind).filter(({ to }) => isLast || isEntityKind(to)),
    );
    chain.push(relation);
    if (isEntityKind(relation.to)) kind = relation.to;
  }
  return chain;
}

const compared = entityKinds.filter((kind) => comparisons[kind] !== undefined);
const yearOf = (kind: EntityKind) => relations.find((each) => each.of === kind && each.to === 'year');

/** Which of two things is earlier. */
export function comparisonQuestion(rng: Rng, namer: Namer): HopQuestion {
  const kind = pick(rng, compared);
  const [a, b, earlier] = twoYears(rng, namer, kind);
  return {
    type: 'comparison',
    question: comparisons[kind]?.(a[0].name, b[0].name) ?? '',
    answer: earlier.name,
    steps: [a, b],
  };
}

/** Two things of a kind with different years, and the earlier one. */
function twoYears(rng: Rng, namer: Namer, kind: EntityKind) {
  const relation = yearOf(kind) ?? relations[0];
  if (relation === undefined) throw new RangeError('no relation leads to a year');
  const first = yearFor(rng, kind);
  let second = yearFor(rng, kind);
  while (second === first) second = yearFor(rng, kind);
  const [a, b] = [first, second].map((year) =>
    makeEntity(rng, namer, { kind, name: namer(kind), known: new Map([[relation, year]]) }),
  ) as [Entity, Entity];
  return [[a, relation], [b, relation], Number(first) < Number(second) ? a : b] as const;
}

/** Which of two things has the earlier something else: a film its director, a company its founder, a town its mayor. */
export function bridgeQuestion(rng: Rng, namer: Namer): HopQuestion {
  const bridge = pick(
    rng,
    relations.filter(({ name }) => ['director', 'founder', 'mayor'].includes(name)),
  );
  const [a, b, earlier] = twoYears(rng, namer, 'person');
  const [first, second] = [a, b].map(([person]) =>
    makeEntity(rng, namer, {
      kind: bridge.of,
      name: namer(bridge.of),
      known: new Map([[bridge, person.name]]),
    }),
  ) as [Entity, Entity];
  return {
    type: 'bridge_comparison',
    question: `Which ${bridge.of} has the ${bridge.name} who was born earlier, ${first.name} or ${second.name}?`,
    answer: (earlier === a[0] ? first : second).name,
    steps: [[first, bridge], a, [second, bridge], b],
  };
}
