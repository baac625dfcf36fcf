import type { Atom, Domain, Parameter } from '../strips/model.js';

const x: Parameter = { name: '?x', type: 'block' };
const y: Parameter = { name: '?y', type: 'block' };

const free: readonly Atom[] = [['clear', '?x'], ['ontable', '?x'], ['handempty']];
const held: readonly Atom[] = [['holding', '?x']];
const above: readonly Atom[] = [
  ['clear', '?y'],
  ['holding', '?x'],
];
const piled: readonly Atom[] = [['on', '?x', '?y'], ['clear', '?x'], ['handempty']];

/** Blocksworld with a hand: four operators, as in the planning competitions. */
export const blocksworldDomain: Domain = {
  name: 'blocksworld',
  types: { block: 'object' },
  predicates: { clear: [x], ontable: [x], handempty: [], holding: [x], on: [x, y] },
  operators: [
    { name: 'pick-up', parameters: [x], pre: free, not: [], add: held, del: free },
    {
      name: 'put-down',
      parameters: [x],
      pre: held,
      not: [],
      add: [['clear', '?x'], ['handempty'], ['ontable', '?x']],
      del: held,
    },
    {
      name: 'stack',
      parameters: [x, y],
      pre: above,
      not: [],
      add: [['handempty'], ['clear', '?x'], ['on', '?x', '?y']],
      del: above,
    },
    {
      name: 'unstack',
      parameters: [x, y],
      pre: piled,
      not: [],
      add: [
        ['holding', '?x'],
        ['clear', '?y'],
      ],
      del: piled,
    },
  ],
};
