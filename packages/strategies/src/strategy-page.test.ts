import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages } from './pages.js';
import { strategies } from './strategies.js';
import { strategyIndex, strategyPage } from './strategy-page.js';

const docs = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

test('docs/strategies is what the strategies say; else run `npm run docs:strategies`', () => {
  expect(docs('strategies.md')).toBe(strategyIndex(strategies()));
  for (const strategy of strategies())
    expect(docs(`strategies/${strategy.id}.md`)).toBe(strategyPage(strategy));
});

test('every strategy has a page, and every page a strategy', () => {
  expect(Object.keys(pages).sort()).toEqual(
    strategies()
      .map(({ id }) => id)
      .sort(),
  );
});

test('every parameter says what it does', () => {
  for (const { id, params } of strategies())
    for (const { name, type, summary } of params.describe?.() ?? []) {
      expect(`${id}.${name}: ${summary}`).toMatch(/: .{5,}/);
      expect(`${id}.${name}: ${type}`).not.toMatch(/: value$/);
    }
});
