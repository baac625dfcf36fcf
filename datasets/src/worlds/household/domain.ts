import type { Atom, Domain, Operator, Parameter, Problem } from '../strips/model.js';
import type { House } from './tasks.js';
import { placeKind, thingKind } from './things.js';

const place = (name: Parameter['name']): Parameter => ({ name, type: 'place' });
const thing: Parameter = { name: '?o', type: 'thing' };
const lamp: Parameter = { name: '?l', type: 'lamp' };
const [p, q] = [place('?p'), place('?q')];

/** Where the actor stands at first. */
export const MIDDLE = 'the middle of the room';

const held: readonly Atom[] = [
  ['at', '?p'],
  ['holds', '?o'],
];

const treat = (name: string, state: string, del: readonly Atom[]): Operator => ({
  name,
  parameters: [thing, p],
  pre: [...held, [`makes-${state}`, '?p'], [`can-be-${state}`, '?o']],
  not: [],
  add: [[state, '?o']],
  del,
});

/** A household in STRIPS: the actor carries one thing at a time, between places that may be closed. */
export const householdDomain: Domain = {
  name: 'household',
  types: { place: 'object', thing: 'object', lamp: 'object' },
  predicates: {
    at: [p],
    reachable: [p],
    opens: [p],
    opened: [p],
    accessible: [p],
    in: [thing, p],
    holds: [thing],
    'hand-empty': [],
    fits: [thing, p],
    ...Object.fromEntries(
      ['clean', 'hot', 'cool'].flatMap((state): [string, Parameter[]][] => [
        [`makes-${state}`, [p]],
        [`can-be-${state}`, [thing]],
        [state, [thing]],
      ]),
    ),
    'lamp-at': [lamp, p],
    on: [lamp],
    lit: [lamp],
  },
  operators: [
    {
      name: 'go',
      parameters: [p, q],
      pre: [
        ['at', '?p'],
        ['reachable', '?q'],
      ],
      not: [['at', '?q']],
      add: [['at', '?q']],
      del: [['at', '?p']],
    },
    {
      name: 'open',
      parameters: [p],
      pre: [
        ['at', '?p'],
        ['opens', '?p'],
      ],
      not: [['opened', '?p']],
      add: [
        ['opened', '?p'],
        ['accessible', '?p'],
      ],
      del: [],
    },
    {
      name: 'close',
      parameters: [p],
      pre: [
        ['at', '?p'],
        ['opens', '?p'],
        ['opened', '?p'],
      ],
      not: [],
      add: [],
      del: [
        ['opened', '?p'],
        ['accessible', '?p'],
      ],
    },
    {
      name: 'take',
      parameters: [thing, p],
      pre: [['at', '?p'], ['in', '?o', '?p'], ['accessible', '?p'], ['hand-empty']],
      not: [],
      add: [['holds', '?o']],
      del: [['in', '?o', '?p'], ['hand-empty']],
    },
    {
      name: 'move',
      parameters: [thing, p],
      pre: [...held, ['accessible', '?p'], ['fits', '?o', '?p']],
      not: [],
      add: [['in', '?o', '?p'], ['hand-empty']],
      del: [['holds', '?o']],
    },
    treat('clean', 'clean', []),
    treat('heat', 'hot', [['cool', '?o']]),
    treat('cool', 'cool', [['hot', '?o']]),
    {
      name: 'switch-on',
      parameters: [lamp, p],
      pre: [
        ['at', '?p'],
        ['lamp-at', '?l', '?p'],
      ],
      not: [['on', '?l']],
      add: [
        ['on', '?l'],
        ['lit', '?l'],
      ],
      del: [],
    },
    {
      name: 'switch-off',
      parameters: [lamp, p],
      pre: [
        ['at', '?p'],
        ['lamp-at', '?l', '?p'],
        ['on', '?l'],
      ],
      not: [],
      add: [],
      del: [['on', '?l']],
    },
  ],
};

/** A house and its goals as a planning problem. A lamp counts once it has been switched on (`lit`), as in ALFWorld. */
export function householdProblem(house: House, goals: Problem['goals']): Problem {
  const { places, things, lamps } = house;
  return {
    name: 'house',
    objects: Object.fromEntries([
      [MIDDLE, 'place'],
      ...places.map((name) => [name, 'place']),
      ...things.map(([name]) => [name, 'thing']),
      ...lamps.map(([name]) => [name, 'lamp']),
    ]),
    init: [
      ['at', MIDDLE],
      ['hand-empty'],
      ...places.flatMap((name) => placeFacts(name)),
      ...things.flatMap(([name = '', where = '']) => thingFacts(name, { where, places })),
      ...lamps.map(([name = '', where = '']): Atom => ['lamp-at', name, where]),
    ],
    goals,
  };
}

function placeFacts(name: string): Atom[] {
  const { opens, makes } = placeKind(name) ?? {};
  return [
    ['reachable', name],
    [opens === true ? 'opens' : 'accessible', name],
    ...(makes === undefined ? [] : [[`makes-${makes}`, name]]),
  ];
}

function thingFacts(
  name: string,
  { where, places }: { readonly where: string; readonly places: readonly string[] },
): Atom[] {
  const { can = [], fits = [] } = thingKind(name) ?? {};
  return [
    ['in', name, where],
    ...can.map((state): Atom => [`can-be-${state}`, name]),
    ...places
      .filter((place) => fits.includes(placeKind(place)?.name ?? ''))
      .map((place): Atom => ['fits', name, place]),
  ];
}
