/** Kinds of things that passages are about. */
export const entityKinds = ['person', 'town', 'company', 'film', 'country', 'river'] as const;
export type EntityKind = (typeof entityKinds)[number];

/** What a relation leads to: something with a passage of its own, or a plain value. */
export type ObjectKind = EntityKind | 'year' | 'sea';

/** A fact that everything of a kind has exactly one of. */
export interface Relation {
  /** What the object is to the subject: `the mayor of`. */
  readonly name: string;
  readonly of: EntityKind;
  readonly to: ObjectKind;
  /** The fact as a sentence. */
  readonly says: (subject: string, object: string) => string;
}

const relation = (of: EntityKind, name: string, to: ObjectKind, says: Relation['says']): Relation => ({
  name,
  of,
  to,
  says,
});

// biome-ignore format: a table is read in columns
export const relations: readonly Relation[] = [
  relation('person',  'place of birth',      'town',    (s, o) => `${s} was born in ${o}.`),
  relation('person',  'employer',            'company', (s, o) => `${s} has worked for ${o} for many years.`),
  relation('person',  'teacher',             'person',  (s, o) => `${s} learned the trade from ${o}.`),
  relation('person',  'year of birth',       'year',    (s, o) => `${s} was a child of the year ${o}.`),
  relation('town',    'home country',        'country', (s, o) => `${s} lies in ${o}.`),
  relation('town',    'river',               'river',   (s, o) => `The ${o} flows through ${s}.`),
  relation('town',    'mayor',               'person',  (s, o) => `${o} is mayor of ${s}.`),
  relation('town',    'year of foundation',  'year',    (s, o) => `${s} was founded in the year ${o}.`),
  relation('company', 'seat',                'town',    (s, o) => `${s} has its head office in ${o}.`),
  relation('company', 'founder',             'person',  (s, o) => `${s} was started by ${o}.`),
  relation('company', 'year of foundation',  'year',    (s, o) => `${s} opened its doors in ${o}.`),
  relation('film',    'director',            'person',  (s, o) => `${s} was directed by ${o}.`),
  relation('film',    'composer',            'person',  (s, o) => `The music of ${s} was written by ${o}.`),
  relation('film',    'year of release',     'year',    (s, o) => `${s} came to the cinemas in ${o}.`),
  relation('country', 'capital',             'town',    (s, o) => `The government of ${s} sits in its capital, ${o}.`),
  relation('country', 'longest river',       'river',   (s, o) => `No river of ${s} is longer than the ${o}.`),
  relation('river',   'sea at the mouth',    'sea',     (s, o) => `The ${s} ends in the ${o}.`),
  relation('river',   'country at the source', 'country', (s, o) => `The ${s} rises in ${o}.`),
];

/** The object of a relation as a noun phrase. */
export const phraseOf = ({ name }: Relation, subject: string): string => `the ${name} of ${subject}`;

/** The question for the object of a relation. */
export const questionFor = (relation: Relation, subject: string): string =>
  `${relation.to === 'person' ? 'Who' : 'What'} is ${phraseOf(relation, subject)}?`;

export const relationsOf = (kind: EntityKind): readonly Relation[] =>
  relations.filter(({ of }) => of === kind);

/** Whether things of a kind have passages. */
export const isEntityKind = (kind: ObjectKind): kind is EntityKind =>
  entityKinds.some((each) => each === kind);

/** How things of two kinds are compared by a year: the question for the earlier one. */
export const comparisons: Readonly<Partial<Record<EntityKind, (a: string, b: string) => string>>> = {
  person: (a, b) => `Who was born earlier, ${a} or ${b}?`,
  town: (a, b) => `Which town was founded earlier, ${a} or ${b}?`,
  company: (a, b) => `Which company opened its doors earlier, ${a} or ${b}?`,
  film: (a, b) => `Which film came to the cinemas earlier, ${a} or ${b}?`,
};
