import { fc, test as property } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';
import { type Case, everything, type Findings, nothing, possibleThieves } from './case.js';
import { detectiveWorld, honestQuestions } from './detective-world.js';

/** Ann took the watch from the study and says she was in the kitchen, where Bob and Cem saw each other and no one else. */
const facts: Case = {
  thing: 'watch',
  scene: 'study',
  rooms: ['study', 'kitchen', 'attic'],
  suspects: [
    { name: 'Ann', claim: 'kitchen', saw: ['Bob', 'Cem'], marks: ['a wet coat', 'muddy boots'] },
    { name: 'Bob', claim: 'kitchen', saw: ['Cem'], marks: ['a wet coat'] },
    { name: 'Cem', claim: 'kitchen', saw: ['Bob'], marks: ['muddy boots'] },
    { name: 'Dan', claim: 'attic', saw: [], marks: ['a wet coat'] },
  ],
  thief: 'Ann',
  trace: 'a wet coat',
};

const itemOf = (changed: Record<string, unknown> = {}) => ({
  id: 'test',
  data: {
    kind: 'world',
    world: 'detective',
    world_version: 1,
    thing: facts.thing,
    scene: facts.scene,
    rooms: facts.rooms,
    suspects: facts.suspects.map(({ name }) => name),
    claims: Object.fromEntries(facts.suspects.map(({ name, claim }) => [name, claim])),
    saw: facts.suspects.map(({ saw }) => saw),
    marks: facts.suspects.map(({ marks }) => marks),
    thief: facts.thief,
    trace: facts.trace,
    max_steps: 25,
    ...changed,
  },
});

const found = (
  more: Partial<Record<'claims' | 'sightings' | 'marks', string[]>> & { trace?: boolean },
): Findings => ({
  claims: new Set(more.claims ?? []),
  sightings: new Set(more.sightings ?? []),
  marks: new Set(more.marks ?? []),
  trace: more.trace ?? false,
});

describe('who could be the thief', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [findings: Findings, thieves: readonly string[], why: string]>([
    [nothing,                                                   ['Ann', 'Bob', 'Cem', 'Dan'],  'nothing is known'],
    [found({ trace: true, marks: ['Cem'] }),                    ['Ann', 'Bob', 'Dan'],         'Cem has no wet coat'],
    [found({ marks: ['Cem'] }),                                 ['Ann', 'Bob', 'Cem', 'Dan'],  'marks without a trace say nothing'],
    [found({ claims: ['Ann', 'Bob'], sightings: ['Bob'] }),     ['Ann', 'Bob'],                'Bob was with Ann and did not see her, or lies; and saw Cem'],
    [found({ sightings: ['Bob'] }),                             ['Ann', 'Bob', 'Dan'],         'Cem was seen by Bob, unless Bob is it'],
    [everything(facts),                                         ['Ann'],                       'all is known'],
  ])('by %j: %j (%s)', (findings, thieves) => {
    expect(possibleThieves(findings, facts)).toEqual(thieves);
  });
});

