import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recipeTexts } from './pages.js';
import { recipeIndex, recipePage } from './recipe-page.js';
import { recipes } from './recipes.js';

const docs = new URL('../../../docs/', import.meta.url);

test('every recipe has a text of its own, and every text a recipe', () => {
  expect(Object.keys(recipeTexts).sort()).toEqual(recipes.map(({ id }) => id).sort());
});

test.each(recipes.map((recipe) => [recipe.id, recipe] as const))(
  'the page of %s is what the sources make of it (else: npm run docs:recipes)',
  (id, recipe) => {
    expect(readFileSync(new URL(`recipes/${id}.md`, docs), 'utf8')).toBe(recipePage(recipe));
  },
);

test('the index is what the sources make of it, and no page is left over', () => {
  expect(readFileSync(new URL('recipes.md', docs), 'utf8')).toBe(recipeIndex(recipes));
  expect(readdirSync(new URL('recipes/', docs)).sort()).toEqual(recipes.map(({ id }) => `${id}.md`).sort());
});
