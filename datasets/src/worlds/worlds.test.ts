import { fc, test as property } from '@fast-check/vitest';
import { createRng, type Item, PerwattError, type World, type WorldEpisode } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loadDataset } from '../catalogue.js';
import { allGenerated } from './all-generated.js';
import { worldById, worldOf, worlds } from './worlds.js';

const sets = allGenerated.map(({ entry }) => entry).filter(({ options }) => options.length > 0);

const loaded = new Map<string, readonly Item[]>();

/** The first questions of a set at a level, made once. */
async function itemsOf(kind: string, level: number, limit: number): Promise<readonly Item[]> {
  const name = `${kind} ${level}`;
  const items =
    loaded.get(name) ??
    (await loadDataset({ kind, options: { level }, limit: 12 }, { root: '/', seed: 5 })).items;
  loaded.set(name, items);
  return items.slice(0, limit);
}

/** Every level of every set whose items are set in a world, with that world. */
const places = sets.flatMap(({ id, options }) =>
  Array.from({ length: Number(/^1 to (\d+)/.exec(options[0]!.summary)![1]) }, (_, i) => [id, i + 1] as const),
);
const worldly: (readonly [string, number])[] = [];
for (const [kind, level] of places) {
  const [item] = await itemsOf(kind, level, 1);
  if (worldOf(item!) !== null) worldly.push([kind, level]);
}

const world = (item: Item): World => worldOf(item)!;

/** What can be told from outside. */
const stateOf = (episode: WorldEpisode) => [episode.admissible(), episode.won(), episode.reward()];

/** A possible action, or nonsense at times and where none is listed. */
function someAction(
  kind: string,
  episode: WorldEpisode,
  rng: () => number,
): [action: string, nonsense: boolean] {
  const listed = episode.admissible() ?? (kind === 'shop' ? ['search[red shoes]'] : []);
  const nonsense = rng() < 0.2 || listed.length === 0;
  return [nonsense ? 'dance with the mug' : listed[Math.floor(rng() * listed.length)]!, nonsense];
}

test('the sets cover every world', async () => {
  const seen = new Set<string>();
  for (const [kind, level] of worldly)
    for (const item of await itemsOf(kind, level, 1)) seen.add(world(item).id);
  expect([...seen].sort()).toEqual(
    worlds()
      .map((w) => w.id)
      .sort(),
  );
});

describe.each(worldly)('%s at level %i', (kind, level) => {
  test('the expert solves every item, each of its actions is possible and listed, and its reward is 1', async () => {
    for (const item of await itemsOf(kind, level, 12)) {
      const [episode, plan] = [world(item).open(item), world(item).solve(item)];
      expect(plan, item.id).not.toBeNull();
      expect(plan!.length).toBeLessThanOrEqual(episode.max_steps);
      for (const [i, action] of plan!.entries()) {
        expect(episode.won()).toBe(false);
        const listed = episode.admissible();
        if (listed !== null && !/^(?:Guess|Answer):|^search\[/.test(action)) expect(listed).toContain(action);
        const step = episode.act(action);
        expect(step, `${item.id}: ${action}`).toMatchObject({ valid: true, done: i === plan!.length - 1 });
      }
      expect([episode.won(), episode.reward()]).toEqual([true, 1]);
      expect(item.gold.split('\n').length).toBe(plan!.length);
      expect(() => episode.act(plan![0]!)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
      expect(episode.admissible() ?? []).toEqual([]);
    }
  });

  test('an actor may be told how such tasks are done; an actor that is not finds no word of it in the opening', async () => {
    for (const item of await itemsOf(kind, level, 6)) {
      const { skills, opening } = world(item).open(item);
      const lines = skills!.split('\n');
      expect(lines.filter((line) => !line.startsWith('- ') || opening.includes(line.slice(2)))).toEqual([]);
      for (const secret of [item.gold, ...item.gold.split('\n')]) expect(skills).not.toContain(secret);
    }
  });

  test('the gold, line by line, is as good as the expert', async () => {
    for (const item of await itemsOf(kind, level, 5)) {
      const episode = world(item).open(item);
      for (const line of item.gold.split('\n')) episode.act(kind === 'code_o' ? `Answer: ${line}` : line);
      expect(episode.won(), item.id).toBe(true);
    }
  });

  property.prop([fc.integer({ min: 0, max: 3 }), fc.integer()], { numRuns: 6 })(
    'whatever is done, two episodes go alike, what is listed is possible, the reward stays within 0 and 1, and the end comes',
    async (which, seed) => {
      const item = (await itemsOf(kind, level, 4))[which]!;
      const [a, b] = [world(item).open(item), world(item).open(item)];
      const rng = createRng(seed);
      let done = false;
      for (let steps = 0; !done; steps++) {
        expect(steps).toBeLessThan(a.max_steps);
        expect(stateOf(b)).toEqual(stateOf(a));
        const before = stateOf(a);
        const [action, nonsense] = someAction(kind, a, rng);
        const [step, same] = [a.act(action), b.act(action)];
        expect(same).toEqual(step);
        expect(step.valid, action).toBe(!nonsense);
        if (nonsense && !step.done) expect(stateOf(a)).toEqual(before);
        expect(a.reward()).toBeGreaterThanOrEqual(0);
        expect(a.reward()).toBeLessThanOrEqual(1);
        done = step.done;
      }
      expect(a.won()).toBe(a.reward() === 1);
    },
  );

  property.prop([fc.string(), fc.string({ unit: 'binary' })], { numRuns: 10 })(
    'no text an actor may write breaks an episode',
    async (one, two) => {
      const [item] = await itemsOf(kind, level, 1);
      const episode = world(item!).open(item!);
      for (const action of [
        one,
        two,
        `search[${one}]`,
        `click[${two}]`,
        `ask ${one} where`,
        `go to ${two}`,
      ]) {
        if (episode.act(action).done) break;
      }
      expect(episode.actions.length).toBeGreaterThan(0);
    },
  );

  test('an item of another world, another version or without data is refused by name', async () => {
    const [item] = await itemsOf(kind, level, 1);
    const refusal = (data: Record<string, unknown> | undefined) => {
      const broken = { id: item!.id, ...(data === undefined ? {} : { data }) };
      for (const attempt of [() => world(item!).open(broken), () => world(item!).solve(broken)])
        expect(attempt).toThrow(
          expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringContaining(item!.id) }),
        );
    };
    refusal(undefined);
    refusal({ ...item!.data, world: 'moon' });
    refusal({ ...item!.data, world_version: 999 });
    for (const field of Object.keys(item!.data!)) {
      if (['kind', 'domain', 'shortest', 'examples', 'world', 'world_version'].includes(field)) continue;
      refusal({ ...item!.data, [field]: undefined });
    }
  });
});

describe('worlds by name', () => {
  test('each is found by its id', () => {
    for (const each of worlds()) expect(worldById(each.id)).toBe(each);
    expect(worldOf({ data: { kind: 'em_f1' } })).toBeNull();
    expect(worldOf({})).toBeNull();
  });

  test('an unknown one is an error with the nearest name', () => {
    expect(() => worldById('houshold')).toThrow('unknown world "houshold"; did you mean "household"?');
    expect(() => worldById('moon')).toThrow(PerwattError);
  });
});
