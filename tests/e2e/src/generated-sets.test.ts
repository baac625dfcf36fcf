import { fc, test as property } from '@fast-check/vitest';
import { createRng, type Grader, type Item } from '@perwatt/core';
import { datasetCatalogue, loadDataset, worldById, worldOf } from '@perwatt/datasets';
import { environmentGrader, graderById } from '@perwatt/graders';
import { describe, expect, test } from 'vitest';

const graderOf = (id: string): Grader => (id === 'environment' ? environmentGrader(worldOf) : graderById(id));

const load = (kind: string, level: number | null, limit: number) =>
  loadDataset({ kind, options: level === null ? {} : { level }, limit }, { root: '/', seed: 31 });

/** Every generated set at each of its levels; null where it has none. */
const levels = datasetCatalogue()
  .filter(({ kind }) => kind === 'generated')
  .flatMap(({ id, options }): (readonly [string, number | null])[] => {
    const most = /^1 to (\d+)/.exec(options[0]?.summary ?? '')?.[1];
    return most === undefined ? [[id, null]] : Array.from({ length: Number(most) }, (_, i) => [id, i + 1]);
  });

const grade = (grader: Grader, item: Item, prediction: string) =>
  grader.grade({
    prediction,
    gold: item.gold,
    options: item.options,
    finish_reason: 'stop',
    ...(item.data !== undefined && { data: item.data }),
  });

/** A gold as a model would write it. */
const written: Readonly<Record<string, (gold: string) => string>> = {
  numeric: (gold) => `I add it up.\n#### ${gold}`,
  choice: (gold) => `That leaves one. The answer is (${gold}).`,
  literal: (gold) => `Line by line it comes to this.\nAnswer: ${gold}`,
  em_f1: (gold) => `The passages say so.\nAnswer: ${gold}`,
  plan: (gold) => `[PLAN]\n${gold}\n[PLAN END]`,
  puzzle_cells: (gold) => `By the clues:\n\`\`\`json\n${gold}\n\`\`\``,
  environment: (gold) => gold,
};

/** An answer that is wrong: of programs one that does something else, in worlds one without its last step, else that of another item. */
function wrongAnswer(kind: string, { gold }: Item, other: Item): string {
  if (kind === 'code_i') return 'Answer: [[0]], [[0]], [[0]]';
  if (kind === 'code_f') return gold.replace(/return .*$/, 'return [[0]]');
  const lines = gold.split('\n');
  return ['household', 'shop', 'guess-number', 'detective'].includes(kind)
    ? lines.slice(0, -1).join('\n') || 'look'
    : other.gold;
}

describe.each(levels)('%s at level %s', (kind, level) => {
  test('gold answers are right, bare and as a model writes them; others, none and words are not', async () => {
    const { items, grader: id } = await load(kind, level, 8);
    const grader = graderOf(id);
    for (const [i, item] of items.entries()) {
      const { gold } = item;
      const right = [gold, written[id]?.(gold) ?? gold].map((text) => grade(grader, item, text).verdict);
      expect(right, `${item.id}: ${gold}`).toEqual(['correct', 'correct']);
      const other = items.find((each, k) => k !== i && each.gold !== gold) ?? item;
      const wrong = wrongAnswer(kind, item, other);
      expect(['incorrect', 'unparsed'], `${item.id}: ${wrong}`).toContain(grade(grader, item, wrong).verdict);
      expect(grade(grader, item, 'I do not know.').verdict).not.toBe('correct');
      expect(grade(grader, item, '').verdict).toBe('empty');
    }
  });
});

describe('the plan grader and the world of Blocksworld', () => {
  const world = worldById('blocksworld');

  property.prop([fc.integer(), fc.integer({ min: 0, max: 11 }), fc.integer({ min: 1, max: 4 })], {
    numRuns: 120,
  })(
    'agree on every plan: possible from the first step to the last, with the goal at its end',
    async (seed, which, level) => {
      const { items } = await load('blocksworld', level, 12);
      const item = items[which] as Item;
      const taken = followed(item, drawPlan(item, createRng(seed)));
      const expected = taken.possible && taken.won ? 'correct' : 'incorrect';
      const text = taken.actions.join('\n');
      expect(grade(graderOf('plan'), item, text).verdict, text).toBe(expected);
    },
  );

  function followed(item: Item, plan: readonly string[]) {
    const episode = world.open(item);
    let possible = true;
    for (const action of plan) {
      const { valid, done } = episode.act(action);
      possible &&= valid;
      if (done) break;
    }
    return { possible, won: episode.won(), actions: episode.actions };
  }

  function randomWalk(item: Item, rng: () => number): readonly string[] {
    const walk = world.open(item);
    for (let i = 0; i < 10 && !walk.won(); i++) {
      const possible = walk.admissible() ?? [];
      walk.act(possible[Math.floor(rng() * possible.length)] ?? '');
    }
    return walk.actions;
  }

  /** The expert's plan, at times cut short, without a step, with a wrong one, or a random walk in its place. */
  function drawPlan(item: Item, rng: () => number): readonly string[] {
    const expert = world.solve(item) ?? [];
    const at = Math.floor(rng() * expert.length);
    const plans = [
      expert,
      expert.slice(0, Math.max(1, at)),
      expert.toSpliced(at, expert.length > 1 ? 1 : 0),
      expert.toSpliced(at, 1, expert[0] ?? ''),
      randomWalk(item, rng),
    ];
    return plans[Math.floor(rng() * plans.length)] ?? expert;
  }
});