describe('a case', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [action: string, valid: boolean, observation: string]>([
    ['ask Ann where',        true,  'Ann: I was in the kitchen.'],
    ['Ask ann who?',         true,  'Ann: I saw Bob and Cem.'],
    ['ask Dan who',          true,  'Dan: I saw nobody.'],
    ['look at Ann',          true,  'Ann has a wet coat and muddy boots.'],
    ['search the study',     true,  'In the study there is a trace: the thief has a wet coat.'],
    ['search kitchen',       true,  'There is nothing of note in the kitchen.'],
    ['search cellar',        false, 'That is not possible here.'],
    ['ask Eve where',        false, 'That is not possible here.'],
    ['accuse Bob',           true,  'You accuse Bob. The case is closed.'],
  ])('%j: valid %s, %s', (action, valid, observation) => {
    expect(detectiveWorld.open(itemOf()).act(action)).toMatchObject({ valid, observation });
  });

  test('ends with the first accusation', () => {
    const [right, wrong] = [detectiveWorld.open(itemOf()), detectiveWorld.open(itemOf())];
    expect([right.act('accuse Ann').done, right.won(), right.reward()]).toEqual([true, true, 1]);
    expect([wrong.act('accuse Bob').done, wrong.won(), wrong.reward()]).toEqual([true, false, 0]);
    expect(() => wrong.act('accuse Ann')).toThrow('the episode is over');
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [changed: Record<string, unknown>, message: string]>([
    [{ thief: 'Eve' },                    'its thief "Eve" is no suspect'],
    [{ scene: 'cellar' },                 'it has no room "cellar"'],
    [{ claims: {} },                      'it has no room ""'],
    [{ saw: [] },                         '"saw" and "marks" must have 4 entries, one for each suspect'],
    [{ suspects: ['Ann'] },               'it has 1 suspects, not 2 to 20'],
    [{ suspects: ['Ann', 'ann', 'Bob', 'Cem'] }, 'two of its suspects have one name'],
  ])('%j is refused: %s', (changed, message) => {
    expect(() => detectiveWorld.open(itemOf(changed))).toThrow(`item "test": ${message}`);
  });
});

/** The thieves under whom what all others say is just what they would say: nothing in common with how cases are made. */
const byModel = ({ suspects, scene, trace }: Case) =>
  suspects
    .filter((thief) => {
      const room = (name: string) =>
        name === thief.name ? scene : suspects.find((s) => s.name === name)!.claim;
      const honest = suspects.filter(({ name }) => name !== thief.name);
      return (
        thief.marks.includes(trace) &&
        honest.every(({ name, saw }) => {
          const there = suspects.filter((other) => other.name !== name && room(other.name) === room(name));
          return (
            room(name) !== scene &&
            saw.toSorted().join() ===
              there
                .map((s) => s.name)
                .sort()
                .join()
          );
        })
      );
    })
    .map(({ name }) => name);

describe.each([1, 2, 3])('level %i', async (level) => {
  const { items } = await loadDataset(
    { kind: 'detective', options: { level }, limit: 25 },
    { root: '/', seed: 12 },
  );
  const cases = items.map(({ data }): Case => {
    const d = data as unknown as Case & {
      suspects: string[];
      claims: Record<string, string>;
      saw: string[][];
      marks: string[][];
    };
    return {
      ...d,
      suspects: d.suspects.map((name, i) => ({
        name: `${name}`,
        claim: d.claims[`${name}`]!,
        saw: d.saw[i]!,
        marks: d.marks[i]!,
      })),
    } as Case;
  });

  test('all that can be found out leaves one thief, who is it; and no first answer gives them away', () => {
    for (const each of cases) {
      expect(byModel(each)).toEqual([each.thief]);
      expect(possibleThieves(everything(each), each)).toEqual([each.thief]);
      expect(honestQuestions(each)!.length).toBeGreaterThan(2);
    }
  });

  property.prop([fc.integer(), fc.integer({ min: 0, max: 24 })], { numRuns: 60 })(
    'whatever part of it is found out, the thief is never ruled out, and knowing more never rules anyone in',
    (seed, which) => {
      const each = cases[which]!;
      const rng = createRng(seed);
      const some = () => each.suspects.map(({ name }) => name).filter(() => rng() < 0.5);
      const part = found({ claims: some(), sightings: some(), marks: some(), trace: rng() < 0.5 });
      const left = possibleThieves(part, each);
      expect(left).toContain(each.thief);
      const more = {
        ...part,
        claims: new Set([...part.claims, ...some()]),
        sightings: new Set([...part.sightings, ...some()]),
      };
      for (const name of possibleThieves(more, each)) expect(left).toContain(name);
    },
  );

  test('the thief is not told by place in the list', () => {
    const spots = cases.map(({ suspects, thief }) => suspects.findIndex(({ name }) => name === thief));
    expect(new Set(spots).size).toBeGreaterThan(2);
  });
});
