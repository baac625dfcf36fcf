/** What a household is furnished with. */

/** A kind of furniture or fitting that things lie in or on. */
export interface PlaceKind {
  readonly name: string;
  /** It has a door or lid, which is closed at the start. */
  readonly opens?: true;
  /** Things are in it rather than on it. */
  readonly inside?: true;
  /** What things can be made with it. */
  readonly makes?: 'clean' | 'hot' | 'cool';
}

/** A kind of thing that can be carried. */
export interface ThingKind {
  readonly name: string;
  readonly can?: readonly ('clean' | 'hot' | 'cool')[];
  /** Kinds of places it may be put. */
  readonly fits: readonly string[];
}

export interface RoomKind {
  readonly name: string;
  /** Kinds of places with how many of each there are at most. */
  readonly places: Readonly<Record<string, number>>;
  /** Kinds of lamps and the places they stand on. */
  readonly lamps: Readonly<Record<string, readonly string[]>>;
  readonly things: readonly string[];
}

export const placeKinds: readonly PlaceKind[] = [
  { name: 'fridge', opens: true, inside: true, makes: 'cool' },
  { name: 'microwave', opens: true, inside: true, makes: 'hot' },
  { name: 'sinkbasin', inside: true, makes: 'clean' },
  { name: 'cabinet', opens: true, inside: true },
  { name: 'drawer', opens: true, inside: true },
  { name: 'safe', opens: true, inside: true },
  { name: 'countertop' },
  { name: 'diningtable' },
  { name: 'coffeetable' },
  { name: 'sidetable' },
  { name: 'desk' },
  { name: 'shelf' },
  { name: 'sofa' },
  { name: 'armchair' },
  { name: 'bed' },
  { name: 'garbagecan', inside: true },
];

const tops = ['countertop', 'diningtable', 'coffeetable', 'sidetable', 'desk', 'shelf'];
const tableware = [...tops, 'cabinet', 'sinkbasin', 'microwave', 'fridge'];
const food = ['countertop', 'diningtable', 'sidetable', 'fridge', 'microwave', 'sinkbasin', 'garbagecan'];
const small = [...tops, 'drawer', 'safe', 'bed', 'sofa', 'armchair', 'garbagecan'];

export const thingKinds: readonly ThingKind[] = [
  { name: 'apple', can: ['clean', 'hot', 'cool'], fits: food },
  { name: 'tomato', can: ['clean', 'hot', 'cool'], fits: food },
  { name: 'potato', can: ['clean', 'hot', 'cool'], fits: food },
  { name: 'egg', can: ['clean', 'hot', 'cool'], fits: food },
  { name: 'bread', can: ['hot', 'cool'], fits: food },
  { name: 'lettuce', can: ['clean', 'cool'], fits: food },
  { name: 'mug', can: ['clean', 'hot', 'cool'], fits: tableware },
  { name: 'cup', can: ['clean', 'hot', 'cool'], fits: tableware },
  { name: 'plate', can: ['clean', 'hot', 'cool'], fits: tableware },
  { name: 'bowl', can: ['clean', 'cool'], fits: tableware },
  {
    name: 'pan',
    can: ['clean', 'cool'],
    fits: ['countertop', 'diningtable', 'cabinet', 'sinkbasin', 'fridge'],
  },
  { name: 'knife', can: ['clean'], fits: ['countertop', 'diningtable', 'drawer', 'sinkbasin'] },
  { name: 'fork', can: ['clean'], fits: ['countertop', 'diningtable', 'drawer', 'sinkbasin'] },
  { name: 'spoon', can: ['clean'], fits: ['countertop', 'diningtable', 'drawer', 'sinkbasin'] },
  {
    name: 'cloth',
    can: ['clean'],
    fits: ['countertop', 'sidetable', 'drawer', 'cabinet', 'sinkbasin', 'shelf'],
  },
  { name: 'saltshaker', fits: ['countertop', 'diningtable', 'sidetable', 'drawer', 'cabinet', 'shelf'] },
  { name: 'book', fits: small },
  { name: 'pencil', fits: small },
  { name: 'pen', fits: small },
  { name: 'cd', fits: small },
  { name: 'watch', fits: small },
  { name: 'keychain', fits: small },
  { name: 'creditcard', fits: small },
  { name: 'cellphone', fits: small },
  { name: 'newspaper', fits: small },
  { name: 'remotecontrol', fits: small },
  {
    name: 'box',
    fits: ['coffeetable', 'sidetable', 'diningtable', 'desk', 'shelf', 'sofa', 'armchair', 'bed'],
  },
  { name: 'pillow', fits: ['sofa', 'armchair', 'bed'] },
  { name: 'vase', fits: [...tops, 'cabinet', 'safe'] },
  { name: 'statue', fits: [...tops, 'safe'] },
];

export const roomKinds: readonly RoomKind[] = [
  {
    name: 'kitchen',
    places: {
      fridge: 1,
      microwave: 1,
      sinkbasin: 1,
      countertop: 3,
      diningtable: 1,
      cabinet: 6,
      drawer: 4,
      sidetable: 1,
      garbagecan: 1,
      shelf: 2,
    },
    lamps: {},
    things: [
      'apple',
      'tomato',
      'potato',
      'egg',
      'bread',
      'lettuce',
      'mug',
      'cup',
      'plate',
      'bowl',
      'pan',
      'knife',
      'fork',
      'spoon',
      'cloth',
      'saltshaker',
      'vase',
      'book',
    ],
  },
  {
    name: 'bedroom',
    places: { bed: 1, desk: 2, drawer: 5, shelf: 4, sidetable: 2, armchair: 1, safe: 1, garbagecan: 1 },
    lamps: { desklamp: ['desk', 'sidetable'] },
    things: [
      'book',
      'pencil',
      'pen',
      'cd',
      'watch',
      'keychain',
      'creditcard',
      'cellphone',
      'pillow',
      'mug',
      'bowl',
      'vase',
      'statue',
      'box',
    ],
  },
  {
    name: 'living room',
    places: {
      sofa: 1,
      armchair: 2,
      coffeetable: 1,
      sidetable: 2,
      shelf: 4,
      drawer: 4,
      cabinet: 3,
      safe: 1,
      garbagecan: 1,
      diningtable: 1,
    },
    lamps: { floorlamp: ['sidetable', 'coffeetable', 'armchair'] },
    things: [
      'newspaper',
      'remotecontrol',
      'keychain',
      'creditcard',
      'watch',
      'cellphone',
      'book',
      'pillow',
      'vase',
      'statue',
      'box',
      'pencil',
      'plate',
      'cup',
    ],
  },
];

/** The kind of a name with a number: `mug 2` → `mug`. */
export const kindOf = (name: string): string => name.replace(/ \d+$/, '');

export const placeKind = (name: string): PlaceKind | undefined =>
  placeKinds.find((kind) => kind.name === kindOf(name));

export const thingKind = (name: string): ThingKind | undefined =>
  thingKinds.find((kind) => kind.name === kindOf(name));

/** `an apple`, `a mug`. */
export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
