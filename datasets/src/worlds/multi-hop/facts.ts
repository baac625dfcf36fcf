import type { Rng } from '@perwatt/core';
import { integer, shuffled } from '../../random.js';
import type { Passage } from '../../sets/hop-records.js';
import type { Namer } from './names.js';
import { type EntityKind, type Relation, relationsOf } from './relations.js';

/** Something with all that is told of it: one object for each relation of its kind. */
export interface Entity {
  readonly name: string;
  readonly kind: EntityKind;
  readonly objects: ReadonlyMap<Relation, string>;
}

/** Something new, with everything told of it made up, but for what is given. */
export function makeEntity(
  rng: Rng,
  namer: Namer,
  {
    kind,
    name,
    known = new Map(),
  }: { readonly kind: EntityKind; readonly name: string; readonly known?: ReadonlyMap<Relation, string> },
): Entity {
  const objects = relationsOf(kind).map((relation): [Relation, string] => [
    relation,
    known.get(relation) ?? (relation.to === 'year' ? yearFor(rng, kind) : namer(relation.to)),
  ]);
  return { name, kind, objects: new Map(objects) };
}

/** A year that fits what it is said of. */
export const yearFor = (rng: Rng, kind: EntityKind): string =>
  `${kind === 'town' ? integer(rng, 900, 1700) : integer(rng, 1860, 2010)}`;

const intros: Readonly<Record<EntityKind, (name: string) => string>> = {
  person: (name) => `${name} is known well beyond the trade.`,
  town: (name) => `${name} is a town that travellers like.`,
  company: (name) => `${name} is a company of some renown.`,
  film: (name) => `${name} is a film that is still shown today.`,
  country: (name) => `${name} is a country of many landscapes.`,
  river: (name) => `The ${name} is a river that is calm for most of its way.`,
};

/** The passage on something: an introduction and its facts in an order of their own; and where each fact stands. */
export function passageOn(
  rng: Rng,
  { name, kind, objects }: Entity,
): { readonly passage: Passage; readonly places: ReadonlyMap<Relation, number> } {
  const order = shuffled(rng, [...objects]);
  const sentences = [intros[kind](name), ...order.map(([relation, object]) => relation.says(name, object))];
  return {
    passage: {
      title: name,
      sentences: sentences.map((sentence, i) => (i === 0 ? sentence : ` ${sentence}`)),
    },
    places: new Map(order.map(([relation], i): [Relation, number] => [relation, i + 1])),
  };
}
