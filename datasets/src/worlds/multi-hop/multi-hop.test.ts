import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';
import { namer } from './names.js';
import { isEntityKind, relations, relationsOf } from './relations.js';

const load = (options: Record<string, unknown>, limit = 20, seed = 6) =>
  loadDataset({ kind: 'multi-hop', options, limit }, { root: '/', seed });

interface Facts {
  support: [string, number][];
  evidence: [string, string, string][];
}

/** Passages of a prompt, read back from its text: title → sentences. */
function passagesIn(prompt: string): Map<string, string[]> {
  const blocks = prompt.split(/(?:^Passages:\n\n)?Passage \d+:\n/m).slice(1);
  return new Map(
    blocks.map((block) => {
      const [title = '', text = ''] = block.split('\n');
      return [title, text.split(/(?<=\.) /)] as const;
    }),
  );
}

/** Whether a sentence says a fact. */
const tells = (sentence: string, [about, name, object]: Facts['evidence'][number]) =>
  relations.some((each) => each.name === name && each.says(about, object) === sentence);

describe.each([1, 2, 3, 4])('level %i', (level) => {
  test('the facts that matter stand where they are said to, and lead to the answer', async () => {
    const { items } = await load({ level });
    for (const { prompt, gold, data, subject } of items) {
      const { support, evidence } = data as unknown as Facts;
      const passages = passagesIn(prompt);
      expect(passages.size).toBe(10);
      expect(support.map(([title]) => title)).toEqual(evidence.map(([about]) => about));
      const told = support.map(([title, at], i) => tells(passages.get(title)![at]!, evidence[i]!));
      expect(told).toEqual(support.map(() => true));
      if (level === 4) {
        expect(support).toHaveLength(subject === 'comparison' ? 2 : 4);
        continue;
      }
      const chain = [...evidence.slice(1).map(([about]) => about), gold];
      expect(evidence.map(([, , object]) => object)).toEqual(chain);
      expect(support).toHaveLength(level + 1);
    }
  });

  test('the question names the start only, and no other passage tells a fact of what matters', async () => {
    const { items } = await load({ level });
    for (const { gold, material, data } of items) {
      const { support, evidence } = data as unknown as Facts;
      const question = material!.task.split('\n')[0]!;
      const titles = support.map(([title]) => title);
      const others = material!.passages.filter(({ key }) => !titles.includes(key));
      expect(material!.passages.length - others.length).toBe(new Set(titles).size);
      expect(others.filter(({ text }) => evidence.some(([about]) => text.includes(`${about} `)))).toEqual([]);
      const hidden = level < 4 ? [gold, ...titles.slice(1)] : [];
      expect(hidden.filter((name) => question.includes(name))).toEqual([]);
      if (level < 4) expect(question).toContain(titles[0]);
    }
  });
});

describe('comparisons', () => {
  test('the earlier of two years decides, and guessing is right half the time', async () => {
    const { items, guess_rate } = await load({ level: 4 }, 40);
    expect(guess_rate).toBe(0.5);
    expect((await load({ level: 2 })).guess_rate).toBe(0);
    for (const { gold, subject, data } of items) {
      const { evidence } = data as unknown as Facts;
      const years = evidence.filter(([, , object]) => /^\d+$/.test(object));
      const [earlier] = years.toSorted((a, b) => Number(a[2]) - Number(b[2]))[0]!;
      const bridge = evidence.find(([, , object]) => object === earlier);
      expect(gold).toBe(subject === 'comparison' ? earlier : bridge![0]);
    }
    const first = items.filter(({ gold, material }) => {
      const question = material!.task.split('\n')[0]!;
      return question.indexOf(gold) < question.length / 2 + 10 && question.lastIndexOf(` or ${gold}?`) === -1;
    });
    expect(first.length).toBeGreaterThan(8);
    expect(first.length).toBeLessThan(32);
  });
});

describe('length', () => {
  test('more passages are asked for by number or by tokens; questions, golds and ids stay, and a longer context holds the shorter one', async () => {
    const [ten, many, long] = await Promise.all([
      load({}),
      load({ passages: 60 }),
      load({ context_tokens: 8000 }),
    ]);
    for (const [i, item] of ten!.items.entries()) {
      const [more, longer] = [many!.items[i]!, long!.items[i]!];
      expect([more.id, more.gold, more.material!.task]).toEqual([item.id, item.gold, item.material!.task]);
      expect(longer.id).toBe(item.id);
      expect(more.material!.passages).toHaveLength(60);
      expect(more.material!.passages).toEqual(expect.arrayContaining([...item.material!.passages]));
      expect(longer.prompt.length).toBeGreaterThan(32_000);
      expect(longer.prompt.length).toBeLessThan(33_500);
    }
    expect(many!.digest).not.toBe(ten!.digest);
  });

  test('two passages are the fewest, but those that matter are never left out', async () => {
    const { items } = await load({ level: 3, passages: 2 });
    for (const { material, data } of items) {
      const titles = (data as unknown as Facts).support.map(([title]) => title);
      expect(material!.passages.map(({ key }) => key).sort()).toEqual(titles.toSorted());
    }
  });

  test('the passages that matter are anywhere among the others', async () => {
    const { items } = await load({ passages: 20 }, 40);
    const places = items.map(({ material, data }) =>
      material!.passages.findIndex(({ key }) => key === (data as unknown as Facts).support[0]![0]),
    );
    expect(Math.min(...places)).toBeLessThan(4);
    expect(Math.max(...places)).toBeGreaterThan(15);
  });

  test('the prompt is passages and task', async () => {
    const { items } = await load({});
    for (const { prompt, material } of items) {
      expect(prompt.endsWith(material!.task)).toBe(true);
      expect(new Set(material!.passages.map(({ key }) => key)).size).toBe(10);
      for (const { key, text } of material!.passages) expect(prompt).toContain(`\n${key}\n${text}`);
    }
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [options: Record<string, unknown>, message: string]>([
    [{ passages: 1 },                          'option "passages" is 1, not a whole number from 2 to 5000'],
    [{ context_tokens: 50 },                   'option "context_tokens" is 50, not a whole number from 200 to 500000'],
    [{ passages: 10, context_tokens: 5000 },   'options "passages" and "context_tokens" exclude each other'],
  ])('%j is an error: %s', async (options, message) => {
    await expect(load(options)).rejects.toThrow(`data set "multi-hop": ${message}`);
  });
});

test('twenty thousand names differ', () => {
  const name = namer(createRng(1));
  const kinds = ['person', 'town', 'company', 'film', 'country', 'river', 'sea'] as const;
  const all = Array.from({ length: 20_000 }, (_, i) => name(kinds[i % kinds.length]!));
  expect(new Set(all).size).toBe(all.length);
});

test('every kind leads somewhere, so that chains of any length can be made', () => {
  for (const { to } of relations) {
    if (!isEntityKind(to)) continue;
    expect(
      relationsOf(to).some((each) => isEntityKind(each.to)),
      to,
    ).toBe(true);
  }
});
